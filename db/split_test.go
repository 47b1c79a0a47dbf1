package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
	"canopy/internal/problem"
)

// splitting are a home and the cell of a region whose companies have something of everything at the home: those with even ids, each below others of both kinds.
type splitting struct {
	*replicated
	store *Store
}

func splitRegion(t *testing.T) *splitting {
	t.Helper()
	r := replicateAs(t, 50, (*Migrator).OpenSplit, `UPDATE customers SET region_id = 7 WHERE id % 2 = 0`,
		// What is counted follows from what there is.
		`DELETE FROM usage_counts`,
		`SELECT count_from('secrets', NULL, array_agg(customer_id), array_agg(1::bigint)) FROM secrets`,
		`SELECT count_from('contexts', NULL, array_agg(a.customer_id), array_agg(1::bigint)) FROM contexts x JOIN accounts a ON a.id = x.account_id`,
		`INSERT INTO webhook_due (destination_id, delivery_id) SELECT destination_id, id FROM webhook_deliveries WHERE status = 'pending' ON CONFLICT DO NOTHING`,
		`UPDATE webhook_destinations SET events = '{audit.*}' WHERE customer_id = 4`,
		`UPDATE webhook_deliveries SET status = 'pending', completed_at = NULL WHERE id IN (10, 11)`, `INSERT INTO webhook_due (destination_id, delivery_id) VALUES (10, 10), (11, 11)`,
		`SELECT count_from('runsPerDay', (now() AT TIME ZONE 'UTC')::date, array_agg(id), array_agg(id)) FROM customers`)
	s := &splitting{replicated: r, store: devtest.Must[*Store](t)(Open(t.Context(), r.homeURL, Options{MaxConns: 4}))}
	t.Cleanup(func() { _ = s.store.Close() })
	s.arrived()
	return s
}

// begin begins a split that waits for nobody, and gives it and what ends it.
func (s *splitting) begin(told func(Difference)) *Split {
	s.t.Helper()
	if told == nil {
		told = func(Difference) {}
	}
	split := devtest.Must[*Split](s.t)(BeginSplit(s.t.Context(), s.homeURL, s.cellURL, "eu-7", told))
	s.t.Cleanup(split.Close)
	split.pause = 0
	return split
}

func nothing(context.Context) error { return nil }

// rows are those of a table that companies of the region have.
func (s *splitting) rows(pool *sqlx.DB, table, where string) (list []string) {
	s.t.Helper()
	var columns []string
	for _, c := range s.columns {
		if c.Table == table {
			columns = append(columns, "x."+c.Name)
		}
	}
	devtest.Check(s.t, pool.SelectContext(s.t.Context(), &list, fmt.Sprintf(`SELECT ROW(%s)::text FROM %s x WHERE %s ORDER BY 1`, strings.Join(columns, ", "), table, where)))
	return list
}

// all are the rows of each table that moves, of companies of the region or of the others.
func (s *splitting) all(pool *sqlx.DB, others bool) map[string][]string {
	s.t.Helper()
	list := map[string][]string{}
	for _, table := range splitTables() {
		where := ofRegion(table, "x", 7)
		if others {
			where = "NOT (" + where + ")"
		}
		list[table] = s.rows(pool, table, where)
	}
	return list
}

func (s *splitting) compare(what string, got, want map[string][]string) {
	s.t.Helper()
	for table := range want {
		if !slices.Equal(got[table], want[table]) {
			s.t.Errorf("%s: %s has %d rows, of %d", what, table, len(got[table]), len(want[table]))
		}
	}
}

func (s *splitting) phase() string {
	s.t.Helper()
	list := devtest.Must[[]SplitState](s.t)(s.migrator(s.homeURL).Splits(s.t.Context()))
	return list[len(list)-1].Phase
}

