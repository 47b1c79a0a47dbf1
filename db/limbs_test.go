package db_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
	"canopy/internal/paging"
)

// astray are what does not know its limb, or a limb that does not know its place.
const astray = `
	SELECT (SELECT count(*) FROM limbs l JOIN customers c USING (id) WHERE l.lineage <> c.lineage)
		+ (SELECT count(*) FROM customers c LEFT JOIN customer_words w ON w.customer_id = c.id
			WHERE (w.limb_id, w.named, w.created_at) IS DISTINCT FROM (limb_of(c.lineage), lower(c.name), c.created_at))
		+ (SELECT count(*) FROM memberships m LEFT JOIN member_names n USING (customer_id, user_id) WHERE n.limb_id IS DISTINCT FROM limb_of(m.lineage))
		+ (SELECT count(*) FROM accounts a JOIN customers c ON c.id = a.customer_id WHERE a.limb_id IS DISTINCT FROM limb_of(c.lineage))
		+ (SELECT count(*) FROM permissions p JOIN accounts a ON a.id = p.account_id WHERE p.limb_id <> a.limb_id)`

// logEverywhere writes an audit event, a delivery, and a run of each company.
var logEverywhere = []string{
	`INSERT INTO audit_events (customer_id, action, object_type, object_id, created_at) SELECT id, CASE id % 3 WHEN 0 THEN 'run.started' ELSE 'run.failed' END, 'Run', 1, clock_timestamp() FROM customers ORDER BY id`,
	`INSERT INTO webhook_deliveries (customer_id, destination_id, event_id, type, payload, status, lost, completed_at, created_at)
		SELECT id, 1, 'event', 'run.finished', '', CASE id % 3 WHEN 0 THEN 'failed' ELSE 'delivered' END, id % 3 = 0, now(), clock_timestamp() FROM customers ORDER BY id`,
	`INSERT INTO runs (job_key, agent_id, revision_id, account_id, input, status, finished_at, created_at)
		SELECT gen_random_uuid(), g.id, g.published_id, a.id, '{}', CASE a.id % 3 WHEN 0 THEN 'failed' ELSE 'finished' END, now(), clock_timestamp() FROM agents g CROSS JOIN accounts a ORDER BY a.id`,
}

