package graph

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/core"

	"canopy/graph/generated"
)

// What gqlparser says of these has no hint, or not wherever it can be written.
var (
	unknownType      = regexp.MustCompile(`^Unknown type "(\w+)"\.$`)
	unknownDirective = regexp.MustCompile(`^Unknown directive "@(\w+)"\.$`)
	noValueOf        = regexp.MustCompile(`^(.*) is not a valid (\w+)$`)
)

const unknownField = "unknown field"

// hinted gives what is wrong with a document or its variables, with what was perhaps meant.
func hinted(ctx context.Context, err *gqlerror.Error) string {
	said := err.Message
	var meant []string
	if found := unknownType.FindStringSubmatch(said); found != nil {
		meant = core.SuggestionList(found[1], typeNames())
	} else if found := unknownDirective.FindStringSubmatch(said); found != nil {
		for _, name := range core.SuggestionList(found[1], directiveNames()) {
			meant = append(meant, "@"+name)
		}
	} else if in := inVariable(ctx, err.Path); in != nil {
		if found := noValueOf.FindStringSubmatch(said); found != nil && in.Fields == nil {
			meant = core.SuggestionList(found[1], valueNames(in))
		} else if name, is := err.Path[len(err.Path)-1].(ast.PathName); is && said == unknownField {
			meant = core.SuggestionList(string(name), fieldNames(in))
		}
	}
	if len(meant) == 0 {
		return said
	}
	return strings.TrimSuffix(said, ".") + ". Did you mean " + core.QuotedOrList(meant...) + "?"
}

var schemaOfHints = generated.NewExecutableSchema(generated.Config{}).Schema()

// typeNames are those that documents name: what fragments are of, and variables.
func typeNames() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(schemaOfHints.Types)) {
		if !strings.HasPrefix(name, "__") {
			names = append(names, name)
		}
	}
	return names
}

// directiveNames are those that documents may have.
func directiveNames() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(schemaOfHints.Directives)) {
		if slices.ContainsFunc(schemaOfHints.Directives[name].Locations, func(l ast.DirectiveLocation) bool { return l == ast.LocationField || l == ast.LocationQuery }) {
			names = append(names, name)
		}
	}
	return names
}

func valueNames(enum *ast.Definition) (names []string) {
	for _, v := range enum.EnumValues {
		names = append(names, v.Name)
	}
	return names
}

func fieldNames(input *ast.Definition) (names []string) {
	for _, f := range input.Fields {
		names = append(names, f.Name)
	}
	return names
}

// inVariable gives the type of what a path in a variable names; of a field that there is not, the type which lacks it. Nil: it is no such path.
func inVariable(ctx context.Context, path ast.Path) *ast.Definition {
	if len(path) < 2 || path[0] != ast.PathName("variable") || !graphql.HasOperationContext(ctx) {
		return nil
	}
	name, _ := path[1].(ast.PathName)
	op := graphql.GetOperationContext(ctx).Operation
	if op == nil {
		return nil
	}
	variable := op.VariableDefinitions.ForName(string(name))
	if variable == nil {
		return nil
	}
	in := schemaOfHints.Types[variable.Type.Name()]
	for _, at := range path[2:] {
		name, is := at.(ast.PathName)
		if !is || in == nil { // an element of a list has its type
			continue
		}
		field := in.Fields.ForName(string(name))
		if field == nil {
			return in
		}
		in = schemaOfHints.Types[field.Type.Name()]
	}
	return in
}
