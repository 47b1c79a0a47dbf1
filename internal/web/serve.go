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
	defaultFinish     = 20 * time.Second
)

// ErrShutdown is the cause (context.Cause) of a stream's end when the server stops.
var ErrShutdown = errors.New("the server is shutting down")

// ServeOptions are the settings of Serve; the zero value is fit for use.
type ServeOptions struct {
	// Drain is how long requests are taken on after the context is done. Meanwhile readiness says no
	// (see Ending), so that balancers look elsewhere before anything is refused.
	Drain time.Duration
	// Finish is how long requests in flight may go on after that; 20 s where 0.
	Finish time.Duration
	// Log takes what net/http has to say of broken connections; slog.Default() where nil.
	Log *slog.Logger
}

// Serve answers requests on the listener until the context is done, and then shuts down. For the
// time of Drain all goes on, but each answer closes its connection, idle connections stay open, as
// the next request may be under way on them, and Ending tells. After that new connections are
// refused, and requests in flight are finished. Streams never finish by themselves, so the contexts
// of those that ask for one (an Upgrade, or Accept: text/event-stream) are cancelled then, with the
// cause ErrShutdown. What is left after Finish is cut off, and told by an error that wraps
// context.DeadlineExceeded. nil means that all were finished; any other error is the listener's.
//
// There is no limit to the time of a whole request or answer, since both may stream: what is
// bounded is the time that a client takes to accept a piece of an answer, by the middlewares.
func Serve(ctx context.Context, ln net.Listener, h http.Handler, o ServeOptions) error {
	if o.Finish <= 0 {
		o.Finish = defaultFinish
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	base, cut := context.WithCancelCause(context.WithValue(context.WithoutCancel(ctx), endingKey{}, ctx))
	defer cut(ErrShutdown)
	closing, closeDoor := context.WithCancel(base)
	defer closeDoor()
	d := &drainer{next: h, ending: ctx, closing: closing}
	srv := newServer(base, d, o.Log)
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	for _, over := range []<-chan struct{}{ctx.Done(), after(ctx, o.Drain)} {
		select {
		case err := <-failed:
			_ = srv.Close()
			return fmt.Errorf("serving %s: %w", ln.Addr(), err)
		case <-over:
		}
	}
	closeDoor()
	finish, cancel := context.WithTimeout(base, o.Finish)
	defer cancel()
	err := srv.Shutdown(finish)
	if err == nil {
		err = d.wait(finish)
	}
	if err != nil {
		cut(ErrShutdown)
		_ = srv.Close()
		return fmt.Errorf("requests were cut off after %v: %w", o.Finish, err)
	}
	return nil
}

func newServer(base context.Context, h http.Handler, log *slog.Logger) *http.Server {
	srv := &http.Server{
		Handler: h, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		WriteTimeout: patience, // begun anew with each piece that the middlewares see
		BaseContext:  func(net.Listener) context.Context { return base },
		ErrorLog:     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		Protocols:    new(http.Protocols),
	}
	srv.Protocols.SetHTTP1(true)
	return srv
}

// after is closed so long after the context is done.
func after(ctx context.Context, d time.Duration) <-chan struct{} {
	over := make(chan struct{})
	context.AfterFunc(ctx, func() { time.AfterFunc(d, func() { close(over) }) })
	return over
}

type endingKey struct{}

// Ending tells whether the server that takes care of a request has been told to stop.
func Ending(ctx context.Context) bool {
	ending, ok := ctx.Value(endingKey{}).(context.Context)
	return ok && ending.Err() != nil
}

// drainer counts running handlers. http.Server.Shutdown forgets hijacked connections; their
// handlers (WebSockets) still run, and are waited for here.
type drainer struct {
	next http.Handler
	// The life of the server, not of a request: ending ends when it is told to stop, closing when it
	// takes no more.
	ending, closing context.Context
	running         sync.WaitGroup
}

func (d *drainer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.running.Add(1)
	defer d.running.Done()
	if d.ending.Err() != nil && r.Header.Get("Upgrade") == "" {
		w.Header().Set("Connection", "close")
	}
	if !asksForStream(r) {
		d.next.ServeHTTP(w, r)
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(d.closing, func() { cancel(ErrShutdown) })()
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
