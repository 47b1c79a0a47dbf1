package db

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

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

// TestLogsGetMonths: a log that is changed over has the rows, indexes, checks, triggers, references and rights that it had, its ids go on, and no second time changes anything.
func TestLogsGetMonths(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	m.do(`GRANT SELECT ON audit_events TO pg_monitor`)
	all := func() (rows, schema map[string][]string) {
		rows, schema = map[string][]string{}, map[string][]string{}
		for _, table := range logTables() {
			rows[table], schema[table] = m.strings(`SELECT x::text FROM `+table+` x ORDER BY 1`), m.strings(made, table)
		}
		return rows, schema
	}
	rows, schema := all()
	m.partition(Logs()...)
	for _, l := range Logs() {
		if changed, err := m.Partition(t.Context(), l); changed || err != nil {
			t.Errorf("%s changes twice: %v %v", l.Name, changed, err)
		}
	}
	rowsNow, schemaNow := all()
	// What can't be said of all partitions together each of them says for itself.
	apart := map[string][]string{"runs": {"index CREATE UNIQUE INDEX runs_job_key ON public.runs USING btree (job_key)", "constraint runs_job_key UNIQUE (job_key)"}}
	first := m.suffixes(DeliveryLog)[1]
	for _, table := range logTables() {
		if len(rows[table]) == 0 || !slices.Equal(rowsNow[table], rows[table]) {
			t.Errorf("%s had %d rows, and has %d", table, len(rows[table]), len(rowsNow[table]))
		}
		refers := func(x string) bool { return strings.Contains(x, " FOREIGN KEY ") }
		for _, suffix := range []string{beforeMonths, first} {
			for _, x := range schema[table] {
				if refers(x) && !slices.Contains(withoutSuffix(m.strings(made, table+suffix), suffix), x) {
					t.Errorf("%s%s lacks %s", table, suffix, x)
				}
			}
		}
		want := slices.DeleteFunc(schema[table], func(x string) bool { return refers(x) || slices.Contains(apart[table], x) })
		if !slices.Equal(schemaNow[table], want) {
			t.Errorf("%s:\n%s\nbefore:\n%s", table, strings.Join(schemaNow[table], "\n"), strings.Join(want, "\n"))
		}
	}
	if n := m.number(`SELECT count(*) FROM pg_proc WHERE proname LIKE '%month_line%'`) + m.number(`SELECT count(*) FROM pg_constraint WHERE conname = 'month_line'`); n != 0 {
		t.Errorf("%d parts of lines are left", n)
	}

	m.write(0)
	for _, l := range Logs() {
		if got := m.within(l); len(got) != 2 || got[1] != first+" 1" {
			t.Errorf("%s: %q", l.Name, got)
		}
	}
	if n := m.number(`SELECT count(*) FROM run_steps`+first) + m.number(`SELECT count(*) FROM webhook_deliveries WHERE limb_id > 0 AND event_id = 'event'`); n != 3 { // by the trigger
		t.Errorf("%d rows came in", n)
	}
	key := m.strings(`UPDATE runs SET error = '1' WHERE id = (SELECT max(id) FROM runs) RETURNING job_key`)[0]
	if _, err := m.pool.Exec(`INSERT INTO runs (job_key, agent_id, revision_id, account_id, input) VALUES ($1, 4, 4, 4, '{}')`, key); err == nil {
		t.Error("a job key is there twice in a month")
	}
	for _, text := range []string{
		`INSERT INTO run_steps (run_id, position, step_id, type, started_at, duration_ms) VALUES (1000000000, 0, 'x', 'x', now(), 1)`,
		`INSERT INTO audit_events (customer_id, action, object_type, object_id) VALUES (1000000000, 'x', 'x', 1)`,
	} {
		if _, err := m.pool.Exec(text); err == nil {
			t.Errorf("nothing refuses it: %s", text)
		}
	}
	m.do(`DELETE FROM runs WHERE id = (SELECT max(id) FROM runs)`)
	if n := m.number(`SELECT count(*) FROM run_steps` + first); n != 0 {
		t.Errorf("%d steps stay of a run that is gone", n)
	}
}

