package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"canopy/internal/access"
	"canopy/internal/rule"
)

const (
	directive = "needs"
	rulesFile = "internal/rule/rules_gen.go"
)

// declared is a rule as it stands in the schema.
type declared struct {
	rule.Rule
	// name is that of the variable.
	name string
	// edge: the field is none of an operation's.
	edge bool
	// at is where the field's name begins in the schema, in characters.
	at int
}

// readRules reads who may use which field from a schema. A field of a root type without a rule is
// an error, and so are rights and applications that do not exist.
func readRules(source *ast.Source) ([]declared, error) {
	doc, err := parser.ParseSchema(source)
	if err != nil {
		return nil, err
	}
	roots := map[string]bool{}
	for _, def := range doc.Schema {
		for _, op := range def.OperationTypes {
			roots[op.Type] = true
		}
	}
	if len(roots) == 0 {
		return nil, errors.New("the schema names no root types")
	}
	var list []declared
	for _, def := range doc.Definitions {
		for _, f := range def.Fields {
			field := def.Name + "." + f.Name
			needs := f.Directives.ForName(directive)
			if needs == nil {
				if roots[def.Name] {
					return nil, fmt.Errorf("%s does not say who may use it: it lacks @%s", field, directive)
				}
				continue
			}
			d := declared{Rule: rule.Rule{Field: field}, name: templates.ToGo(f.Name), edge: !roots[def.Name], at: f.Position.Start}
			if d.edge {
				d.name = templates.ToGo(def.Name) + d.name
			}
			if d.Apps, d.Right, err = readNeeds(needs); err != nil {
				return nil, fmt.Errorf("%s: %w", field, err)
			}
			list = append(list, d)
		}
	}
	return list, unclash(list)
}

// readNeeds reads the arguments of @needs.
func readNeeds(needs *ast.Directive) (apps []access.App, right access.Features, err error) {
	apps = access.Apps()
	if arg := needs.Arguments.ForName("app"); arg != nil {
		apps = nil
		for _, child := range arg.Value.Children {
			app, known := access.ParseApp(strings.ToLower(child.Value.Raw))
			if !known || slices.Contains(apps, app) {
				return nil, 0, fmt.Errorf("%s is not an application, or is named twice", child.Value.Raw)
			}
			apps = append(apps, app)
		}
		if len(apps) == 0 {
			return nil, 0, errors.New("app names no application")
		}
	}
	if arg := needs.Arguments.ForName("right"); arg != nil {
		var known bool
		if right, known = access.ParseFeature(arg.Value.Raw); !known {
			return nil, 0, fmt.Errorf("%q is not a right", arg.Value.Raw)
		}
	}
	return apps, right, nil
}

// unclash gives each rule a name of its own. The name of an edge that an operation has taken, as
// Query.customerExport would take that of Customer.export, ends in Edge; operations have to differ.
func unclash(list []declared) error {
	taken := map[string]string{}
	for _, edges := range []bool{false, true} {
		for i := range list {
			d := &list[i]
			if d.edge != edges {
				continue
			}
			if d.edge && taken[d.name] != "" {
				d.name += "Edge"
			}
			if other := taken[d.name]; other != "" {
				return fmt.Errorf("the rules of %s and %s are both called %s", other, d.Field, d.name)
			}
			taken[d.name] = d.Field
		}
	}
	return nil
}

// writeRules writes the Go form of the rules.
func writeRules(list []declared) error {
	b := begin("rule", "canopy/internal/access")
	b.WriteString("var (\n")
	for _, d := range list {
		apps := make([]string, len(d.Apps))
		for i, app := range d.Apps {
			apps[i] = "access." + templates.ToGo(app.String())
		}
		right := ""
		if d.Right != 0 {
			right = ", Right: access." + constant(d.Right)
		}
		fmt.Fprintf(b, "%s = &Rule{Field: %q, Apps: []access.App{%s}%s}\n", d.name, d.Field, strings.Join(apps, ", "), right)
	}
	b.WriteString(")\n\nvar all = []*Rule{\n")
	for _, d := range list {
		fmt.Fprintf(b, "%s,\n", d.name)
	}
	b.WriteString("}\n")
	return finish(rulesFile, b)
}

// constant is the name of a right in package access: PermissionWrite of permission.write.
func constant(right access.Features) string {
	area, verb, _ := strings.Cut(right.Names()[0], ".")
	return templates.ToGo(area) + templates.ToGo(verb)
}

// tellRules gives the schema in which each rule stands in its field's description, too: GraphiQL and
// introspection show those, and no directives.
func tellRules(sdl string, list []declared) (string, error) {
	text, done := []rune(sdl), 0
	var told strings.Builder
	for _, d := range slices.SortedFunc(slices.Values(list), func(a, b declared) int { return cmp.Compare(a.at, b.at) }) {
		before := string(text[done:d.at])
		// The description ends right before the name.
		said := strings.TrimRight(before, "\" \t\n")
		end := before[len(said):]
		if !strings.Contains(end, `"`) {
			return "", fmt.Errorf("%s has no description to tell its rule in", d.Field)
		}
		told.WriteString(said + " " + d.Sentence() + end)
		done = d.at
	}
	return told.String() + string(text[done:]), nil
}
