package db

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"canopy/internal/devstack/devtest"
)

// changedOver has PostgreSQL count what there is, and logs that have come to have some rows be changed over.
func (m *monthly) changedOver(months *Months, rows int64) []string {
	m.t.Helper()
	m.do(`ANALYZE`)
	return devtest.Must[[]string](m.t)(months.ChangeOver(m.t.Context(), rows, Logs()...))
}

// TestLargeLogsAreChangedOver: a log is changed over once one of its tables has many rows, once; not while another process makes months. What was interrupted is gone on with.
func TestLargeLogsAreChangedOver(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	m.do(`INSERT INTO audit_events (customer_id, actor_user_id, action, object_type, object_id) SELECT 4, 4, 'run.started', 'Run', 4 FROM generate_series(1, 3000)`)
	steps := m.number(`SELECT count(*) FROM run_steps`)
	m.do(`INSERT INTO run_steps (run_id, position, step_id, type, started_at, duration_ms) SELECT (SELECT min(id) FROM runs), n, 'step', 'http', now(), 1 FROM generate_series(1000, 4999) n`)
	if got := m.changedOver(m.Months, steps+4001); len(got) != 0 {
		t.Errorf("%q are changed over", got)
	}
	devtest.Check(t, m.alone(t.Context(), func() error {
		if got := m.changedOver(m.Months, 2000); len(got) != 0 {
			t.Errorf("%q are changed over by two", got)
		}
		return nil
	}))
	m.At = func(step string) error {
		if strings.Contains(step, "is read") {
			return context.Canceled
		}
		return nil
	}
	if got, err := m.ChangeOver(t.Context(), 2000, Logs()...); err == nil || len(got) != 0 {
		t.Errorf("%q are changed over by who is interrupted", got)
	}
	m.At = func(string) error { return nil }
	if got := m.changedOver(m.Months, steps+4000); !slices.Equal(got, []string{"runs"}) {
		t.Errorf("%q are changed over, where one has many steps", got)
	}
	if got := m.changedOver(m.Months, 2000); !slices.Equal(got, []string{"audit"}) || len(m.suffixes(AuditLog)) != 3 {
		t.Errorf("%q are changed over, where one has many rows", got)
	}
	if got := m.changedOver(m.Months, 2000); len(got) != 0 || len(m.suffixes(DeliveryLog)) != 0 {
		t.Errorf("%q are changed over again", got)
	}
}

// TestLogsOfRegionsThatMove: neither the home nor the cell changes logs over while a region moves, by itself or by command; both do once it has.
func TestLogsOfRegionsThatMove(t *testing.T) {
	t.Parallel()
	s := splitRegion(t)
	ctx := t.Context()
	months := map[string]*Months{}
	for where, url := range map[string]string{"home": s.homeURL, "cell": s.cellURL} {
		pool := devtest.Must[*sqlx.DB](t)(Connect(url, Options{MaxConns: 4}))
		t.Cleanup(func() { _ = pool.Close() })
		months[where] = monthsOf(pool)
	}
	try := func(what string, want int) {
		t.Helper()
		for where, m := range months {
			devtest.Must[any](t)(m.pool.ExecContext(ctx, `ANALYZE webhook_deliveries, audit_events, runs, run_steps`))
			if got, err := m.ChangeOver(ctx, 1, Logs()...); err != nil || len(got) != want {
				t.Errorf("%s, at the %s: %q, %v", what, where, got, err)
			}
		}
	}
	// What it brings along is young, and has ids of the home.
	s.do(s.home, `UPDATE audit_events SET created_at = now() - interval '1 hour'`, `UPDATE runs SET created_at = now() - interval '5 days'`)
	split := s.begin(nil)
	try("before it moves", 0)
	devtest.Check(t, split.Copy(ctx, nothing))
	try("as it is copied", 0)
	for where, m := range months {
		if _, err := m.Partition(ctx, AuditLog); err == nil {
			t.Errorf("the %s changes a log over by command", where)
		}
	}
	devtest.Check(t, split.Switch(ctx, nothing))
	devtest.Check(t, split.Erase(ctx))
	s.arrived()
	try("once it has moved", len(Logs()))
	cell := months["cell"]
	for _, l := range Logs() {
		parts := devtest.Must[[]part](t)(l.parts(ctx, cell.pool))
		if from, to := *parts[1].from, *parts[1].to; from > 7*IDsOfCell+2*lineMargin || to-from > 2*leastMonth {
			t.Errorf("after those of the region, %s has a month of the ids from %d to %d", l.Name, from, to)
		}
	}
	for _, days := range []int{36, 72, 500} {
		cell.later = time.Duration(days) * 24 * time.Hour
		devtest.Check(t, cell.Ahead(ctx))
	}
}

