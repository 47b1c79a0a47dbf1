package operations

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"

	"canopy/db"
	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
)

// TestCellJoinsAnew: a cell whose slot the home has lost, and more, says what to do. Joined anew while it serves, and twice killed on the way, it never answers from half of what the home has changed; in the
// end it has all of it, and what comes, and nothing of what its companies have is lost.
func TestCellJoinsAnew(t *testing.T) {
	t.Parallel()
	c := platform.StartCells(t, "eu-central", func(cfg *config.Config) { cfg.MaxLag = 5 * time.Second })
	home, s := c.Home, c.Cell
	hydro := home.Customer("Alpine Hydro")
	revokedID, revokedPlain := c.Key(t, hydro, "lukas@alpine-hydro.example")
	keptID, keptPlain := c.Key(t, hydro, "lukas@alpine-hydro.example")
	revoked, kept := s.Token(revokedID, revokedPlain, "assistant"), s.Token(keptID, keptPlain, "assistant")
	status := func(token string) int { return s.Do("GET", "/context", token, nil).Status }
	notes := s.NewContext(kept, "Notes")
	erased := home.Number(`INSERT INTO users (email, first_name) VALUES ('mallory@x.example', 'Mallory') RETURNING id`)
	devtest.Eventually(t, "the cell knows the person", func() bool { return s.Number(`SELECT count(*) FROM users WHERE id = $1`, erased) == 1 })
	s.SQL(`INSERT INTO audit_events (customer_id, actor_user_id, action, object_type, object_id, details) VALUES ($1, $2, 'user.added', 'User', $2, '{"email": "mallory@x.example"}')`, hydro, erased)
	home.SQL(`UPDATE pulse SET n = n + 1000`)
	devtest.Eventually(t, "the cell has the pulse", func() bool { return s.Number(`SELECT n FROM pulse`) > 1000 })

	loseSlot(t, c)
	home.SQL(`UPDATE pulse SET n = n - 1000`) // which a home that was restored has lost, too
	home.SQL(`UPDATE api_keys SET revoked_at = now() WHERE client_id = $1`, revokedID)
	home.SQL(`UPDATE users SET erased_at = now(), email = 'erased:' || id, first_name = '' WHERE id = $1`, erased)
	home.SQL(`UPDATE customers SET name = 'Renamed' WHERE id = $1`, hydro)
	home.SQL(`INSERT INTO customers (parent_id, name, region_id) SELECT id, 'New', region_id FROM customers WHERE id = $1`, hydro)
	home.SQL(`UPDATE permissions SET disabled = true WHERE id = (SELECT max(id) FROM permissions)`)
	home.SQL(`DELETE FROM customer_limits`)
	devtest.Eventually(t, "the cell says what to do", func() bool {
		return strings.Contains(string(s.Do("GET", "/readyz", "", nil).Body), "canopy region join … --anew") && status(revoked) == 503
	})

	half := func(when string) {
		t.Helper()
		if n := s.Number(`SELECT (SELECT count(*) FROM customers WHERE name = 'Renamed') + (SELECT count(*) FROM api_keys WHERE client_id = $1 AND revoked_at IS NOT NULL)`, revokedID); n != 0 {
			t.Errorf("%s: the cell has %d of the changes", when, n)
		}
		if at := status(revoked); at != 503 {
			t.Errorf("%s: who may be revoked is answered %d", when, at)
		}
	}
	// It waits with the home's snapshot in its hands, and with the change half done.
	for when, hold := range map[string]struct{ at, lock string }{"comparing": {at: "former_members"}, "putting right": {lock: `LOCK TABLE users IN SHARE MODE`}} {
		held := devtest.Must[*sql.Tx](t)(s.DB.BeginTx(t.Context(), nil))
		devtest.Must[sql.Result](t)(held.ExecContext(t.Context(), hold.lock))
		join := s.StartProgram(t, platform.JoinAnew, append(c.Settings(), platform.HoldAt+"="+hold.at)...)
		devtest.Eventually(t, "it waits while "+when, func() bool {
			return strings.Contains(join.Log.String(), "holding") || s.Number(`SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'users'::regclass`) > 0
		})
		if n := home.Number(`SELECT count(*) FROM pg_replication_slots`); n != 1 {
			t.Errorf("while %s the home has %d slots", when, n)
		}
		half(when)
		join.Kill()
		devtest.Check(t, held.Rollback())
		half("killed while " + when)
	}
	join := s.StartProgram(t, platform.JoinAnew, c.Settings()...)
	if err := join.Cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, join.Log)
	}
	devtest.Eventually(t, "the cell answers", func() bool { return status(kept) == 200 })
	if at := status(revoked); at != 401 {
		t.Errorf("a revoked key is answered %d", at)
	}
	sameDirectory(t, c)
	devtest.Must[int](t)(s.App.Store.EraseTraces(t.Context(), 100)) // as its worker does
	if n := s.Number(`SELECT count(*) FROM audit_events WHERE details::text LIKE '%mallory%'`); n != 0 {
		t.Errorf("%d events tell of who was erased", n)
	}
	if a := s.Do("GET", fmt.Sprintf("/context/%d", notes), kept, nil); a.Status != 200 {
		t.Errorf("what the company has: %d %s", a.Status, a.Body)
	}

	home.SQL(`UPDATE customers SET name = 'Renamed again' WHERE id = $1`, hydro)
	sameDirectory(t, c)
	m := devtest.Must[*db.Migrator](t)(db.NewMigrator(t.Context(), c.CellServer.URL()))
	defer func() { _ = m.Close() }()
	for _, d := range devtest.Must[[]db.Difference](t)(m.JoinAnew(t.Context(), "eu-central", c.HomeServer.URL(), func(db.Difference) {})) {
		if d.Table != "pulse" && d.Missing+d.Different+d.Gone > 0 {
			t.Errorf("done again, it finds %v", d)
		}
	}
	home.SQL(`UPDATE api_keys SET revoked_at = now() WHERE client_id = $1`, keptID)
	devtest.Eventually(t, "the other key is refused, too", func() bool { return status(kept) == 401 })
}

