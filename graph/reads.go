package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"canopy/db"
)

// reads says of queries that they write nothing: replicas may answer them. What a mutation or an event shows is read where it was written.
type reads struct{}

var (
	_ graphql.HandlerExtension    = reads{}
	_ graphql.ResponseInterceptor = reads{}
)

func (reads) ExtensionName() string                   { return "Reads" }
func (reads) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptResponse executes an operation.
func (reads) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	if graphql.HasOperationContext(ctx) {
		// What was refused before it was read has no operation.
		if op := graphql.GetOperationContext(ctx).Operation; op != nil && op.Operation == ast.Query {
			ctx = db.Reading(ctx)
		}
	}
	return next(ctx)
}
