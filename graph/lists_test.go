package graph

import (
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"canopy/graph/generated"
)

// shortLists are the lists of objects that are no connections, or lack an argument of one, and why nobody has to look for something there.
var shortLists = map[string]string{
	"Customer.roles":                 "a company has a few of its own, beside the system-wide ones",
	"Query.roles":                    "as Customer.roles",
	"Customer.invitations":           "the newest 200 alone: older ones are found by the user",
	"Customer.secrets":               "at most 200",
	"Customer.identityProviders":     "at most 20",
	"Customer.scimTokens":            "at most 20",
	"User.identities":                "one for each identity provider",
	"Me.sessions":                    "one for each browser of one person",
	"Me.passkeys":                    "one person's",
	"Me.invitations":                 "those that wait for one person",
	"Query.regions":                  "the platform's",
	"Query.applications":             "the platform's",
	"Operations.failingDestinations": "the worst alone",
	"Operations.busiest":             "the first alone",
}

// TestListsCanBeLookedThrough: what gives a list of objects that can be long takes a filter, an order, and pages from either end.
func TestListsCanBeLookedThrough(t *testing.T) {
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	connections, short := 0, map[string]bool{}
	eachType(t, func(def *ast.Definition) {
		if def.Kind != ast.Object || strings.HasSuffix(def.Name, "Connection") || strings.HasSuffix(def.Name, "Payload") {
			return
		}
		for _, f := range def.Fields {
			node, paged := strings.CutSuffix(f.Type.Name(), "Connection")
			if paged {
				connections++
			} else if f.Type.Elem == nil || !slices.Contains(schema.Types[node].Interfaces, "Node") {
				continue
			}
			name := def.Name + "." + f.Name
			lacks := lacking(f, node)
			if short[name] = len(lacks) > 0; short[name] && shortLists[name] == "" {
				t.Errorf("%s lacks %s: give it these, or shortLists a reason", name, strings.Join(lacks, ", "))
			}
		}
	})
	if connections < 25 {
		t.Errorf("only %d connections", connections)
	}
	for name := range shortLists {
		if !short[name] {
			t.Errorf("shortLists has %s, which lacks nothing, or is no list", name)
		}
	}
}

// lacking are the arguments of a connection that a field does not take, with their types.
func lacking(f *ast.FieldDefinition, node string) (list []string) {
	for _, arg := range [][2]string{
		{"filter", node + "Filter"}, {"orderBy", "[" + node + "Order!]"}, {"first", "Int"}, {"after", "String"}, {"last", "Int"}, {"before", "String"},
	} {
		if a := f.Arguments.ForName(arg[0]); a == nil || a.Type.String() != arg[1] {
			list = append(list, arg[0]+": "+arg[1])
		}
	}
	return list
}
