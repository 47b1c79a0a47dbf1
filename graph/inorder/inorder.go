// Package inorder resolves the elements of a list one after the other, and fields without what gqlgen keeps for extensions.
package inorder

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"canopy/internal/telemetry"
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
	elements, indices := make([]within, length), make([]int, length)
	for i := range list {
		indices[i] = i
		elements[i].enter(ctx)
		elements[i].field.Index = &indices[i]
		current = &elements[i]
		list[i] = element(current, i)
	}
	return list
}

// within is the context of a field. What graphql.WithFieldContext makes of two pieces of memory is one here, and what is outside of all
// fields is found at once from within any of them.
type within struct {
	context.Context
	field graphql.FieldContext
}

// enter begins a field in another one, if ctx is of one.
func (w *within) enter(ctx context.Context) {
	if outer, is := ctx.(*within); is {
		w.Context, w.field.Parent = outer.Context, &outer.field
		return
	}
	w.Context, w.field.Parent = ctx, graphql.GetFieldContext(ctx)
}

// Value implements context.Context.
func (w *within) Value(key any) any {
	if key == fieldKey {
		return &w.field
	}
	return w.Context.Value(key)
}

// fieldKey is what graphql finds the context of a field by.
var fieldKey = func() (key any) {
	graphql.GetFieldContext(asked{key: &key})
	return key
}()

// asked is a context that tells what it was asked for.
type asked struct {
	context.Context
	key *any
}

// Value implements context.Context.
func (a asked) Value(key any) any {
	*a.key = key
	return nil
}

// Elsewhere takes fields that can't be resolved here as another cell of the platform has what they are of.
type Elsewhere interface {
	// Take gives what stands for the value of such a field; nil where the error is one as any other.
	Take(ctx context.Context, fc *graphql.FieldContext, of any, nonNull bool, err error) graphql.Marshaler
}

type elsewhereKey struct{}

// WithElsewhere has fields of an operation taken by e.
func WithElsewhere(ctx context.Context, e Elsewhere) context.Context {
	return context.WithValue(ctx, elsewhereKey{}, e)
}

// rowOf refuses what hangs from a row that another cell has; what the row itself tells is known here.
func rowOf(owner any, fc *graphql.FieldContext) error {
	if !fc.IsResolver {
		return nil
	}
	if row, is := owner.(interface{ There() error }); is {
		return row.There()
	}
	return nil
}

// slow is from which time on the resolver of a field has a span of its own.
const slow = time.Millisecond

// started is where the time that a field takes is counted from: that costs half of what it costs to know what time it is.
var started = time.Now()

// timed resolves a field, and tells of it where spans are told and it takes long. What is read from a row by itself takes no time.
func timed(ctx context.Context, fc *graphql.FieldContext, resolve func(context.Context) (any, error)) (any, error) {
	if !telemetry.Living() || !fc.IsMethod && !fc.IsResolver {
		return resolve(ctx)
	}
	begun := time.Since(started)
	value, err := resolve(ctx)
	if took := time.Since(started) - begun; took > slow {
		telemetry.Above(ctx).Took("resolve "+fc.Object+"."+fc.Field.Name, telemetry.Internal, time.Now().Add(-took), took, err)
	}
	return value, err
}

// ResolveField is graphql.ResolveField without the middleware of fields, of which there is none (TestNothingLooksAtFields): what
// is passed to it stays on the stack. open gives the field's context, resolve its value, and marshal writes that; of is the object that it is of, nil for a root.
func ResolveField[T any](
	ctx context.Context, oc *graphql.OperationContext, field graphql.CollectedField,
	open func(context.Context, graphql.CollectedField) (*graphql.FieldContext, error), resolve func(context.Context) (any, error),
	of any, marshal func(context.Context, ast.SelectionSet, T) graphql.Marshaler, _, nonNull bool,
) graphql.Marshaler {
	fc, err := open(ctx, field)
	if err != nil {
		return graphql.Null
	}
	return resolveIn(graphql.WithFieldContext(ctx, fc), fc, oc, field, resolve, of, marshal, nonNull)
}

// ResolveBare is ResolveField for a field without arguments, so that nothing can fail before it is resolved.
func ResolveBare[T any](
	ctx context.Context, oc *graphql.OperationContext, field graphql.CollectedField, fc graphql.FieldContext, resolve func(context.Context) (any, error),
	of any, marshal func(context.Context, ast.SelectionSet, T) graphql.Marshaler, _, nonNull bool,
) graphql.Marshaler {
	w := &within{field: fc}
	w.enter(ctx)
	return resolveIn(w, &w.field, oc, field, resolve, of, marshal, nonNull)
}

func resolveIn[T any](
	ctx context.Context, fc *graphql.FieldContext, oc *graphql.OperationContext, field graphql.CollectedField,
	resolve func(context.Context) (any, error), owner any, marshal func(context.Context, ast.SelectionSet, T) graphql.Marshaler, nonNull bool,
) (ret graphql.Marshaler) {
	defer func() {
		if r := recover(); r != nil {
			oc.Error(ctx, oc.Recover(ctx, r))
			ret = graphql.Null
		}
	}()
	err := rowOf(owner, fc)
	var value any
	if err == nil {
		value, err = timed(ctx, fc, resolve)
	}
	if err != nil {
		if e, ok := ctx.Value(elsewhereKey{}).(Elsewhere); ok {
			if value := e.Take(ctx, fc, owner, nonNull, err); value != nil {
				return value
			}
		}
		oc.Error(ctx, graphql.AddFieldLocationToError(ctx, err))
		return graphql.Null
	}
	of, has := value.(T)
	if !has {
		if nonNull && !graphql.HasFieldError(ctx, fc) {
			graphql.AddErrorf(ctx, "must not be null")
		}
		return graphql.Null
	}
	return marshal(ctx, field.Selections, of)
}
