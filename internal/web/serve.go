package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
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
// themselves, so they are told (see Stream). What is left after the drain deadline is cut off, and
// told by an error that wraps context.DeadlineExceeded. nil means that all were finished; any other
// error is the listener's.
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
	base, cut := context.WithCancelCause(context.WithValue(context.WithoutCancel(ctx), stoppingKey{}, ctx))
	defer cut(ErrShutdown)
	d := &drainer{next: h}
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
	next    http.Handler
	running sync.WaitGroup
}

func (d *drainer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.running.Add(1)
	defer d.running.Done()
	d.next.ServeHTTP(w, r)
}

// stoppingKey is where the context that a server serves until is in those of its requests.
type stoppingKey struct{}

// Stream gives an answer that never ends by itself the context to live in: it is cancelled with the
// request, and with the cause ErrShutdown as soon as the server stops. The caller ends it.
func Stream(ctx context.Context) (context.Context, context.CancelFunc) {
	streaming, cancel := context.WithCancelCause(ctx)
	stopping, ok := ctx.Value(stoppingKey{}).(context.Context)
	if !ok {
		stopping = context.Background()
	}
	forget := context.AfterFunc(stopping, func() { cancel(ErrShutdown) })
	return streaming, func() {
		forget()
		cancel(nil)
	}
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
