package db

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"canopy/internal/devstack"
	"canopy/internal/devstack/devtest"
)

// replicated are a home and a cell that has its directory: two servers.
type replicated struct {
	t                testing.TB
	home, cell       *sqlx.DB
	homeURL, cellURL string
	columns          []columnOfTable
}

// startReplicating starts a server that can be replicated, with no schema.
func startReplicating(t testing.TB) (pool *sqlx.DB, url string) {
	t.Helper()
	p := devtest.Must[*devstack.Postgres](t)(devstack.StartPostgres(t.Context(), devstack.PostgresOptions{
		Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler), Settings: replicatingSettings,
	}))
	t.Cleanup(p.Remove)
	return connected(t, p)
}

// What is committed is written, as it is where people work: the other hears of it at once.
var replicatingSettings = map[string]string{"wal_level": "logical", "synchronous_commit": "on"}

// startWithSchema starts one with the schema. Those of one name share their system identifier.
func startWithSchema(t testing.TB, name string) (pool *sqlx.DB, url string) {
	t.Helper()
	return connected(t, devtest.Server(t, devstack.PostgresOptions{Settings: replicatingSettings}, name, Migrate))
}

func connected(t testing.TB, p *devstack.Postgres) (pool *sqlx.DB, url string) {
	t.Helper()
	pool = devtest.Must[*sqlx.DB](t)(Connect(p.URL(), Options{MaxConns: 1}))
	t.Cleanup(func() { _ = pool.Close() })
	return pool, p.URL()
}

// replicate has the cell of a region follow a home that has rows in every table.
func replicate(t testing.TB) *replicated {
	t.Helper()
	return replicateGrown(t, 50)
}

// holdAll lets the cell have what companies of all regions have, who stand for those of its own: the tree has many of them.
func (r *replicated) holdAll() {
	r.t.Helper()
	for table := range heldOff {
		r.do(r.cell, `ALTER TABLE `+table+` DISABLE TRIGGER refused_elsewhere`)
	}
}

// replicateGrown does so with so many companies.
func replicateGrown(t testing.TB, companies int) *replicated {
	t.Helper()
	return replicateAs(t, companies, (*Migrator).OpenCell)
}

// replicateAs opens the region in a way of its own.
func replicateAs(t testing.TB, companies int, open func(m *Migrator, ctx context.Context, region, address, role string) error, more ...string) *replicated {
	t.Helper()
	r := &replicated{t: t}
	r.home, r.homeURL = startWithSchema(t, "home")
	r.cell, r.cellURL = startWithSchema(t, "cell")
	r.columns = columnsOfTables(t, r.home)
	rows := planData{t, r.home}
	rows.begin()
	rows.grow(0, companies)
	rows.exec(`UPDATE users SET password_hash = 'hash', otp_method = 'totp', otp_secret = 'sealed', otp_last_step = 5 WHERE id % 2 = 0`)
	r.do(r.home, `INSERT INTO regions (id, code, name) VALUES (7, 'eu-7', 'Seven')`, `CREATE ROLE "eu 7" LOGIN REPLICATION PASSWORD 'secret'`)
	r.do(r.home, `INSERT INTO splits (region_id, address, phase, switched_at, erased_at) VALUES (2, '', 'done', now(), now())`,
		`INSERT INTO moved_ids (kind, first, last, region_id) VALUES ('runs', 9000000000000, 9000000000001, 2)`, `INSERT INTO moved_runs (job_key, region_id) VALUES (gen_random_uuid(), 2)`)
	r.do(r.home, more...)
	devtest.Check(t, open(r.migrator(r.homeURL), t.Context(), "eu-7", "https://eu-7.example", "eu 7"))
	ready := 0
	devtest.Check(t, r.migrator(r.cellURL).JoinHome(t.Context(), "eu-7", r.asCell(), func(n, of int) {
		if ready = n; of != len(tablesIn(directory)) {
			t.Errorf("%d tables come, of %d", of, len(tablesIn(directory)))
		}
	}))
	if ready != len(tablesIn(directory)) {
		t.Errorf("it was told of %d tables", ready)
	}
	return r
}

// asCell is the home's database as the cell comes to it.
func (r *replicated) asCell() string {
	r.t.Helper()
	return urlAs(r.t, r.homeURL, "eu 7")
}

