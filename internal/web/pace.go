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

// pacedConn is a connection that was handed over, with the same deadlines.
type pacedConn struct{ net.Conn }

func (c pacedConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(deadline(len(p))); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
