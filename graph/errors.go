package graph

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"canopy/db"
	"canopy/internal/problem"
	"canopy/internal/web"
)

// face is the GraphQL face of a problem; what REST has in its body stands in the extensions.
func face(ctx context.Context, p *problem.Error) *gqlerror.Error {
	extensions := map[string]any{"code": string(p.Code)}
	if id := web.RequestID(ctx); id != "" {
		extensions["requestId"] = id
	}
	if p.Reason != "" {
		extensions["reason"] = p.Reason
	}
	if p.Region != "" {
		extensions["region"] = p.Region
	}
	if l := p.Limit; l != nil {
		extensions["limit"], extensions["max"] = l.Name, l.Max
		if l.Used != nil {
			extensions["used"] = *l.Used
		}
	}
	if len(p.Faults) > 0 {
		extensions["errors"] = p.Faults
	}
	if p.RetryAfter > 0 {
		extensions["retryAfter"] = int((p.RetryAfter + time.Second - 1) / time.Second)
	}
	return &gqlerror.Error{Message: p.Detail, Extensions: extensions}
}

// present gives every error its face. What gqlgen itself says of a document or an argument is safe
// to show; any other error that is no problem of ours is internal, and only the log has its text.
// By the time an error gets here gqlgen has wrapped it, so that its type tells nothing: what gqlgen
// says by itself wraps no cause.
func (e *endpoint) present(ctx context.Context, err error) *gqlerror.Error {
	var p *problem.Error
	var own *gqlerror.Error
	isOwn := errors.As(err, &own)
	switch {
	case introspectionOff(ctx):
		p = problem.Denied("introspection is switched off on this server")
	case errors.As(err, &p):
		refusedFor(ctx, p)
	case isOwn && hasFace(own):
		return own
	case isOwn && own.Err != nil && !readingArguments(ctx):
		p = problem.From(own.Err)
	case isOwn && own.Message == errNotPersisted:
		p = problem.Bad("%s", own.Message).With(errNotPersisted)
	case isOwn && e.options.Introspection:
		p = problem.Bad("%s", hinted(ctx, own))
	case isOwn:
		p = problem.Bad("%s", own.Message)
	default:
		p = problem.From(err)
	}
	if fc := graphql.GetFieldContext(ctx); p.Code == problem.BadRequest && readingArguments(ctx) {
		// What is wrong with a field's arguments is only told to those who may ask for the field.
		if err := mayAsk(ctx, fc.Object, fc.Field.Name); err != nil {
			p = problem.From(err)
		}
	}
	e.logInternal(ctx, p)
	shown := face(ctx, p)
	if errors.Is(p, db.ErrNotThere) {
		shown.Err = db.ErrNotThere // for unmoved
	}
	if isOwn {
		shown.Path, shown.Locations = own.Path, own.Locations
	}
	if shown.Path == nil {
		shown.Path = graphql.GetPath(ctx)
	}
	return shown
}

// hasFace tells an error that face made.
func hasFace(err *gqlerror.Error) bool {
	code, _ := err.Extensions["code"].(string)
	return http.StatusText(problem.New(problem.Code(code), "").Status()) != ""
}

// introspectionOff tells whether the field at hand is one of introspection, where that is switched off.
func introspectionOff(ctx context.Context) bool {
	fc := graphql.GetFieldContext(ctx)
	if fc == nil || fc.Field.Field == nil || fc.Field.Name != "__schema" && fc.Field.Name != "__type" {
		return false
	}
	return graphql.GetOperationContext(ctx).DisableIntrospection
}

// readingArguments tells whether gqlgen was still reading the field's arguments: those of a field
// that has any are nil until then.
func readingArguments(ctx context.Context) bool {
	fc := graphql.GetFieldContext(ctx)
	return fc != nil && fc.Args == nil && fc.Field.Field != nil && fc.Field.Definition != nil && len(fc.Field.Definition.Arguments) > 0
}

func (e *endpoint) logInternal(ctx context.Context, p *problem.Error) {
	switch p.Code {
	case problem.Internal:
		e.options.Log.ErrorContext(ctx, "internal error", "requestId", web.RequestID(ctx), "error", p)
	case problem.Unavailable:
		e.options.Log.WarnContext(ctx, "unavailable", "requestId", web.RequestID(ctx), "error", p)
	}
}

// recovered turns a panic into an internal error.
func (e *endpoint) recovered(ctx context.Context, cause any) error {
	return problem.New(problem.Internal, "internal server error").Because(fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
}
