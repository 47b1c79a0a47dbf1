package db

import (
	"context"
	"slices"
	"testing"

	"github.com/jmoiron/sqlx"

	"canopy/internal/devstack/devtest"
)

// changedOver has PostgreSQL count what there is, and logs that have come to have some rows be changed over.
func (m *monthly) changedOver(months *Months, rows int64) []string {
	m.t.Helper()
	m.do(`ANALYZE`)
	return devtest.Must[[]string](m.t)(months.ChangeOver(m.t.Context(), rows))
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
	m.At = func(string) error { return context.Canceled }
	if got, err := m.ChangeOver(t.Context(), 2000); err == nil || len(got) != 0 {
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
			if got, err := m.ChangeOver(ctx, 1); err != nil || len(got) != want {
				t.Errorf("%s, at the %s: %q, %v", what, where, got, err)
			}
		}
	}
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
}
