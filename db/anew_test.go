package db

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"canopy/internal/devstack/devtest"
)

// loseSlot has the home forget where the cell is, as a failover does.
func (r *replicated) loseSlot() {
	r.t.Helper()
	devtest.Eventually(r.t, "the home has lost the cell's slot", func() bool {
		_, err := r.home.ExecContext(r.t.Context(), `SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active`)
		devtest.Check(r.t, err)
		_, err = r.home.ExecContext(r.t.Context(), `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots`) // which the cell may have taken again meanwhile
		return err == nil
	})
}

// anew joins the cell anew, and gives what that has found, by table.
func (r *replicated) anew() map[string]Difference {
	r.t.Helper()
	return byTable(devtest.Must[[]Difference](r.t)(r.migrator(r.cellURL).JoinAnew(r.t.Context(), "eu-7", r.asCell(), func(Difference) {})))
}

func byTable(list []Difference) map[string]Difference {
	all := map[string]Difference{}
	for _, d := range list {
		all[d.Table] = d
	}
	return all
}

// whileLost are changes at the home that a cell does not hear of: each kind of row comes, changes and goes; companies move within each other, and what is unique is swapped.
var whileLost = []string{
	`UPDATE customers SET name = E'Re"named, (\\),' WHERE id = 9`, `UPDATE users SET first_name = '' , last_name = 'Ünï\code"' WHERE id = 9`,
	`INSERT INTO users (id, email) VALUES (1000, 'new@x.example')`,
	`INSERT INTO customers (id, parent_id, name, region_id) VALUES (1000, 9, 'New', 1)`,
	`INSERT INTO memberships (customer_id, user_id, email, first_name, last_name) VALUES (1000, 1000, 'new@x.example', 'New', '')`,
	`UPDATE memberships SET accepted_at = now() WHERE customer_id = 1000`,
	`UPDATE users SET email = 'between@x.example' WHERE id = 12`, `UPDATE users SET email = 'of12@x.example' WHERE id = 13`, `UPDATE users SET email = 'of13@x.example' WHERE id = 12`,
	`DELETE FROM permissions WHERE user_id = 10`, `UPDATE permissions SET disabled = true WHERE user_id = 12`,
	`UPDATE sessions SET ended_at = now() WHERE id = 5`, `DELETE FROM sessions WHERE id = 6`, `UPDATE api_keys SET revoked_at = now() WHERE id = 3`,
	`DELETE FROM memberships WHERE customer_id = 11`, `UPDATE users SET erased_at = now(), email = 'erased:30', first_name = '' WHERE id = 30`,
	`INSERT INTO customer_limits (customer_id, name, most) VALUES (9, 'Zebras', 1), (9, 'agents', 2), (10, 'ärger', 3), (10, 'a b', 4) ON CONFLICT DO NOTHING`,
	`UPDATE customers SET suspended = true WHERE id = 14`,
}

