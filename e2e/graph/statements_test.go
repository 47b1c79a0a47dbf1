package graph

import (
	"fmt"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
)

// grow gives a company so many companies below it, each with users that have three permissions
// and a billing record, a role and a key of its own.
func grow(s *platform.Platform, parent int64, customers, users int) {
	s.T.Helper()
	c := s.DB
	for i := range customers {
		var id int64
		name := fmt.Sprintf("Grown %d.%d", parent, i)
		if err := c.QueryRow(`INSERT INTO customers (parent_id, name, region_id) VALUES ($1, $2, 1) RETURNING id`, parent, name).Scan(&id); err != nil {
			s.T.Fatal(err)
		}
		for _, statement := range []string{
			`INSERT INTO accounts (customer_id, app_instance_id, name) SELECT $1, i.id, 'Grown' FROM app_instances i WHERE i.region_id = 1`,
			`INSERT INTO billing (customer_id) VALUES ($1)`,
			`INSERT INTO roles (application_id, customer_id, name) VALUES (1, $1, 'Own')`,
			fmt.Sprintf(`WITH u AS (INSERT INTO users (email, first_name) SELECT 'grown' || $1::bigint || '.' || n || '@grown.example', 'G' FROM generate_series(1, %d) n RETURNING id),
				m AS (INSERT INTO memberships (customer_id, user_id) SELECT $1, id FROM u),
				k AS (INSERT INTO api_keys (client_id, customer_id, user_id) SELECT 'grown' || id, $1, id FROM u)
				INSERT INTO permissions (account_id, user_id, role_id) SELECT a.id, u.id, r.id FROM u, accounts a
				JOIN app_instances i ON i.id = a.app_instance_id JOIN roles r ON r.application_id = i.application_id AND r.customer_id IS NULL AND r.name = 'Viewer'
				WHERE a.customer_id = $1`, users),
		} {
			if _, err := c.Exec(statement, id); err != nil {
				s.T.Fatal(err)
			}
		}
	}
}

func TestStatementsDoNotGrowWithRows(t *testing.T) {
	t.Parallel()
	s := platform.Start(t, func(c *config.Config) { c.MaxCost = 0 })
	root := s.Root()
	few, many := s.Customer("Brightwater Labs"), s.Customer("Alpine Solar")
	grow(s, few, 1, 1)
	grow(s, many, 12, 6)
	s.SQL(`INSERT INTO billing (customer_id) VALUES ($1), ($2) ON CONFLICT DO NOTHING`, few, many)
	// The listings of one company show many rows where the company itself has them.
	s.SQL(`WITH u AS (INSERT INTO users (email) SELECT 'more' || n || '@x.example' FROM generate_series(1, 40) n RETURNING id),
		m AS (INSERT INTO memberships (customer_id, user_id) SELECT $1, id FROM u)
		INSERT INTO permissions (account_id, user_id, role_id) SELECT a.id, u.id, 4 FROM u, accounts a WHERE a.customer_id = $1 AND EXISTS (SELECT 1 FROM roles WHERE id = 4)`, many)
	s.Must(200, "GET", "/tenant", root, nil)
	for _, path := range []string{
		"/tenant/%d", "/tenant/customers/%d", "/tenant/customers/%d?self=true", "/tenant/users/%d", "/tenant/accounts/%d", "/tenant/billing/%d", "/permission/options?cid=%d",
	} {
		t.Run(path, func(t *testing.T) {
			a := s.Statements(func() { s.Must(200, "GET", fmt.Sprintf(path, few), root, nil) })
			b := s.Statements(func() { s.Must(200, "GET", fmt.Sprintf(path, many), root, nil) })
			if a != b || a > 7 {
				t.Errorf("%d statements for few rows, %d for many", a, b)
			}
		})
	}
	customer := []string{
		"path", "effectiveCanAddCustomers", "region { name }", "parent { name customer { name } }", "ancestors { name customer { name } }", "billing { city }",
		"roles { name application { name } customer { name } }",
		"children { totalCount nodes { name region { name } } }", "descendants(first: 100) { totalCount nodes { name path } }",
		"accounts { totalCount nodes { name application { name } region { name } permissions { totalCount nodes { user { name } role { name } } } } }",
		"users { totalCount nodes { lastAccess customers { totalCount nodes { name } } permissions { totalCount nodes { account { name customer { name } } createdBy { email } } } } }",
		"apiKeys { totalCount nodes { clientId user { email } customer { name } } }",
	}
	for _, edge := range customer {
		t.Run(edge, func(t *testing.T) {
			// The edge of one company, of all below it, and of those through their users.
			for _, query := range []string{
				"query($c: ID!) { customer(id: $c) { %s } }",
				"query($c: ID!) { customer(id: $c) { descendants(first: 100) { nodes { %s } } } }",
				"query($c: ID!) { customer(id: $c) { descendants(first: 100) { nodes { users { nodes { customers { nodes { %s } } } } } } } }",
			} {
				full := strings.Replace(query, "%s", edge, 1)
				a := s.Statements(func() { s.MustGQL(root, full, map[string]any{"c": few}) })
				b := s.Statements(func() { s.MustGQL(root, full, map[string]any{"c": many}) })
				if a != b {
					t.Errorf("%s: %d statements for few rows, %d for many", full, a, b)
				}
			}
		})
	}
	t.Run("audit events", func(t *testing.T) {
		ask := func(n int) int64 {
			return s.Statements(func() {
				s.MustGQL(root, `query($n: Int!) { auditEvents(first: $n) { nodes { action actor { email } customer { name } } } }`, map[string]any{"n": n})
			})
		}
		if a, b := ask(2), ask(60); a != b {
			t.Errorf("%d statements for 2 events, %d for 60", a, b)
		}
	})
}

// TestTreeInNineStatements asks for 20 companies with 10 users each and 3 permissions each, with
// everything that these lead to.
func TestTreeInNineStatements(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	dune := s.Customer("Dune Retail")
	grow(s, dune, 20, 10)
	s.Must(200, "GET", "/tenant", root, nil)
	const tree = `query($c: ID!) { customer(id: $c) { name descendants(first: 20) { nodes { name users(first: 10) { nodes { name email
		permissions(first: 3) { nodes { disabled role { name } account { name } application { name } region { name } } } } } } } } }`
	var data map[string]any
	n := s.Statements(func() { data = s.MustGQL(root, tree, map[string]any{"c": dune}) })
	customers := platform.Member(t, data, "customer.descendants.nodes").([]any)
	leaves := 0
	for _, c := range customers {
		for _, u := range platform.Member(t, c, "users.nodes").([]any) {
			for _, p := range platform.Member(t, u, "permissions.nodes").([]any) {
				if platform.Member(t, p, "application.name") != "" && platform.Member(t, p, "region.name") == "Europe Central" && platform.Member(t, p, "role.name") == "Viewer" && platform.Member(t, p, "account.name") == "Grown" {
					leaves++
				}
			}
		}
	}
	if len(customers) != 20 || leaves != 600 {
		t.Fatalf("%d companies, %d permissions", len(customers), leaves)
	}
	if n > 9 {
		t.Errorf("%d statements, want at most 9", n)
	}
	t.Logf("%d statements", n)
}
