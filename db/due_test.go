package db_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"canopy/db"
	"canopy/internal/devstack/devtest"
)

// TestNoIndexKnowsWhatDeliveriesEndWith: a delivery that succeeds is updated in its page, and no index of the log is written.
func TestNoIndexKnowsWhatDeliveriesEndWith(t *testing.T) {
	_, pool := openBoth(t)
	var columns []string
	// An index depends on the columns of its expressions and of its predicate, too.
	devtest.Check(t, pool.SelectContext(t.Context(), &columns, `
		SELECT a.attname FROM pg_index i JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid AND d.refobjid = i.indrelid
			JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid WHERE i.indrelid = 'webhook_deliveries'::regclass
		UNION SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey) WHERE i.indrelid = 'webhook_deliveries'::regclass`))
	if !slices.Contains(columns, "lost") || !slices.Contains(columns, "id") {
		t.Errorf("the indexes know only %v", columns)
	}
	for _, changed := range []string{"status", "attempts", "http_status", "error", "log", "completed_at"} {
		if slices.Contains(columns, changed) {
			t.Errorf("an index knows %s", changed)
		}
	}
}

// TestClaimsOfSeveralDestinations: one statement claims for all of them, what was begun before what was not; the limit of
// one company keeps nobody else from its own.
func TestClaimsOfSeveralDestinations(t *testing.T) {
	s, pool := openBoth(t)
	root, child, _ := tree(t, s)
	full, open := waiting(t, s, pool, child, 5), waiting(t, s, pool, root, 3)
	claim := func(room int, lease time.Duration, destinations ...int64) map[int64][]*db.Claimed {
		t.Helper()
		var wanted []db.Wanted
		for _, id := range destinations {
			wanted = append(wanted, db.Wanted{DestinationID: id, Room: room})
		}
		got := map[int64][]*db.Claimed{}
		for _, row := range devtest.Must[[]*db.Claimed](t)(s.ClaimDeliveries(t.Context(), wanted, lease)) {
			got[row.DestinationID] = append(got[row.DestinationID], row)
		}
		return got
	}
	before := s.Executed()
	first := claim(1, -time.Second, full, open)
	if len(first[full]) != 1 || len(first[open]) != 1 || s.Executed() != before+1 {
		t.Fatalf("taken up are %d and %d, by %d statements", len(first[full]), len(first[open]), s.Executed()-before)
	}
	limit(t, s, child, 2)
	next := claim(4, time.Hour, full, open)
	if len(next[full]) != 2 || len(next[open]) != 3 {
		t.Errorf("taken up are %d, the limit is 2, and %d of 3", len(next[full]), len(next[open]))
	}
	for to, rows := range next {
		if !slices.ContainsFunc(rows, func(c *db.Claimed) bool { return c.ID == first[to][0].ID }) {
			t.Errorf("what was begun to %d is not among what is taken up", to)
		}
	}
	if more := claim(4, time.Hour, full, open); len(more) != 0 || len(due(t, s)) != 0 {
		t.Errorf("on a full day %d are taken up; due: %v", len(more), due(t, s))
	}
}

// TestLooksShareTheWay: looks go past all destinations with something pending, each where the last one ended, and one at a time. Each finds the retries that
// are due, wherever these are.
func TestLooksShareTheWay(t *testing.T) {
	s, pool := openBoth(t)
	const all = 2*db.LookWidth + 7
	pool.MustExecContext(t.Context(), `INSERT INTO webhook_due (destination_id, delivery_id) SELECT n, m * 100000 + n FROM generate_series(1, $1::integer) n, generate_series(1, 2) m`, all)
	look := func() db.Look { return devtest.Must[db.Look](t)(s.LookForDue(t.Context())) }
	for round := range 2 {
		seen := map[int64]bool{}
		for i, want := range []db.Look{{First: true, More: true}, {More: true}, {}} {
			got := look()
			if got.First != want.First || got.More != want.More {
				t.Errorf("round %d, look %d: first %t, more %t", round, i, got.First, got.More)
			}
			for _, d := range got.Due {
				seen[d.ID] = true
			}
		}
		if len(seen) != all {
			t.Errorf("round %d: %d of %d destinations were seen", round, len(seen), all)
		}
	}
	if first := look(); !first.First || !first.More {
		t.Errorf("a third way begins with %+v", first)
	}
	pool.MustExecContext(t.Context(), `UPDATE webhook_due SET begun = true, next_attempt_at = now() - interval '1 second' WHERE destination_id IN (5, $1) AND delivery_id < 200000`, all)
	pool.MustExecContext(t.Context(), `UPDATE webhook_due SET begun = true, claimed_at = now(), next_attempt_at = now() - interval '1 second' WHERE destination_id = 6`)
	retries := look()
	for destination, found := range map[int64]bool{5: true, 6: false, all: true} {
		if slices.ContainsFunc(retries.Due, func(d db.DueDestination) bool { return d.ID == destination }) != found {
			t.Errorf("away from the way destination %d is to be found: %t", destination, found)
		}
	}
	other := pool.MustBeginTx(t.Context(), nil)
	defer func() { _ = other.Rollback() }()
	other.MustExecContext(t.Context(), `SELECT pg_advisory_xact_lock(hashtext('canopy deliveries'))`)
	if got := look(); got.First || !got.More || len(got.Due) > 0 {
		t.Errorf("beside another look: %+v", got)
	}
}

