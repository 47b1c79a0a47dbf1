package db_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lib/pq"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
)

// beforeAcceptance is the schema as it was before companies were accepted, with people in it.
func beforeAcceptance(ctx context.Context, url string) error {
	m, err := db.NewMigrator(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	for _, source := range m.ListSources() {
		if strings.HasSuffix(source.Path, "_acceptance.sql") {
			_, err = m.UpTo(ctx, source.Version-1)
		}
	}
	return err
}

// TestPeopleOfBeforeHaveAccepted: people with a password have accepted the company that made them and those where they have
// a permission that is enabled or was used; nobody else has accepted any.
func TestPeopleOfBeforeHaveAccepted(t *testing.T) {
	ctx := t.Context()
	url := devtest.Database(t, "before acceptance "+db.Fingerprint(), beforeAcceptance)
	pool, err := db.Connect(url, db.Options{MaxConns: 2})
	devtest.Check(t, err)
	defer func() { devtest.Check(t, pool.Close()) }()
	for _, statement := range []string{
		`INSERT INTO regions (id, code, name) VALUES (1, 'eu', 'Europe')`,
		`INSERT INTO customers (id, parent_id, name, region_id) VALUES (1, NULL, 'Root', 1), (2, 1, 'Home', 1), (3, 1, 'Other', 1), (4, 2, 'Below', 1), (5, 1, 'Third', 1)`,
		`INSERT INTO applications (id, code, name, app_type, auth_url) VALUES (1, 'tenant', 'Tenant', 1, '')`,
		`INSERT INTO app_instances (id, application_id, region_id, domain) VALUES (1, 1, 1, '')`,
		`INSERT INTO accounts (id, customer_id, app_instance_id, name) SELECT id, id, 1, name FROM customers`,
		`INSERT INTO roles (id, application_id, name) VALUES (1, 1, 'Owner')`,
		`INSERT INTO users (id, email, first_name, password_hash, created_at) VALUES (1, 'set@x.example', 'Set', 'x', '2020-01-01'), (2, 'new@x.example', 'New', NULL, '2020-01-01')`,
		`INSERT INTO memberships (customer_id, user_id, created_at) VALUES (2, 1, '2020-01-01'), (3, 1, '2021-01-01'), (4, 1, '2021-01-01'), (5, 1, '2021-01-01'),
			(4, 2, '2020-01-01'), (2, 2, '2021-01-01'), (3, 2, '2022-01-01')`,
		`INSERT INTO permissions (account_id, user_id, role_id, disabled, last_access) VALUES (3, 1, 1, true, NULL), (4, 1, 1, false, NULL), (5, 1, 1, true, now()), (3, 2, 1, false, NULL)`,
		`INSERT INTO link_tokens (hash, user_id, kind, expires_at) VALUES (sha256('a'), 2, 'invitation', now()), (sha256('b'), 2, 'reset', now())`,
	} {
		if _, err := pool.ExecContext(ctx, statement); err != nil {
			t.Fatal(statement, err)
		}
	}
	devtest.Check(t, db.Migrate(ctx, url))
	for query, want := range map[string]string{
		`SELECT string_agg(user_id || ' in ' || customer_id, ', ' ORDER BY user_id, customer_id) FROM memberships WHERE accepted_at IS NOT NULL`: "1 in 2, 1 in 4, 1 in 5",
		`SELECT string_agg(user_id || ' in ' || customer_id, ', ' ORDER BY user_id, customer_id) FROM memberships WHERE known`:                   "1 in 3, 1 in 4, 1 in 5, 2 in 3",
		`SELECT string_agg(DISTINCT email || ' ' || first_name || last_name, ', ') FROM memberships`:                                             "new@x.example New, set@x.example Set",
		`SELECT string_agg(kind || ' ' || COALESCE(customer_id, 0), ', ' ORDER BY kind) FROM link_tokens`:                                        "invitation 4, reset 0",
	} {
		var got string
		devtest.Check(t, pool.GetContext(ctx, &got, query))
		if got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestMembershipsElsewhereCostNothing: who looks at a user reads the memberships within its own reach, and none of all
// those that others have made.
func TestMembershipsElsewhereCostNothing(t *testing.T) {
	ctx := t.Context()
	url := devtest.Database(t, db.Fingerprint(), db.Migrate)
	pool, err := db.Connect(url, db.Options{MaxConns: 2})
	devtest.Check(t, err)
	defer func() { devtest.Check(t, pool.Close()) }()
	for _, statement := range []string{
		`INSERT INTO regions (id, code, name) VALUES (1, 'eu', 'Europe')`,
		`INSERT INTO customers (id, parent_id, name, region_id) VALUES (1, NULL, 'Root', 1), (2, 1, 'Hostile', 1), (9999, 1, 'Home', 1)`,
		`INSERT INTO customers (id, parent_id, name, region_id) SELECT n, 2, 'Below', 1 FROM generate_series(3, 2000) n`,
		`INSERT INTO users (id, email) VALUES (1, 'a@x.example')`,
		`INSERT INTO memberships (customer_id, user_id, email, first_name, last_name) SELECT id, 1, 'a@x.example', '', '' FROM customers WHERE id > 1`,
		`ANALYZE memberships, customers, users`,
	} {
		if _, err := pool.ExecContext(ctx, statement); err != nil {
			t.Fatal(statement, err)
		}
	}
	home := access.Lineage{1, 9999}.Subtree()
	var plan []string
	devtest.Check(t, pool.SelectContext(ctx, &plan, `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) `+db.UsersInScope, home.From(), home.To(), pq.Int64Array{1}))
	text := strings.Join(plan, "\n")
	if !strings.Contains(text, "memberships_user") || strings.Contains(text, "Rows Removed") || strings.Contains(text, "Seq Scan on memberships") {
		t.Error(text)
	}
}
