package graph

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"canopy/internal/web"
	"canopy/resolvers"
)

// stream answers an operation by server-sent events. A stream that ends with "complete" is over: what
// ended a subscription before its time is the result before. A stream that the server cuts off when it
// stops has no end, so that the client comes back.
func stream(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor, oc *graphql.OperationContext) {
	ctx, listener := resolvers.Listen(graphql.WithOperationContext(r.Context(), oc))
	if oc.Operation.Operation == ast.Subscription {
		var cancel context.CancelFunc
		ctx, cancel = web.Stream(ctx)
		defer cancel()
	}
	s := openEvents(w)
	defer s.close()
	defer func() {
		if cause := recover(); cause != nil {
			s.next(exec.DispatchError(ctx, gqlerror.List{gqlerror.Wrap(oc.Recover(ctx, cause))}))
		}
	}()
	next, ctx := exec.DispatchOperation(ctx, oc)
	for resp := next(ctx); resp != nil; resp = next(ctx) {
		if !s.next(resp) {
			return
		}
	}
	switch err := listener.End(); {
	case errors.Is(context.Cause(ctx), web.ErrShutdown):
		s.retry()
		return
	case err != nil:
		s.next(exec.DispatchError(ctx, gqlerror.List{gqlerror.Wrap(err)}))
	}
	s.complete()
}

// eventStream is an answer of server-sent events, in the distinct connections mode of GraphQL over SSE
// (https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md): an event "next" for each result,
// and "complete" after the last.
type eventStream struct {
	mu    sync.Mutex
	w     http.ResponseWriter
	quiet *time.Timer
}

// openEvents begins a stream, which is to be closed before the handler returns.
func openEvents(w http.ResponseWriter) *eventStream {
	s := &eventStream{w: w}
	w.Header().Set("Content-Type", typeEvents)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // for proxies that would wait for more
	w.Header().Set("X-Content-Type-Options", "nosniff")
	s.quiet = time.AfterFunc(keepAlive, func() { s.send(":\n\n") })
	s.retry()
	return s
}

// send writes what a client is to have at once, and tells whether it is still there.
func (s *eventStream) send(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w == nil {
		return false
	}
	s.quiet.Reset(keepAlive)
	_, err := io.WriteString(s.w, text)
	return errors.Join(err, http.NewResponseController(s.w).Flush()) == nil
}

// retry says how long to wait, in milliseconds, before coming back when the stream breaks off:
// differently long, so that those who lose a server together don't come back together.
func (s *eventStream) retry() {
	s.send("retry: " + strconv.Itoa(1000+rand.IntN(4000)) + "\n\n")
}

// next sends a result, which goes on one line: in JSON a line break is nothing but space.
func (s *eventStream) next(resp *graphql.Response) bool {
	body, _ := encode(resp)
	return s.send("event: next\ndata: " + strings.ReplaceAll(string(body), "\n", " ") + "\n\n")
}

// complete has data, without which a browser's EventSource would not tell of it.
func (s *eventStream) complete() { s.send("event: complete\ndata:\n\n") }

func (s *eventStream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quiet.Stop()
	s.w = nil
}
