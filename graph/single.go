package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// singleField refuses a subscription that asks for none or several fields (GraphQL's specification, section
// 5.2.3.1). Validation, which comes before the variables, lets through one field under two names, and one that
// @skip or @include takes away.
type singleField struct{}

var (
	_ graphql.HandlerExtension        = singleField{}
	_ graphql.OperationContextMutator = singleField{}
)

func (singleField) ExtensionName() string                   { return "SingleField" }
func (singleField) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationContext counts the fields as they will be executed.
func (singleField) MutateOperationContext(_ context.Context, oc *graphql.OperationContext) *gqlerror.Error {
	if oc.Operation.Operation != ast.Subscription {
		return nil
	}
	if n := len(graphql.CollectFields(oc, oc.Operation.SelectionSet, []string{rootTypes[ast.Subscription]})); n != 1 {
		return gqlerror.ErrorPosf(oc.Operation.Position, "a subscription must ask for exactly one field, and this asks for %d", n)
	}
	return nil
}