// TestLimbsFollowTheirCompanies: however companies move, permissions are found in each part of the tree, in each order, users by the words of their names, and what was
// logged before and after.
func TestLimbsFollowTheirCompanies(t *testing.T) {
	t.Parallel()
	address := devtest.Database(t, db.Fingerprint(), db.Migrate)
	s := devtest.Must[*db.Store](t)(db.Open(t.Context(), address, db.Options{}))
	t.Cleanup(func() { _ = s.Close() })
	root, _, _ := tree(t, s)
	pool := devtest.Must[*sqlx.DB](t)(db.Connect(address, db.Options{MaxConns: 2}))
	t.Cleanup(func() { _ = pool.Close() })
	chance := rand.New(rand.NewPCG(3, 14))
	companies := []int64{root.ID}
	for i := range 80 {
		parent := companies[max(chance.IntN(len(companies)), len(companies)-1-chance.IntN(4))] // deep rather than wide
		c := devtest.Must[*db.Customer](t)(s.InsertCustomer(t.Context(), db.Customer{ParentID: &parent, Name: fmt.Sprint("Company ", i), RegionID: root.RegionID}))
		companies = append(companies, c.ID)
		devtest.Must[any](t)(pool.ExecContext(t.Context(), `INSERT INTO accounts (customer_id, app_instance_id, name) SELECT $1, min(id), 'Account' FROM app_instances`, c.ID))
	}
	user := devtest.Must[*db.Person](t)(s.EnsureUser(t.Context(), db.Given{Email: "u@x.example", FirstName: "Own", LastName: "Name"}))
	devtest.Must[any](t)(pool.ExecContext(t.Context(), `INSERT INTO roles (application_id, name) SELECT min(id), 'Role' FROM applications`))
	devtest.Must[any](t)(pool.ExecContext(t.Context(), `
		INSERT INTO permissions (account_id, user_id, role_id, disabled, last_access, created_at)
		SELECT a.id, $1, (SELECT min(id) FROM roles), a.id % 3 = 0, CASE WHEN a.id % 4 > 0 THEN now() - a.id % 7 * interval '1 hour' END, now() - a.id % 5 * interval '1 day'
		FROM accounts a`, user.ID))
	devtest.Must[any](t)(pool.ExecContext(t.Context(), `
		INSERT INTO memberships (customer_id, user_id, email, first_name, last_name) SELECT id, $1, 'u' || id || '@x.example', 'Given', 'Name' FROM customers`, user.ID))
	var revision int64
	devtest.Check(t, pool.GetContext(t.Context(), &revision, `
		WITH agent AS (INSERT INTO agents (account_id, name, draft) SELECT min(id), 'Agent', '{}' FROM accounts RETURNING id)
		INSERT INTO agent_revisions (agent_id, number, diagram) SELECT id, 1, '{}' FROM agent RETURNING id`))
	devtest.Must[any](t)(pool.ExecContext(t.Context(), `UPDATE agents SET published_id = $1`, revision))
	moved := 0
	for i := range 60 {
		if i%4 == 0 {
			for _, text := range logEverywhere {
				devtest.Must[any](t)(pool.ExecContext(t.Context(), text))
			}
		}
		from, to := companies[1+chance.IntN(len(companies)-1)], companies[chance.IntN(len(companies))]
		var refused bool
		devtest.Check(t, pool.GetContext(t.Context(), &refused, `SELECT $1 = ANY (lineage) OR (SELECT parent_id FROM customers WHERE id = $1) = $2 FROM customers WHERE id = $2`, from, to))
		if refused {
			continue
		}
		devtest.Check(t, s.Tx(t.Context(), func(tx *db.Store) error {
			if err := tx.HoldAlone(t.Context(), from, to); err != nil {
				return err
			}
			return tx.MoveCustomer(t.Context(), from, to)
		}))
		moved++
		var wrong int
		if devtest.Check(t, pool.GetContext(t.Context(), &wrong, astray)); wrong > 0 {
			t.Fatalf("%d rows are astray after %d moves, the last of %d below %d", wrong, moved, from, to)
		}
	}
	if moved < 20 {
		t.Errorf("only %d companies moved", moved)
	}
	devtest.Must[any](t)(pool.ExecContext(t.Context(), `
		WITH new AS (INSERT INTO users (email, first_name, last_name) SELECT 'n' || i || '@x.example', CASE i % 100 WHEN 0 THEN 'Rare' ELSE 'Common' END, 'Bird' FROM generate_series(1, 600) i RETURNING *)
		INSERT INTO memberships (customer_id, user_id, email, first_name, last_name, accepted_at)
		SELECT ($1::bigint[])[1 + id % $2], id, email, first_name, last_name, CASE WHEN id % 2 = 0 THEN now() END FROM new`, pq.Int64Array(companies), len(companies)))
	for _, id := range companies {
		permissionsAreFound(t, s, pool, id)
		usersAreFound(t, s, pool, id)
		logsAreFound(t, s, pool, id)
	}
}

// logsAreFound compares pages of what was logged within a company's subtree with what a look at each row finds.
func logsAreFound(t *testing.T, s *db.Store, pool *sqlx.DB, company int64) {
	t.Helper()
	var lineage pq.Int64Array
	devtest.Check(t, pool.GetContext(t.Context(), &lineage, `SELECT lineage FROM customers WHERE id = $1`, company))
	scope := access.Lineage(lineage).Subtree()
	for _, l := range []struct {
		from, member, value, condition string
		find                           func(a db.Ask) []int64
	}{
		{"audit_events l JOIN customers c ON c.id = l.customer_id", "action", "run.started", "l.action = 'run.started'", func(a db.Ask) (ids []int64) {
			for _, e := range devtest.Must[[]*db.AuditEvent](t)(s.FindAuditEvents(t.Context(), scope, a)) {
				ids = append(ids, e.ID)
			}
			return ids
		}},
		{"webhook_deliveries l JOIN customers c ON c.id = l.customer_id", "status", db.DeliveryFailed, "l.status = 'failed'", func(a db.Ask) (ids []int64) {
			for _, d := range devtest.Must[[]*db.Delivery](t)(s.FindDeliveries(t.Context(), scope, a)) {
				ids = append(ids, d.ID)
			}
			return ids
		}},
		{"runs l JOIN accounts a ON a.id = l.account_id JOIN customers c ON c.id = a.customer_id", "status", db.RunFailed, "l.status = 'failed'", func(a db.Ask) (ids []int64) {
			for _, r := range devtest.Must[[]*db.Run](t)(s.FindRuns(t.Context(), scope, a)) {
				ids = append(ids, r.ID)
			}
			return ids
		}},
	} {
		for order, direction := range map[string]string{"CREATED_AT": "", "-CREATED_AT": " DESC"} {
			for condition, where := range map[string]db.Where{"true": {}, l.condition: {Terms: []db.Term{{Member: l.member, Value: l.value}}}} {
				var want []int64
				devtest.Check(t, pool.SelectContext(t.Context(), &want, `SELECT l.id FROM `+l.from+` WHERE $1 = ANY (c.lineage) AND `+condition+
					` ORDER BY l.created_at`+direction+`, l.id`+direction+` LIMIT 21`, company))
				if got := l.find(db.NewAsk(where, order, paging.NewPage(20, paging.Cursor{}))); !slices.Equal(got, want) {
					t.Errorf("%s below %d by %s, %s: %v, want %v", l.from, company, order, condition, got, want)
				}
			}
		}
	}
}

