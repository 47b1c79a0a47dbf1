package db_test

import (
	"fmt"
	"testing"

	"github.com/jmoiron/sqlx"

	"canopy/db"
	"canopy/internal/devstack/devtest"
)

// seedGround is what a tree is seeded on.
var seedGround = []string{
	`INSERT INTO regions (id, code, name) VALUES (1, 'eu', 'Europe')`,
	`INSERT INTO customers (id, parent_id, name, region_id) OVERRIDING SYSTEM VALUE VALUES (1, NULL, 'Root', 1)`,
	`SELECT setval(pg_get_serial_sequence('customers', 'id'), 1)`,
	`INSERT INTO applications (id, code, name, app_type, auth_url) VALUES (1, 'tenant', 'Tenant', 1, ''), (2, 'builder', 'Builder', 3, '')`,
	`INSERT INTO app_instances (id, application_id, region_id, domain) VALUES (1, 1, 1, ''), (2, 2, 1, '')`,
	`INSERT INTO roles (id, application_id, name) VALUES (1, 1, 'Member'), (2, 2, 'Member')`,
}

// seededRows tell what there is after a seed, apart from what names moments and rows.
var seededRows = map[string]string{
	"memberships": `SELECT to_jsonb(m)::text FROM memberships m ORDER BY 1`,
	"subtree":     `SELECT to_jsonb(s)::text FROM subtree_users s ORDER BY 1`,
	"names":       `SELECT to_jsonb(n)::text FROM member_names n ORDER BY 1`,
	"invitations": `SELECT (to_jsonb(i) - '{id,created_at,expires_at}'::text[])::text FROM invitations i ORDER BY 1`,
	"permissions": `SELECT (to_jsonb(p) - '{id,created_at}'::text[])::text FROM permissions p ORDER BY 1`,
	"counts":      `SELECT customer_id || ' ' || name || ' ' || sum(n) FROM usage_counts GROUP BY customer_id, name ORDER BY 1`,
	"indexes":     `SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1`,
	"triggers":    `SELECT tgrelid::regclass || ' ' || tgname FROM pg_trigger WHERE tgenabled <> 'O' ORDER BY 1`,
}

// seededAgain has the people of a seed come once more, with the triggers that see to each.
var seededAgain = []string{
	`CREATE TEMP TABLE people AS SELECT * FROM memberships`,
	`CREATE TEMP TABLE rights AS SELECT * FROM permissions`,
	`SET session_replication_role = replica`,
	`TRUNCATE memberships, subtree_users, member_names, invitations, permissions CASCADE`,
	`DELETE FROM usage_counts WHERE name = 'users'`,
	`RESET session_replication_role`,
	`INSERT INTO memberships (customer_id, user_id, email, first_name, last_name, created_at) SELECT customer_id, user_id, email, first_name, last_name, created_at FROM people`,
	`INSERT INTO permissions (account_id, user_id, role_id) SELECT account_id, user_id, role_id FROM rights`,
	`UPDATE permissions p SET last_access = r.last_access FROM rights r WHERE r.account_id = p.account_id AND r.user_id = p.user_id AND r.last_access IS NOT NULL`,
}

// TestSeedsAreAsIfMade: what a seed writes for all at once is what triggers write for each, and nothing is left aside.
func TestSeedsAreAsIfMade(t *testing.T) {
	for _, alone := range []bool{false, true} {
		t.Run(fmt.Sprintf("alone %v", alone), func(t *testing.T) {
			url := devtest.Database(t, db.Fingerprint(), db.Migrate)
			pool := devtest.Must[*sqlx.DB](t)(db.Connect(url, db.Options{MaxConns: 1}))
			defer func() { devtest.Check(t, pool.Close()) }()
			run := func(texts ...string) {
				for _, text := range texts {
					devtest.Must[any](t)(pool.ExecContext(t.Context(), text))
				}
			}
			look := func(what string) (rows []string) {
				devtest.Check(t, pool.SelectContext(t.Context(), &rows, seededRows[what]))
				return rows
			}
			run(seedGround...)
			before := map[string][]string{"indexes": look("indexes"), "triggers": look("triggers")}
			devtest.Must[int64](t)(db.SeedTree(t.Context(), url, db.Seed{Customers: 20, Fanout: 3, Staffed: 7, Users: 9, Alone: alone, Progress: func(int) {}}))
			for what := range seededRows {
				if before[what] == nil {
					before[what] = look(what)
				}
			}
			if n := len(before["permissions"]); n != 7*9*2 {
				t.Errorf("%d permissions", n)
			}
			run(seededAgain...)
			for what := range seededRows {
				if had, has := fmt.Sprint(before[what]), fmt.Sprint(look(what)); had != has {
					t.Errorf("%s: seeded %s\nmade   %s", what, had, has)
				}
			}
		})
	}
}
