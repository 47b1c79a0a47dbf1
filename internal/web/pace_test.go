package web

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"canopy/internal/devstack/devtest"
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
		"a stream": {func(w http.ResponseWriter) {
			e := OpenEvents(w)
			defer e.Close()
			e.Send("next", strings.Repeat("x", 10*slowest))
		}, []time.Duration{streamPatience, streamPatience, streamPatience + 10*time.Second, streamPatience}},
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
	for conn, want := range map[PacedConn]time.Duration{PaceTo(c): patience, {c, streamPatience}: streamPatience} {
		if _, err := conn.Write(make([]byte, 2*slowest)); err != nil || c.until < want-10*time.Second || c.until > want+3*time.Second {
			t.Errorf("%v %v", err, c.until)
		}
	}
}

// TestLittleIsHeldForSlowReaders: whoever passes on what it is sent to somebody slow holds little of it, so that it takes something again soon.
func TestLittleIsHeldForSlowReaders(t *testing.T) {
	ln := devtest.Must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	defer func() { _ = ln.Close() }()
	reader := PaceTo(devtest.Must[net.Conn](t)(net.Dial("tcp", ln.Addr().String())))
	defer func() { _ = reader.Close() }()
	writer := devtest.Must[net.Conn](t)(ln.Accept())
	defer func() { _ = writer.Close() }()
	withSendBuffer(t.Context(), writer)
	piece := make([]byte, 12<<10)
	write := func(within time.Duration) (all int) {
		devtest.Check(t, writer.SetWriteDeadline(time.Now().Add(within)))
		for {
			n, err := writer.Write(piece)
			all += n
			if err != nil {
				return all
			}
		}
	}
	var reading sync.WaitGroup
	devtest.Check(t, reader.SetReadDeadline(time.Now().Add(400*time.Millisecond))) // it is quick, by which buffers of the kernel's own grow, and then takes nothing
	reading.Go(func() { _, _ = io.Copy(io.Discard, reader.Conn) })
	write(300 * time.Millisecond)
	reading.Wait()
	if n := write(time.Second); n > 1<<20 {
		t.Errorf("%d bytes are held", n)
	}
}
