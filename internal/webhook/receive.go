package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"
)

const (
	maxDelivery  = 1 << 20 // bytes of a body that is read
	rememberedID = 10_000  // event ids kept to recognise duplicates
)

// receiver answers deliveries and prints what came.
type receiver struct {
	secrets  []string
	statuses []int
	pretty   bool

	mu       sync.Mutex // guards what follows, and keeps printed lines whole
	out      io.Writer
	answered int
	seen     map[string]bool
	order    []string // of seen, oldest first
}

// verdict is what became of a delivery.
type verdict struct {
	status   int
	verified string // "verified", "unverified", "bad signature" or "malformed"
	event    Envelope
	test     bool
	again    bool
}

func (rc *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "deliveries are POST requests", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxDelivery))
	if err != nil {
		status := http.StatusBadRequest
		if tooLong := new(http.MaxBytesError); errors.As(err, &tooLong) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, "the body can't be read", status)
		return
	}
	v := rc.judge(r.Header, body)
	w.WriteHeader(v.status)
}

// judge verifies before it parses, as every receiver should, and prints the outcome.
func (rc *receiver) judge(header http.Header, body []byte) verdict {
	v := verdict{verified: "unverified", test: header.Get(HeaderTest) == "true"}
	if len(rc.secrets) > 0 {
		v.verified = "verified"
		if !VerifyHeader(header, body, rc.secrets...) {
			v.verified, v.status = "bad signature", http.StatusUnauthorized
		}
	}
	if v.status == 0 && (json.Unmarshal(body, &v.event) != nil || v.event.ID == "") {
		v.verified, v.status = "malformed", http.StatusBadRequest
	}
	rc.mu.Lock()
	defer rc.mu.Unlock()
	if v.status == 0 {
		v.status = rc.nextStatus()
		v.again = rc.remember(v.event.ID)
	}
	rc.print(v, body)
	return v
}

// nextStatus goes through the statuses and then stays at the last one.
func (rc *receiver) nextStatus() int {
	i := min(rc.answered, len(rc.statuses)-1)
	rc.answered++
	return rc.statuses[i]
}

// remember tells whether the id was seen before.
func (rc *receiver) remember(id string) bool {
	if rc.seen[id] {
		return true
	}
	rc.seen[id] = true
	rc.order = append(rc.order, id)
	if len(rc.order) > rememberedID {
		delete(rc.seen, rc.order[0])
		rc.order = rc.order[1:]
	}
	return false
}

// print writes one line, and the body below it where that is wanted. A failing writer must not
// fail the delivery.
func (rc *receiver) print(v verdict, body []byte) {
	var line strings.Builder
	fmt.Fprintf(&line, "%s  %d  %s", time.Now().UTC().Format(timeFormat), v.status, v.verified)
	if v.event.ID != "" {
		fmt.Fprintf(&line, "  %s  %s  %s", v.event.Type, v.event.ID, compact(v.event.Data))
	}
	if v.test {
		line.WriteString("  test")
	}
	if v.again {
		line.WriteString("  duplicate")
	}
	line.WriteByte('\n')
	text := printable(line.String())
	if rc.pretty {
		text += printable(indent(body))
	}
	_, _ = io.WriteString(rc.out, text)
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return ""
	}
	return b.String()
}

// indent is the body as indented JSON, or as it is where it is none.
func indent(body []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, body, "", "  ") != nil {
		b.Reset()
		b.Write(body)
	}
	b.WriteByte('\n')
	return b.String()
}

// printable takes out what could steer a terminal: the sender is not known to be friendly.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}
