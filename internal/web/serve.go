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
	goodbye           = time.Second
	// sendBuffer bounds what the kernel takes of an answer before its reader does, in bytes (tcp(7)). By
	// itself it takes megabytes: memory, and work on answers that nobody reads.
	sendBuffer = 128 << 10
)

// DefaultFinish is how long requests in flight may go on when the server stops, unless ServeOptions say otherwise.
const DefaultFinish = 20 * time.Second

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
// refused, and requests in flight are finished. Streams never finish by themselves, so
// they are told then (see Stream). What is left after Finish is cut off: its context ends, and it has a
// second to answer that it was (see goodbye). An error that wraps context.DeadlineExceeded tells of it. nil means that all were finished; any other error is the listener's.
//
// There is no limit to the time of a whole request or answer, since both may stream. What is bounded is
// the time that a client takes to send a head, and a body that nobody reads; to send a piece of a body,
// by whoever reads it; and to accept a piece of an answer, by the middlewares.
func Serve(ctx context.Context, ln net.Listener, h http.Handler, o ServeOptions) error {
	if o.Finish <= 0 {
		o.Finish = DefaultFinish
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	closing, closeDoor := context.WithCancel(context.WithoutCancel(ctx))
	defer closeDoor()
	base, cut := context.WithCancelCause(context.WithValue(context.WithValue(context.WithoutCancel(ctx), endingKey{}, ctx), closingKey{}, closing))
	defer cut(ErrShutdown)
	d := &drainer{next: h, ending: ctx}
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
		d.sayGoodbye(srv)
		return fmt.Errorf("requests were cut off after %v: %w", o.Finish, err)
	}
	return nil
}

func newServer(base context.Context, h http.Handler, log *slog.Logger) *http.Server {
	srv := &http.Server{
		Handler: h, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		WriteTimeout: patience, // begun anew with each piece that the middlewares see
		BaseContext:  func(net.Listener) context.Context { return base },
		ConnContext:  withSendBuffer,
		ErrorLog:     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		Protocols:    new(http.Protocols),
	}
	srv.Protocols.SetHTTP1(true)
	return srv
}

func withSendBuffer(ctx context.Context, conn net.Conn) context.Context {
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.SetWriteBuffer(sendBuffer) // a bound that can't be set is the kernel's
	}
	return ctx
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
	// ending ends when the server is told to stop: its life, not a request's.
	ending  context.Context
	running sync.WaitGroup
}

func (d *drainer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.running.Add(1)
	defer d.running.Done()
	if d.ending.Err() != nil && !AsksForSocket(r) {
		w.Header().Set("Connection", "close")
	}
	defer bodyEnds(w, r)()
	d.next.ServeHTTP(w, r)
}

// closingKey is where the context that ends when a server takes no more is in those of its requests.
type closingKey struct{}

// Stream gives an answer that never ends by itself the context to live in: it is cancelled with the
// request, and with the cause ErrShutdown as soon as the server takes no more. The caller ends it.
func Stream(ctx context.Context) (context.Context, context.CancelFunc) {
	streaming, cancel := context.WithCancelCause(ctx)
	closing, ok := ctx.Value(closingKey{}).(context.Context)
	if !ok {
		closing = context.Background()
	}
	forget := context.AfterFunc(closing, func() { cancel(ErrShutdown) })
	return streaming, func() {
		forget()
		cancel(nil)
	}
}

// sayGoodbye lets requests whose context has ended answer, and closes what is left.
func (d *drainer) sayGoodbye(srv *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), goodbye)
	defer cancel()
	if srv.Shutdown(ctx) == nil {
		_ = d.wait(ctx) // the handlers of what was hijacked: whoever stays is left behind
	}
	_ = srv.Close()
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
