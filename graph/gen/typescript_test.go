package main

import (
	"os"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"canopy/graph/generated"
)

// TestTypescriptIsOfTheSchema: the client's types are those of the schema, to the letter.
func TestTypescriptIsOfTheSchema(t *testing.T) {
	want, err := typescript(generated.NewExecutableSchema(generated.Config{}).Schema())
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../" + typescriptFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s is stale: run make generate", typescriptFile)
	}
}

func TestTypescript(t *testing.T) {
	read := func(sdl string) (string, error) {
		text, err := typescript(gqlparser.MustLoadSchema(&ast.Source{Input: "type Query { a: Int } " + sdl}))
		_, text2, _ := strings.Cut(string(text), "\n\n")
		return text2, err
	}
	got, err := read(`
		"A moment." scalar DateTime
		"A state." enum State { "On." ON "Off." OFF @deprecated(reason: "Use ON.") }
		"""
		A thing.
		With */ in it.
		"""
		type Thing { "Its id." id: ID! "Its names." names: [String!]! "Others." others: [Thing] "When." at: DateTime "State." state: State! }
		"Found." union Found = Thing
		"Which." input Filter { "Ids." ids: [ID!] "How many." first: Int! = 3 "State." state: State! }`)
	const want = `/** A moment. */
export type DateTime = string;

/** Which. */
export interface Filter {
  /** Ids. */
  ids?: ReadonlyArray<string | number> | null | undefined;
  /** How many. */
  first?: number | undefined;
  /** State. */
  state: State;
}

/** Found. */
export type Found = Thing;

/** A state. */
export type State =
  /** On. */
  | "ON"
  /**
   * Off.
   * @deprecated Use ON.
   */
  | "OFF";

/**
 * A thing.
 * With *\/ in it.
 */
export interface Thing {
  /** Its id. */
  id: string;
  /** Its names. */
  names: Array<string>;
  /** Others. */
  others: Array<Thing | null> | null;
  /** When. */
  at: DateTime | null;
  /** State. */
  state: State;
}
`
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	if _, err := read(`"What is that?" scalar Odd`); err == nil || !strings.Contains(err.Error(), "Odd has no type in TypeScript") {
		t.Error(err)
	}
}