// TestSplit: what companies of a region have comes into the cell as it is, with what was written meanwhile; it is found there by its ids, counted there, and no more at the home; others' stays.
func TestSplit(t *testing.T) {
	t.Parallel()
	s := splitRegion(t)
	ctx := t.Context()
	others := s.all(s.home, true)
	counted := s.number(s.home, `SELECT sum(n) FROM usage_counts WHERE customer_id = 1`)
	wrote := false
	split := s.begin(func(d Difference) {
		if d.Table == "secrets" && !wrote { // when it has been compared
			wrote = true
			s.do(s.home, `INSERT INTO secrets (customer_id, name, value) VALUES (4, 'MEANWHILE', '')`, `UPDATE contexts SET name = 'Meanwhile' WHERE id = 6`, `DELETE FROM secrets WHERE customer_id = 8`)
		}
	})
	devtest.Check(t, split.Copy(ctx, nothing))
	if got := s.phase(); got != SplitCopying {
		t.Errorf("it is %s", got)
	}
	want := s.all(s.home, false)
	var refused *problem.Error
	devtest.Check(t, split.Switch(ctx, func(context.Context) error {
		_, err := s.store.InsertSecret(ctx, 4, "LATE")
		if !errors.As(err, &refused) || refused.Code != problem.Unavailable || refused.Reason != "moving" {
			t.Errorf("what moves is changed: %v", err)
		}
		if _, err := s.store.InsertSecret(ctx, 5, "OTHERS"); err != nil {
			t.Errorf("another region's companies wait: %v", err)
		}
		s.do(s.home, `DELETE FROM secrets WHERE name = 'OTHERS'`)
		var idle string
		devtest.Check(t, split.hold.GetContext(ctx, &idle, `SHOW tcp_keepalives_idle`))
		if idle != "15" {
			t.Errorf("the home hears after %s that this machine is gone", idle)
		}
		if due, err := s.store.LeaseRuns(ctx, 100, 0); err != nil || slices.ContainsFunc(due, func(d DueRun) bool { return d.ID%2 == 0 }) {
			t.Errorf("runs that move are handed out: %v, %v", due, err)
		}
		return nil
	}))
	others["runs"] = s.all(s.home, true)["runs"] // which were handed out
	s.compare("the cell", s.all(s.cell, false), want)
	for table, rows := range s.all(s.cell, true) {
		if len(rows) > 0 {
			t.Errorf("the cell has %d rows of %s of others", len(rows), table)
		}
	}
	if len(want["secrets"]) == 0 || len(want["webhook_due"]) == 0 || len(want["chunks"]) == 0 || len(want["run_steps"]) == 0 {
		t.Errorf("little moves: %d secrets, %d due, %d chunks, %d steps", len(want["secrets"]), len(want["webhook_due"]), len(want["chunks"]), len(want["run_steps"]))
	}

	// Before each process knows of the cell, nothing that moved is changed at the home, and nothing is done for it.
	if _, err := s.home.ExecContext(ctx, `UPDATE contexts SET name = 'Lost' WHERE id = 6`); err == nil || !strings.Contains(err.Error(), "lives in the cell of eu-7") {
		t.Errorf("it is changed at the home: %v", err)
	}
	if n := s.number(s.home, `SELECT count(*) FROM runs x WHERE status = 'running' AND `+ofRegion("runs", "x", 7)); n != 0 {
		t.Errorf("%d runs go on at the home", n)
	}
	// What the home writes in the log is for the cell's destinations, and no more for those that it has still.
	written, _, err := s.store.Tell(ctx, []NewAudit{{AuditEvent{CustomerID: 4, Action: "user.created", ObjectType: "User", ObjectID: 4, Details: []byte("{}")}, []string{"audit.*"}}}, nil)
	if err != nil || written[0].Wanted {
		t.Errorf("what is done at the home is told there: %+v, %v", written, err)
	}
	if n := s.number(s.home, `SELECT count(*) FROM events_for_cells w JOIN audit_events e ON e.id = w.event_id AND e.customer_id = 4 WHERE w.region_id = 7`); n != 1 {
		t.Errorf("%d events wait for the cell", n)
	}
	devtest.Check(t, split.Erase(ctx))
	s.compare("others", s.all(s.home, true), others)
	for table, rows := range s.all(s.home, false) {
		if table == "idempotency_keys" { // what was done for one is not done again, wherever it is asked for
			if !slices.Equal(rows, want[table]) || len(rows) == 0 {
				t.Errorf("the home has %d keys of idempotency, of %d", len(rows), len(want[table]))
			}
		} else if len(rows) > 0 && table != "audit_events" {
			t.Errorf("the home has %d rows of %s", len(rows), table)
		}
	}
	if n := s.number(s.home, `SELECT count(*) FROM audit_events WHERE customer_id % 2 = 0`); n != 1 {
		t.Errorf("the home has %d events of the region's companies since", n)
	}
	if got := s.phase(); got != SplitDone {
		t.Errorf("it is %s", got)
	}
	if n := s.number(s.home, `SELECT count(*) FROM pg_trigger WHERE tgname = 'refused_in_split'`); n != 0 {
		t.Errorf("%d triggers are left", n)
	}
	s.counts(counted)
	s.found(ctx)
	s.apart()
}

