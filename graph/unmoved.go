package graph

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"canopy/internal/problem"
	"canopy/resolvers"
)

// unmoved looks at refusals: where the caller's company was moved meanwhile they say nothing, and are told as worth another try.
type unmoved struct{ resolver *resolvers.Resolver }

var (
	_ graphql.HandlerExtension    = unmoved{}
	_ graphql.ResponseInterceptor = unmoved{}
)

func (unmoved) ExtensionName() string                   { return "Unmoved" }
func (unmoved) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptResponse looks once for all refusals of an answer.
func (u unmoved) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	resp := next(ctx)
	if resp == nil || !slices.ContainsFunc(resp.Errors, saysWhere) {
		return resp
	}
	moved := problem.From(u.resolver.Moved(ctx))
	if moved == nil {
		return resp
	}
	for i, e := range resp.Errors {
		if saysWhere(e) {
			resp.Errors[i] = face(ctx, moved)
			resp.Errors[i].Path, resp.Errors[i].Locations = e.Path, e.Locations
		}
	}
	return resp
}

func saysWhere(e *gqlerror.Error) bool {
	code, _ := e.Extensions["code"].(string)
	return resolvers.SaysWhere(problem.Code(code), e)
}
