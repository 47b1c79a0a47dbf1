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
	// streamPatience is that for streams. Whoever passes one on to somebody slow, as a balancer does or another cell, takes nothing for a while, until much of what it has in its
	// buffers is taken (RFC 9293, section 3.8.6.2.2): it is not the end of those who go on reading. Nobody else waits for what a stream holds.
	streamPatience = 2 * time.Minute
	// slowest is in bytes a second.
	slowest = 32 << 10
)

// deadline is when a piece of n bytes must have been taken.
func deadline(n int, patience time.Duration) time.Time {
	return time.Now().Add(patience + time.Duration(n)*time.Second/slowest)
}

// hurry gives the client the time for n bytes.
func (e *exchange) hurry(n int) {
	patience := patience
	if e.streams() {
		patience = streamPatience
	}
	_ = http.NewResponseController(e.ResponseWriter).SetWriteDeadline(deadline(n, patience)) // not supported: there is no connection
}

// PacedConn is a connection that was handed over, or one to somebody else, with the same deadlines.
type PacedConn struct {
	net.Conn
	patience time.Duration
}

// PaceTo gives a connection to somebody else the deadlines of pieces. It holds no more in its buffers than its other end does: what that is told of the pace of whoever reads from here is then no
// older than its own deadlines.
func PaceTo(conn net.Conn) PacedConn {
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.SetReadBuffer(sendBuffer) // a bound that can't be set is the kernel's
	}
	return PacedConn{conn, patience}
}

// Write implements io.Writer.
func (c PacedConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(deadline(len(p), c.patience)); err != nil {
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
