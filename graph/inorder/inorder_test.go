package inorder_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"canopy/graph/inorder"
)

func newContext(t testing.TB) context.Context {
	t.Helper()
	return graphql.WithResponseContext(t.Context(), graphql.DefaultErrorPresenter,
		func(_ context.Context, panicked any) error { return fmt.Errorf("panic: %v", panicked) })
}

func text(m graphql.Marshaler) string {
	var b bytes.Buffer
	m.MarshalGQL(&b)
	return b.String()
}

// element is what generated code does for one: its own field context, and a null or an error.
func element(ctx context.Context, i int) graphql.Marshaler {
	switch i {
	case 3:
		graphql.AddError(ctx, errors.New("three"))
		return graphql.Null
	default:
		return graphql.MarshalInt(*graphql.GetFieldContext(ctx).Index)
	}
}

func TestMarshalSliceIsGqlgensInOrder(t *testing.T) {
	for _, length := range []int{0, 1, 2, 5} {
		t.Run(fmt.Sprint(length), func(t *testing.T) {
			ours, theirs := newContext(t), newContext(t)
			got := inorder.MarshalSlice(ours, length, element)
			want := graphql.MarshalSliceConcurrently(theirs, length, 0, false, element)
			if text(got) != text(want) {
				t.Errorf("%s, want %s", text(got), text(want))
			}
			if g, w := graphql.GetErrors(ours), graphql.GetErrors(theirs); !slices.EqualFunc(g, w, same) {
				t.Errorf("errors %v, want %v", g, w)
			}
		})
	}
}

func same(a, b *gqlerror.Error) bool {
	return a.Message == b.Message && a.Path.String() == b.Path.String()
}

func TestElementsAreResolvedInOrder(t *testing.T) {
	var order []int
	inorder.MarshalSlice(newContext(t), 20, func(_ context.Context, i int) graphql.Marshaler {
		order = append(order, i)
		return graphql.Null
	})
	if len(order) != 20 || !slices.IsSorted(order) {
		t.Errorf("resolved in the order %v", order)
	}
}

func TestPanicMakesTheListNull(t *testing.T) {
	ctx := newContext(t)
	list := inorder.MarshalSlice(ctx, 4, func(_ context.Context, i int) graphql.Marshaler {
		if i == 2 {
			panic("two")
		}
		return graphql.MarshalInt(i)
	})
	errs := graphql.GetErrors(ctx)
	if list != nil || len(errs) != 1 || errs[0].Message != "panic: two" || errs[0].Path.String() != "[2]" {
		t.Errorf("list %v, errors %v", list, errs)
	}
}

func BenchmarkMarshalSlice(b *testing.B) {
	for name, marshal := range map[string]func(context.Context) graphql.Array{
		"in order": func(ctx context.Context) graphql.Array { return inorder.MarshalSlice(ctx, 100, element) },
		"concurrently": func(ctx context.Context) graphql.Array {
			return graphql.MarshalSliceConcurrently(ctx, 100, 0, false, element)
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				marshal(newContext(b))
			}
		})
	}
}

// TestResolveFieldIsGqlgens: a value, nothing, an error and a panic come out as by gqlgen, with the same errors.
func TestResolveFieldIsGqlgens(t *testing.T) {
	field := graphql.CollectedField{Field: &ast.Field{Name: "name", Alias: "alias", Position: &ast.Position{Line: 3, Column: 5}}}
	open := func(context.Context, graphql.CollectedField) (*graphql.FieldContext, error) {
		return &graphql.FieldContext{Object: "Customer", Field: field}, nil
	}
	unread := func(context.Context, graphql.CollectedField) (*graphql.FieldContext, error) {
		return nil, errors.New("an argument is faulty")
	}
	write := func(_ context.Context, _ ast.SelectionSet, s string) graphql.Marshaler {
		return graphql.MarshalString(s)
	}
	for name, resolve := range map[string]func(context.Context) (any, error){
		"a value":  func(context.Context) (any, error) { return "Ada", nil },
		"nothing":  func(context.Context) (any, error) { return nil, nil },
		"an error": func(context.Context) (any, error) { return "Ada", errors.New("no") },
		"a panic":  func(context.Context) (any, error) { panic("oh") },
	} {
		for _, nonNull := range []bool{true, false} {
			for _, open := range []func(context.Context, graphql.CollectedField) (*graphql.FieldContext, error){open, unread} {
				ours, theirs := newContext(t), newContext(t)
				oc := &graphql.OperationContext{
					ResolverMiddleware: func(ctx context.Context, next graphql.Resolver) (any, error) { return next(ctx) },
					RecoverFunc:        func(_ context.Context, panicked any) error { return fmt.Errorf("panic: %v", panicked) },
				}
				got := inorder.ResolveField(ours, oc, field, open, resolve, nil, write, true, nonNull)
				want := graphql.ResolveField(theirs, oc, field, open, resolve, nil, write, true, nonNull)
				if text(got) != text(want) {
					t.Errorf("%s: %s, want %s", name, text(got), text(want))
				}
				if g, w := graphql.GetErrors(ours), graphql.GetErrors(theirs); !slices.EqualFunc(g, w, same) {
					t.Errorf("%s: errors %v, want %v", name, g, w)
				}
			}
		}
	}
}

// TestFieldsAreCollectedOnce: what is collected for a selection and its types is kept apart from all else.
func TestFieldsAreCollectedOnce(t *testing.T) {
	field := func(name string) *ast.Field {
		return &ast.Field{Name: name, Alias: name, ObjectDefinition: &ast.Definition{Name: "Customer"}}
	}
	sel := ast.SelectionSet{field("id"), &ast.InlineFragment{TypeCondition: "User", SelectionSet: ast.SelectionSet{field("email")}}}
	customer, user := []string{"Customer", "Node"}, []string{"User", "Node"}
	oc, c := &graphql.OperationContext{}, &inorder.Collected{}
	for range 2 {
		for _, types := range [][]string{customer, user} {
			for _, of := range []ast.SelectionSet{sel, sel[:1], sel[1:], nil} {
				got, want := c.Fields(oc, of, types), graphql.CollectFields(oc, of, types)
				if !slices.EqualFunc(got, want, func(a, b graphql.CollectedField) bool { return a.Field == b.Field }) {
					t.Errorf("of %v: %v, want %v", types, got, want)
				}
			}
		}
	}
}
