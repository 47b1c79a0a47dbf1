package db

import (
	"slices"
	"testing"
	"time"

	"canopy/internal/devstack/devtest"
)

// TestMonthsAreDropped: a month goes once all in it is older than the retention, with what belongs to it. One in which something is under way is waited for, and then loses its other rows.
func TestMonthsAreDropped(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	const keep = 100 * 24 * time.Hour
	m.least = 2
	m.do(`UPDATE runs SET created_at = now() - interval '250 days' + id % 1000 * interval '1 second', finished_at = now() - interval '249 days', status = 'finished'`)
	m.partition(Logs()...)
	for _, days := range []int{200, 160, 120, 50} { // two rows of each age, each age in a partition of its own
		m.write(days)
		m.write(days)
		m.later(0)
	}
	m.do(`UPDATE runs SET status = 'running', finished_at = NULL WHERE id = (SELECT max(id) FROM runs WHERE created_at < now() - interval '150 days')`,
		`UPDATE webhook_deliveries SET completed_at = now() - interval '1 hour' WHERE id = (SELECT max(id) FROM webhook_deliveries WHERE created_at < now() - interval '110 days')`)
	drop := func(l *Log) (rest []IDs) {
		t.Helper()
		return devtest.Must[[]IDs](t)(m.Drop(t.Context(), l, keep))
	}
	months := m.suffixes(RunLog)
	if rest := drop(RunLog); len(rest) != 1 {
		t.Errorf("%v is left to go by itself", rest)
	}
	if got := m.suffixes(RunLog); !slices.Equal(got, []string{months[2], months[4], months[5], months[6]}) || m.number(`SELECT count(*) FROM run_steps`) != 8 { // the one from before is older, too
		t.Errorf("left are %q of %q", got, months)
	}
	rest := drop(RunLog)
	last := devtest.Must[int64](t)(m.store.ForgetRuns(t.Context(), keep, rest[0].After, 1000))
	if got := m.within(RunLog); last < rest[0].After || !slices.Equal(got, []string{months[2] + " 1", months[4] + " 2"}) {
		t.Errorf("left are %q", got)
	}
	m.do(`UPDATE runs SET status = 'finished', finished_at = now() - interval '101 days' WHERE status = 'running'`)
	if rest := drop(RunLog); len(rest) != 0 || len(m.suffixes(RunLog)) != 3 {
		t.Errorf("left are %q and %v", m.suffixes(RunLog), rest)
	}
	drop(DeliveryLog)
	if got := m.within(DeliveryLog); !slices.Contains(got, months[3]+" 2") || slices.Contains(got, months[1]+" 2") {
		t.Errorf("left are %q", got)
	}
	if rest := devtest.Must[[]IDs](t)(m.Drop(t.Context(), AuditLog, 1000*24*time.Hour)); len(rest) != 0 || len(m.within(AuditLog)) != 5 {
		t.Errorf("left are %q and %v", m.within(AuditLog), rest)
	}
}

// TestLateRowsGoByThemselves: rows of the partition from before, and of one that nobody has ended for long, are deleted one by one; those of a log that is one table always are.
func TestLateRowsGoByThemselves(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	const keep = 60 * 24 * time.Hour // the rows from before are 115 days old
	if rest := devtest.Must[[]IDs](t)(m.Drop(t.Context(), AuditLog, keep)); !slices.Equal(rest, []IDs{{}}) {
		t.Errorf("%v", rest)
	}
	m.write(0) // keeps the first one from being dropped
	m.partition(AuditLog)
	m.write(110)
	m.write(0)
	parts := devtest.Must[[]part](t)(AuditLog.parts(t.Context(), m.pool))
	rest := devtest.Must[[]IDs](t)(m.Drop(t.Context(), AuditLog, keep))
	if want := []IDs{{0, *parts[0].to - 1}, {*parts[1].from - 1, *parts[1].to - 1}}; !slices.Equal(rest, want) {
		t.Errorf("%v, not %v", rest, want)
	}
}
