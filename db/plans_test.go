package db

import (
	"cmp"
	"crypto/sha256"
	"database/sql/driver"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"canopy/internal/devstack/devtest"
)

// example is how a statement is run by the test of plans, and how much it may read.
type example struct {
	// asked has the arguments of each run.
	asked [][]any
	// most is how many rows may be read for each row that is given, or for none; perCompany is added for each company
	// that there is.
	most, perCompany float64
	// reason tells why it may read more than others, or has no plan at all.
	reason string
}

// usual is how many rows may be read for one: a row of each table that a statement joins, what is above a company, a table of
// a thousand rows from one end to the other.
const usual = 110

// byTriggers is how many rows triggers may read besides.
const byTriggers = 500

// TestPlans: whatever PostgreSQL knows of the tables, and however many companies there are, each statement reads what it
// gives and little else. Plans are made for all arguments at once, as they are for a statement that a connection has run
// some times. CANOPY_PLANS has other numbers of companies, which take minutes.
func TestPlans(t *testing.T) {
	t.Parallel()
	for q, text := range statements {
		if e := examples[query(q)]; len(e.asked) == 0 && e.reason == "" {
			t.Errorf("the examples lack this one: %s", text)
		}
	}
	sizes := strings.Fields(cmp.Or(os.Getenv("CANOPY_PLANS"), "400 10000"))
	for i, size := range sizes {
		companies := devtest.Must[int](t)(strconv.Atoi(size))
		t.Run(size+" companies", func(t *testing.T) {
			t.Parallel()
			plansAt(t, companies, i == len(sizes)-1)
		})
	}
}

// plansAt tries all statements. The combinations of lists are many: the largest tree tries them with all statistics, the
// others with fresh ones.
func plansAt(t *testing.T, companies int, largest bool) {
	url := devtest.Database(t, Fingerprint(), Migrate)
	open := func(o Options) *sqlx.DB {
		pool := devtest.Must[*sqlx.DB](t)(Connect(url, o))
		t.Cleanup(func() { _ = pool.Close() })
		return pool
	}
	data, pool, read := planData{t, open(Options{MaxConns: 1, patient: true})}, open(Options{}), readLists{}
	data.begin()
	data.grow(0, 10)
	data.exec(`VACUUM ANALYZE`)
	early := planConn(t, pool, read)
	for _, q := range keptEarly() {
		for _, args := range examples[q].asked {
			planned(t, early, nameOf(int(q)), statements[q], args)
		}
	}
	data.grow(10, companies)
	data.whole(companies)
	t.Run("plans of ten companies", func(t *testing.T) {
		for _, q := range keptEarly() {
			for _, args := range examples[q].asked {
				tryPlan(t, early, companies, nameOf(int(q)), statements[q], examples[q], args)
			}
		}
		devtest.Check(t, early.Close())
	})
	for _, statistics := range []struct{ name, after string }{
		{"of ten companies", ``},
		{"none", forgetStatistics},
		{"fresh", `VACUUM ANALYZE`},
	} {
		t.Run("statistics "+statistics.name, func(t *testing.T) {
			data.exec(statistics.after)
			conn := planConn(t, pool, read)
			defer func() { _ = conn.Close() }()
			for q, text := range statements {
				for _, args := range examples[query(q)].asked {
					tryPlan(t, conn, companies, nameOf(q), text, examples[query(q)], args)
				}
			}
			if !largest && statistics.name != "fresh" {
				return
			}
			for _, l := range listExamples() {
				tryList(t, conn, companies, l)
			}
		})
	}
}

// keptEarly are the statements that are tried by plans of an empty platform: those of the queue of deliveries, which is empty most of the time,
// and with CANOPY_PLANS all. Among ten rows many plans cost the same, and which one is taken is no more than chance.
func keptEarly() []query {
	if os.Getenv("CANOPY_PLANS") == "" {
		return []query{qPassDestinations, qDueDestinations, qDeliveriesUntouched, qClaimDeliveries, qRecordOutcomes, qDeliveryBacklog}
	}
	all := make([]query, len(statements))
	for q := range statements {
		all[q] = query(q)
	}
	return all
}

// planner is a connection with the statements that are planned there, by their names.
type planner struct {
	*sqlx.Conn
	has  map[string]plannedText
	read readLists
}

// plannedText is a statement with its plan's lines.
type plannedText struct {
	text string
	plan []string
}