// loseSlot has the home lose the cell's slot, as by a failover.
func loseSlot(t *testing.T, c *platform.Cells) {
	t.Helper()
	devtest.Eventually(t, "the slot is lost", func() bool {
		c.Home.SQL(`SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active`)
		_, err := c.Home.DB.ExecContext(t.Context(), `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots`)
		return err == nil
	})
	m := devtest.Must[*db.Migrator](t)(db.NewMigrator(t.Context(), c.HomeServer.URL()))
	defer func() { _ = m.Close() }()
	_, cells, err := m.Cells(t.Context())
	if err != nil || !slices.ContainsFunc(cells, func(s db.CellSeen) bool { return s.Log == db.LogLost }) {
		t.Errorf("the home tells %v, %v", cells, err)
	}
}

// sameDirectory waits until each table has the same in the cell as at the home, in every column that the home publishes.
func sameDirectory(t *testing.T, c *platform.Cells) {
	t.Helper()
	rows, err := c.Home.DB.QueryContext(t.Context(), `SELECT tablename::text, attnames::text[] FROM pg_publication_tables ORDER BY 1`)
	devtest.Check(t, err)
	defer func() { _ = rows.Close() }()
	tables := map[string]string{}
	for rows.Next() {
		var table string
		var columns pq.StringArray
		devtest.Check(t, rows.Scan(&table, &columns))
		for i, name := range columns {
			columns[i] = pq.QuoteIdentifier(name)
		}
		tables[table] = strings.Join(columns, ", ")
	}
	devtest.Check(t, rows.Err())
	if len(tables) < 20 {
		t.Fatalf("the home publishes %d tables", len(tables))
	}
	for table, columns := range tables {
		all := func(p *platform.Platform) (text string) {
			devtest.Check(t, p.DB.QueryRowContext(t.Context(), fmt.Sprintf(`SELECT COALESCE(string_agg(r, E'\n' ORDER BY r COLLATE "C"), '') FROM (SELECT ROW(%s)::text AS r FROM %s) x`, columns, table)).Scan(&text))
			return text
		}
		devtest.Eventually(t, table+" is the home's", func() bool { return all(c.Home) == all(c.Cell) })
	}
}
