package pgconn

import (
	"context"
	"net"
	"sync"
	"time"
)

type deadlineDialer struct {
	net.Dialer
	// wait is how long each read and write may take; 0: for as long as the other side is there.
	wait time.Duration
}

func (d deadlineDialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

func (d deadlineDialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

func (d deadlineDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if o, is := ctx.Value(openingKey{}).(*opening); is {
		o.dialled(c)
	}
	if d.wait == 0 {
		return c, nil
	}
	return &deadlineConn{Conn: c, wait: d.wait}, nil
}

// deadlineConn gives every read and write a deadline of its own, none of which is behind the one of all, where that is set.
type deadlineConn struct {
	net.Conn
	wait time.Duration
	// until is the one of all; the driver sets it while it opens the connection, and takes it back then.
	until time.Time
}

// SetDeadline implements net.Conn.
func (c *deadlineConn) SetDeadline(t time.Time) error {
	c.until = t
	return c.Conn.SetDeadline(t)
}

func (c *deadlineConn) next() time.Time {
	at := time.Now().Add(c.wait)
	if !c.until.IsZero() && c.until.Before(at) {
		return c.until
	}
	return at
}

func (c *deadlineConn) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(c.next()); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

func (c *deadlineConn) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(c.next()); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// opening is a connection that is being opened: the driver looks at the context while it dials, and no more when it waits for the server's first words, which one that is frozen never says.
type opening struct {
	mu    sync.Mutex
	conn  net.Conn
	ended bool
}

type openingKey struct{}

// dialled notes the connection that words are waited for on from now on.
func (o *opening) dialled(c net.Conn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.conn = c; o.ended {
		_ = c.Close()
	}
}

// end has whoever waits for words hear that there are none.
func (o *opening) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended = true; o.conn != nil {
		_ = o.conn.Close()
	}
}