// TestMonthsAreMadeAhead: behind the partition that is filled lies an empty one of the size that a month needs, and one without end, like those before. One that is filled for too long is left.
func TestMonthsAreMadeAhead(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	m.later(0) // nothing, as no log has months
	m.partition(Logs()...)
	m.later(0)
	m.later(40) // in the first one is nothing yet
	began := m.suffixes(RunLog)
	if len(began) != 4 || len(m.within(RunLog)) != 1 {
		t.Fatalf("%q", began)
	}
	for range 12 { // there is room for 10
		m.write(0)
	}
	m.later(0)
	m.later(0)
	now := m.suffixes(RunLog)
	if got := m.within(RunLog); len(now) != 5 || !slices.Equal(now[:4], began) || !slices.Equal(got[1:], []string{began[1] + " 10", began[2] + " 2"}) {
		t.Errorf("%q, with %q", now, got)
	}
	// A month of twelve rows in a day would be one of 360.
	if got := devtest.Must[int64](t)(m.expected(t.Context(), RunLog)); got < 300 || got > 400 {
		t.Errorf("%d ids are expected", got)
	}
	m.later(36)
	m.write(0)
	for _, l := range Logs() {
		names := m.suffixes(l)
		if got := m.within(l); len(names) < 5 || got[len(got)-1] != names[3]+" 1" {
			t.Errorf("%s: %q, with %q", l.Name, names, got)
		}
		for _, table := range l.names("") {
			first := withoutSuffix(m.strings(made, table+names[1]), names[1])
			for _, suffix := range names[2:] {
				if next := withoutSuffix(m.strings(made, table+suffix), suffix); len(next) < 5 || !slices.Equal(first, next) {
					t.Errorf("%s%s:\n%s\nthe first one:\n%s", table, suffix, strings.Join(next, "\n"), strings.Join(first, "\n"))
				}
			}
		}
	}
	if got := m.strings(`SELECT array_to_string(reloptions, ' ') FROM pg_class WHERE oid = 'webhook_deliveries` + now[3] + `'::regclass`); !strings.Contains(got[0], "fillfactor=45") {
		t.Errorf("the rows lie as %q", got)
	}
}

// TestNobodyMakesMonths: where nobody makes partitions for long, rows come into the one without end. It gets one by the upkeep, as long as it is small, and otherwise by the command.
func TestNobodyMakesMonths(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	m.partition(RunLog)
	for range 15 {
		m.write(0)
	}
	m.later(0)
	names := m.suffixes(RunLog)
	if len(names) != 5 || !slices.Equal(m.within(RunLog)[1:], []string{names[1] + " 10", names[2] + " 5"}) {
		t.Errorf("%q with %q", names, m.within(RunLog))
	}
	open := names[4]
	m.do(fmt.Sprintf(`INSERT INTO runs (id, job_key, agent_id, revision_id, account_id, input) SELECT %s + i, gen_random_uuid(), 4, 4, 4, '{}' FROM generate_series(0, %d) i`, strings.TrimPrefix(open, "_from_"), m.few),
		`SELECT setval('runs_id_seq', max(id)) FROM runs`)
	if err := m.Ahead(t.Context()); err == nil || !strings.Contains(err.Error(), "canopy logs partition runs") {
		t.Errorf("%v", err)
	}
	m.write(0)
	if changed, err := m.Partition(t.Context(), RunLog); changed || err != nil {
		t.Error(changed, err)
	}
	m.write(0)
	if names := m.suffixes(RunLog); len(names) != 7 || !slices.Equal(m.within(RunLog)[3:], []string{open + fmt.Sprint(" ", m.few+2), names[5] + " 1"}) {
		t.Errorf("%q with %q", names, m.within(RunLog))
	}
}

var indexName = regexp.MustCompile(`INDEX \S+ ON`)

// withoutSuffix gives what tables have as if they had one name, and began at one id.
func withoutSuffix(list []string, suffix string) (out []string) {
	for _, x := range list {
		if !strings.Contains(x, "constraint month_begins") {
			out = append(out, indexName.ReplaceAllString(strings.ReplaceAll(x, suffix, ""), "INDEX ON"))
		}
	}
	slices.Sort(out)
	return out
}

