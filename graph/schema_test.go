package graph

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"canopy/graph/generated"
)

func eachType(t *testing.T, do func(*ast.Definition)) {
	t.Helper()
	n := 0
	for _, def := range generated.NewExecutableSchema(generated.Config{}).Schema().Types {
		if !def.BuiltIn && !strings.HasPrefix(def.Name, "__") {
			do(def)
			n++
		}
	}
	if n < 50 {
		t.Fatalf("only %d types", n)
	}
}

// The schema is the reference of the graph: nothing in it goes without a word.
func TestEverythingIsDescribed(t *testing.T) {
	need := func(description, format string, names ...string) {
		if strings.TrimSpace(description) == "" {
			t.Errorf(format+" has no description", strings.Join(names, "."))
		}
	}
	eachType(t, func(def *ast.Definition) {
		need(def.Description, "type %s", def.Name)
		for _, v := range def.EnumValues {
			need(v.Description, "value %s", def.Name, v.Name)
		}
		for _, f := range def.Fields {
			if strings.HasPrefix(f.Name, "__") {
				continue
			}
			need(f.Description, "field %s", def.Name, f.Name)
			for _, a := range f.Arguments {
				need(a.Description, "argument %s", def.Name, f.Name, a.Name)
			}
		}
	})
}

// Contract, section 2: each field of a root documents which applications serve it.
func TestOperationsNameTheirApplications(t *testing.T) {
	const end = "(any application|(tenant|assistant|builder)(,| or| and|\\s|tenant|assistant|builder)*(`[a-z]+\\.[a-z]+`)?|are those of the object's own field)\\.$"
	application := regexp.MustCompile("(?i)\\b" + end)
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	for _, root := range []*ast.Definition{schema.Query, schema.Mutation, schema.Subscription} {
		for _, f := range root.Fields {
			if !strings.HasPrefix(f.Name, "__") && !application.MatchString(strings.TrimSpace(f.Description)) {
				t.Errorf("%s.%s names no application: %q", root.Name, f.Name, f.Description)
			}
		}
	}
}

// Contract, section 8.
func TestMutationsTakeAnInputAndGiveAPayload(t *testing.T) {
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	for _, f := range schema.Mutation.Fields {
		name := strings.ToUpper(f.Name[:1]) + f.Name[1:]
		if len(f.Arguments) != 1 || f.Arguments[0].Name != "input" || f.Arguments[0].Type.String() != name+"Input!" {
			t.Errorf("%s does not take one input: %sInput!", f.Name, name)
		}
		if f.Type.String() != name+"Payload!" {
			t.Errorf("%s gives %s", f.Name, f.Type)
		}
	}
}

func TestServeSchema(t *testing.T) {
	w := httptest.NewRecorder()
	ServeSchema(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/schema.graphql", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d", w.Code)
	}
	schema, err := gqlparser.LoadSchema(&ast.Source{Input: w.Body.String()})
	if err != nil {
		t.Fatal(err)
	}
	if schema.Query == nil || schema.Mutation == nil || schema.Subscription == nil {
		t.Error("a root is missing")
	}
}