// apart looks whether each row that has moved is in one range of its own cell, also where another region moves whose rows lie between those.
func (s *splitting) apart() {
	s.t.Helper()
	s.do(s.home, `INSERT INTO regions (id, code, name) VALUES (8, 'eu-8', 'Eight')`, fmt.Sprintf(qSplitIDs, "secrets", 8, "x.customer_id % 4 = 1 AND x.customer_id > 10"))
	for region, ids := range map[int][]int64{7: s.ids(s.cell, `true`), 8: s.ids(s.home, `customer_id % 4 = 1 AND customer_id > 10`)} {
		for _, id := range ids {
			if n := s.number(s.home, fmt.Sprintf(`SELECT count(*) FILTER (WHERE region_id = %d) - 10 * count(*) FILTER (WHERE region_id <> %[1]d) FROM moved_ids WHERE kind = 'secrets' AND %d BETWEEN first AND last`, region, id)); n != 1 {
				s.t.Errorf("the secret %d of the region %d: %d", id, region, n)
			}
		}
		if len(ids) < 8 {
			s.t.Errorf("the region %d has %d secrets", region, len(ids))
		}
	}
	if n := s.number(s.home, `SELECT count(*) FROM moved_ids a JOIN moved_ids b ON a.kind = b.kind AND a.first < b.first AND a.last >= b.first`); n != 0 {
		s.t.Errorf("%d ranges meet", n)
	}
}

func (s *splitting) ids(pool *sqlx.DB, where string) (ids []int64) {
	s.t.Helper()
	devtest.Check(s.t, pool.SelectContext(s.t.Context(), &ids, `SELECT id FROM secrets WHERE `+where))
	return ids
}

// counts looks whether both count what they have, and together what there was.
func (s *splitting) counts(before int64) {
	s.t.Helper()
	here, there := s.number(s.home, `SELECT sum(n) FROM usage_counts WHERE customer_id = 1`), s.number(s.cell, `SELECT sum(n) FROM usage_counts WHERE customer_id = 1`)
	if here+there != before || there == 0 {
		s.t.Errorf("of %d the home counts %d and the cell %d", before, here, there)
	}
	for _, pool := range []*sqlx.DB{s.home, s.cell} {
		if n := s.number(pool, `SELECT count(*) FROM customers c WHERE
			(SELECT count(*) FROM secrets x JOIN customers k ON k.id = x.customer_id WHERE c.id = ANY (k.lineage)) <>
			COALESCE((SELECT sum(u.n) FROM usage_counts u WHERE u.customer_id = c.id AND u.name = 'secrets'), 0)`); n != 0 {
			s.t.Errorf("of %d companies secrets are counted wrong", n)
		}
	}
	if n := s.number(s.home, `SELECT sum(n) FROM counts_elsewhere WHERE customer_id = 1 AND cell = 7`); n != there {
		s.t.Errorf("the home knows of %d that the cell counts", n)
	}
}

