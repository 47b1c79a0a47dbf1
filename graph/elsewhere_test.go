package graph

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"canopy/internal/problem"
)

func TestNulled(t *testing.T) {
	const data = `{"a":{"list":[{"x":1},{"x":[1,2]}],"b":"}"},"c":2}`
	for want, path := range map[string]ast.Path{
		`null`: nil,
		`{"a":{"list":[{"x":1},null],"b":"}"},"c":2}`:           {ast.PathName("a"), ast.PathName("list"), ast.PathIndex(1)},
		`{"a":{"list":[{"x":1},{"x":[null,2]}],"b":"}"},"c":2}`: {ast.PathName("a"), ast.PathName("list"), ast.PathIndex(1), ast.PathName("x"), ast.PathIndex(0)},
		`{"a":null,"c":2}`: {ast.PathName("a")},
		`{"a":{"list":[{"x":1},{"x":[1,2]}],"b":"}"},"c":null}`: {ast.PathName("c")},
		data: {ast.PathName("a"), ast.PathName("none")},
	} {
		if got := string(nulled([]byte(data), path)); got != want {
			t.Errorf("%v: %s, want %s", path, got, want)
		}
	}
	if got := string(nulled([]byte(data), ast.Path{ast.PathName("a"), ast.PathName("list"), ast.PathIndex(2)})); got != data {
		t.Errorf("behind the end of a list: %s", got)
	}
	if got := string(nulled([]byte(`{"a":null}`), ast.Path{ast.PathName("a"), ast.PathName("b")})); got != `{"a":null}` {
		t.Errorf("below null: %s", got)
	}
}

func TestNextEvent(t *testing.T) {
	from := bufio.NewReader(strings.NewReader(":\n\nretry: 1000\n\nevent: next\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\n: alive\n\nevent: complete\ndata: \n\nevent: next\ndata: {"))
	for _, want := range []struct{ event, data string }{{"next", `{"a":1}`}, {"complete", ""}} {
		if event, data, err := nextEvent(from); err != nil || event != want.event || string(data) != want.data {
			t.Errorf("%q %q %v, want %q", event, data, err, want)
		}
	}
	if _, _, err := nextEvent(from); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("what is cut off: %v", err)
	}
}

// TestCompaniesAreAskedForTogether: however many companies of a cell are shown, they are few lists, and each field of the client's stays one of its own.
func TestCompaniesAreAskedForTogether(t *testing.T) {
	one, two := &ast.Field{Alias: "d", Name: "webhookDestinations"}, &ast.Field{Alias: "d", Name: "webhookDestinations"}
	var values []*value
	for i := range 2*listed + 50 {
		for _, f := range []*ast.Field{one, two} {
			values = append(values, &value{byID: true, owner: fmt.Sprint(i), steps: []step{{"Query", graphql.CollectedField{}}, {"Customer", graphql.CollectedField{Field: f}}}})
		}
	}
	root := &part{}
	lead(values)
	if later := root.take(values); len(later) > 0 || len(root.below) != 3 {
		t.Fatalf("%d lists, %d values are left", len(root.below), len(later))
	}
	for i, list := range root.below {
		if len(list.below) != 1 || len(list.below[0].below) != 2 {
			t.Errorf("list %d has %d fields", i, len(list.below[0].below))
		}
	}
	var text strings.Builder
	formatter.NewFormatter(&text, formatter.WithCompacted()).FormatQueryDocument(&ast.QueryDocument{Operations: ast.OperationList{{Operation: ast.Query, SelectionSet: root.root()}}})
	for _, part := range []string{`canopy_c3: customers(first: 50, filter: {ids:["400",`, `v0: webhookDestinations`, `v1: webhookDestinations`, `canopy_owner: id`} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("%s is not in %s", part, text.String())
		}
	}
}

