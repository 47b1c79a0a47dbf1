package main

import (
	"os"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"canopy/graph/generated"
)

// TestGolangIsOfTheSchema: the client's types are those of the schema, to the letter.
func TestGolangIsOfTheSchema(t *testing.T) {
	want, err := golang(generated.NewExecutableSchema(generated.Config{}).Schema())
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../" + golangFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s is stale: run make generate", golangFile)
	}
}

func TestGolang(t *testing.T) {
	read := func(sdl string) (string, error) {
		text, err := golang(gqlparser.MustLoadSchema(&ast.Source{Input: "type Query { a: Int } " + sdl}))
		_, types, _ := strings.Cut(string(text), ")\n\n")
		return types, err
	}
	got, err := read(`
		"A moment." scalar DateTime
		"A file." scalar Upload
		"A state." enum State { "On." ON_FOOT "Off." OFF @deprecated(reason: "Use ON.") }
		"A thing." type Thing { "Its id." id: ID! "Its names." names: [String!]! "Others." others: [Thing] "When." at: DateTime "State." state: State! "Found." all: [Found!]! }
		"Found." union Found = Thing
		"Which." input Filter { "Ids." ids: [ID!] "How many." first: Int! = 3 "State." state: State! "Or." or: [Filter!] "File." file: Upload! }`)
	const want = `// Filter: Which.
type Filter struct {
	// Ids.
	Ids []string ` + "`json:\"ids,omitzero\"`" + `
	// How many.
	First *int ` + "`json:\"first,omitzero\"`" + `
	// State.
	State State ` + "`json:\"state\"`" + `
	// Or.
	Or []Filter ` + "`json:\"or,omitzero\"`" + `
}

// Found: Found.
type Found = json.RawMessage

// State: A state.
type State string

// The values of State.
const (
	// StateOnFoot: On.
	StateOnFoot State = "ON_FOOT"
	// StateOff: Off.
	//
	// Deprecated: Use ON.
	StateOff State = "OFF"
)

// Thing: A thing.
type Thing struct {
	// Its id.
	ID string ` + "`json:\"id,omitzero\"`" + `
	// Its names.
	Names []string ` + "`json:\"names,omitzero\"`" + `
	// Others.
	Others []*Thing ` + "`json:\"others,omitzero\"`" + `
	// When.
	At *time.Time ` + "`json:\"at,omitzero\"`" + `
	// State.
	State State ` + "`json:\"state,omitzero\"`" + `
	// Found.
	All []Found ` + "`json:\"all,omitzero\"`" + `
}
`
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	if _, err := read(`"What is that?" scalar Odd`); err == nil || !strings.Contains(err.Error(), "Odd has no type in Go") {
		t.Error(err)
	}
}
