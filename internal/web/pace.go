package web

import (
	"net"
	"net/http"
	"time"
)

// A client that stops reading holds memory and perhaps a database connection, so each piece that is
// written to it has a deadline: patience, and the time that the piece takes at slowest.
const (
	patience = 30 * time.Second
	// slowest is in bytes a second.
	slowest = 32 << 10
)

// deadline is when a piece of n bytes must have been taken.
func deadline(n int) time.Time {
	return time.Now().Add(patience + time.Duration(n)*time.Second/slowest)
}

// hurry gives the client the time for n bytes.
func (e *exchange) hurry(n int) {
	_ = http.NewResponseController(e.ResponseWriter).SetWriteDeadline(deadline(n)) // not supported: there is no connection
}

// PacedConn is a connection that was handed over, or one to somebody else, with the same deadlines.
type PacedConn struct{ net.Conn }

// Write implements io.Writer.
func (c PacedConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(deadline(len(p))); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// unread is how long a body may take that nobody reads. net/http reads what is left of it, so that a
// client which sends all before it listens hears the answer, and has no deadline for that. Whoever
// reads a body sets deadlines of its own.
const unread = 10 * time.Second

// bodyEnds sees to it that the request's body, if there is one, holds the connection no longer than
// unread before it is read, and after the answer. It gives what is to be done after the answer.
func bodyEnds(w http.ResponseWriter, r *http.Request) (after func()) {
	if r.Body == nil || r.Body == http.NoBody {
		return func() {}
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		// Nobody reads the body of these, and a stream that answers one lives longer than any deadline
		// for a body: it is answered at once, and the connection ends with the answer.
		w.Header().Set("Connection", "close")
	}
	limit := func() { _ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(unread)) } // not supported: there is no connection
	limit()
	return limit
}
