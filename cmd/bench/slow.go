package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	slowConnections = 5_000
	// slowPause is between the bytes that a slow client sends.
	slowPause = 5 * time.Second
	// slowLife is how long a slow client may hold its connection.
	slowLife = time.Minute
)

// crowd is many clients that send next to nothing.
type crowd struct {
	mu    sync.Mutex
	conns []net.Conn
	open  atomic.Int64
	begun time.Time
}

// slow measures a good client beside a crowd of slow ones, and what is left of the crowd after a minute.
func (b *bencher) slow() ([]row, error) {
	const name = "slow connections: 5000, beside GET /tenant/{cid} on 4"
	if !strings.Contains(name, b.o.only) {
		return nil, nil
	}
	good := call{method: "GET", path: fmt.Sprintf("/tenant/%d", b.wide+1)}
	alone := b.measure(b.lab.platform, 4, good)
	ctx, stop := context.WithTimeout(b.ctx, 2*slowLife)
	defer stop()
	c, err := b.gather(ctx)
	defer c.leave()
	if err != nil {
		return nil, err
	}
	beside := b.measure(b.lab.platform, 4, good)
	memory := b.lab.platform.rss()
	select {
	case <-time.After(time.Until(c.begun.Add(slowLife))):
	case <-ctx.Done():
	}
	return []row{
		{
			name: name, figure: fmt.Sprintf("%.0f/s, p99 %s, RSS %s", beside.rate, ms(beside.p99), mib(memory)), wanted: "p99 < 50 ms",
			reference: fmt.Sprintf("%.0f/s, p99 %s", alone.rate, ms(alone.p99)), ratio: fmt.Sprintf("%.2f", beside.rate/alone.rate),
		},
		{name: "slow connections: left after a minute", figure: fmt.Sprint(c.open.Load()), wanted: "0"},
	}, nil
}

// gather opens the connections: each sends the beginning of a request, and then a byte now and then.
func (b *bencher) gather(ctx context.Context) (*crowd, error) {
	token := "Authorization: Bearer " + b.token + "\r\n"
	const body = "Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
	kinds := []string{
		"",
		"GET /healthz HTTP/1.1\r\nX-A: ",
		"GET /healthz HTTP/1.1\r\nHost: x\r\n" + body,
		"POST /connect/token HTTP/1.1\r\nHost: x\r\n" + strings.Replace(body, "json", "x-www-form-urlencoded", 1),
		"POST /tenant/customer HTTP/1.1\r\nHost: x\r\n" + body,
		"POST /tenant/customer HTTP/1.1\r\nHost: x\r\n" + token + body,
		"POST /graphql HTTP/1.1\r\nHost: x\r\n" + body,
		"POST /graphql HTTP/1.1\r\nHost: x\r\n" + token + body,
	}
	c := &crowd{begun: time.Now()}
	var dialer net.Dialer
	for i := range slowConnections {
		conn, err := dialer.DialContext(ctx, "tcp", strings.TrimPrefix(b.lab.platform.url, "http://"))
		if err != nil {
			return c, fmt.Errorf("connection %d (the limit of open files must allow %d): %w", i, 2*slowConnections, err)
		}
		c.mu.Lock()
		c.conns = append(c.conns, conn)
		c.mu.Unlock()
		c.open.Add(1)
		go c.hold(conn, kinds[i%len(kinds)])
	}
	go c.drip(ctx)
	return c, nil
}

// hold sends the beginning and waits for the end of the connection.
func (c *crowd) hold(conn net.Conn, begin string) {
	defer c.open.Add(-1)
	_, _ = io.WriteString(conn, begin) // its end shows below
	_, _ = io.Copy(io.Discard, conn)   // whatever ends it
}

// drip sends a byte on each connection now and then; it does not matter where it can't be.
func (c *crowd) drip(ctx context.Context) {
	tick := time.NewTicker(slowPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			c.each(func(conn net.Conn) { _, _ = io.WriteString(conn, "x") })
		}
	}
}

func (c *crowd) leave() { c.each(func(conn net.Conn) { _ = conn.Close() }) }

func (c *crowd) each(do func(net.Conn)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		do(conn)
	}
}