// TestTwoAtAChangeOver: whoever is no longer alone, as the connection that said so is lost, leaves a log as another has changed it over meanwhile, at whichever step.
func TestTwoAtAChangeOver(t *testing.T) {
	t.Parallel()
	for step, more := 0, true; more; step++ {
		m := newMonthly(t)
		m.do(`ANALYZE`)
		first := m.store.Months()
		first.margin, first.least, first.few = m.margin, m.least, m.few
		at := 0
		first.At = func(string) error {
			if at++; at == step+1 {
				m.do(`SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
				if got := m.changedOver(m.Months, 1); len(got) == 0 {
					t.Errorf("at step %d: another one does not do it", step)
				}
			}
			return nil
		}
		if _, err := first.ChangeOver(t.Context(), 1, AuditLog); err != nil {
			t.Logf("at step %d: %v", step, err)
		}
		more = at > step
		if n := m.number(`SELECT count(*) FROM pg_constraint WHERE conname = 'month_line'`); n != 0 {
			t.Errorf("at step %d: %d lines are left", step, n)
		}
		for range 4 {
			devtest.Check(t, m.Ahead(t.Context()))
			m.do(`INSERT INTO audit_events (customer_id, actor_user_id, action, object_type, object_id) SELECT 4, 4, 'run.started', 'Run', 4 FROM generate_series(1, 15)`)
		}
	}
}

// TestWhatHangsOnALog: a log is not changed over where somebody has made something at it that would stay at its first month, or be lost; nothing has been touched then.
func TestWhatHangsOnALog(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	for _, c := range []struct{ make, named, take string }{
		{`CREATE VIEW young AS SELECT * FROM audit_events`, "the view young", `DROP VIEW young`},
		{`CREATE PUBLICATION told FOR TABLE audit_events`, "the publication told", `DROP PUBLICATION told`},
		{`CREATE PUBLICATION of_all FOR ALL TABLES`, "the publication of_all", `DROP PUBLICATION of_all; CREATE PUBLICATION whole FOR ALL TABLES WITH (publish_via_partition_root)`},
		{`ALTER TABLE audit_events ENABLE ROW LEVEL SECURITY`, "row-level security of audit_events", `ALTER TABLE audit_events DISABLE ROW LEVEL SECURITY`},
		{`CREATE TABLE noted (of_event bigint CONSTRAINT noted_of REFERENCES audit_events)`, "the reference noted_of of noted", `DROP TABLE noted`},
		{`CREATE STATISTICS alike ON action, object_type FROM audit_events`, "the statistics alike", `DROP STATISTICS alike`},
		{`CREATE UNIQUE INDEX once ON audit_events (object_id) WHERE object_id < 0`, "the unique index once", `DROP INDEX once`},
		{`CREATE UNIQUE INDEX once ON audit_events (object_id) INCLUDE (id) WHERE object_id < 0`, "the unique index once", `DROP INDEX once`},
	} {
		m.do(c.make)
		if _, err := m.Partition(t.Context(), AuditLog); err == nil || !strings.Contains(err.Error(), c.named) {
			t.Errorf("%s: %v", c.make, err)
		}
		m.do(c.take)
	}
	if n := m.number(`SELECT count(*) FROM pg_constraint WHERE conname = 'month_line'`); n != 0 {
		t.Errorf("%d lines are drawn", n)
	}
	m.partition(AuditLog)
}

// TestLongReadingsAreWaitedFor: a log is changed over also where it takes longer to read it than a connection of the store waits for an answer.
func TestLongReadingsAreWaitedFor(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	m.do(`ANALYZE`)
	pool := devtest.Must[*sqlx.DB](t)(Connect(m.url, Options{MaxConns: 4, silence: 3 * time.Second}))
	defer func() { _ = pool.Close() }()
	months := (&Store{pool: pool, url: m.url}).Months()
	months.margin, months.least, months.few = m.margin, m.least, m.few
	months.At = func(step string) error {
		if strings.Contains(step, "is read") { // what reads it waits for this one
			go func() {
				if _, err := m.pool.ExecContext(t.Context(), `BEGIN; LOCK TABLE audit_events IN SHARE UPDATE EXCLUSIVE MODE; SELECT pg_sleep(5); COMMIT`); err != nil {
					t.Error(err)
				}
			}()
			devtest.Eventually(t, "it is held", func() bool {
				return m.number(`SELECT count(*) FROM pg_locks WHERE relation = 'audit_events'::regclass AND mode = 'ShareUpdateExclusiveLock'`) > 0
			})
		}
		return nil
	}
	if got, err := months.ChangeOver(t.Context(), 1, AuditLog); err != nil || !slices.Equal(got, []string{"audit"}) {
		t.Errorf("%q are changed over: %v", got, err)
	}
}
