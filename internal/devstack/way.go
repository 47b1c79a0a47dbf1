package devstack

import (
	"io"
	"net"
	"sync"
)

// Way is a way to a server by TCP that can be made to fail.
type Way struct {
	listener net.Listener
	server   string
	done     sync.WaitGroup

	mu   sync.Mutex
	turn *sync.Cond
	// open are the connections of both sides.
	open map[net.Conn]bool
	// hung: connections are taken, and nothing passes. cut: there are none. left is how many bytes of the server's pass until it is cut, where that is limited.
	hung, cut, limited, closed bool
	left                       int
}

// OpenWay opens a way on loopback to a server's address, until Close.
func OpenWay(server string) (*Way, error) {
	l, err := net.Listen("tcp4", loopback(0))
	if err != nil {
		return nil, err
	}
	w := &Way{listener: l, server: server, open: map[net.Conn]bool{}}
	w.turn = sync.NewCond(&w.mu)
	w.done.Go(w.accept)
	return w, nil
}

// Address is where it begins.
func (w *Way) Address() string { return w.listener.Addr().String() }

// Hang has nothing pass any more, on connections that there are as on new ones, until Mend.
func (w *Way) Hang() { w.change(func() { w.hung = true }) }

// Cut ends all connections, and each new one, until Mend.
func (w *Way) Cut() { w.change(w.end) }

// CutAfter does so once so many bytes more have come from the server.
func (w *Way) CutAfter(bytes int) { w.change(func() { w.limited, w.left = true, bytes }) }

// IsCut tells whether it is cut.
func (w *Way) IsCut() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cut
}

// Mend has all pass that was held back, and whatever comes.
func (w *Way) Mend() { w.change(func() { w.hung, w.cut, w.limited = false, false, false }) }

// Close ends it, with all that goes along it.
func (w *Way) Close() {
	_ = w.listener.Close()
	w.change(func() { w.closed = true; w.end() })
	w.done.Wait()
}

func (w *Way) change(what func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	what()
	w.turn.Broadcast()
}

// end ends all connections by resets, so that nobody reads what is on its way. The lock is held.
func (w *Way) end() {
	w.cut = true
	for c := range w.open {
		_ = c.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
	}
	clear(w.open)
}

func (w *Way) accept() {
	for {
		client, err := w.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", w.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		w.change(func() {
			w.open[client], w.open[server] = true, true
			if w.cut {
				w.end()
			}
		})
		w.done.Go(func() { w.carry(server, client, false) })
		w.done.Go(func() { w.carry(client, server, true) })
	}
}

// carry carries what one side says to the other, until either ends.
func (w *Way) carry(to, from net.Conn, answers bool) {
	b := make([]byte, 4096)
	for {
		n, err := from.Read(b)
		if n > 0 && w.passes(n, answers) {
			_, err = to.Write(b[:n])
		} else if n > 0 {
			err = io.ErrClosedPipe
		}
		if err != nil {
			break
		}
	}
	w.change(func() { delete(w.open, to); delete(w.open, from) })
	_, _ = to.Close(), from.Close()
}

// passes waits while nothing passes, and tells whether something may.
func (w *Way) passes(bytes int, answers bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.hung && !w.cut && !w.closed {
		w.turn.Wait()
	}
	if answers && w.limited {
		if w.left -= bytes; w.left < 0 {
			w.end()
		}
	}
	return !w.cut
}
