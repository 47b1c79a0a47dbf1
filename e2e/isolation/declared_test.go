package isolation

import (
	"strings"
	"sync"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"canopy/graph/generated"
	"canopy/internal/access"
	"canopy/internal/rule"
	"canopy/rest"
)

// declared is the schema, whose fields carry the rules.
var declared = sync.OnceValue(func() *ast.Schema {
	return gqlparser.MustLoadSchema(&ast.Source{Name: "schema.graphql", Input: generated.SDL()})
})

// rulesOf gives the rules that were declared for the fields of a query.
func rulesOf(query string) (list []*rule.Rule) {
	var walk func(ast.SelectionSet)
	walk = func(set ast.SelectionSet) {
		for _, s := range set {
			if of, ok := s.(*ast.InlineFragment); ok {
				walk(of.SelectionSet)
				continue
			}
			field := s.(*ast.Field)
			if r := rule.Of(field.ObjectDefinition.Name + "." + field.Name); r != nil {
				list = append(list, r)
			}
			walk(field.SelectionSet)
		}
	}
	for _, o := range gqlparser.MustLoadQueryWithRules(declared(), query, rules.NewDefaultRules()).Operations {
		walk(o.SelectionSet)
	}
	return list
}

func (row graphRow) rules() []*rule.Rule {
	if row.asked != nil {
		return row.asked
	}
	list := rulesOf(row.query)
	if row.read != nil {
		list = append(list, row.read)
	}
	return list
}

func (row restRow) rules(e rest.Endpoint) []*rule.Rule {
	if e.Rule == nil {
		return nil
	}
	return []*rule.Rule{e.Rule}
}

// answers are what a request with these rules must get.
func (w *world) answers(want shape, rules []*rule.Rule, assistant bool) answers {
	other := w.otherApp
	if assistant {
		other = access.Tenant
	}
	return want(needsOf(rules, other))
}

// plain is the name of a row without its variant.
func plain(name string) string {
	name, _, _ = strings.Cut(name, "/")
	return name
}