// found looks for what has moved, and for what has not, by its id and job key, at the home and in the cell.
func (s *splitting) found(ctx context.Context) {
	s.t.Helper()
	cell := devtest.Must[*Store](s.t)(Open(ctx, s.cellURL, Options{MaxConns: 2}))
	defer func() { _ = cell.Close() }()
	s.arrived()
	devtest.Check(s.t, errors.Join(s.store.LookForCells(ctx), cell.LookForCells(ctx)))
	// Whoever works for nobody's request is led nowhere: not from what has moved, nor in the cell to where the rows that moved were made.
	for _, st := range []*Store{s.store, cell} {
		for _, id := range []int64{6, 7 * IDsOfCell, 8_000_000_000_000} {
			if _, err := st.Twin(ctx, &DocumentWork{Document: Document{ID: id}}); !errors.Is(err, ErrNoRows) {
				s.t.Errorf("a document %d without a twin: %v", id, err)
			}
		}
	}
	if !cell.Opened() || !s.store.Elsewhere(7) || s.store.Splitting() {
		s.t.Error("the cell does not answer for the region")
	}
	ctx = access.WithTurn(ctx, "a caller")
	all := access.Lineage{1}.Subtree()
	key := func(pool *sqlx.DB, id int64) (k string) {
		devtest.Check(s.t, pool.GetContext(ctx, &k, `SELECT job_key FROM runs WHERE id = $1`, id))
		return k
	}
	moved, stays := key(s.cell, 6), key(s.home, 5)
	for what, find := range map[string]func(*Store, bool) error{
		"delivery": func(st *Store, m bool) error { _, err := st.Delivery(ctx, all, pick(m, 6, 5)); return err },
		"agent":    func(st *Store, m bool) error { _, err := st.Agent(ctx, all, pick(m, 6, 5)); return err },
		"run": func(st *Store, m bool) error {
			k := stays
			if m {
				k = moved
			}
			_, err := st.RunByKey(ctx, all, k)
			return err
		},
	} {
		for _, m := range []bool{true, false} {
			for _, st := range []*Store{s.store, cell} {
				err := find(st, m)
				var p *problem.Error
				switch {
				case m == (st == cell):
					if err != nil {
						s.t.Errorf("a %s is not found where it is: %v", what, err)
					}
				case !errors.As(err, &p) || p.Place == nil || p.Place.Region != map[bool]string{true: "eu-7"}[m]:
					s.t.Errorf("a %s that is elsewhere: %v", what, err)
				}
			}
		}
	}
	for _, st := range []*Store{s.store, cell} {
		if _, err := st.Agent(ctx, all, 8_000_000_000_000); st == s.store && !errors.Is(err, ErrNoRows) {
			s.t.Errorf("an agent that was never made: %v", err)
		}
	}
}

func pick(is bool, a, b int64) int64 {
	if is {
		return a
	}
	return b
}