// TestRetriesOfOneStandBeforeNoOthers: a retry that nobody has taken up is found at once, however many of another destination have been due for longer; where more
// destinations than a look goes past have one, the next looks go on, and the way past all destinations is not what finds it.
func TestRetriesOfOneStandBeforeNoOthers(t *testing.T) {
	s, pool := openBoth(t)
	const far = 10 * db.LookWidth
	pool.MustExecContext(t.Context(), `INSERT INTO webhook_due (destination_id, delivery_id) SELECT n, n FROM generate_series(1, $1::integer) n`, 3*db.LookWidth)
	retries := func(each int, destinations string) {
		pool.MustExecContext(t.Context(), `INSERT INTO webhook_due (destination_id, begun, next_attempt_at, delivery_id)
			SELECT d, true, now() - interval '1 hour', 1000000 + d * 10000 + n FROM `+destinations+` d, generate_series(1, $1::integer) n`, each)
	}
	finds := func(destination int64) bool {
		return slices.ContainsFunc(devtest.Must[db.Look](t)(s.LookForDue(t.Context())).Due, func(d db.DueDestination) bool { return d.ID == destination })
	}
	retries(2*db.RetryWidth, `generate_series(5, 5)`)
	pool.MustExecContext(t.Context(), `INSERT INTO webhook_due (destination_id, begun, next_attempt_at, delivery_id) VALUES ($1::bigint, true, now() - interval '1 second', 1)`, far)
	if !finds(far) {
		t.Error("the retry of another destination waits behind those of one")
	}
	retries(1, fmt.Sprintf(`generate_series(1, %d)`, db.RetryWidth))
	pool.MustExecContext(t.Context(), `UPDATE delivery_look SET behind = 0`)
	if first, second := finds(far), finds(far); first || !second {
		t.Errorf("behind as many as a look goes past it is found by the first look: %t, by the second: %t", first, second)
	}
}

// TestUntouchedIsFoundBehindOthers: what nobody works on is found behind thousands of destinations where nothing is due, is told until somebody works on it, and
// then what is next.
func TestUntouchedIsFoundBehindOthers(t *testing.T) {
	s, pool := openBoth(t)
	pool.MustExecContext(t.Context(), `INSERT INTO webhook_due (destination_id, begun, next_attempt_at, delivery_id)
		SELECT n, true, now() + CASE WHEN n = 5002 THEN '-2 hours' WHEN n = 12000 THEN '-3 hours' ELSE '1 hour' END::interval, n FROM generate_series(1, 12000) n`)
	u := &db.UntouchedDeliveries{Store: s}
	tells := func(when string, hours ...float64) {
		t.Helper()
		for i, want := range hours {
			if got := devtest.Must[time.Duration](t)(u.For(t.Context())); got.Round(time.Hour).Hours() != want {
				t.Errorf("%s, look %d: it is due for %v", when, i, got)
			}
		}
	}
	tells("from the first destination on", 0, 2, 3, 3, 3)
	pool.MustExecContext(t.Context(), `UPDATE webhook_due SET claimed_at = now(), next_attempt_at = now() + interval '1 minute' WHERE destination_id = 12000`)
	tells("once the last one is worked on", 0, 0, 2, 2)
	pool.MustExecContext(t.Context(), `DELETE FROM webhook_due`)
	tells("with nothing pending", 0, 0)
}

