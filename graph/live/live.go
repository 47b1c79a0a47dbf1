// Package live resolves the events of subscriptions.
package live

import (
	"bytes"
	"context"
	"io"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"canopy/internal/access"
	"canopy/resolvers"
)

// ResolveField is graphql.ResolveFieldStream for a subscription that has a listener. What is below an
// event is resolved with the caller's rights of the event's moment, not with those that the
// subscription began with; an event that could not be read is an error without data; and a state that
// says what the one before said is not sent again.
func ResolveField[T any](
	ctx context.Context, oc *graphql.OperationContext, field graphql.CollectedField,
	begin func(context.Context, graphql.CollectedField) (*graphql.FieldContext, error),
	subscribe func(context.Context) (any, error),
	middleware func(context.Context, graphql.Resolver) graphql.Resolver,
	marshal func(context.Context, ast.SelectionSet, *T) graphql.Marshaler,
	recoverFromPanic, nonNull bool,
) func(context.Context) graphql.Marshaler {
	listener := resolvers.ListenerOf(ctx)
	lacking := false // there is no event, though there must be one
	next := graphql.ResolveFieldStream(ctx, oc, field, begin, subscribe, middleware,
		func(ctx context.Context, set ast.SelectionSet, event *T) graphql.Marshaler {
			ctx = graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: "Subscription", Field: field})
			m := graphql.Marshaler(graphql.Null)
			if event == nil {
				oc.Error(ctx, listener.Fault())
			} else {
				m = marshal(access.WithPrincipal(ctx, listener.Caller()), set, event)
			}
			lacking = nonNull && m == graphql.Null
			return m
		}, recoverFromPanic, nonNull)
	if next == nil {
		return nil
	}
	var last []byte
	return func(ctx context.Context) graphql.Marshaler {
		for {
			event := next(ctx)
			if event == nil {
				return nil
			}
			var said bytes.Buffer
			event.MarshalGQL(&said)
			if lacking {
				return graphql.Null
			}
			if listener.OfState() && len(graphql.GetErrors(ctx)) == 0 && bytes.Equal(said.Bytes(), last) {
				continue
			}
			last = said.Bytes()
			return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(last) })
		}
	}
}