func (r *replicated) migrator(url string) *Migrator {
	r.t.Helper()
	m := devtest.Must[*Migrator](r.t)(NewMigrator(r.t.Context(), url))
	r.t.Cleanup(func() { _ = m.Close() })
	return m
}

func (r *replicated) do(pool *sqlx.DB, texts ...string) {
	r.t.Helper()
	for _, text := range texts {
		if _, err := pool.ExecContext(r.t.Context(), text); err != nil {
			r.t.Fatalf("%s: %v", text, err)
		}
	}
}

func (r *replicated) number(pool *sqlx.DB, text string) (n int64) {
	r.t.Helper()
	devtest.Check(r.t, pool.GetContext(r.t.Context(), &n, text))
	return n
}

// arrived waits until the cell has all that the home has committed.
func (r *replicated) arrived() {
	r.t.Helper()
	var at string
	devtest.Check(r.t, r.home.GetContext(r.t.Context(), &at, `SELECT pg_current_wal_insert_lsn()`)) // what is committed may not be written yet
	devtest.Eventually(r.t, "the cell has the directory", func() bool {
		return r.number(r.cell, `SELECT count(*) FROM pg_subscription_rel WHERE srsubstate <> 'r'`) == 0 &&
			r.number(r.home, `SELECT count(*) FROM pg_replication_slots WHERE slot_name = 'canopy_cell_7' AND confirmed_flush_lsn >= `+pq.QuoteLiteral(at)) == 1
	})
}

// same compares the directories of both, row by row.
func (r *replicated) same() {
	r.t.Helper()
	for _, table := range tablesIn(directory) {
		var columns []string
		for _, c := range r.columns {
			if c.Table == table && !slices.Contains(places[table].home, c.Name) {
				columns = append(columns, "x."+pq.QuoteIdentifier(c.Name))
			}
		}
		text := fmt.Sprintf(`SELECT row(%s)::text FROM %s x ORDER BY 1`, strings.Join(columns, ", "), table)
		var here, there []string
		devtest.Check(r.t, r.home.SelectContext(r.t.Context(), &here, text))
		devtest.Check(r.t, r.cell.SelectContext(r.t.Context(), &there, text))
		if len(here) == 0 || !slices.Equal(here, there) {
			r.t.Errorf("%s differs: the home has %d rows and the cell %d", table, len(here), len(there))
		}
	}
}