// BenchmarkLooks looks for what is due where 100,000 destinations have something pending: all of it is due, or all of it waits for another attempt.
func BenchmarkLooks(b *testing.B) {
	address := devtest.Database(b, db.Fingerprint(), db.Migrate)
	s := devtest.Must[*db.Store](b)(db.Open(b.Context(), address, db.Options{}))
	b.Cleanup(func() { _ = s.Close() })
	pool := devtest.Must[*sqlx.DB](b)(db.Connect(address, db.Options{MaxConns: 1}))
	b.Cleanup(func() { _ = pool.Close() })
	for _, statement := range []string{
		`SET session_replication_role = replica`,
		`INSERT INTO customers (id, name, parent_id, region_id, lineage) SELECT n, 'c' || n, NULLIF(1, n), 1, CASE n WHEN 1 THEN '{1}' ELSE ARRAY[1, n] END FROM generate_series(1, 1000) n`,
		`INSERT INTO webhook_destinations (id, customer_id, url, secret) SELECT n, n % 1000 + 1, 'https://receiver.example', '' FROM generate_series(1, 100000) n`,
	} {
		pool.MustExecContext(b.Context(), statement)
	}
	for _, c := range []struct{ name, begun, at string }{{"due", "false", "now()"}, {"waiting", "true", "now() + interval '1 hour'"}} {
		for _, statement := range []string{
			`TRUNCATE webhook_due`,
			`UPDATE delivery_look SET behind = 0`,
			`INSERT INTO webhook_due (destination_id, begun, next_attempt_at, delivery_id) SELECT n, ` + c.begun + `, ` + c.at + `, m * 1000000 + n FROM generate_series(1, 100000) n, generate_series(1, 3) m`,
			`VACUUM ANALYZE webhook_due`,
		} {
			pool.MustExecContext(b.Context(), statement)
		}
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if look := devtest.Must[db.Look](b)(s.LookForDue(b.Context())); (len(look.Due) == db.LookWidth) != (c.name == "due") && look.More {
					b.Fatal(len(look.Due))
				}
			}
		})
	}
}

// TestOutcomes: what ends is no longer due, what is tried again is, and destinations know how they do.
func TestOutcomes(t *testing.T) {
	s, pool := openBoth(t)
	root, child, _ := tree(t, s)
	works, fails := waiting(t, s, pool, root, 3), waiting(t, s, pool, child, 3)
	pool.MustExecContext(t.Context(), `UPDATE webhook_destinations SET failing_since = now() - interval '1 day', failures = 7`)
	rows := devtest.Must[[]*db.Claimed](t)(s.ClaimDeliveries(t.Context(), []db.Wanted{{DestinationID: works, Room: 9}, {DestinationID: fails, Room: 9}}, time.Hour))
	statuses := map[int64][]string{works: {db.DeliveryFailed, db.DeliveryDelivered, db.DeliveryPending}, fails: {db.DeliveryFailed, db.DeliveryBlocked, db.DeliveryPending}}
	var list []db.Outcome
	for _, row := range rows {
		to := row.DestinationID
		list = append(list, db.Outcome{ID: row.ID, DestinationID: to, LeasedUntil: row.LeasedUntil, Status: statuses[to][0], Wait: time.Hour, Log: []byte(`[{}]`)})
		statuses[to] = statuses[to][1:]
	}
	for i, want := range []int{len(list), 0} { // nothing is written twice
		if written := devtest.Must[map[int64]bool](t)(s.RecordOutcomes(t.Context(), list)); len(written) != want {
			t.Errorf("%d: written are %d of %d", i, len(written), len(list))
		}
	}
	for _, check := range []struct {
		want  int64
		query string
	}{
		{2, `SELECT count(*) FROM webhook_due u JOIN webhook_deliveries w ON w.id = u.delivery_id WHERE w.status = 'pending' AND u.begun AND u.claimed_at IS NULL AND u.next_attempt_at > now()`},
		{2, `SELECT count(*) FROM webhook_due`},
		{6, `SELECT count(*) FROM webhook_deliveries WHERE attempts = 1 AND log = '[{}]'`},
		{3, `SELECT count(*) FROM webhook_deliveries WHERE lost AND completed_at IS NOT NULL`},
		{1, `SELECT count(*) FROM webhook_destinations WHERE failing_since IS NULL AND failures = 0`},
		{1, `SELECT count(*) FROM webhook_destinations WHERE failing_since < now() - interval '1 hour' AND failures = 9`},
	} {
		if n := number(t, pool, check.query); n != check.want {
			t.Errorf("%d, want %d: %s", n, check.want, check.query)
		}
	}
}
