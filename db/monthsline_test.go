package db

import (
	"errors"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"canopy/internal/devstack/devtest"
)

// leaveLine changes a log over and is interrupted behind the line that it has drawn; so is who tries it again.
func (m *monthly) leaveLine(l *Log) {
	m.t.Helper()
	left := errors.New("left")
	m.At = func(step string) error {
		if strings.Contains(step, "is read") {
			return left
		}
		return nil
	}
	if _, err := m.Partition(m.t.Context(), l); !errors.Is(err, left) {
		m.t.Fatal(err)
	}
}

// TestLinesAreTakenAway: where ids come near to a line that somebody has left, the upkeep takes it away before it is in anybody's way; one who draws it draws it anew.
func TestLinesAreTakenAway(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	m.leaveLine(AuditLog)
	m.write(0)
	m.later(0)
	if line, err := lineOf(t.Context(), m.pool, "audit_events"); err != nil || line == nil {
		t.Fatalf("%v %v", line, err)
	}
	for range 12 {
		m.write(0)
	}
	m.later(0)
	if line, err := lineOf(t.Context(), m.pool, "audit_events"); err != nil || line != nil {
		t.Errorf("%v %v", line, err)
	}
	passed := 0
	m.At = func(step string) error {
		if strings.Contains(step, "is read") && passed < 2 {
			passed++
			m.do(`SELECT setval('audit_events_id_seq', (SELECT last_value + 25 FROM audit_events_id_seq))`)
		}
		return nil
	}
	m.partition(AuditLog)
	m.write(0)
	if got := m.within(AuditLog); len(got) != 2 || passed != 2 {
		t.Errorf("%q, after %d lines", got, passed)
	}
}

// TestLinesGoWithAnEnd: a line that somebody has left in a partition without end is gone once the upkeep gives that another end, and refuses nothing that comes in front of it.
func TestLinesGoWithAnEnd(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	m.partition(AuditLog)
	for range 25 { // there is room for 20 in front of the one without end
		m.write(0)
	}
	m.leaveLine(AuditLog)
	m.later(0)
	if n := m.number(`SELECT count(*) FROM pg_constraint WHERE conname = 'month_line'`); n != 0 {
		t.Errorf("%d lines are left", n)
	}
	for range 60 {
		m.write(0)
	}
}

// TestLinesAreWatched: however long what there is is read, by as few connections as the command has, ids that come near to the line end that.
func TestLinesAreWatched(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	mig := devtest.Must[*Migrator](t)(NewMigrator(t.Context(), m.url))
	defer func() { _ = mig.Close() }()
	months, hold := mig.Months(), devtest.Must[*sqlx.Tx](t)(m.pool.Beginx())
	defer func() { _ = hold.Rollback() }()
	reading := make(chan bool, 1)
	months.margin = m.margin
	months.At = func(step string) error {
		if strings.Contains(step, "is read") && len(reading) == 0 {
			devtest.Must[any](t)(hold.Exec(`LOCK TABLE audit_events IN SHARE UPDATE EXCLUSIVE MODE`))
			reading <- true
		}
		return nil
	}
	done := make(chan error, 1)
	go func() {
		_, err := months.Partition(t.Context(), AuditLog)
		done <- err
	}()
	const waiting = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%VALIDATE%'`
	devtest.Eventually(t, "what there is waits to be read", func() bool { return m.number(waiting) > 0 })
	m.do(`SELECT setval('audit_events_id_seq', (SELECT last_value + 25 FROM audit_events_id_seq))`)
	devtest.Eventually(t, "it is given up", func() bool { return m.number(waiting) == 0 })
	devtest.Check(t, hold.Rollback())
	devtest.Check(t, <-done)
	if got := m.suffixes(AuditLog); len(got) != 3 {
		t.Errorf("%q", got)
	}
}
