package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"canopy/internal/access"
)

func read(sdl string) ([]declared, error) {
	return readRules(&ast.Source{Input: "schema { query: Query mutation: Mutation } " + sdl})
}

func TestReadRules(t *testing.T) {
	list, err := read(`
		type Query {
			"All." all: Int @needs
			"Some." some: Int @needs(app: [BUILDER, ASSISTANT], right: "agent.read")
			"Its export." customerExport: Int @needs
		}
		type Mutation { "Gives." createApiKey: Int @needs(app: [TENANT], right: "key.write") }
		type Customer { "Its name." name: String, "Its export." export: Int @needs(right: "audit.read"), "Keys." apiKeys: Int @needs }`)
	if err != nil {
		t.Fatal(err)
	}
	any := access.Apps()
	want := []struct {
		name, field string
		apps        []access.App
		right       access.Features
	}{
		{"All", "Query.all", any, 0},
		{"Some", "Query.some", []access.App{access.Builder, access.Assistant}, access.AgentRead},
		{"CustomerExport", "Query.customerExport", any, 0},
		{"CreateAPIKey", "Mutation.createApiKey", []access.App{access.Tenant}, access.KeyWrite},
		{"CustomerExportEdge", "Customer.export", any, access.AuditRead},
		{"CustomerAPIKeys", "Customer.apiKeys", any, 0},
	}
	if len(list) != len(want) {
		t.Fatalf("%d rules: %+v", len(list), list)
	}
	for i, w := range want {
		if d := list[i]; d.name != w.name || d.Field != w.field || !slices.Equal(d.Apps, w.apps) || d.Right != w.right {
			t.Errorf("got %+v, want %+v", d, w)
		}
	}
}

func TestFaultyRules(t *testing.T) {
	for name, c := range map[string]struct{ sdl, want string }{
		"an operation without a rule": {`type Query { "A." a: Int }`, "Query.a does not say who may use it"},
		"an unknown right":            {`type Query { "A." a: Int @needs(right: "company.eat") }`, `Query.a: "company.eat" is not a right`},
		"an unknown application":      {`type Query { "A." a: Int @needs(app: [KITCHEN]) }`, "Query.a: KITCHEN is not an application"},
		"an application twice":        {`type Query { "A." a: Int @needs(app: [TENANT, TENANT]) }`, "Query.a: TENANT is not an application, or is named twice"},
		"no application":              {`type Query { "A." a: Int @needs(app: []) }`, "Query.a: app names no application"},
		"two operations of one name":  {`type Query { "A." a: Int @needs } type Mutation { "A." a: Int @needs }`, "the rules of Query.a and Mutation.a are both called A"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := read(c.sdl); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if _, err := readRules(&ast.Source{Input: `type Query { "A." a: Int @needs }`}); err == nil {
		t.Error("a schema without root types passes")
	}
}

func TestTellRules(t *testing.T) {
	const sdl = `schema { query: Query }
type Query {
  "Größe – told."
  a: Int @needs
  """
  On two
  lines.
  """
  b("An argument." c: Int): Int @needs(app: [TENANT])
}
`
	source := &ast.Source{Input: sdl}
	list, err := readRules(source)
	if err != nil {
		t.Fatal(err)
	}
	got, err := tellRules(sdl, list)
	if err != nil {
		t.Fatal(err)
	}
	const want = `schema { query: Query }
type Query {
  "Größe – told. Takes a token for any application."
  a: Int @needs
  """
  On two
  lines. Takes a token for ` + "`tenant`" + `.
  """
  b("An argument." c: Int): Int @needs(app: [TENANT])
}
`
	if got != want {
		t.Errorf("got:\n%s", got)
	}
	bare := &ast.Source{Input: "schema { query: Query } type Query { a: Int @needs }"}
	if list, err = readRules(bare); err != nil {
		t.Fatal(err)
	}
	if _, err := tellRules(bare.Input, list); err == nil {
		t.Error("a field without a description passes")
	}
}
