package db_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"

	"canopy/db"
	"canopy/internal/devstack/devtest"
)

// schemaQuery tells all that a migration can change of the schema, one object a line.
const schemaQuery = `
	SELECT format('column %s.%s %s %s %s', c.table_name, c.column_name, c.data_type, c.is_nullable, c.column_default)
	FROM information_schema.columns c WHERE c.table_schema = 'public' AND c.table_name <> 'goose_db_version'
	UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'goose_db_version'
	UNION ALL SELECT format('constraint %s of %s: %s', conname, conrelid::regclass, pg_get_constraintdef(oid)) FROM pg_constraint
		WHERE connamespace = 'public'::regnamespace AND conrelid IS DISTINCT FROM to_regclass('goose_db_version')::oid
	UNION ALL SELECT 'trigger ' || pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
	UNION ALL SELECT 'function ' || pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
	UNION ALL SELECT format('type %s %s', typname, typtype) FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype IN ('d', 'e')
	UNION ALL SELECT format('sequence %s', relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'S'
		AND relname <> 'goose_db_version_id_seq'
	UNION ALL SELECT format('storage of %s: %s', relname, unnest(reloptions)) FROM pg_class WHERE relnamespace = 'public'::regnamespace
	UNION ALL SELECT format('statistics %s', pg_get_statisticsobjdef(oid)) FROM pg_statistic_ext`

// schemaOf gives the objects of the schema, in order.
func schemaOf(t *testing.T, pool *sqlx.DB) (objects []string) {
	t.Helper()
	devtest.Check(t, pool.SelectContext(t.Context(), &objects, schemaQuery))
	slices.Sort(objects)
	return objects
}

// kept are the migrations that leave something behind on their way down, with the reason.
var kept = map[string]string{
	"00022_counting_in_order.sql": "the better count_at does for the schema before it",
}

// TestMigrationsGoBack: the way down of each migration leaves the schema that its way up has found.
func TestMigrationsGoBack(t *testing.T) {
	t.Parallel()
	address := devtest.Database(t, "empty", func(context.Context, string) error { return nil })
	m := devtest.Must[*db.Migrator](t)(db.NewMigrator(t.Context(), address))
	defer func() { _ = m.Close() }()
	pool := devtest.Must[*sqlx.DB](t)(db.Connect(address, db.Options{MaxConns: 1}))
	defer func() { _ = pool.Close() }()

	var found [][]string
	for range m.ListSources() {
		found = append(found, schemaOf(t, pool))
		_, err := m.UpByOne(t.Context())
		devtest.Check(t, err)
	}
	for _, want := range slices.Backward(found) {
		down := devtest.Must[*goose.MigrationResult](t)(m.Down(t.Context()))
		left := schemaOf(t, pool)
		if slices.Equal(left, want) != (kept[down.Source.Path] == "") {
			t.Fatalf("%s goes back to another schema: too much is %q, and missing %q", down.Source.Path, without(left, want), without(want, left))
		}
	}
}

// without gives what is in the list and not in the other.
func without(list, other []string) (rest []string) {
	for _, x := range list {
		if !slices.Contains(other, x) {
			rest = append(rest, x)
		}
	}
	return rest
}

// TestDueDeliveriesComeAlong: what is pending before a migration that keeps it elsewhere is due behind it, and on the way back.
func TestDueDeliveriesComeAlong(t *testing.T) {
	t.Parallel()
	address := devtest.Database(t, "empty", func(context.Context, string) error { return nil })
	m := devtest.Must[*db.Migrator](t)(db.NewMigrator(t.Context(), address))
	defer func() { _ = m.Close() }()
	pool := devtest.Must[*sqlx.DB](t)(db.Connect(address, db.Options{MaxConns: 1}))
	defer func() { _ = pool.Close() }()
	sources := m.ListSources()
	at := slices.IndexFunc(sources, func(s *goose.Source) bool { return strings.HasSuffix(s.Path, "_due_deliveries.sql") })
	for range at {
		devtest.Must[*goose.MigrationResult](t)(m.UpByOne(t.Context()))
	}
	pool.MustExecContext(t.Context(), `
		INSERT INTO webhook_deliveries (customer_id, destination_id, event_id, type, payload, status, counted, claim, claimed_at, next_attempt_at, interruptions, completed_at) VALUES
			(1, 7, 'waits', 'x', '', 'pending', false, 0, NULL, now(), 0, NULL),
			(1, 7, 'retries', 'x', '', 'pending', true, 1, NULL, '2100-01-01', 1, NULL),
			(1, 7, 'flies', 'x', '', 'pending', true, 1, '2000-01-01', '2100-01-02', 0, NULL),
			(1, 7, 'is lost', 'x', '', 'failed', true, 1, NULL, now(), 0, now()),
			(1, 7, 'is done', 'x', '', 'delivered', true, 1, NULL, now(), 0, now())`)
	state := `SELECT event_id || ' ' || CASE WHEN counted THEN to_char(next_attempt_at, 'YYYY-MM-DD') ELSE 'fresh ' || (next_attempt_at = created_at) END || ' ' || COALESCE(to_char(claimed_at, 'YYYY'), '-') || ' ' || interruptions
		FROM webhook_deliveries WHERE status = 'pending' ORDER BY id`
	var before, moved, back []string
	devtest.Check(t, pool.SelectContext(t.Context(), &before, state))
	devtest.Must[*goose.MigrationResult](t)(m.UpByOne(t.Context()))
	devtest.Check(t, pool.SelectContext(t.Context(), &moved, `
		SELECT event_id || ' ' || CASE WHEN begun THEN to_char(next_attempt_at, 'YYYY-MM-DD') ELSE 'fresh ' || (next_attempt_at = created_at) END || ' ' || COALESCE(to_char(claimed_at, 'YYYY'), '-') || ' ' || interruptions
		FROM webhook_due d JOIN webhook_deliveries w ON w.id = d.delivery_id AND w.destination_id = d.destination_id AND NOT w.lost ORDER BY id`))
	devtest.Must[*goose.MigrationResult](t)(m.Down(t.Context()))
	devtest.Check(t, pool.SelectContext(t.Context(), &back, state))
	if len(before) != 3 || !slices.Equal(moved, before) || !slices.Equal(back, before) {
		t.Errorf("before %q, behind %q, and back %q", before, moved, back)
	}
}

