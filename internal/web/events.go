package web

import (
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// quietTime is how long a stream of events says nothing before it says that it is still there.
const quietTime = 15 * time.Second

// Events is an answer of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). It is safe for
// concurrent use.
type Events struct {
	mu    sync.Mutex
	w     http.ResponseWriter
	quiet *time.Timer
}

// OpenEvents begins a stream, which is to be closed before the handler returns.
func OpenEvents(w http.ResponseWriter) *Events {
	e := &Events{w: w}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // for proxies that would wait for more
	w.Header().Set("X-Content-Type-Options", "nosniff")
	e.quiet = time.AfterFunc(quietTime, func() { e.write(":\n\n") })
	e.write("")
	return e
}

// Send sends an event at once, and tells whether the client is still there. A reader has the data as they are, but for
// carriage returns.
func (e *Events) Send(name, data string) bool {
	var s strings.Builder
	s.WriteString("event: " + name + "\n")
	for line := range strings.SplitSeq(strings.ReplaceAll(data, "\r", ""), "\n") {
		if line != "" {
			line = " " + line
		}
		s.WriteString("data:" + line + "\n")
	}
	return e.write(s.String() + "\n")
}

// Retry says how long to wait, in milliseconds, before coming back when the stream breaks off:
// differently long, so that those who lose a server together don't come back together.
func (e *Events) Retry() { e.write("retry: " + strconv.Itoa(1000+rand.IntN(4000)) + "\n\n") }

func (e *Events) write(text string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.w == nil {
		return false
	}
	e.quiet.Reset(quietTime)
	_, err := io.WriteString(e.w, text)
	return errors.Join(err, http.NewResponseController(e.w).Flush()) == nil
}

// Close ends what is sent: nothing is written to the answer any more.
func (e *Events) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.quiet.Stop()
	e.w = nil
}