// readLists are the lists, each with its plan, that were tried among the same rows: by the same plan they read the same.
type readLists map[[sha256.Size]byte]bool

// planConn is a connection that plans for all arguments at once, and has no statement yet.
func planConn(t *testing.T, pool *sqlx.DB, read readLists) *planner {
	t.Helper()
	conn := &planner{devtest.Must[*sqlx.Conn](t)(pool.Connx(t.Context())), map[string]plannedText{}, read}
	for _, text := range []string{`DEALLOCATE ALL`, readInAllPrepared} {
		devtest.Must[any](t)(conn.ExecContext(t.Context(), text))
	}
	return conn
}

func nameOf(statement int) string { return fmt.Sprintf("tried%d", statement) }

// planned prepares a statement on a connection, and has it planned there, where it is not: that plan's lines.
func planned(t *testing.T, conn *planner, name, text string, args []any) (plan []string) {
	t.Helper()
	before, is := conn.has[name]
	if before.text == text {
		return before.plan
	}
	prepare := fmt.Sprintf(`PREPARE %s AS %s`, name, text)
	if is {
		prepare = fmt.Sprintf(`DEALLOCATE %s; %s`, name, prepare)
	}
	devtest.Must[any](t)(conn.ExecContext(t.Context(), prepare))
	devtest.Check(t, conn.SelectContext(t.Context(), &plan, `EXPLAIN (COSTS OFF) EXECUTE `+name+literals(args)))
	conn.has[name] = plannedText{text, plan}
	return plan
}

// tryPlan runs a statement and takes back what it has done.
func tryPlan(t *testing.T, conn *planner, companies int, name, text string, e example, args []any) {
	t.Helper()
	planned(t, conn, name, text, args)
	devtest.Must[any](t)(conn.ExecContext(t.Context(), `BEGIN`))
	defer func() { devtest.Must[any](t)(conn.ExecContext(t.Context(), `ROLLBACK`)) }()
	before := readInAll(t, conn)
	plan, err := Explain(t.Context(), conn, `EXECUTE `+name+literals(args))
	if err != nil {
		t.Errorf("%s: %v: its arguments stand in plansexamples_test.go", onOneLine(text), err)
		return
	}
	inAll := readInAll(t, conn) - before
	most := e.most*max(1, plan.Rows) + e.perCompany*float64(companies)
	if reads := plan.Reads(); reads > most || inAll > most+byTriggers {
		t.Errorf("%.0f rows were read, and %.0f in all, for %.0f of %s\n%v\n%s", reads, inAll, plan.Rows, onOneLine(text), args, plan)
	}
}

func onOneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// readInAllPrepared prepares once for a connection what asks the counters of pg_stat_xact_user_tables for the tables and
// indexes that there are. The view itself looks them up each time, which takes longer than many a statement that is tried.
var readInAllPrepared = `DO $$ DECLARE tables oid[]; indexes oid[]; BEGIN
	SELECT array_agg(relid) INTO STRICT tables FROM pg_stat_xact_user_tables;
	SELECT array_agg(indexrelid) INTO STRICT indexes FROM pg_index WHERE indrelid = ANY (tables);
	EXECUTE format('PREPARE read_in_all AS SELECT
		(SELECT sum(pg_stat_get_xact_tuples_returned(t) / ` + strconv.Itoa(atATime) + `::float8 + pg_stat_get_xact_tuples_fetched(t)) FROM unnest(%L::oid[]) t) +
		(SELECT sum(pg_stat_get_xact_tuples_fetched(i)) FROM unnest(%L::oid[]) i)::float8', tables, indexes);
END $$`

// readInAll counts what was read from tables, also by functions and triggers, in the way of PlanNode.Reads. What only
// indexes were asked for is not in it.
func readInAll(t *testing.T, conn *planner) (n float64) {
	t.Helper()
	devtest.Check(t, conn.GetContext(t.Context(), &n, `EXECUTE read_in_all`))
	return n
}

// literals are arguments as SQL text: what is not yet planned has no place for others.
func literals(args []any) string {
	if len(args) == 0 {
		return ""
	}
	list := make([]string, len(args))
	for i, arg := range args {
		list[i] = "NULL"
		if v, ok := arg.(driver.Valuer); ok {
			arg, _ = v.Value()
		}
		if arg != nil {
			list[i] = pq.QuoteLiteral(fmt.Sprint(arg))
		}
	}
	return "(" + strings.Join(list, ", ") + ")"
}