// TestJoinAnew: a cell whose slot is lost gets what the home has changed meanwhile, with all that follows from it in the cell, and then what comes; done again, nothing differs.
func TestJoinAnew(t *testing.T) {
	t.Parallel()
	r := replicate(t)
	ctx := t.Context()
	r.do(r.home, `INSERT INTO customer_limits (customer_id, name, most) VALUES (9, 'b', 1), (9, 'A', 1), (9, 'Ä', 1), (10, 'a', 1) ON CONFLICT DO NOTHING`)
	r.do(r.home, `UPDATE users SET email = 'of12@x.example' WHERE id = 12`, `UPDATE users SET email = 'of13@x.example' WHERE id = 13`)
	// 40 is below 41, and that below 42: each place differs from the one that it will have.
	r.do(r.home, `SELECT move_customer(42, 2)`, `SELECT move_customer(41, 42)`, `SELECT move_customer(40, 41)`, `SELECT move_customer(43, 40)`)
	r.arrived()
	r.holdAll()
	r.do(r.cell, `INSERT INTO secrets (customer_id, name, value) SELECT id, 'KEY', '' FROM customers`)
	r.countsAreRight()
	r.loseSlot()
	r.do(r.home, whileLost...)
	// The three turn over: 40 comes to the top, out of what it was in, and takes in what it was in; 43 goes elsewhere, out of all of them, and a new one is between.
	r.do(r.home, `SELECT move_customer(40, 3)`, `INSERT INTO customers (id, parent_id, name, region_id) VALUES (1001, 40, 'Between', 1)`, `SELECT move_customer(41, 1001)`, `SELECT move_customer(42, 41)`, `SELECT move_customer(43, 5)`)
	r.do(r.home, `DELETE FROM former_members WHERE id % 2 = 0`, `UPDATE pulse SET n = n + 1, counted_at = now()`)
	r.do(r.cell, `DELETE FROM tree_changes`, `DELETE FROM erased_people`)

	dry := byTable(devtest.Must[[]Difference](t)(r.migrator(r.cellURL).CompareWithHome(ctx, "eu-7", r.asCell(), func(Difference) {})))
	if n := r.number(r.home, `SELECT count(*) FROM pg_replication_slots`) + r.number(r.cell, `SELECT count(*) FROM customers WHERE id = 1000`); n != 0 {
		t.Error("to compare changes something")
	}
	found := r.anew()
	for table, want := range map[string]Difference{"customers": {Missing: 2}, "users": {Missing: 1}, "sessions": {Different: 1, Gone: 1}, "pulse": {Different: 1}, "regions": {}} {
		got := found[table]
		if table == "customers" || table == "users" {
			want.Different = got.Different
		}
		if want.Table, want.Rows = table, r.number(r.home, `SELECT count(*) FROM `+table); got != want || dry[table] != got {
			t.Errorf("%s: it tells %v, and before %v, of %v", table, got, dry[table], want)
		}
	}
	if found["permissions"].Gone == 0 || found["former_members"].Gone == 0 || found["customers"].Different < 6 || found["users"].Different < 4 {
		t.Errorf("it tells %v", found)
	}
	r.same()
	r.countsAreRight()
	for what, text := range map[string]string{
		"the suspension is told": `SELECT count(*) FROM tree_changes WHERE customer_id = 14`,
		"the move is told":       `SELECT LEAST(1, count(*)) FROM tree_changes WHERE customer_id = 43`,
		"the home hears of what a synchronous standby of the cell has": `SELECT count(*) FROM pg_subscription WHERE subsynccommit = 'on'`,
		"who was erased is told": `SELECT count(*) FROM erased_people WHERE user_id = 30`,
	} {
		if n := r.number(r.cell, text); n != 1 {
			t.Errorf("%s: %d times", what, n)
		}
	}
	r.do(r.home, `UPDATE customers SET name = 'Later' WHERE id = 9`, `INSERT INTO users (id, email) VALUES (1002, 'later@x.example')`)
	r.arrived()
	r.same()
	for table, d := range r.anew() {
		if d.Missing+d.Different+d.Gone > 0 {
			t.Errorf("done again, it finds %v in %s", d, table)
		}
	}
	r.do(r.home, `DELETE FROM sessions WHERE id = 7`)
	r.arrived()
	r.same()
}

// countsAreRight compares what the cell has counted of secrets with what there is, in and below each company.
func (r *replicated) countsAreRight() {
	r.t.Helper()
	if n := r.number(r.cell, `SELECT count(*) FROM customers c WHERE
		(SELECT count(*) FROM secrets s JOIN customers k ON k.id = s.customer_id WHERE c.id = ANY (k.lineage)) <>
		COALESCE((SELECT sum(u.n) FROM usage_counts u WHERE u.customer_id = c.id AND u.name = 'secrets'), 0)`); n > 0 {
		r.t.Errorf("%d companies are counted wrong", n)
	}
	if n := r.number(r.cell, `SELECT count(*) FROM usage_counts WHERE name = 'secrets' AND n <> 0`); n < 10 {
		r.t.Fatalf("%d are counted", n)
	}
}

