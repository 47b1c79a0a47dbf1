package hop

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"canopy/internal/problem"
)

// lateEnd is a body of so many bytes yet, whose end is looked for once the answer has begun.
type lateEnd struct {
	io.ReadCloser
	left  int
	begun <-chan struct{}
}

func (l *lateEnd) Read(p []byte) (int, error) {
	if l.left == 0 {
		<-l.begun
	}
	n, err := l.ReadCloser.Read(p)
	l.left -= n
	if n > 0 {
		err = nil
	}
	return n, err
}

// beginning tells when an answer has begun.
type beginning struct {
	http.ResponseWriter
	begun func()
}

func (b beginning) Flush() {
	_ = http.NewResponseController(b.ResponseWriter).Flush()
	b.begun()
}

// TestAnswerBeginsBeforeTheBodysEnd: an answer that another cell begins at once is handed on whole, also where it begins before this one has looked for the end of what it has sent.
func TestAnswerBeginsBeforeTheBodysEnd(t *testing.T) {
	const head, rest = "begun, ", "and ended"
	cell := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		_, _ = io.WriteString(w, head)
		_ = http.NewResponseController(w).Flush()
		time.Sleep(100 * time.Millisecond) // by then the other side has looked for the end
		_, _ = io.WriteString(w, rest)
	}))
	defer cell.Close()
	home := cells(t, "", "http://home.example", key)
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := make(chan struct{})
		once := sync.OnceFunc(func() { close(begun) })
		defer once()
		r.Body = &lateEnd{r.Body, int(r.ContentLength), begun}
		home.Pass(beginning{w, once}, r, problem.Place{Region: "eu1", Address: cell.URL}, 0, func(e *problem.Error) { t.Error(e) })
	}))
	defer door.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, door.URL, strings.NewReader(`{"prompt": "words"}`))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if said, err := io.ReadAll(res.Body); err != nil || string(said) != head+rest {
		t.Errorf("%q, %v", said, err)
	}
}
