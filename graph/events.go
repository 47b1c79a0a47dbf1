package graph

import (
	"context"
	"errors"
	"net/http"
	"strings"

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
	defer s.Close()
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
		s.Retry()
		return
	case err != nil:
		s.next(exec.DispatchError(ctx, gqlerror.List{gqlerror.Wrap(err)}))
	}
	s.complete()
}

// eventStream is an answer of server-sent events, in the distinct connections mode of GraphQL over SSE
// (https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md): an event "next" for each result,
// and "complete" after the last.
type eventStream struct{ *web.Events }

// openEvents begins a stream, which is to be closed before the handler returns.
func openEvents(w http.ResponseWriter) eventStream {
	s := eventStream{web.OpenEvents(w)}
	s.Retry()
	return s
}

// next sends a result, which goes on one line: in JSON a line break is nothing but space.
func (s eventStream) next(resp *graphql.Response) bool {
	body, _ := encode(nil, resp)
	return s.Send("next", strings.ReplaceAll(string(body), "\n", " "))
}

// complete has data, without which a browser's EventSource would not tell of it.
func (s eventStream) complete() { s.Send("complete", "") }
