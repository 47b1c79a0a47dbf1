package graph

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"canopy/internal/problem"
	"canopy/internal/web"
)

// face is the GraphQL face of a problem (contract, section 7).
func face(ctx context.Context, p *problem.Error) *gqlerror.Error {
	extensions := map[string]any{"code": string(p.Code)}
	if id := web.RequestID(ctx); id != "" {
		extensions["requestId"] = id
	}
	if p.Reason != "" {
		extensions["reason"] = p.Reason
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
func (e *endpoint) present(ctx context.Context, err error) *gqlerror.Error {
	var p *problem.Error
	var own *gqlerror.Error
	isOwn := errors.As(err, &own)
	switch {
	case errors.As(err, &p):
	case isOwn && own.Message == errNotPersisted:
		p = problem.Bad("%s", own.Message).With(errNotPersisted)
	case isOwn:
		p = problem.Bad("%s", own.Message)
	default:
		p = problem.From(err)
	}
	e.logInternal(ctx, p)
	shown := face(ctx, p)
	if isOwn {
		shown.Path, shown.Locations = own.Path, own.Locations
	}
	if shown.Path == nil {
		shown.Path = graphql.GetPath(ctx)
	}
	return shown
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
	return fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
}
