package graph

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"canopy/graph/generated"
	"canopy/internal/rule"
	"canopy/resolvers"
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

// TestOneCellAwayLeavesTheOthers: what the cell of a region has may be null wherever the directory leads to it, so that all else of an answer is there while that cell is away.
func TestOneCellAwayLeavesTheOthers(t *testing.T) {
	fields := 0
	eachType(t, func(def *ast.Definition) {
		if !slices.Contains([]string{"Query", "Mutation", "Me", "Customer", "User", "Account", "Permission"}, def.Name) {
			return
		}
		for _, f := range def.Fields {
			need := rule.Of(def.Name + "." + f.Name)
			if need == nil || !need.OfData() || need == rule.WebhookCatalog || need == rule.DiagramCheck { // which ask for nothing that is kept
				continue
			}
			fields++
			if f.Type.NonNull {
				t.Errorf("%s.%s is never null: while one cell is away the answer would lack what others have", def.Name, f.Name)
			}
		}
	})
	if fields < 40 {
		t.Errorf("only %d fields", fields)
	}
}

// TestCountsTellWhereTheyEnd: a list that is counted says whether it is longer than that.
func TestCountsTellWhereTheyEnd(t *testing.T) {
	eachType(t, func(def *ast.Definition) {
		if def.Fields.ForName("totalCount") != nil && def.Fields.ForName("totalCountCapped") == nil {
			t.Errorf("%s has totalCount, and no totalCountCapped", def.Name)
		}
	})
}

// TestRulesAreTold: what the schema declares of who may use a field is in the field's description,
// which introspection shows, and nothing else is.
func TestRulesAreTold(t *testing.T) {
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	told := 0
	for _, def := range schema.Types {
		root := def == schema.Query || def == schema.Mutation || def == schema.Subscription
		for _, f := range def.Fields {
			if strings.HasPrefix(f.Name, "__") {
				continue
			}
			name := def.Name + "." + f.Name
			need := rule.Of(name)
			if declared := f.Directives.ForName("needs") != nil; declared != (need != nil) || root && !declared {
				t.Errorf("%s declares a rule: %t, has one: %t", name, declared, need != nil)
			}
			sentences := strings.Count(f.Description, "a token for `") + strings.Count(f.Description, "a token for any application")
			if need == nil && sentences > 0 || need != nil && (sentences != 1 || !strings.HasSuffix(f.Description, " "+need.Sentence())) {
				t.Errorf("%s is described by %q", name, f.Description)
			}
			if need != nil {
				told++
			}
		}
	}
	if told != len(rule.All()) {
		t.Errorf("%d rules are told, of %d", told, len(rule.All()))
	}
}

func TestMutationsTakeAnInputAndGiveAPayload(t *testing.T) {
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	for _, f := range schema.Mutation.Fields {
		name := strings.ToUpper(f.Name[:1]) + f.Name[1:]
		if len(f.Arguments) != 1 || f.Arguments[0].Name != "input" || f.Arguments[0].Type.String() != name+"Input!" {
			t.Errorf("%s does not take one input: %sInput!", f.Name, name)
		}
		if f.Type.String() != name+"Payload" {
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
	f := schema.Mutation.Fields.ForName("createPermission")
	if f.Directives.ForName("needs") == nil || !strings.HasSuffix(f.Description, rule.CreatePermission.Sentence()) {
		t.Errorf("the rule of createPermission is not shown: %q", f.Description)
	}
}

// TestWhatIsToldOnceIsKept: an object beside what a mutation itself tells, such as a secret that is shown this
// once, is null where it can't be read, and does not take that with it.
func TestWhatIsToldOnceIsKept(t *testing.T) {
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	kept := 0
	eachType(t, func(def *ast.Definition) {
		if !strings.HasSuffix(def.Name, "Payload") {
			return
		}
		own := slices.ContainsFunc(def.Fields, func(f *ast.FieldDefinition) bool { return schema.Types[f.Type.Name()].IsLeafType() })
		for _, f := range def.Fields {
			if !own || schema.Types[f.Type.Name()].IsLeafType() {
				continue
			}
			if kept++; f.Type.NonNull {
				t.Errorf("%s.%s must be nullable", def.Name, f.Name)
			}
		}
	})
	if kept < 5 {
		t.Errorf("only %d objects stand beside what is told", kept)
	}
}

// TestDeprecationsAreAnnounced: what the schema deprecates stands in the changelog, as Type.field.
func TestDeprecationsAreAnnounced(t *testing.T) {
	changelog, err := os.ReadFile("../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	announced := 0
	eachType(t, func(def *ast.Definition) {
		for _, f := range def.Fields {
			if f.Directives.ForName("deprecated") == nil {
				continue
			}
			announced++
			if name := "`" + def.Name + "." + f.Name + "`"; !bytes.Contains(changelog, []byte(name)) {
				t.Errorf("CHANGELOG.md does not announce that %s is deprecated", name)
			}
		}
	})
	if announced == 0 {
		t.Error("nothing is deprecated")
	}
}

// TestErrorsStandInOnePlace: what is wrong with a change stands in the answer's errors, and in no payload.
func TestErrorsStandInOnePlace(t *testing.T) {
	eachType(t, func(def *ast.Definition) {
		if strings.HasSuffix(def.Name, "Payload") && def.Fields.ForName("errors") != nil {
			t.Errorf("%s has errors of its own", def.Name)
		}
	})
}

// TestDefaultsStandForNull: null counts as left out, so what has a default takes it.
func TestDefaultsStandForNull(t *testing.T) {
	eachType(t, func(def *ast.Definition) {
		for _, f := range def.Fields {
			if f.DefaultValue != nil && f.Type.NonNull {
				t.Errorf("%s.%s has a default, and refuses null", def.Name, f.Name)
			}
			for _, a := range f.Arguments {
				if a.DefaultValue != nil && a.Type.NonNull {
					t.Errorf("%s.%s(%s) has a default, and refuses null", def.Name, f.Name, a.Name)
				}
			}
		}
	})
}

// TestNothingLooksAtFields: an extension that looks at fields would be passed over.
func TestNothingLooksAtFields(t *testing.T) {
	list := (&endpoint{resolver: &resolvers.Resolver{}, options: Options{Introspection: true}, persisted: newPersisted(nil, nil)}).extensions()
	for _, e := range list {
		if _, looks := e.(graphql.FieldInterceptor); looks {
			t.Errorf("%s looks at fields, and is never asked", e.ExtensionName())
		}
	}
	if len(list) < 5 {
		t.Errorf("only %d extensions", len(list))
	}
}