// usersAreFound compares what a search for a rare word finds among the users of a company's subtree with a look at each of them.
func usersAreFound(t *testing.T, s *db.Store, pool *sqlx.DB, company int64) {
	t.Helper()
	var lineage pq.Int64Array
	devtest.Check(t, pool.GetContext(t.Context(), &lineage, `SELECT lineage FROM customers WHERE id = $1`, company))
	var want []int64
	devtest.Check(t, pool.SelectContext(t.Context(), &want, `SELECT user_id FROM subtree_users WHERE customer_id = $1 AND name = 'Rare Bird' ORDER BY user_id`, company))
	for _, text := range []string{"bird rar", "raer", "brid rare"} {
		var got []int64
		for _, u := range devtest.Must[[]*db.User](t)(s.FindUsers(t.Context(), access.Lineage(lineage).Subtree(),
			db.NewAsk(db.Where{Terms: []db.Term{{Member: "search", Value: text}}}, "ID", paging.NewPage(200, paging.Cursor{})))) {
			got = append(got, u.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q below %d: %v, want %v", text, company, got, want)
		}
	}
}

// permissionsAreFound compares lists of the permissions within a company's subtree with what a look at each of them finds.
func permissionsAreFound(t *testing.T, s *db.Store, pool *sqlx.DB, company int64) {
	t.Helper()
	var lineage pq.Int64Array
	devtest.Check(t, pool.GetContext(t.Context(), &lineage, `SELECT lineage FROM customers WHERE id = $1`, company))
	scope := access.Lineage(lineage).Subtree()
	for order, by := range map[string]string{
		"ID": "p.id", "-CREATED_AT": "p.created_at DESC, p.id DESC", "LAST_ACCESS": "COALESCE(p.last_access, 'epoch'), p.id",
	} {
		for _, term := range []struct{ member, value, condition string }{{"", "", "true"}, {"disabled", "true", "p.disabled"}, {"disabled", "false", "NOT p.disabled"}} {
			var where db.Where
			if term.member != "" {
				where.Terms = []db.Term{{Member: term.member, Value: term.value}}
			}
			var want []int64
			devtest.Check(t, pool.SelectContext(t.Context(), &want, `SELECT p.id FROM permissions p JOIN accounts a ON a.id = p.account_id JOIN customers c ON c.id = a.customer_id
				WHERE $1 = ANY (c.lineage) AND `+term.condition+` ORDER BY `+by, company))
			var got []int64
			devtest.Check(t, db.Each(t.Context(), s, db.Permissions.Walk(where, order, paging.Cursor{}, false), 0,
				func(_ context.Context, a db.Ask) ([]*db.Permission, error) {
					return s.FindPermissions(t.Context(), scope, a)
				},
				func(p *db.Permission, _ paging.Cursor) error { got = append(got, p.ID); return nil }))
			if !slices.Equal(got, want) {
				t.Errorf("below %d by %s, %s: %v, want %v", company, order, strings.TrimSpace(term.condition), got, want)
			}
		}
	}
}
