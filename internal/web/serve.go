package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
	defaultDrain      = 20 * time.Second
)

// ErrShutdown is the cause (context.Cause) of a stream's end when the server stops.
var ErrShutdown = errors.New("the server is shutting down")

// ServeOptions are the settings of Serve; the zero value is fit for use.
type ServeOptions struct {
	// Drain is how long requests in flight may go on after the context is done; 20 s where 0.
	Drain time.Duration
	// Log takes what net/http has to say of broken connections; slog.Default() where nil.
	Log *slog.Logger
}

// Serve answers requests on the listener until the context is done, and then shuts down: new
// connections are refused at once, and requests in flight are finished. Streams never finish by
// themselves, so the contexts of those that ask for one (an Upgrade, or Accept:
// text/event-stream) are cancelled with the cause ErrShutdown. What is left after the drain
// deadline is cut off, and told by an error that wraps context.DeadlineExceeded. nil means that
// all were finished; any other error is the listener's.
//
// There is no limit to the time of a whole request or answer, since both may stream: what is
// bounded is the time that a client takes to accept a piece of an answer, by the middlewares.
func Serve(ctx context.Context, ln net.Listener, h http.Handler, o ServeOptions) error {
	if o.Drain <= 0 {
		o.Drain = defaultDrain
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	base, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(ErrShutdown)
	d := &drainer{next: h, stopping: ctx}
	srv := &http.Server{
		Handler: d, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		WriteTimeout: patience, // begun anew with each piece that the middlewares see
		BaseContext:  func(net.Listener) context.Context { return base },
		ErrorLog:     slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn),
		Protocols:    new(http.Protocols),
	}
	srv.Protocols.SetHTTP1(true)
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	select {
	case err := <-failed:
		_ = srv.Close()
		return fmt.Errorf("serving %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(base, o.Drain)
	defer cancel()
	err := srv.Shutdown(drain)
	if err == nil {
		err = d.wait(drain)
	}
	if err != nil {
		cut(ErrShutdown)
		_ = srv.Close()
		return fmt.Errorf("requests were cut off after %v: %w", o.Drain, err)
	}
	return nil
}

// drainer counts running handlers. http.Server.Shutdown forgets hijacked connections; their
// handlers (WebSockets) still run, and are waited for here.
type drainer struct {
	next     http.Handler
	stopping context.Context // the life of the server, not of a request
	running  sync.WaitGroup
}

func (d *drainer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.running.Add(1)
	defer d.running.Done()
	if !asksForStream(r) {
		d.next.ServeHTTP(w, r)
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(d.stopping, func() { cancel(ErrShutdown) })()
	d.next.ServeHTTP(w, r.WithContext(ctx))
}

// wait begins after Shutdown, when no handler can start any more.
func (d *drainer) wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		d.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func asksForStream(r *http.Request) bool {
	if r.Header.Get("Upgrade") != "" {
		return true
	}
	for _, accept := range r.Header["Accept"] {
		if strings.Contains(accept, "text/event-stream") {
			return true
		}
	}
	return false
}