// TestCompaniesOfOtherFields: companies that others are asked for are other lists, and a fragment's field that is joined by others in one place is another one there.
func TestCompaniesOfOtherFields(t *testing.T) {
	id, name := &ast.Field{Alias: "id", Name: "id"}, &ast.Field{Alias: "name", Name: "name"}
	contexts, secrets := &ast.Field{Alias: "contexts", Name: "contexts"}, &ast.Field{Alias: "secrets", Name: "secrets"}
	of := func(owner string, f *ast.Field, below ...ast.Selection) *value {
		return &value{byID: true, owner: owner, steps: []step{{"Query", graphql.CollectedField{}}, {"Customer", graphql.CollectedField{Field: f, Selections: below}}}}
	}
	values := []*value{
		of("1", contexts, id), of("2", contexts, id), of("2", contexts, id, name), of("3", secrets, id), of("4", secrets, id), of("4", contexts, id), of("5", contexts, id), of("5", secrets, id),
	}
	root := &part{}
	lead(values)
	if later := root.take(values); len(later) > 0 {
		t.Fatalf("%d values are left", len(later))
	}
	var text strings.Builder
	formatter.NewFormatter(&text, formatter.WithCompacted()).FormatQueryDocument(&ast.QueryDocument{Operations: ast.OperationList{{Operation: ast.Query, SelectionSet: root.root()}}})
	for _, list := range []string{
		`filter: {ids:["1"]}) { ... on CustomerConnection { canopy_type: __typename nodes { ... on Customer { canopy_type: __typename v0: contexts { id } canopy_owner: id } } } }`,
		`filter: {ids:["2"]}) { ... on CustomerConnection { canopy_type: __typename nodes { ... on Customer { canopy_type: __typename v0: contexts { id } v0_1: contexts { id name } canopy_owner: id } } } }`,
		`filter: {ids:["3"]}) { ... on CustomerConnection { canopy_type: __typename nodes { ... on Customer { canopy_type: __typename v1: secrets { id } canopy_owner: id } } } }`,
		`filter: {ids:["4","5"]}) {`,
	} {
		if got := strings.Join(strings.Fields(text.String()), " "); !strings.Contains(got, list) {
			t.Errorf("%s is not in %s", list, got)
		}
	}
}

// TestNullAmongErrors: an answer that is none of this platform's is told of as one.
func TestNullAmongErrors(t *testing.T) {
	v := &value{steps: []step{{"Query", graphql.CollectedField{Field: &ast.Field{Alias: "a", Name: "a"}}}}}
	root := &part{}
	root.take([]*value{v})
	s := &said{Data: []byte(`{"a":1}`), Errors: gqlerror.List{nil}}
	if err := root.read(s); err != nil || string(s.of(v).raw) != "1" || s.lacks {
		t.Errorf("%v, %+v", err, s)
	}
}

// TestSubscriptionsAreMerged: what several sources tell is told, and nothing once one of them has ended or failed.
func TestSubscriptionsAreMerged(t *testing.T) {
	source := func(said ...string) graphql.ResponseHandler {
		return func(ctx context.Context) *graphql.Response {
			switch {
			case len(said) == 0:
				<-ctx.Done()
				return nil
			case said[0] == "end":
				return nil
			case said[0] == "panic":
				panic(said[0])
			}
			next := &graphql.Response{Data: []byte(said[0])}
			said = said[1:]
			return next
		}
	}
	for name, c := range map[string]struct {
		sources []graphql.ResponseHandler
		want    int
		failed  bool
	}{
		"one ends":  {[]graphql.ResponseHandler{source("1", "2", "end"), source()}, 2, false},
		"one fails": {[]graphql.ResponseHandler{source(), source("1", "panic")}, 2, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			events := merged(c.sources)
			n, failed := 0, false
			for said := events(ctx); said != nil; said = events(ctx) {
				n++
				failed = len(said.Errors) > 0
			}
			if n != c.want || failed != c.failed || events(ctx) != nil {
				t.Errorf("%s: %d events, failed at last: %t", name, n, failed)
			}
		})
	}
}

// TestMoreCellsAreToldOf: what is listened to in some cells ends once another one can have something of it, and says which; not because one is there no more, or nobody knows.
func TestMoreCellsAreToldOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		eu, us := problem.Place{Region: "eu", Address: "http://eu"}, problem.Place{Region: "us", Address: "http://us"}
		answers := [][]problem.Place{{{Region: "eu", Address: "http://elsewhere"}}, {}, nil, {eu, us}}
		begun, looks := time.Now(), 0
		events := changed([]problem.Place{eu}, func(context.Context) ([]problem.Place, error) {
			if looks++; answers[looks-1] == nil {
				return nil, errors.New("the database is away")
			}
			return answers[looks-1], nil
		})
		said := events(ctx)
		if took := time.Since(begun); took != 4*lookAgain || len(said.Errors) != 1 || said.Errors[0].Extensions["code"] != "UNAVAILABLE" || said.Errors[0].Extensions["region"] != "us" {
			t.Errorf("after %v: %v", took, said.Errors)
		}
		if events(ctx) != nil {
			t.Error("it goes on")
		}
		cancel()
		if changed(nil, nil)(ctx) != nil {
			t.Error("it tells nobody something")
		}
	})
}

// TestSilentCellsAreNotHeard: a cell that says nothing for long, not even that it is there, is away; one that is there, and has nothing to tell, is not.
func TestSilentCellsAreNotHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := io.Pipe()
		go func() {
			for range 10 {
				time.Sleep(silence / 3)
				_, _ = to.Write([]byte(":\n\n"))
			}
		}()
		begun := time.Now()
		if _, _, err := nextEvent(bufio.NewReader(heard{from})); err == nil || time.Since(begun) != 10*(silence/3)+silence {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
	})
}