// TestDirectoryReplicates: a cell gets the directory as it is declared, by PostgreSQL's own replication, with what the home's triggers have made of it, and nothing
// else; and what docs/decisions/cells.md says that a replica does not do, it does not.
func TestDirectoryReplicates(t *testing.T) {
	t.Parallel()
	r := replicate(t)
	r.arrived()
	r.same()
	for _, kind := range []string{homeOnly, data, local} {
		for _, table := range tablesIn(kind) {
			if n := r.number(r.cell, `SELECT count(*) FROM `+table); n > 0 && table != "goose_db_version" && table != "delivery_look" && table != "cell" {
				t.Errorf("the cell has %d rows of %s", n, table)
			}
		}
	}
	for _, table := range tablesIn(directory) {
		for _, column := range places[table].home {
			if n := r.number(r.cell, fmt.Sprintf(`SELECT count(*) FROM %s WHERE %s IS NOT NULL AND %[2]s::text NOT IN ('none', '0')`, table, column)); n > 0 {
				t.Errorf("the cell has %s.%s of %d rows", table, column, n)
			}
		}
	}

	// A cell's own rows of companies and people that it has by replication, and of one that it lacks.
	r.holdAll()
	r.do(r.cell, `INSERT INTO secrets (customer_id, name, value) SELECT id, 'KEY', '' FROM customers`,
		`INSERT INTO contexts (account_id, user_id, name, description, caption, embedding_model) SELECT id, 8, 'Context', '', '', '' FROM accounts WHERE customer_id = 7`)
	if _, err := r.cell.ExecContext(t.Context(), `INSERT INTO secrets (customer_id, name, value) VALUES (12345, 'KEY', '')`); err == nil {
		t.Error("the cell takes what belongs to a company that it lacks")
	}
	count := func(company int64) int64 {
		return r.number(r.cell, fmt.Sprintf(`SELECT COALESCE(sum(n), 0) FROM usage_counts WHERE customer_id = %d AND name = 'secrets'`, company))
	}
	r.do(r.cell, `DELETE FROM tree_changes`)
	before := map[int64]int64{24: count(24), 1: count(1), 3: count(3)}
	was := r.number(r.home, `SELECT parent_id FROM customers WHERE id = 24`)
	before[was] = count(was)
	counted := r.number(r.cell, `SELECT sum(n) FROM usage_counts WHERE customer_id = 1 AND name = 'contexts'`)

	// The home changes all that a trigger follows: places, names, people, a company that comes and one that goes.
	r.do(r.home,
		`UPDATE customers SET name = 'Renamed' WHERE id = 9`, `UPDATE users SET first_name = 'Renamed', email = 'renamed@x.example' WHERE id = 9`,
		`INSERT INTO users (id, email) VALUES (1000, 'new@x.example')`,
		`INSERT INTO customers (id, parent_id, name, region_id) VALUES (1000, 9, 'New', 1)`,
		`INSERT INTO memberships (customer_id, user_id, email, first_name, last_name) VALUES (1000, 1000, 'new@x.example', 'New', '')`,
		`UPDATE memberships SET accepted_at = now() WHERE customer_id = 1000`, `UPDATE memberships SET accepted_at = now() WHERE customer_id = 5 AND accepted_at IS NULL`,
		`SELECT move_customer(24, 3)`, `DELETE FROM permissions WHERE user_id = 10`, `UPDATE permissions SET last_access = now() WHERE user_id = 12`,
		`UPDATE sessions SET ended_at = now()`, `UPDATE api_keys SET revoked_at = now() WHERE id = 3`,
		`DELETE FROM memberships WHERE customer_id = 11`, `UPDATE users SET erased_at = now(), email = 'erased:30', first_name = '' WHERE id = 30`)
	// A company goes, with an account and a person, as they go at the home.
	gone := `(SELECT id FROM accounts WHERE customer_id = 7)`
	r.do(r.home, `DELETE FROM agents WHERE false`, `UPDATE agents SET published_id = NULL WHERE account_id IN `+gone,
		`DELETE FROM run_steps WHERE run_id IN (SELECT id FROM runs WHERE account_id IN `+gone+`)`, `DELETE FROM runs WHERE account_id IN `+gone,
		`DELETE FROM agent_revisions WHERE agent_id IN (SELECT id FROM agents WHERE account_id IN `+gone+`)`, `DELETE FROM agents WHERE account_id IN `+gone,
		`DELETE FROM webhook_destinations WHERE customer_id = 7`, `DELETE FROM accounts WHERE customer_id = 7`)
	if n := r.number(r.home, `SELECT count(*) FROM customers WHERE parent_id = 7`); n > 0 {
		t.Fatalf("the company has %d below it", n)
	}
	r.do(r.home, `DELETE FROM customers WHERE id = 7`)
	r.arrived()
	r.same()

	// What the cell has counted moves with the company, and what listens there is told.
	if before[24] == 0 || was == 1 || was == 3 {
		t.Fatalf("the company that moves, from below %d, has nothing: %v", was, before)
	}
	for company, want := range map[int64]int64{24: before[24], 1: before[1], 3: before[3] + before[24], was: before[was] - before[24]} {
		if n := count(company); n != want {
			t.Errorf("company %d has %d counted in the cell after the move, not %d", company, n, want)
		}
	}
	if n := r.number(r.cell, `SELECT count(*) FROM tree_changes WHERE customer_id = 24`); n != 1 {
		t.Errorf("the move is told %d times in the cell", n)
	}

	for what, text := range map[string]string{
		"what a company had that is gone":  `SELECT count(*) - 1 FROM secrets s WHERE NOT EXISTS (SELECT FROM customers c WHERE c.id = s.customer_id)`,
		"what its account had":             `SELECT count(*) - 1 FROM contexts x WHERE NOT EXISTS (SELECT FROM accounts a WHERE a.id = x.account_id)`,
		"what the cell has counted for it": fmt.Sprintf(`SELECT sum(n) - %d FROM usage_counts WHERE customer_id = 1 AND name = 'contexts'`, counted),
	} {
		if n := r.number(r.cell, text); n != 0 {
			t.Errorf("%s: the replica does more than it is said to, by %d", what, n)
		}
	}
}
