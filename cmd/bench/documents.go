package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	canopy "canopy/clients/go"
)

// processTime is the patience with documents on their way.
const processTime = 10 * time.Minute

// stems are common words. Words of the prose are those and compounds of two, so that it has as many
// tokens for its length as English, and a vocabulary of a usual size.
var stems = strings.Fields(`water house light stone river garden winter summer market paper silver golden morning evening
	north south east west under over after before inside outside great small large little young early late
	stone wood glass iron copper cotton bread butter honey sugar salt pepper apple orange lemon cherry
	horse sheep bird fish wolf bear eagle snake flower grass forest mountain valley island ocean harbour
	ship captain sailor soldier farmer teacher doctor writer painter singer driver worker builder hunter
	school church castle bridge tower street corner window door table chair mirror candle clock letter
	story music dance theatre picture colour number question answer reason method system process result
	energy power engine machine wheel road railway station journey travel country village city border
	history science nature culture language people family children mother father brother sister friend
	morning silence freedom justice order peace battle victory danger safety health weather storm rain`)

// words is the vocabulary, in no order.
var words = func() []string {
	list := append([]string{}, stems...)
	for _, a := range stems {
		for _, b := range stems {
			list = append(list, a+b)
		}
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(list)-len(stems), func(i, j int) {
		i, j = i+len(stems), j+len(stems)
		list[i], list[j] = list[j], list[i]
	})
	return list
}()

// prose makes a text of about n bytes, another one for each seed.
func prose(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 3))
	z := rand.NewZipf(r, 1.07, 100, uint64(len(words)-1))
	var b strings.Builder
	b.Grow(n + 16)
	for i := 1; b.Len() < n; i++ {
		b.WriteString(words[z.Uint64()])
		switch {
		case i%120 == 0:
			b.WriteString(".\n\n")
		case i%14 == 0:
			b.WriteString(". ")
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// question makes a prompt of a few words.
func question(n int) string {
	r := rand.New(rand.NewPCG(uint64(n), 4))
	z := rand.NewZipf(r, 1.07, 100, uint64(len(words)-1))
	list := make([]string, 6)
	for i := range list {
		list[i] = words[z.Uint64()]
	}
	return strings.Join(list, " ")
}

// desk calls the assistant.
type desk struct {
	*canopy.Client
	ctx context.Context
}

func (d *desk) newContext(name string) (int64, error) {
	var made struct{ ID int64 }
	err := d.Call(d.ctx, http.MethodPost, "/context", map[string]any{
		"name": name, "description": "", "caption": "", "toolsJson": "[]", "starterPrompts": []string{},
	}, &made)
	return made.ID, err
}

func (d *desk) upload(contextID int64, name string, content []byte) error {
	return d.Upload(d.ctx, contextID, name, bytes.NewReader(content))
}

// settle waits until all documents of a context are ready, and counts their chunks.
func (d *desk) settle(contextID int64) (chunks int, err error) {
	for begin := time.Now(); time.Since(begin) < processTime; time.Sleep(10 * time.Millisecond) {
		var list []struct {
			Status, OriginalName string
			Error                *string
			Chunks               int
		}
		if err := d.Call(d.ctx, http.MethodGet, fmt.Sprintf("/context/documents/%d", contextID), nil, &list); err != nil {
			return 0, err
		}
		open := 0
		chunks = 0
		for _, x := range list {
			if x.Status == "failed" {
				return 0, fmt.Errorf("%s failed: %s", x.OriginalName, *x.Error)
			}
			if x.Status != "ready" {
				open++
			}
			chunks += x.Chunks
		}
		if open == 0 {
			return chunks, nil
		}
	}
	return 0, errors.New("the documents do not get ready")
}

func search(contextID int64) call {
	path := fmt.Sprintf("/context/relevant-docs/%d", contextID)
	return call{method: http.MethodPost, contentType: "application/json", vary: func(n int) (string, string) {
		return path, fmt.Sprintf(`{"prompt":%q}`, question(n))
	}}
}

// pdf makes a document of pages of text, by ISO 32000-1 as far as it takes.
func pdf(pages int) []byte {
	var b bytes.Buffer
	var at []int
	object := func(format string, args ...any) {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n"+format+"\nendobj\n", append([]any{len(at)}, args...)...)
	}
	b.WriteString("%PDF-1.4\n")
	object("<< /Type /Catalog /Pages 2 0 R >>")
	var kids strings.Builder
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 4+2*i)
	}
	object("<< /Type /Pages /Count %d /Kids [ %s] >>", pages, kids.String())
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	for i := range pages {
		object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> >>", 5+2*i)
		var text strings.Builder
		text.WriteString("BT /F1 10 Tf 12 TL 40 800 Td\n")
		line := prose(uint64(i), 3000)
		for len(line) > 90 {
			fmt.Fprintf(&text, "(%s) Tj T*\n", strings.ReplaceAll(line[:90], "\n", " "))
			line = line[90:]
		}
		text.WriteString("ET")
		object("<< /Length %d >>\nstream\n%s\nendstream", text.Len(), text.String())
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, start)
	return b.Bytes()
}