// TestJoinAnewInterrupted: whenever it ends, the cell has what it had or all of the new, the home keeps its log for nobody, and done again it ends right; two at once are refused.
func TestJoinAnewInterrupted(t *testing.T) {
	t.Parallel()
	r := replicate(t)
	r.arrived()
	r.loseSlot()
	r.do(r.home, whileLost...)
	others := devtest.Must[*sqlx.DB](t)(Connect(r.cellURL, Options{MaxConns: 1}))
	defer func() { _ = others.Close() }()
	for when, hold := range map[string]struct{ told, lock string }{"comparing": {told: "former_members"}, "putting right": {lock: `LOCK TABLE users IN SHARE MODE`}} {
		held := devtest.Must[*sqlx.Tx](t)(others.Beginx())
		held.MustExec(hold.lock)
		ctx, cancel := context.WithCancel(t.Context())
		ended, reached := make(chan error), make(chan struct{})
		go func() {
			_, err := r.migrator(r.cellURL).JoinAnew(ctx, "eu-7", r.asCell(), func(d Difference) {
				if d.Table == hold.told {
					close(reached)
					<-ctx.Done()
				}
			})
			ended <- err
		}()
		if hold.told != "" {
			<-reached
		} else {
			devtest.Eventually(t, "it waits while "+when, func() bool {
				return r.number(r.cell, `SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'users'::regclass`) > 0
			})
		}
		if n := r.number(r.home, `SELECT count(*) FROM pg_replication_slots`); n != 1 {
			t.Errorf("while %s there are %d slots", when, n)
		}
		if hold.told != "" {
			if _, err := r.migrator(r.cellURL).JoinAnew(t.Context(), "eu-7", r.asCell(), func(Difference) {}); err == nil || !strings.Contains(err.Error(), "another process") {
				t.Errorf("two at once: %v", err)
			}
		}
		if n := r.number(r.cell, `SELECT count(*) FROM customers WHERE id = 1000 OR name LIKE 'Re"%'`); n > 0 {
			t.Error("the replica is half of it")
		}
		cancel()
		if err := <-ended; err == nil {
			t.Error("it has gone on")
		}
		devtest.Check(t, held.Rollback())
		if err := r.migrator(r.cellURL).JoinHome(t.Context(), "eu-7", r.asCell(), func(int, int) {}); err == nil || !strings.Contains(err.Error(), "--anew") {
			t.Errorf("a cell that is joined anew is joined: %v", err)
		}
		_, err := r.migrator(r.cellURL).Up(t.Context())
		devtest.Check(t, err)
		if n := r.number(r.home, `SELECT count(*) FROM pg_replication_slots`); n > 0 {
			t.Errorf("ended while %s, it leaves %d slots", when, n)
		}
		if n := r.number(r.cell, `SELECT count(*) FROM customers WHERE id = 1000 OR name LIKE 'Re"%'`); n > 0 {
			t.Errorf("ended while %s, it leaves the replica half of it", when)
		}
	}
	r.anew()
	r.same()
	r.do(r.home, `UPDATE customers SET name = 'Later' WHERE id = 9`)
	r.arrived()
	r.same()

	// A cell that was restored without its subscription, and whose slot is there.
	r.do(r.cell, `ALTER SUBSCRIPTION canopy_directory DISABLE; ALTER SUBSCRIPTION canopy_directory SET (slot_name = NONE); DROP SUBSCRIPTION canopy_directory`)
	r.do(r.home, `DELETE FROM sessions WHERE id = 8`)
	if err := r.migrator(r.cellURL).JoinHome(t.Context(), "eu-7", r.asCell(), func(int, int) {}); err == nil || !strings.Contains(err.Error(), "--anew") {
		t.Errorf("a cell that was restored is joined: %v", err)
	}
	if d := r.anew()["sessions"]; d.Gone != 1 {
		t.Errorf("it finds %v", d)
	}
	r.same()
}