// TestSplitInterrupted: whenever it ends, the home has all and takes changes, and begun anew it ends right. Two at once are refused, and so is one while something of the cell's own is there.
func TestSplitInterrupted(t *testing.T) {
	t.Parallel()
	s := splitRegion(t)
	ctx := t.Context()
	goesOn := func(when string) {
		t.Helper()
		devtest.Eventually(t, "changes are taken again after "+when, func() bool {
			_, err := s.home.ExecContext(ctx, `UPDATE contexts SET name = 'After ' || $1 WHERE id = 6`, when)
			return err == nil
		})
		if n := s.number(s.home, `SELECT count(*) FROM cells WHERE region_id = 7`); n != 0 {
			t.Fatalf("after %s the cell has it", when)
		}
	}
	// As a process ends: its connections do.
	killed := func(split *Split, err error) {
		t.Helper()
		if err == nil {
			t.Fatal("it was not interrupted")
		}
		s.do(s.home, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND application_name <> 'canopy_directory'`)
		split.Close()
	}
	ended := errors.New("ended")
	{
		ctx, cancel := context.WithCancel(ctx)
		split := s.begin(func(d Difference) {
			if d.Table == "documents" {
				cancel()
			}
		})
		killed(split, split.Copy(ctx, nothing))
		goesOn("copying")
	}
	if n := s.number(s.cell, `SELECT count(*) FROM contexts`); n == 0 {
		t.Error("what was copied is gone")
	}
	{
		split := s.begin(nil)
		devtest.Check(t, split.Copy(ctx, nothing))
		killed(split, split.Switch(ctx, func(context.Context) error { return ended }))
		goesOn("checking")
	}
	{
		split := s.begin(nil)
		devtest.Check(t, split.Switch(ctx, nothing))
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		if err := split.Erase(ctx); err == nil {
			t.Error("it was not interrupted")
		}
		split.Close()
	}
	want := s.all(s.cell, false)
	if len(want["contexts"]) < 25 || !strings.Contains(strings.Join(want["contexts"], " "), "After checking") {
		t.Errorf("the cell has %d contexts", len(want["contexts"]))
	}
	split := s.begin(nil)
	devtest.Check(t, split.Erase(ctx))
	devtest.Check(t, split.Erase(ctx))
	s.compare("the cell", s.all(s.cell, false), want)
	for table, rows := range s.all(s.home, false) {
		if len(rows) > 0 && table != "idempotency_keys" {
			t.Errorf("the home has %d rows of %s", len(rows), table)
		}
	}
	if err := split.Abort(ctx); err == nil {
		t.Error("what is in the cell is given back")
	}
}

// TestSplitChecks: where a row or an original is not in the cell what it is at the home, nothing is switched; taken back, the home is as it was.
func TestSplitChecks(t *testing.T) {
	t.Parallel()
	s := splitRegion(t)
	ctx := t.Context()
	before := s.all(s.home, false)
	s.do(s.cell, `CREATE FUNCTION behind_its_back() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.name := 'Changed'; RETURN NEW; END $$`,
		`CREATE TRIGGER behind_its_back BEFORE INSERT OR UPDATE ON contexts FOR EACH ROW WHEN (NEW.id = 6) EXECUTE FUNCTION behind_its_back()`, `ALTER TABLE contexts ENABLE ALWAYS TRIGGER behind_its_back`)
	stays := func() {
		t.Helper()
		if n := s.number(s.home, `SELECT count(*) FROM cells WHERE region_id = 7`); n != 0 {
			t.Error("it was switched")
		}
		if _, err := s.store.InsertSecret(ctx, 4, "AFTER"); err != nil {
			t.Errorf("what stays takes no changes: %v", err)
		}
		s.do(s.home, `DELETE FROM secrets WHERE name = 'AFTER'`)
		s.compare("the home", s.all(s.home, false), before)
	}
	split := s.begin(nil)
	if err := split.Switch(ctx, nothing); err == nil || !strings.Contains(err.Error(), "1 rows of contexts differ") {
		t.Errorf("a row that is other: %v", err)
	}
	split.Close()
	stays()
	s.do(s.cell, `DROP TRIGGER behind_its_back ON contexts`)
	split = s.begin(nil)
	if err := split.Switch(ctx, func(context.Context) error { return errors.New("another original") }); err == nil || err.Error() != "another original" {
		t.Errorf("an original that is other: %v", err)
	}
	split.Close()
	stays()

	split = s.begin(nil)
	sizes := map[string]SplitSize{}
	for _, size := range devtest.Must[[]SplitSize](t)(split.Sizes(ctx)) {
		sizes[size.Table] = size
	}
	if n := sizes["contexts"]; n.Rows != int64(len(before["contexts"])) || n.Bytes == 0 || sizes["originals"].Rows != int64(len(before["documents"])) {
		t.Errorf("there is to move: %v", sizes)
	}
	var keys []string
	devtest.Check(t, split.EachObject(ctx, "a store", func(some []SplitObject) (came []string, err error) {
		for _, o := range some[1:] {
			came = append(came, o.Key)
		}
		keys = append(keys, came...)
		return came, nil
	}))
	devtest.Check(t, split.EachObject(ctx, "a store", func(some []SplitObject) ([]string, error) {
		if len(some) != 1 || slices.Contains(keys, some[0].Key) {
			t.Errorf("of those that have come, and one that has not, these come again: %v", some)
		}
		keys = append(keys, some[0].Key)
		return []string{some[0].Key}, nil
	}))
	devtest.Check(t, split.EachObject(ctx, "a store", func(some []SplitObject) ([]string, error) { return nil, fmt.Errorf("%d come again", len(some)) }))
	again := errors.New("they come")
	if err := split.EachObject(ctx, "another", func([]SplitObject) ([]string, error) { return nil, again }); !errors.Is(err, again) {
		t.Errorf("what one store has is not brought into another: %v", err)
	}
	if len(keys) < len(before["documents"]) {
		t.Errorf("%d originals move", len(keys))
	}
	devtest.Check(t, split.Abort(ctx))
	split.Close()
	stays()
	if n := s.number(s.home, `SELECT (SELECT count(*) FROM pg_replication_slots) + (SELECT count(*) FROM splits WHERE region_id = 7) + (SELECT count(*) FROM pg_trigger WHERE tgname = 'refused_in_split')`); n != 0 {
		t.Errorf("%d things are left of it", n)
	}
	if _, err := BeginSplit(ctx, s.homeURL, s.cellURL, "eu-7", nil); err == nil || !strings.Contains(err.Error(), "is not to move") {
		t.Errorf("it begins again: %v", err)
	}
}

// TestRowsAreNamedByTheirTables: of each statement that looks for one row it is known of which table that is.
func TestRowsAreNamedByTheirTables(t *testing.T) {
	t.Parallel()
	named := 0
	for q, at := range namedBy() {
		if at > 0 && kindsNamed()[q] == "" {
			t.Errorf("which table has the row: %s", statements[q])
		}
		if at > 0 {
			named++
		}
	}
	for q, want := range map[query]string{qDelivery: "webhook_deliveries", qRunByKey: "runs"} {
		if got := kindsNamed()[q]; got != want {
			t.Errorf("the row is taken for one of %q, not of %s", got, want)
		}
	}
	if named < 20 {
		t.Errorf("%d statements name a row", named)
	}
}
