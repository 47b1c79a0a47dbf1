// Package inorder resolves the elements of a list one after the other.
package inorder

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
)

// MarshalSlice is graphql.MarshalSliceConcurrently without the goroutines: element resolves one
// element in a field context of its own, and a panic in any makes the whole list null.
func MarshalSlice(ctx context.Context, length int, element func(ctx context.Context, i int) graphql.Marshaler) (list graphql.Array) {
	current := ctx
	defer func() {
		if r := recover(); r != nil {
			graphql.AddError(current, graphql.Recover(current, r))
			list = nil
		}
	}()
	list = make(graphql.Array, length)
	// All of them live as long as the list: one piece of memory each, not one for each element.
	fields, indices := make([]graphql.FieldContext, length), make([]int, length)
	for i := range list {
		indices[i] = i
		fields[i].Index = &indices[i]
		current = graphql.WithFieldContext(ctx, &fields[i])
		list[i] = element(current, i)
	}
	return list
}