// TestMigrationsStepAside: a migration of a table that somebody reads for long keeps nobody else from it, is done once that is over, and
// takes as long as it takes, whatever bounds other statements.
func TestMigrationsStepAside(t *testing.T) {
	t.Parallel()
	address := devtest.Database(t, "empty", func(context.Context, string) error { return nil })
	m := devtest.Must[*db.Migrator](t)(db.NewMigrator(t.Context(), address+"&lock_timeout=100&statement_timeout=1"))
	defer func() { _ = m.Close() }()
	sources := m.ListSources()
	at := slices.IndexFunc(sources, func(s *goose.Source) bool { return strings.HasSuffix(s.Path, "_moving_less.sql") })
	for range at {
		devtest.Must[*goose.MigrationResult](t)(m.UpByOne(t.Context()))
	}
	pool := devtest.Must[*sqlx.DB](t)(db.Connect(address, db.Options{MaxConns: 3}))
	defer func() { _ = pool.Close() }()
	reader := devtest.Must[*sqlx.Tx](t)(pool.Beginx())
	defer func() { _ = reader.Rollback() }()
	var n int
	devtest.Check(t, reader.GetContext(t.Context(), &n, `SELECT count(*) FROM memberships`))
	done := make(chan int, 1)
	go func() {
		applied, err := m.Up(t.Context())
		if err != nil {
			t.Errorf("the migrations, %d of them done: %v", len(applied), err)
		}
		done <- len(applied)
	}()
	devtest.Eventually(t, "a migration waits for the reader", func() bool {
		waiting := 0
		devtest.Check(t, pool.GetContext(t.Context(), &waiting, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`))
		return waiting > 0 || len(done) > 0
	})
	if err := pool.GetContext(t.Context(), &n, `SELECT count(*) FROM memberships`); err != nil {
		t.Errorf("another reader waits behind the migration: %v", err)
	}
	devtest.Check(t, reader.Rollback())
	if n := <-done; n != len(sources)-at {
		t.Errorf("%d migrations were applied, of %d", n, len(sources)-at)
	}
}

// TestMigrationsHoldOneTable: a migration that waits for a document that somebody writes keeps nobody from the audit log, which they write next: they would wait
// for each other.
func TestMigrationsHoldOneTable(t *testing.T) {
	t.Parallel()
	address := devtest.Database(t, "empty", func(context.Context, string) error { return nil })
	m := devtest.Must[*db.Migrator](t)(db.NewMigrator(t.Context(), address))
	defer func() { _ = m.Close() }()
	at := slices.IndexFunc(m.ListSources(), func(s *goose.Source) bool { return strings.HasSuffix(s.Path, "_deliveries_by_type.sql") })
	for range at {
		devtest.Must[*goose.MigrationResult](t)(m.UpByOne(t.Context()))
	}
	pool := devtest.Must[*sqlx.DB](t)(db.Connect(address, db.Options{MaxConns: 3}))
	defer func() { _ = pool.Close() }()
	writer := devtest.Must[*sqlx.Tx](t)(pool.Beginx())
	defer func() { _ = writer.Rollback() }()
	writer.MustExecContext(t.Context(), `DELETE FROM documents`)
	done := make(chan error, 1)
	go func() {
		_, err := m.Up(t.Context())
		done <- err
	}()
	devtest.Eventually(t, "a migration waits for the writer", func() bool {
		var waiting bool
		devtest.Check(t, pool.GetContext(t.Context(), &waiting, `SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'documents'::regclass AND NOT granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`))
		return waiting
	})
	if _, err := writer.ExecContext(t.Context(), `SET LOCAL lock_timeout = 100`); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"audit_events", "webhook_deliveries"} {
		if _, err := writer.ExecContext(t.Context(), `DELETE FROM `+table); err != nil {
			t.Fatalf("%s: %v", table, err)
		}
	}
	devtest.Check(t, writer.Commit())
	devtest.Check(t, <-done)
}

// TestMigrationOfWordsHoldsNoCompany: the migration that writes the words of companies anew is done while somebody changes a company: they hold it, and write its words
// next, so that the two would wait for each other.
func TestMigrationOfWordsHoldsNoCompany(t *testing.T) {
	t.Parallel()
	address := devtest.Database(t, "empty", func(context.Context, string) error { return nil })
	m := devtest.Must[*db.Migrator](t)(db.NewMigrator(t.Context(), address))
	defer func() { _ = m.Close() }()
	at := slices.IndexFunc(m.ListSources(), func(s *goose.Source) bool { return strings.HasSuffix(s.Path, "_found_in_order.sql") })
	for range at {
		devtest.Must[*goose.MigrationResult](t)(m.UpByOne(t.Context()))
	}
	pool := devtest.Must[*sqlx.DB](t)(db.Connect(address, db.Options{MaxConns: 3}))
	defer func() { _ = pool.Close() }()
	writer := devtest.Must[*sqlx.Tx](t)(pool.Beginx())
	defer func() { _ = writer.Rollback() }()
	writer.MustExecContext(t.Context(), `UPDATE customers SET name = name`)
	if _, err := m.UpByOne(t.Context()); err != nil {
		t.Errorf("it waits for the company: %v", err)
	}
}
