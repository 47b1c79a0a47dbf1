package db

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
)

// hears has a cell hear of some events of the home, and gives their objects. It fails as the cell does where failing is not nil.
func (c *counting) hears(s *Store, most int, failing error) (objects []int64) {
	c.t.Helper()
	n, err := s.HearHome(c.t.Context(), c.way[s], most, func(tx *Store, events []AuditEvent) error {
		for _, e := range events {
			objects = append(objects, e.ObjectID)
			if _, err := tx.Customer(c.t.Context(), access.Lineage{1}.Subtree(), e.CustomerID); err != nil {
				c.t.Errorf("the cell hears of the company %d before that is there: %v", e.CustomerID, err)
			}
		}
		return failing
	})
	if !errors.Is(err, failing) || err == nil && n != len(objects) {
		c.t.Fatalf("%d were handed over: %v", n, err)
	}
	return objects
}

// TestHandOverEvents: each cell hears of what the home writes in the log of its own companies, in order, some at a time, and of each event once, whatever ends at which moment.
func TestHandOverEvents(t *testing.T) {
	t.Parallel()
	c := countInCells(t)
	home := c.replicated.home
	object := int64(0)
	write := func(companies ...int64) (objects []int64) {
		t.Helper()
		var audits []NewAudit
		for _, id := range companies {
			object++
			objects = append(objects, object)
			audits = append(audits, NewAudit{AuditEvent: AuditEvent{CustomerID: id, Action: "user.created", ObjectType: "User", ObjectID: object, Details: []byte(`{"a": {"new": 1}}`)}})
		}
		_, _, err := c.home.Tell(t.Context(), audits, nil)
		devtest.Check(t, err)
		return objects
	}
	waiting := func(want int64) {
		t.Helper()
		if n := c.number(home, `SELECT count(*) FROM events_for_cells`); n != want {
			t.Errorf("%d events wait at the home, not %d", n, want)
		}
	}
	heard := func(s *Store, most int, want ...int64) {
		t.Helper()
		if got := c.hears(s, most, nil); !slices.Equal(got, want) {
			t.Errorf("a cell hears of %v, not %v", got, want)
		}
	}

	if n := c.number(ownPool(t, Options{MaxConns: 1}), `SELECT count(*) FROM pg_trigger WHERE tgrelid = 'audit_events'::regclass AND NOT tgisinternal AND tgname LIKE '%cells'`); n != 0 {
		t.Error("a home without cells looks for them at each event")
	}
	write(22, 23)
	waiting(0) // nobody has ever been there
	c.do(home, `UPDATE cells SET seen_at = now()`)
	all := write(22, 23, 24, 22, 22)
	waiting(4)
	if b := devtest.Must[Backlog](t)(c.home.EventsBacklog(t.Context())); b.Count != 4 {
		t.Errorf("the backlog is %+v", b)
	}
	// Whoever ends before the commit has heard of nothing.
	ended := errors.New("the process ends")
	if got := c.hears(c.seven, 2, ended); !slices.Equal(got, []int64{all[0], all[3]}) {
		t.Errorf("two of them are %v", got)
	}
	waiting(4)
	heard(c.seven, 2, all[0], all[3])
	waiting(4) // the home is not told yet, as if the process had ended there
	heard(c.seven, 2, all[4])
	waiting(2)
	heard(c.seven, 2)
	heard(c.seven, 2)
	heard(c.eight, 2, all[1])
	heard(c.eight, 2)
	waiting(0)
	for _, s := range []*Store{c.seven, c.eight} {
		if n := c.number(c.pools[s], `SELECT count(*) FROM heard_events`); n != 0 {
			t.Errorf("a cell keeps %d events of which the home is told", n)
		}
	}

	// One process of a cell at a time.
	late := write(22)
	n, err := c.seven.HearHome(t.Context(), c.way[c.seven], 5, func(_ *Store, events []AuditEvent) error {
		if got := c.hears(c.seven, 5, nil); len(got) != 0 || len(events) != 1 {
			t.Errorf("beside another a process hears of %v", got)
		}
		return nil
	})
	if n != 1 || err != nil {
		t.Errorf("%d were handed over: %v", n, err)
	}
	heard(c.seven, 5)

	// A replica that is late is waited for: what is told of is there.
	c.do(home, `UPDATE customers SET name = 'Renamed' WHERE id = 22`)
	held := c.pools[c.seven].MustBegin()
	held.MustExec(`LOCK TABLE pulse IN EXCLUSIVE MODE`)
	write(22)
	done := make(chan []int64)
	go func() { done <- c.hears(c.seven, 5, nil) }()
	devtest.Eventually(t, "the event is handed over", func() bool {
		return c.number(home, `SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%hand_over_events%' AND pid <> pg_backend_pid() AND state = 'idle'`) > 0
	})
	devtest.Check(t, held.Rollback())
	if got := <-done; len(got) != 1 || got[0] != late[0]+1 {
		t.Errorf("after the replica was late it hears of %v", got)
	}
	heard(c.seven, 5)

	// What is gone at the home is dropped, and so is what waits for a cell that is closed.
	write(22, 22, 23)
	c.do(home, `DELETE FROM audit_events WHERE object_id = `+fmt.Sprint(object-2)+` AND action = 'user.created'`)
	heard(c.seven, 1)
	heard(c.seven, 1, object-1)
	devtest.Check(t, c.migrator(c.homeURL).dropCell(t.Context(), 8))
	waiting(1)
	if _, err := c.eight.HearHome(t.Context(), c.way[c.eight], 5, nil); err == nil {
		t.Error("a cell that was closed is told")
	}
}
