package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"canopy/internal/access"
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
	if resp == nil {
		return resp
	}
	var moved *problem.Error
	for i, e := range resp.Errors {
		code, _ := e.Extensions["code"].(string)
		switch problem.Code(code) {
		case problem.Forbidden, problem.NotFound, problem.Internal:
		default:
			continue
		}
		if moved == nil {
			p := access.PrincipalOf(ctx)
			if p == nil {
				return resp
			}
			if moved = problem.From(u.resolver.Store.Stands(ctx, p.Scope())); moved == nil {
				return resp
			}
		}
		told := face(ctx, moved)
		told.Path, told.Locations = e.Path, e.Locations
		resp.Errors[i] = told
	}
	return resp
}
