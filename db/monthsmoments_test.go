package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
)

// TestRunsBeginWhileTheirLogIsChangedOver: who draws the id of a run in the moment of the change-over waits for it, and is not refused.
func TestRunsBeginWhileTheirLogIsChangedOver(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	ctx := t.Context()
	begin := func() error {
		_, err := m.store.BeginRuns(ctx, access.Lineage{1}.Subtree(), nil, []*Run{{AgentID: 4}})
		return err
	}
	for range 8 { // by a plan that is kept
		devtest.Check(t, begin())
	}
	line := devtest.Must[*monthLine](t)(m.mark(ctx, RunLog, "", m.margin))
	after := line.at + m.least
	devtest.Check(t, m.prove(ctx, RunLog, "", line))
	devtest.Check(t, errors.Join(m.make(ctx, RunLog, "", line.at), m.make(ctx, RunLog, "", after)))
	begun := make(chan error, 1)
	devtest.Check(t, m.short(ctx, RunLog, RunLog.names(""), func(tx *monthTx) error {
		if err := errors.Join(tx.changeOver(ctx, line.at), tx.open(ctx, line.at, after), tx.open(ctx, after, 0), tx.jump(ctx, line.at)); err != nil {
			return err
		}
		go func() { begun <- begin() }()
		devtest.Eventually(t, "it waits", func() bool {
			return m.number(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 1
		})
		return nil
	}))
	devtest.Check(t, <-begun)
}

// TestIDsGoBackWithTheirTransaction: where a process ends that gives ids away, before it is done, none are: they would be refused by the line in front of them. Until it is, nobody draws one.
func TestIDsGoBackWithTheirTransaction(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	m.partition(RunLog)
	m.write(0)
	before := devtest.Must[int64](t)(RunLog.lastID(t.Context(), m.pool))
	killed, drawn := errors.New("killed"), make(chan int64, 1)
	if err := m.short(t.Context(), RunLog, RunLog.names(""), func(tx *monthTx) error {
		return errors.Join(tx.jump(t.Context(), before+1000), killed)
	}); !errors.Is(err, killed) {
		t.Fatal(err)
	}
	devtest.Check(t, m.short(t.Context(), RunLog, RunLog.names(""), func(tx *monthTx) error {
		if err := tx.holdIDs(t.Context()); err != nil {
			return err
		}
		go func() { drawn <- m.number(`SELECT nextval('runs_id_seq')`) }()
		devtest.Eventually(t, "who draws an id waits", func() bool {
			return m.number(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 1
		})
		return nil
	}))
	if id := <-drawn; id != before+1 {
		t.Errorf("the next id is %d, behind %d", id, before)
	}
}

// TestPartitionsAreNotTakenForRest: what has become a partition since it was looked for is not dropped as what somebody has left.
func TestPartitionsAreNotTakenForRest(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	m.partition(AuditLog)
	parts := devtest.Must[[]part](t)(AuditLog.parts(t.Context(), m.pool))
	open := parts[len(parts)-1]
	at := *open.from + 100
	devtest.Check(t, m.make(t.Context(), AuditLog, open.suffix(AuditLog), at))
	begun := "audit_events" + fromID(at)
	m.At = func(step string) error {
		if strings.HasPrefix(step, begun+":") { // another process is quicker
			m.do(`ALTER TABLE audit_events DETACH PARTITION `+open.Name,
				fmt.Sprintf(`ALTER TABLE audit_events ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)`, open.Name, *open.from, at),
				fmt.Sprintf(`ALTER TABLE audit_events ATTACH PARTITION %s FOR VALUES FROM (%d) TO (MAXVALUE)`, begun, at))
		}
		return nil
	}
	if err := m.discardRest(t.Context(), AuditLog); err == nil || !strings.Contains(err.Error(), "is a partition already") {
		t.Error(err)
	}
	if got := m.suffixes(AuditLog); !slices.Contains(got, fromID(at)) {
		t.Errorf("%q", got)
	}
}

// TestOneStaysAloneForLong: however long it takes, and however soon the server ends transactions that do nothing, one process is at work on months.
func TestOneStaysAloneForLong(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	store := devtest.Must[*Store](t)(Open(t.Context(), m.url+"&idle_in_transaction_session_timeout=50", Options{MaxConns: 4}))
	defer func() { _ = store.Close() }()
	devtest.Check(t, store.Months().alone(t.Context(), func() error {
		time.Sleep(200 * time.Millisecond)
		if err := m.alone(t.Context(), func() error { return nil }); !errors.Is(err, ErrMonthsBusy) {
			t.Errorf("another one is at work: %v", err)
		}
		return nil
	}))
}

// TestLongTransactionsOfOthersAreLeftAlone: where somebody else has a table for long, such as a backup, nobody is kept waiting again and again, also by a role that is not told since when others are at work.
func TestLongTransactionsOfOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	role := fmt.Sprintf("owner_%d", time.Now().UnixNano())
	m.do(`CREATE ROLE `+role, `GRANT SELECT ON ALL TABLES IN SCHEMA public TO `+role, `ALTER TABLE audit_events OWNER TO `+role)
	t.Cleanup(func() {
		_, _ = m.pool.Exec(`REASSIGN OWNED BY ` + role + ` TO CURRENT_USER; DROP OWNED BY ` + role + `; DROP ROLE ` + role)
	})
	store := devtest.Must[*Store](t)(Open(t.Context(), m.url+"&role="+role, Options{MaxConns: 4}))
	defer func() { _ = store.Close() }()
	backup := devtest.Must[*sqlx.Tx](t)(m.pool.Beginx())
	defer func() { _ = backup.Rollback() }()
	devtest.Must[any](t)(backup.Exec(`SELECT FROM audit_events LIMIT 1`))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() {
		_, err := store.Months().mark(ctx, AuditLog, "", 40)
		done <- err
	}()
	waits := func() bool {
		return m.number(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
	}
	devtest.Eventually(t, "it is tried once", waits)
	devtest.Eventually(t, "it is given up", func() bool { return !waits() })
	for end := time.Now().Add(3 * monthPause); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if waits() {
			t.Fatal("others wait once more")
		}
	}
	devtest.Check(t, backup.Rollback())
	devtest.Check(t, <-done)
	if line, err := lineOf(t.Context(), m.pool, "audit_events"); err != nil || line == nil {
		t.Errorf("%v %v", line, err)
	}
}

// TestWholeLogsAreCounted: PostgreSQL knows of the whole of each table what it holds, anew with each partition, as it does not look at one with partitions by itself.
func TestWholeLogsAreCounted(t *testing.T) {
	t.Parallel()
	m := newMonthly(t)
	m.partition(RunLog)
	counted := func() (list []string) {
		for _, table := range RunLog.names("") {
			list = append(list, m.strings(`SELECT DISTINCT xmin::text FROM pg_statistic WHERE starelid = $1::regclass AND stainherit`, table)...)
		}
		return list
	}
	first := counted()
	for range 12 {
		m.write(0)
	}
	m.later(0)
	if then := counted(); len(first) < 1 || len(then) != len(first) || slices.Equal(first, then) {
		t.Errorf("counted at %q, and then at %q", first, then)
	}
	if n := m.number(`SELECT count(DISTINCT starelid) FROM pg_statistic WHERE starelid IN ('runs'::regclass, 'run_steps'::regclass) AND stainherit`); n != 2 {
		t.Errorf("of %d tables it is known", n)
	}
}
