package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// exchange is one request with its answer: what the middlewares note of it. It is the wrapped
// ResponseWriter too, so that the whole chain costs one of them.
type exchange struct {
	http.ResponseWriter
	id, address string
	agent       string
	pattern     string
	status      int
	bytes       int64
	hijacked    bool
	told        told
	uncounted   atomic.Bool
}

type exchangeKey struct{}

// observe gives the exchange of a request, and begins it where no outer middleware did.
func observe(w http.ResponseWriter, r *http.Request) (*exchange, http.ResponseWriter, *http.Request) {
	if e := exchangeOf(r.Context()); e != nil {
		return e, w, r
	}
	return observeIn(r.Context(), w, r)
}

// observeIn begins the exchange of a request that goes on in a context below its own.
func observeIn(ctx context.Context, w http.ResponseWriter, r *http.Request) (*exchange, http.ResponseWriter, *http.Request) {
	e := &exchange{ResponseWriter: w}
	return e, e, r.WithContext(context.WithValue(ctx, exchangeKey{}, e))
}

func exchangeOf(ctx context.Context) *exchange {
	e, _ := ctx.Value(exchangeKey{}).(*exchange)
	return e
}

// TellRate sets the headers of a limit of requests in a minute in the answer to the request of a context, as
// draft-ietf-httpapi-ratelimit-headers has them. It does nothing outside of one, and when the answer has begun.
func TellRate(ctx context.Context, policy string, most, left int, reset time.Duration) {
	e := exchangeOf(ctx)
	if e == nil || e.status != 0 || e.hijacked {
		return
	}
	e.Header().Add("RateLimit-Policy", fmt.Sprintf("%q;q=%d;w=60", policy, most))
	e.Header().Add("RateLimit", fmt.Sprintf("%q;r=%d;t=%d", policy, left, int(reset/time.Second)))
}

// TellsRate tells whether a header, by its canonical name, is one that tells of limits.
func TellsRate(name string) bool { return strings.HasPrefix(name, "Ratelimit") }

// WriteHeader notes the status. Informational answers (RFC 9110, section 15.2) other than
// 101 Switching Protocols are not the answer yet.
func (e *exchange) WriteHeader(status int) {
	if e.status == 0 && (status >= http.StatusOK || status == http.StatusSwitchingProtocols) {
		e.status = status
	}
	e.hurry(0)
	e.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes of the body.
func (e *exchange) Write(p []byte) (int, error) {
	e.begin()
	e.hurry(len(p))
	n, err := e.ResponseWriter.Write(p)
	e.bytes += int64(n)
	return n, err
}

// Flush sends what is buffered.
func (e *exchange) Flush() { _ = e.FlushError() }

// FlushError is Flush for http.ResponseController.
func (e *exchange) FlushError() error {
	e.begin()
	e.hurry(0)
	return http.NewResponseController(e.ResponseWriter).Flush()
}

// Hijack hands over the connection; the error is http.ErrNotSupported where that can't be.
func (e *exchange) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buf, err := http.NewResponseController(e.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	e.hijacked = true
	if e.status == 0 {
		e.status = http.StatusSwitchingProtocols
	}
	return PacedConn{conn, streamPatience}, buf, nil
}

// Unwrap lets http.ResponseController reach the deadlines of the connection.
func (e *exchange) Unwrap() http.ResponseWriter { return e.ResponseWriter }

func (e *exchange) begin() {
	if e.status == 0 {
		e.status = http.StatusOK
	}
}

// statusGone is what is noted of a request that its client gave up before there was an answer; nginx has the number for it.
const statusGone = 499

// noted is the status for logs, metrics and traces. A client that has gone makes what was under way fail, which is no failure of the platform.
func (e *exchange) noted(r *http.Request) int {
	if e.status == http.StatusServiceUnavailable && errors.Is(r.Context().Err(), context.Canceled) {
		return statusGone
	}
	return e.status
}

// streams tells whether the answer lives as long as its subscriber: its duration is no measure of
// the server.
func (e *exchange) streams() bool {
	return e.hijacked || strings.HasPrefix(e.Header().Get("Content-Type"), "text/event-stream")
}

// route is the path of the pattern that matched the request, without method and host; empty where
// none did.
func (e *exchange) route(r *http.Request) string {
	pattern := e.pattern
	if pattern == "" {
		pattern = r.Pattern
	}
	if i := strings.IndexByte(pattern, '/'); i >= 0 {
		return pattern[i:]
	}
	return ""
}

// Routed makes the matched pattern of a ServeMux known to the middlewares around it, also where
// the request is copied on the way (http.Request.WithContext) and they can't see it themselves.
func Routed(mux http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if e := exchangeOf(r.Context()); e != nil {
			defer func() { e.pattern = r.Pattern }()
		}
		mux.ServeHTTP(w, r)
	})
}
