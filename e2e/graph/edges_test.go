package graph

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"canopy/e2e/platform"
	"canopy/graph/generated"
	"canopy/internal/config"
	"canopy/rest"
)

// way is a query that lists objects of one type, few or many of them, whose selection is %s.
type way struct {
	token, query string
	few, many    object
	// single: both are of one object, and not each of its edges has more of the other.
	single bool
}

// along is the way that goes on by an edge.
func (w way) along(f *ast.FieldDefinition) way {
	if strings.HasSuffix(f.Type.Name(), "Connection") {
		w.query = strings.Replace(w.query, "%s", f.Name+" { nodes { %s } }", 1)
	} else {
		w.query = strings.Replace(w.query, "%s", f.Name+" { %s }", 1)
	}
	return w
}

// alone are the types that no list of companies' data leads to, with the reason.
var alone = map[string]string{
	"Me": "the caller", "Grant": "the caller's", "Session": "the caller's", "Passkey": "the caller's", "PageInfo": "one for each page",
	"PermissionOptions": "one for each query", "PermissionOption": "of PermissionOptions", "SearchHit": "at most as many as are asked for", "Passage": "of SearchHit", "Highlight": "of SearchHit",
	"Answer": "one for each question", "Citation": "of Answer, whose hits were found by one search", "AnswerWarning": "of Answer",
	"BulkError": "of a change of many", "CreatePermissionsResult": "of a change of many", "CreateUsersResult": "of a change of many",
	"RemoveUsersResult": "of a change of many", "AuditAction": "the same for all",
	"Operations": "one for the platform, whose rows TestOperations counts statements of", "WorkQueue": "of Operations", "Worker": "of Operations",
	"LateMail": "of Operations", "NearLimit": "of Operations", "DefaultLimit": "of Operations", "ContextErasure": "of one query, and without edges", "CustomerExport": "asked for by its id", "CustomerImport": "the same", "WebhookCatalog": "the same for all", "WebhookEventType": "of WebhookCatalog",
	"DiagramCheck": "of a diagram that is sent along", "DiagramFault": "of DiagramCheck", "DiagramReads": "of DiagramCheck",
}

// own are the edges that only the caller's own company or account has: their rows are listed by the query.
var own = map[string]bool{"Customer.contexts": true, "Account.contexts": true}

// TestStatementsDoNotGrowWithRows asks for every edge of every type that a list leads to, of few rows and of
// many: the number of statements is the same. What to ask for follows from the schema.
func TestStatementsDoNotGrowWithRows(t *testing.T) {
	t.Parallel()
	s := platform.Start(t, func(c *config.Config) { c.MaxCost = 0 })
	few, many := s.Customer("Brightwater Labs"), s.Customer("Alpine Solar")
	grow(s, few, 1, 1)
	grow(s, many, 12, 6)
	s.SQL(`INSERT INTO customers (parent_id, name, region_id) SELECT id, 'Below', 1 FROM customers WHERE parent_id IN ($1, $2)`, few, many)
	growContexts(s, 20)
	s.SQL(`INSERT INTO billing (customer_id) VALUES ($1), ($2) ON CONFLICT DO NOTHING`, few, many)
	// The listings of one company show many rows where the company itself has them.
	s.SQL(`WITH u AS (INSERT INTO users (email) SELECT 'more' || n || '@x.example' FROM generate_series(1, 40) n RETURNING id, email),
		m AS (INSERT INTO memberships (customer_id, user_id, email, first_name, last_name) SELECT $1, id, email, '', '' FROM u)
		INSERT INTO permissions (account_id, user_id, role_id) SELECT a.id, u.id, 4 FROM u, accounts a WHERE a.customer_id = $1 AND EXISTS (SELECT 1 FROM roles WHERE id = 4)`, many)
	readsOfOne(t, s, few, many)

	login := s.Login(s.Demo.AdminEmail, s.Demo.AdminPassword) // which serves every application
	customer := way{login, "query($c: ID!) { customer(id: $c) { descendants(first: 100) { nodes { %s } } } }", object{"c": few}, object{"c": many}, false}
	ways := map[string]way{}
	reach(ways, "Customer", customer)
	reach(ways, "Context", way{login, "query($n: Int!) { contexts(first: $n) { nodes { %s } } }", object{"n": 2}, object{"n": 20}, false})
	reach(ways, "AuditEvent", way{login, "query($n: Int!) { auditEvents(first: $n) { nodes { %s } } }", object{"n": 10}, object{"n": 60}, false})
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	for _, name := range slices.Sorted(maps.Keys(schema.Types)) {
		def := schema.Types[name]
		w, listed := ways[name]
		switch {
		case !isRow(schema, def) || alone[name] != "":
		case !listed:
			t.Errorf("no list leads to %s: is it one of those that stand alone?", name)
		default:
			t.Run(name, func(t *testing.T) { compareEdges(t, s, schema, def, w) })
		}
	}
	// The edges of one company, and of those that its users belong to.
	for _, query := range []string{
		"query($c: ID!) { customer(id: $c) { %s } }",
		"query($c: ID!) { customer(id: $c) { descendants(first: 100) { nodes { users { nodes { customers { nodes { %s } } } } } } } }",
	} {
		w := customer
		w.query, w.single = query, !strings.Contains(query, "descendants")
		t.Run(query, func(t *testing.T) { compareEdges(t, s, schema, schema.Types["Customer"], w) })
	}
}

