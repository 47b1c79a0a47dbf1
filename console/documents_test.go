package console_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

// TestDocumentsNameWhatIsKept: an object is kept once, by its id. A document that leaves the id out would put what it asks for in
// the place of all that is known of the object, and other screens would have nothing to show.
func TestDocumentsNameWhatIsKept(t *testing.T) {
	schema := gqlparser.MustLoadSchema(&ast.Source{Name: "schema.graphql", Input: read(t, "../schema.graphql")})
	files, err := filepath.Glob("src/*/*.graphql")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no documents: %v", err)
	}
	for _, file := range files {
		documents, faults := gqlparser.LoadQueryWithRules(schema, read(t, file), nil)
		if faults != nil {
			t.Fatalf("%s: %v", file, faults)
		}
		for _, operation := range documents.Operations {
			nameless(t, schema, file+": "+operation.Name, operation.SelectionSet)
		}
		for _, fragment := range documents.Fragments {
			nameless(t, schema, file+": "+fragment.Name, fragment.SelectionSet)
		}
	}
}

// nameless fails for each object below that has an id which is not asked for.
func nameless(t *testing.T, schema *ast.Schema, path string, of ast.SelectionSet) {
	for _, one := range of {
		switch one := one.(type) {
		case *ast.Field:
			below := path + "." + one.Alias
			kept := schema.Types[one.Definition.Type.Name()]
			if kept.Fields.ForName("id") != nil && !asks(one.SelectionSet, "id") {
				t.Errorf("%s does not ask for the id", below)
			}
			nameless(t, schema, below, one.SelectionSet)
		case *ast.InlineFragment:
			below := path + "." + one.TypeCondition
			if schema.Types[one.TypeCondition].Fields.ForName("id") != nil && !asks(one.SelectionSet, "id") && !asks(of, "id") {
				t.Errorf("%s does not ask for the id", below)
			}
			nameless(t, schema, below, one.SelectionSet)
		}
	}
}

// asks tells whether a field is among what is selected, or in a fragment of it.
func asks(of ast.SelectionSet, name string) bool {
	for _, one := range of {
		switch one := one.(type) {
		case *ast.Field:
			if one.Name == name {
				return true
			}
		case *ast.InlineFragment:
			if asks(one.SelectionSet, name) {
				return true
			}
		case *ast.FragmentSpread:
			if asks(one.Definition.SelectionSet, name) {
				return true
			}
		}
	}
	return false
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
