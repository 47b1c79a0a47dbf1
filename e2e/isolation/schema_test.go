package isolation

import (
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"canopy/e2e/platform"
)

// TestGraphIsolation asks every field of the graph that takes or gives companies' data, as every kind
// of caller.
func TestGraphIsolation(t *testing.T) {
	t.Parallel()
	graphIsolation(t, newWorld(t))
}

func graphIsolation(t *testing.T, w *world) {
	t.Helper()
	m := newMatrix(t, w)
	wanted := schemaFields()
	covered := agentFields()
	covered["Subscription.documentUpdated"] = true // TestDocumentSubscription
	covered["Subscription.meUpdated"] = true       // TestOwnSubscription
	for _, name := range []string{"Subscription.askContext", "Answer.citations", "Answer.warnings", "Citation.hit"} {
		covered[name] = true // TestAnswerSubscription
	}
	for _, row := range subscriptionRows() {
		covered["Subscription."+row.field] = true
	}
	for _, row := range graphRows() {
		for name := range strings.FieldsSeq(row.fields + " " + row.covers) {
			name, _, _ = strings.Cut(name, "/")
			covered[name] = true
			if !slices.Contains(wanted, name) {
				t.Errorf("the matrix has a row for %s, which the schema does not have", name)
			}
		}
		if w.apart() && !row.assistant {
			continue
		}
		t.Run(row.fields, func(t *testing.T) {
			m.row(t, w.answers(row.want, row.rules(), row.assistant), row.sender(), row.writes())
		})
	}
	for _, name := range wanted {
		if !covered[name] {
			t.Errorf("%s has no row in the matrix", name)
		}
	}
	w.quiet(t)
}

func (row graphRow) sender() func(*ask) func() platform.Answer {
	return func(a *ask) func() platform.Answer {
		body := object{"query": row.query}
		if row.variables != nil {
			body["variables"] = row.variables(a)
		}
		if takesFile(row.query) {
			return row.multipart(a, body)
		}
		return func() platform.Answer { return a.Do("POST", "/graphql", a.token(row.assistant), body) }
	}
}

// schemaFields lists what needs a row: the fields of the root types, those that lead from one
// object to another, and every type of node. Pages and payloads are part of the field they answer.
func schemaFields() []string {
	s := declared()
	var list []string
	for _, typ := range s.Types {
		if typ.BuiltIn || typ.Kind != ast.Object {
			continue
		}
		if slices.Contains(typ.Interfaces, "Node") {
			list = append(list, "node:"+typ.Name)
		}
		part := slices.ContainsFunc([]string{"Connection", "Edge", "Payload"}, func(end string) bool { return strings.HasSuffix(typ.Name, end) })
		root := typ == s.Query || typ == s.Mutation || typ == s.Subscription
		for _, f := range typ.Fields {
			kind := s.Types[f.Type.Name()].Kind
			leads := kind == ast.Object || kind == ast.Interface || kind == ast.Union
			if !strings.HasPrefix(f.Name, "__") && (root || leads && !part) {
				list = append(list, typ.Name+"."+f.Name)
			}
		}
	}
	slices.Sort(list)
	return list
}