// isRow tells a type of companies' data from what only leads to such: the roots, pages and payloads.
func isRow(schema *ast.Schema, def *ast.Definition) bool {
	part := slices.ContainsFunc([]string{"Connection", "Edge", "Payload"}, func(end string) bool { return strings.HasSuffix(def.Name, end) })
	return def.Kind == ast.Object && !def.BuiltIn && !part && def != schema.Query && def != schema.Mutation && def != schema.Subscription
}

// row is the type that an edge leads to; nil for a field that is none.
func row(schema *ast.Schema, f *ast.FieldDefinition) *ast.Definition {
	def := schema.Types[strings.TrimSuffix(f.Type.Name(), "Connection")]
	if def == nil || !isRow(schema, def) {
		return nil
	}
	return def
}

// reach adds a way to a type, and the shortest one from there to every type that edges lead on to.
func reach(ways map[string]way, name string, w way) {
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	ways[name] = w
	for next := []string{name}; len(next) > 0; next = next[1:] {
		for _, f := range schema.Types[next[0]].Fields {
			def := row(schema, f)
			if def == nil || own[next[0]+"."+f.Name] {
				continue
			}
			if _, known := ways[def.Name]; !known {
				ways[def.Name] = ways[next[0]].along(f)
				next = append(next, def.Name)
			}
		}
	}
}

// leaves are the fields of a type that lead nowhere, and its name.
func leaves(schema *ast.Schema, def *ast.Definition) string {
	list := "__typename"
	for _, f := range def.Fields {
		if schema.Types[f.Type.Name()].IsLeafType() && !strings.HasPrefix(f.Name, "__") {
			list += " " + f.Name
		}
	}
	return list
}

// compareEdges asks for each edge of a type, and for its own fields.
func compareEdges(t *testing.T, s *platform.Platform, schema *ast.Schema, def *ast.Definition, w way) {
	compareRows(t, s, w, leaves(schema, def), def.Name)
	for _, f := range def.Fields {
		to := row(schema, f)
		if to == nil || own[def.Name+"."+f.Name] {
			continue
		}
		selection := f.Name + " { " + leaves(schema, to) + " }"
		if strings.HasSuffix(f.Type.Name(), "Connection") {
			selection = f.Name + " { totalCount nodes { " + leaves(schema, to) + " } }"
		}
		compareRows(t, s, w, selection, to.Name)
	}
}

// compareRows asks for few rows and for many.
func compareRows(t *testing.T, s *platform.Platform, w way, selection, typ string) {
	query := strings.Replace(w.query, "%s", selection, 1)
	ask := func(variables object) (rows int, statements int64) {
		var data object
		statements = s.Statements(func() { data = s.MustGQL(w.token, query, variables) })
		raw, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(raw), `"__typename":"`+typ+`"`), statements
	}
	fewRows, fewer := ask(w.few)
	manyRows, more := ask(w.many)
	if fewer != more { // now and then the platform runs a statement of its own meanwhile
		_, fewer = ask(w.few)
		_, more = ask(w.many)
	}
	if fewer != more {
		t.Errorf("%s: %d statements for few rows, %d for many", query, fewer, more)
	}
	if !w.single && (fewRows == 0 || manyRows <= fewRows) {
		t.Errorf("%s: %d rows of %s are few, %d many: grow has to make some", query, fewRows, typ, manyRows)
	}
}

// readsOfOne compares the documented reads of one company.
func readsOfOne(t *testing.T, s *platform.Platform, few, many int64) {
	root := s.Root()
	s.Must(http.StatusOK, "GET", "/tenant", root, nil)
	paths := []string{"/tenant/customers/{cid}?self=true", "/permission/options?cid={cid}"}
	_, registry := rest.New(s.App.Resolver, rest.Options{})
	for _, e := range rest.Endpoints(registry) {
		if e.Method == http.MethodGet && strings.Count(e.Path, "{") == 1 && strings.Contains(e.Path, "{cid}") {
			paths = append(paths, e.Path)
		}
	}
	for _, path := range paths {
		t.Run(path, func(t *testing.T) {
			ask := func(id int64) int64 {
				return s.Statements(func() { s.Must(http.StatusOK, "GET", strings.Replace(path, "{cid}", fmt.Sprint(id), 1), root, nil) })
			}
			if a, b := ask(few), ask(many); a != b || a > 7 {
				t.Errorf("%d statements for few rows, %d for many", a, b)
			}
		})
	}
}
