package inorder_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

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
				want := graphql.ResolveField(theirs, oc, field, open, resolve, nil, write, true, nonNull)
				compare := func(got graphql.Marshaler) {
					t.Helper()
					if text(got) != text(want) {
						t.Errorf("%s: %s, want %s", name, text(got), text(want))
					}
					if g, w := graphql.GetErrors(ours), graphql.GetErrors(theirs); !slices.EqualFunc(g, w, same) {
						t.Errorf("%s: errors %v, want %v", name, g, w)
					}
				}
				compare(inorder.ResolveField(ours, oc, field, open, resolve, nil, write, true, nonNull))
				if fc, err := open(ours, field); err == nil {
					ours = newContext(t)
					compare(inorder.ResolveBare(ours, oc, field, *fc, resolve, nil, write, true, nonNull))
				}
			}
		}
	}
}

type outerKey struct{}

// TestContextsAreGqlgens: within fields and elements, of either kind and in any order, the path is gqlgen's, and what stands outside is found.
func TestContextsAreGqlgens(t *testing.T) {
	named := func(name string) graphql.CollectedField {
		return graphql.CollectedField{Field: &ast.Field{Alias: name}}
	}
	ways := []func(context.Context, string, func(context.Context)){
		func(ctx context.Context, name string, do func(context.Context)) {
			inorder.ResolveBare(ctx, &graphql.OperationContext{}, named(name), graphql.FieldContext{Field: named(name)}, func(context.Context) (any, error) { return "", nil }, nil,
				func(ctx context.Context, _ ast.SelectionSet, _ string) graphql.Marshaler {
					do(ctx)
					return graphql.Null
				}, true, true)
		},
		func(ctx context.Context, name string, do func(context.Context)) {
			do(graphql.WithFieldContext(ctx, &graphql.FieldContext{Field: named(name)}))
		},
		func(ctx context.Context, _ string, do func(context.Context)) {
			inorder.MarshalSlice(ctx, 2, func(ctx context.Context, i int) graphql.Marshaler {
				if i == 1 {
					do(ctx)
				}
				return graphql.Null
			})
		},
		func(ctx context.Context, name string, do func(context.Context)) {
			do(context.WithValue(ctx, outerKey{}, name))
		},
	}
	for n := range 256 {
		var path ast.Path
		said, looked := "outside", false
		var enter func(context.Context, int)
		enter = func(ctx context.Context, depth int) {
			if depth == 4 {
				looked = true
				if got := graphql.GetPath(ctx); got.String() != path.String() || ctx.Value(outerKey{}) != said {
					t.Errorf("in %d at %v, want %v; outside %v, want %s", n, got, path, ctx.Value(outerKey{}), said)
				}
				return
			}
			name, way := fmt.Sprintf("f%d", depth), n>>(2*depth)%4
			switch way {
			case 2:
				path = append(path, ast.PathIndex(1))
			case 3:
				said = name
			default:
				path = append(path, ast.PathName(name))
			}
			ways[way](ctx, name, func(ctx context.Context) { enter(ctx, depth+1) })
		}
		enter(context.WithValue(newContext(t), outerKey{}, said), 0)
		if !looked {
			t.Errorf("%d was not entered", n)
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
	oc, s := &graphql.OperationContext{}, &inorder.Shapes{}
	for range 2 {
		for _, types := range [][]string{customer, user} {
			for _, of := range []ast.SelectionSet{sel, sel[:1], sel[1:], nil} {
				got, want := s.Of(oc, of, types).Fields, graphql.CollectFields(oc, of, types)
				if !slices.EqualFunc(got, want, func(a, b graphql.CollectedField) bool { return a.Field == b.Field }) {
					t.Errorf("of %v: %v, want %v", types, got, want)
				}
			}
		}
	}
}

// shapes has a selection of two members of a role, each of which is asked for twice.
func shapes(t *testing.T, of ast.Operation) (*inorder.Shapes, *inorder.Shape) {
	t.Helper()
	field := func(name, alias string) *ast.Field {
		return &ast.Field{Name: name, Alias: alias, ObjectDefinition: &ast.Definition{Name: "Role"}}
	}
	sel := ast.SelectionSet{field("id", "id"), field("name", "as"), field("id", "id"), field("name", "name")}
	oc, s := &graphql.OperationContext{Operation: &ast.OperationDefinition{Operation: of}}, &inorder.Shapes{}
	return s, s.Of(oc, sel, []string{"Role"})
}

func object(shape *inorder.Shape, id int, name string) *inorder.FieldSet {
	set := inorder.NewFieldSet(shape)
	for i, f := range shape.Fields {
		if set.Values[i] = graphql.MarshalString(name); f.Name == "id" {
			set.Values[i] = graphql.MarshalInt(id)
		}
	}
	return set
}

// TestFieldSetIsGqlgens: objects of any number of members are written as gqlgen writes them.
func TestFieldSetIsGqlgens(t *testing.T) {
	for n := range 12 {
		var sel ast.SelectionSet
		for i := range n {
			name := fmt.Sprintf("field%d", i%7) // some are asked for twice
			sel = append(sel, &ast.Field{Name: name, Alias: name, ObjectDefinition: &ast.Definition{Name: "Role"}})
		}
		shape := (&inorder.Shapes{}).Of(&graphql.OperationContext{}, sel, []string{"Role"})
		ours, theirs := inorder.NewFieldSet(shape), graphql.NewFieldSet(shape.Fields)
		for i := range shape.Fields {
			ours.Values[i], theirs.Values[i] = graphql.MarshalInt(i), graphql.MarshalInt(i)
		}
		if text(ours) != text(theirs) {
			t.Errorf("%d members: %s, want %s", n, text(ours), text(theirs))
		}
	}
}

// TestPlainObjectsAreWrittenOnce: what was written of an object is kept for the next time, and for no other object and no other selection.
func TestPlainObjectsAreWrittenOnce(t *testing.T) {
	plain := map[string]bool{"id": true, "name": true}
	rows := make([]struct{ id, more int }, 200)
	write := func(s *inorder.Shapes, shape *inorder.Shape, fields map[string]bool) (keptOnes int) {
		t.Helper()
		for range 3 {
			for i := range rows {
				at := unsafe.Pointer(&rows[i])
				want := object(shape, i, "Admin")
				got := s.Kept(shape, fields, at)
				if got == nil {
					got = s.Keep(shape, at, want)
				} else {
					keptOnes++
				}
				if text(got) != text(want) {
					t.Fatalf("%s, want %s", text(got), text(want))
				}
				if again := s.Kept(shape, fields, at); again != nil && text(again) != text(want) {
					t.Fatalf("%s, want %s", text(again), text(want))
				}
			}
		}
		return keptOnes
	}
	s, shape := shapes(t, ast.Query)
	if n := write(s, shape, plain); n == 0 {
		t.Error("nothing was kept")
	}
	if n := write(s, shape, plain); n == 0 {
		t.Error("nothing was kept")
	}
	other, of := shapes(t, ast.Query)
	if n := write(other, of, map[string]bool{"id": true}); n > 0 {
		t.Errorf("%d objects were kept with a member that is not plain", n)
	}
	changing, made := shapes(t, ast.Mutation)
	if n := write(changing, made, plain); n > 0 {
		t.Errorf("%d objects of a mutation were kept, which may have been changed meanwhile", n)
	}
}

// TestLongAnswers: an answer that is too long is an error and nothing else, as soon as it is too long.
func TestLongAnswers(t *testing.T) {
	_, shape := shapes(t, ast.Query)
	value := strings.Repeat("x", 1<<20)
	for n, fits := range map[int]bool{10: true, 1 << 20: false} {
		list := make(graphql.Array, n)
		for i := range list {
			list[i] = object(shape, i, value) // its name is asked for twice
			if i > 0 {
				list[i] = list[0]
			}
		}
		ctx := newContext(t)
		got, errs := inorder.Written(ctx, list), graphql.GetErrors(ctx)
		if fits && (len(got) < 2*n<<20 || len(errs) > 0) || !fits && (got != nil || len(errs) != 1) {
			t.Errorf("of %d objects %d bytes are written, with %v", n, len(got), errs)
		}
	}
}

// TestArgumentsAreReadOnce: those of a field of a type are read once in a query, and each time where they are faulty or something may be changed.
func TestArgumentsAreReadOnce(t *testing.T) {
	one, other := &ast.Field{Name: "users"}, &ast.Field{Name: "users"}
	for _, c := range []struct {
		of   ast.Operation
		err  error
		want int
	}{{ast.Query, nil, 3}, {ast.Query, errors.New("faulty"), 6}, {ast.Mutation, nil, 6}} {
		s, oc, reads := &inorder.Shapes{}, &graphql.OperationContext{Operation: &ast.OperationDefinition{Operation: c.of}}, 0
		ask := func(field *ast.Field, of string) {
			first := len(of)
			args, err := s.Args(oc, field, of, func() (map[string]any, error) { reads++; return map[string]any{"first": first}, c.err })
			if !errors.Is(err, c.err) || args["first"] != first {
				t.Errorf("%v, %v", args, err)
			}
		}
		for range 2 {
			ask(one, "User")
			ask(one, "Customer")
			ask(other, "Account")
		}
		if reads != c.want {
			t.Errorf("%s, %v: read %d times, want %d", c.of, c.err, reads, c.want)
		}
	}
}