// BenchmarkJoinAnew is of a cell with a directory of 100,000 companies and people, of which a hundredth differs.
func BenchmarkJoinAnew(b *testing.B) {
	r := replicateGrown(b, 100_000)
	r.arrived()
	for b.Loop() {
		b.StopTimer()
		r.loseSlot()
		r.do(r.home, `SET session_replication_role = replica`, `UPDATE users SET first_name = first_name || 'x' WHERE id % 100 = 0`, `RESET session_replication_role`)
		b.StartTimer()
		var rows int64
		for _, d := range r.anew() {
			rows += d.Rows
		}
		b.ReportMetric(float64(rows), "rows")
	}
}

// urlAs is a database as a role comes to it whose password is "secret".
func urlAs(t testing.TB, database, role string) string {
	t.Helper()
	u := devtest.Must[*url.URL](t)(url.Parse(database))
	u.User = url.UserPassword(role, "secret")
	return u.String()
}

// TestFollowsWhoTakesWrites: of several hosts of the home the cell follows the one that takes writes, also where another answers first.
func TestFollowsWhoTakesWrites(t *testing.T) {
	t.Parallel()
	r := replicate(t)
	r.arrived()
	other, otherURL := startReplicating(t)
	r.do(other, `CREATE ROLE "eu 7" LOGIN REPLICATION PASSWORD 'secret'`, `ALTER SYSTEM SET default_transaction_read_only = on`, `SELECT pg_reload_conf()`)
	both := strings.Replace(r.asCell(), "@", "@"+devtest.Must[*url.URL](t)(url.Parse(otherURL)).Host+",", 1)
	_, err := r.migrator(r.cellURL).JoinAnew(t.Context(), "eu-7", both, func(Difference) {})
	devtest.Check(t, err)
	r.do(r.home, `UPDATE customers SET name = 'Followed' WHERE id = 9`)
	r.arrived()
	if n := r.number(r.cell, `SELECT count(*) FROM customers WHERE name = 'Followed'`); n != 1 {
		t.Error("the cell does not follow")
	}
}

// TestJoinAnewRefuses: what can't be joined anew is told why, before anything is changed.
func TestJoinAnewRefuses(t *testing.T) {
	t.Parallel()
	r := replicate(t)
	r.arrived()
	ctx := t.Context()
	refused := func(says, on, region, home string) {
		t.Helper()
		_, err := r.migrator(on).JoinAnew(ctx, region, home, func(Difference) {})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("not %q: %v", says, err)
		}
		if n := r.number(r.cell, `SELECT count(*) FROM pg_subscription WHERE subenabled`); n != 1 {
			t.Fatalf("after %v the cell follows no more", err)
		}
	}
	refused("without --anew", r.homeURL, "eu-7", r.asCell())
	refused("without --anew", devtest.Database(t, "", func(context.Context, string) error { return nil }), "eu-7", r.asCell())
	refused("the database of the cell eu-7", r.cellURL, "eu-8", r.asCell())
	refused("CANOPY_HOME_URL", r.cellURL, "eu-7", "postgres://nobody@127.0.0.1:1/none")
	r.do(r.home, `ALTER ROLE "eu 7" NOREPLICATION`)
	refused("the role eu 7 of CANOPY_HOME_URL has no REPLICATION", r.cellURL, "eu-7", r.asCell())
	r.do(r.home, `ALTER ROLE "eu 7" REPLICATION`)
	r.do(r.cell, `CREATE ROLE plain LOGIN PASSWORD 'secret'`, `GRANT SELECT ON ALL TABLES IN SCHEMA public TO plain`)
	refused("superuser of the cell's", urlAs(t, r.cellURL, "plain"), "eu-7", r.asCell())

	was := r.number(r.home, `SELECT id FROM customers WHERE parent_id IS NULL`)
	r.do(r.home, `SET session_replication_role = replica`, fmt.Sprintf(`UPDATE customers SET created_at = now() WHERE id = %d`, was), `RESET session_replication_role`)
	r.arrived()
	r.do(r.cell, `SET session_replication_role = replica`, fmt.Sprintf(`UPDATE customers SET created_at = '2020-01-01' WHERE id = %d`, was), `RESET session_replication_role`)
	refused("another platform", r.cellURL, "eu-7", r.asCell())
}
