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

// TestOtherRolesWriteMonths: a role that may read and write logs, and is not their owner, goes on writing rows; as this role the upkeep fails at nothing, leaves months alone, and deletes rows one by one.
func TestOtherRolesWriteMonths(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	role := fmt.Sprintf("plain_%d", time.Now().UnixNano())
	m.do(`CREATE ROLE `+role, `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO `+role, `GRANT SELECT ON SEQUENCE audit_events_id_seq TO `+role, `REVOKE INSERT ON runs FROM `+role, `GRANT INSERT (job_key) ON runs TO `+role)
	t.Cleanup(func() {
		_, _ = m.pool.Exec(`DROP OWNED BY ` + role + `; DROP ROLE ` + role)
	})
	as := devtest.Must[*Store](t)(Open(t.Context(), m.url+"&role="+role, Options{MaxConns: 4}))
	defer func() { _ = as.Close() }()
	if got := m.changedOver(as.Months(), 1); len(got) != 0 {
		t.Errorf("%q are changed over by who is not their owner", got)
	}
	m.partition(Logs()...)
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
