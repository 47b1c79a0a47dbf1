package db

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"canopy/internal/devstack/devtest"
)

// monthly is a database with rows of ten companies, and what begins and drops months there.
type monthly struct {
	t     *testing.T
	url   string
	store *Store
	*Months
}

func newMonthly(t *testing.T) *monthly {
	t.Helper()
	url, _ := grownAt(t, nil, nil)
	m := &monthly{t: t, url: url, store: devtest.Must[*Store](t)(Open(t.Context(), url, Options{MaxConns: 12}))}
	t.Cleanup(func() { _ = m.store.Close() })
	m.Months = m.store.Months()
	m.margin, m.least, m.few = 40, 10, 20
	return m
}

func (m *monthly) do(texts ...string) {
	m.t.Helper()
	for _, text := range texts {
		if _, err := m.pool.ExecContext(m.t.Context(), text); err != nil {
			m.t.Fatalf("%s: %v", text, err)
		}
	}
}

func (m *monthly) strings(text string, args ...any) (list []string) {
	m.t.Helper()
	devtest.Check(m.t, m.pool.SelectContext(m.t.Context(), &list, text, args...))
	return list
}

func (m *monthly) number(text string) (n int64) {
	m.t.Helper()
	devtest.Check(m.t, m.pool.GetContext(m.t.Context(), &n, text))
	return n
}

func (m *monthly) partition(logs ...*Log) {
	m.t.Helper()
	for _, l := range logs {
		if changed, err := m.Partition(m.t.Context(), l); err != nil || !changed {
			m.t.Fatalf("%s: %v %v", l.Name, changed, err)
		}
	}
}

// later has the upkeep make what is needed next, some days later.
func (m *monthly) later(days int) {
	m.t.Helper()
	m.Months.later = time.Duration(days) * 24 * time.Hour
	devtest.Check(m.t, m.Ahead(m.t.Context()))
}

// suffixes are what the names of the partitions of a log end with.
func (m *monthly) suffixes(l *Log) (list []string) {
	m.t.Helper()
	for _, p := range devtest.Must[[]part](m.t)(l.parts(m.t.Context(), m.pool)) {
		list = append(list, p.suffix(l))
	}
	return list
}

// within tells which partitions the rows of a log are in, and how many there are of each.
func (m *monthly) within(l *Log) []string {
	m.t.Helper()
	return m.strings(fmt.Sprintf(`SELECT substr(tableoid::regclass::text, %d) || ' ' || count(*) FROM %s GROUP BY tableoid ORDER BY min(id)`, len(l.table())+1, l.table()))
}

// write adds a row to each log, which is n days old; a run has two steps.
func (m *monthly) write(n int) {
	m.t.Helper()
	for _, text := range monthlyWrites {
		m.do(strings.ReplaceAll(text, ":days", fmt.Sprint(n)))
	}
}

var monthlyWrites = []string{
	`INSERT INTO webhook_deliveries (customer_id, destination_id, event_id, type, payload, status, completed_at, created_at) VALUES (4, 4, 'event', 'run.finished', '', 'delivered', now() - interval '1 day' * :days, now() - interval '1 day' * :days)`,
	`INSERT INTO audit_events (customer_id, actor_user_id, action, object_type, object_id, created_at) VALUES (4, 4, 'run.started', 'Run', 4, now() - interval '1 day' * :days)`,
	`WITH made AS (INSERT INTO runs (job_key, agent_id, revision_id, account_id, user_id, input, status, finished_at, created_at)
			VALUES (gen_random_uuid(), 4, 4, 4, 4, '{}', 'finished', now() - interval '1 day' * :days, now() - interval '1 day' * :days) RETURNING id)
		INSERT INTO run_steps (run_id, position, step_id, type, started_at, duration_ms) SELECT id, p, 'step', 'http', now(), 1 FROM made, generate_series(0, 1) p`,
}

// logTables are the tables of all logs.
func logTables() (list []string) {
	for _, l := range Logs() {
		list = append(list, l.names("")...)
	}
	return list
}

// made tells what a table has beside its rows.
const made = `
	SELECT 'index ' || regexp_replace(pg_get_indexdef(indexrelid), ' ON (ONLY )?', ' ON ') AS x FROM pg_index WHERE indrelid = $1::regclass
	UNION ALL SELECT 'constraint ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = $1::regclass
	UNION ALL SELECT 'trigger ' || pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = $1::regclass AND NOT tgisinternal
	UNION ALL SELECT format('column %s %s %s', attname, atttypid::regtype, attnotnull) FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped
	UNION ALL SELECT format('column %s of the sequence %s', attname, pg_get_serial_sequence($1::regclass::text, attname)) FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND attname = 'id'
	UNION ALL SELECT format('granted %s', relacl) FROM pg_class WHERE oid = $1::regclass ORDER BY 1`
