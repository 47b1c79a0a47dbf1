package web

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// pacedWriter notes the deadlines that are put on the connection.
type pacedWriter struct {
	*httptest.ResponseRecorder
	deadlines []time.Duration
}

func (w *pacedWriter) SetWriteDeadline(t time.Time) error {
	w.deadlines = append(w.deadlines, time.Until(t))
	return nil
}

// TestEachPieceHasADeadline: a client that stops reading can't hold an answer for ever, whatever it
// is; one that reads slowly has time in proportion to what it is sent.
func TestEachPieceHasADeadline(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter)
		want   []time.Duration
	}{
		"nothing but a head": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusNoContent) }, []time.Duration{patience}},
		"two pieces": {func(w http.ResponseWriter) {
			_, _ = w.Write([]byte("short"))
			_, _ = w.Write([]byte(strings.Repeat("x", 10*slowest)))
		}, []time.Duration{patience, patience + 10*time.Second}},
		"a flush": {func(w http.ResponseWriter) { w.(http.Flusher).Flush() }, []time.Duration{patience}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &pacedWriter{ResponseRecorder: httptest.NewRecorder()}
			Identify(nil)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { c.answer(w) })).
				ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
			if len(w.deadlines) != len(c.want) {
				t.Fatalf("%v, want %v", w.deadlines, c.want)
			}
			for i, d := range w.deadlines {
				if d > c.want[i]+time.Second || d < c.want[i]-10*time.Second {
					t.Errorf("%v, want %v", w.deadlines, c.want)
				}
			}
		})
	}
}

// deafConn is a connection whose other end takes nothing until the deadline.
type deafConn struct {
	net.Conn
	until time.Duration
}

func (c *deafConn) SetWriteDeadline(t time.Time) error { c.until = time.Until(t); return nil }
func (c *deafConn) Write(p []byte) (int, error)        { return len(p), nil }

func TestHijackedConnectionsAreTimedToo(t *testing.T) {
	c := &deafConn{}
	if _, err := (PacedConn{Conn: c}).Write(make([]byte, 2*slowest)); err != nil || c.until < patience-10*time.Second || c.until > patience+3*time.Second {
		t.Errorf("%v %v", err, c.until)
	}
}