// TestMonthsAreInterrupted: wherever a process ends that changes a log over, makes partitions or drops one, all goes on; and the next one ends it.
func TestMonthsAreInterrupted(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	m.margin = 4000
	interrupted := errors.New("interrupted")
	// kill ends the process at a step, or takes its connections, and tells whether there was such a step.
	kill := func(step int, how func() error, do func(*Months) error) bool {
		n, other := 0, m.store.Months()
		other.margin, other.least = m.margin, m.least
		other.At = func(string) error {
			if n++; n == step+1 {
				return how()
			}
			return nil
		}
		if err := do(other); n > step && err == nil {
			t.Errorf("step %d: nobody noticed", step)
		}
		return n > step
	}
	ends := []func() error{
		func() error { return interrupted },
		func() error {
			m.do(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'idle in transaction'`)
			return interrupted
		},
	}
	rows, gone, steps := m.number(`SELECT count(*) FROM runs`), int64(0), 0
	for _, do := range []func(*Months) error{
		func(o *Months) error { _, err := o.Partition(t.Context(), RunLog); return err },
		func(o *Months) error { return o.Ahead(t.Context()) },
		func(o *Months) error { _, err := o.Drop(t.Context(), RunLog, 50*24*time.Hour); return err },
	} {
		for step := 0; kill(step, ends[step%2], do); step++ {
			for range 4 {
				m.write(0)
				rows++
			}
			steps++
		}
		if n := m.number(`SELECT count(*) FROM runs`); n != rows && n != rows-gone {
			t.Errorf("there are %d rows, of %d", n, rows)
		}
		if gone == 0 { // all from before are to go
			gone = m.number(`SELECT count(*) FROM runs_before`)
			m.do(`UPDATE runs_before SET created_at = now() - interval '100 days', status = 'finished', finished_at = now() - interval '99 days'`)
		}
		m.do(`UPDATE runs SET created_at = now() - interval '2 hours' WHERE created_at > now() - interval '1 hour'`)
		if n := m.number(`SELECT count(*) FROM pg_class WHERE relname ~ '^(runs|run_steps)_' AND relkind = 'r' AND NOT relispartition`) + m.number(`SELECT count(*) FROM pg_constraint WHERE conname = 'month_line'`); n != 0 {
			t.Errorf("%d things are left by those who were interrupted", n)
		}
	}
	if got := m.suffixes(RunLog); slices.Contains(got, beforeMonths) || steps < 25 || m.number(`SELECT count(*) FROM run_steps s JOIN runs r ON r.id = s.run_id`) != 2*(rows-gone) {
		t.Errorf("%q after %d interruptions, with %d steps of %d runs", got, steps, m.number(`SELECT count(*) FROM run_steps`), rows-gone)
	}
}

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

// TestPartitionWaits: the command waits for whoever makes or drops months at that moment, which the upkeep leaves to them.
func TestPartitionWaits(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	done, waits := make(chan error, 1), make(chan string, 100)
	m.At = func(step string) error {
		waits <- step
		return nil
	}
	devtest.Check(t, m.alone(t.Context(), func() error {
		devtest.Check(t, m.Ahead(t.Context()))
		go func() {
			_, err := m.Partition(t.Context(), AuditLog)
			done <- err
		}()
		if step := <-waits; !strings.Contains(step, "another process") {
			t.Error(step)
		}
		return nil
	}))
	devtest.Check(t, <-done)
	if got := m.suffixes(AuditLog); len(got) != 3 {
		t.Errorf("%q", got)
	}
}

// TestMonthsKeepNobodyWaiting: while logs are changed over, months begin and are dropped, rows are written all the time, which are all there, and nobody is refused or waits without end.
func TestMonthsKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	m.margin, m.least, m.few = lineMargin, 100, fewInMonth
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var written atomic.Int64
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			conn := devtest.Must[*sqlx.Conn](t)(m.pool.Connx(t.Context()))
			defer func() { _ = conn.Close() }()
			devtest.Must[any](t)(conn.ExecContext(t.Context(), `SET lock_timeout = '20s'`)) // far above what one transaction holds, and below what a whole attempt takes
			for ctx.Err() == nil {
				for _, text := range monthlyWrites {
					if _, err := conn.ExecContext(t.Context(), strings.ReplaceAll(text, ":days", "0")); err != nil {
						t.Errorf("%s: %v", text, err)
						return
					}
				}
				written.Add(1)
			}
		})
	}
	before := map[string]int64{}
	for _, l := range []*Log{DeliveryLog, RunLog} {
		before[l.table()] = m.number(`SELECT count(*) FROM ` + l.table() + ` WHERE id < 50000000`)
	}
	m.partition(Logs()...)
	for range 4 {
		m.later(0)
	}
	m.do(`UPDATE audit_events SET created_at = created_at - interval '2 hours' WHERE id >= 50000000`)
	devtest.Must[[]IDs](t)(m.Drop(t.Context(), AuditLog, time.Hour))
	stop()
	wait.Wait()
	for table, n := range before {
		if got := m.number(`SELECT count(*) FROM `+table) - n; got != written.Load() {
			t.Errorf("%s has %d rows more, where %d were written", table, got, written.Load())
		}
	}
	if n := m.number(`SELECT count(*) FROM run_steps s JOIN runs r ON r.id = s.run_id WHERE r.id >= 50000000`); n != 2*written.Load() {
		t.Errorf("%d steps of %d runs", n, written.Load())
	}
	if got := m.suffixes(AuditLog); len(got) < 3 || slices.Contains(got, beforeMonths) {
		t.Errorf("%q", got)
	}
}

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

// TestOtherRolesWriteMonths: a role that may read and write logs, and is not their owner, goes on writing rows; as this role the upkeep fails at nothing, leaves months alone, and deletes rows one by one.
func TestOtherRolesWriteMonths(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	role := fmt.Sprintf("plain_%d", time.Now().UnixNano())
	m.do(`CREATE ROLE `+role, `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO `+role, `GRANT SELECT ON SEQUENCE audit_events_id_seq TO `+role, `REVOKE INSERT ON runs FROM `+role, `GRANT INSERT (job_key) ON runs TO `+role)
	t.Cleanup(func() {
		_, _ = m.pool.Exec(`DROP OWNED BY ` + role + `; DROP ROLE ` + role)
	})
	m.partition(Logs()...)
	as := devtest.Must[*Store](t)(Open(t.Context(), m.url+"&role="+role, Options{MaxConns: 4}))
	defer func() { _ = as.Close() }()
	for _, text := range append([]string{`SELECT last_value FROM audit_events_id_seq`}, monthlyWrites[:2]...) {
		if _, err := as.pool.Exec(strings.ReplaceAll(text, ":days", "100")); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	var user string
	if devtest.Check(t, as.pool.Get(&user, `SELECT current_user`)); user != role {
		t.Errorf("it is %s who writes", user)
	}
	if got := m.within(AuditLog); len(got) != 2 {
		t.Errorf("%q", got)
	}
	if n := m.number(`SELECT count(*) FROM (SELECT has_column_privilege('` + role + `', 'runs', 'job_key', 'INSERT') AND has_sequence_privilege('` + role + `', 'runs_id_seq', 'USAGE')
			AND NOT has_column_privilege('` + role + `', 'runs', 'input', 'INSERT') AS kept) x WHERE kept`); n != 1 {
		t.Error("the right to write a column is lost")
	}
	months, before := as.Months(), m.suffixes(AuditLog)
	if logs := devtest.Must[[]string](t)(months.Unattended(t.Context())); len(logs) != len(Logs()) {
		t.Errorf("%q", logs)
	}
	if logs := devtest.Must[[]string](t)(m.Unattended(t.Context())); len(logs) != 0 {
		t.Errorf("%q", logs)
	}
	months.few, months.least, months.later = m.few, m.least, 400*24*time.Hour
	devtest.Check(t, months.Ahead(t.Context()))
	if rest := devtest.Must[[]IDs](t)(months.Drop(t.Context(), AuditLog, time.Hour)); !slices.Equal(rest, []IDs{{}}) || !slices.Equal(m.suffixes(AuditLog), before) {
		t.Errorf("%v of %q", rest, m.suffixes(AuditLog))
	}
	if last := devtest.Must[int64](t)(as.ForgetAuditEvents(t.Context(), time.Hour, 0, 100_000)); last == 0 || len(m.within(AuditLog)) != 0 {
		t.Errorf("%q are left", m.within(AuditLog))
	}
}

// TestErasureReachesMonths: a company's rows are erased in all months.
func TestErasureReachesMonths(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	m.write(0)
	m.partition(Logs()...)
	m.write(0)
	m.do(`UPDATE customers SET erase_at = now() WHERE id = 4`)
	of := `SELECT (SELECT count(*) FROM webhook_deliveries WHERE customer_id = 4) + (SELECT count(*) FROM audit_events WHERE customer_id = 4)
		+ (SELECT count(*) FROM runs WHERE account_id = 4) + (SELECT count(*) FROM run_steps WHERE run_id IN (SELECT id FROM runs WHERE account_id = 4))`
	if n := m.number(of); n < 15 {
		t.Fatalf("%d rows", n)
	}
	for done := false; !done; {
		e, err := m.store.EraseSome(t.Context(), 4, func(*Store, Erasure) error { return nil })
		devtest.Check(t, err)
		done = e.Done
	}
	if n := m.number(of) + m.number(`SELECT count(*) FROM run_steps WHERE run_id >= 50000000`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// TestPlansInMonths: with months a statement reads what it gives, too, and what is looked up by its id is looked for in one partition.
func TestPlansInMonths(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	data := planData{t, m.pool}
	data.grow(10, 400)
	m.partition(Logs()...)
	for range 12 {
		m.write(0)
	}
	m.later(0)
	m.do(`VACUUM ANALYZE`)
	conn := planConn(t, m.pool, readLists{})
	defer func() { _ = conn.Close() }()
	of, tried := regexp.MustCompile(`\b(`+strings.Join(logTables(), "|")+`)\b`), 0
	for q, text := range statements {
		if !of.MatchString(text) {
			continue
		}
		for _, args := range examples[query(q)].asked {
			tryPlan(t, conn, 400, nameOf(q), text, examples[query(q)], args)
			tried++
		}
	}
	if tried < 50 {
		t.Errorf("%d were tried", tried)
	}
	for _, q := range []query{qDelivery, qRun, qAuditEvent} {
		for _, args := range examples[q].asked {
			devtest.Must[any](t)(conn.ExecContext(t.Context(), `BEGIN`))
			plan := devtest.Must[PlanNode](t)(Explain(t.Context(), conn, `EXECUTE `+nameOf(int(q))+literals(args)))
			devtest.Must[any](t)(conn.ExecContext(t.Context(), `ROLLBACK`))
			if asked := partsIn(plan); len(asked) > 1 {
				t.Errorf("%q are asked: %s", asked, plan)
			}
		}
	}
}

// partsIn are the partitions that a plan asks.
func partsIn(n PlanNode) (list []string) {
	if n.Loops > 0 && regexp.MustCompile(`_(before|from_\d+)$`).MatchString(n.Relation) {
		list = append(list, n.Relation)
	}
	for _, p := range n.Plans {
		list = append(list, partsIn(p)...)
	}
	return list
}

// TestMigrationsWithMonths: the latest migrations go back and forth where logs have months, and those whose indexes can't be taken back from partitions are left alone.
func TestMigrationsWithMonths(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	m.partition(Logs()...)
	mig := devtest.Must[*Migrator](t)(NewMigrator(t.Context(), m.url))
	defer func() { _ = mig.Close() }()
	all := func() (list []string) {
		for _, table := range logTables() {
			list = append(list, m.strings(made, table)...)
		}
		return list
	}
	before := all()
	for version := schemaVersion(); version >= monthsFrom; version-- {
		if _, err := mig.Down(t.Context()); err != nil {
			t.Fatalf("%d: %v", version, err)
		}
	}
	if _, err := mig.Down(t.Context()); err == nil || !strings.Contains(err.Error(), "has months") {
		t.Errorf("%v", err)
	}
	if _, err := mig.Up(t.Context()); err != nil {
		t.Error(err)
	}
	if now := all(); !slices.Equal(now, before) {
		t.Errorf("%s\nbefore:\n%s", strings.Join(now, "\n"), strings.Join(before, "\n"))
	}
}
