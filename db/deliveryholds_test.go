package db_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"canopy/db"
	"canopy/internal/devstack/devtest"
	"canopy/internal/quota"
)

// waiting writes deliveries to a new destination of a company, and gives the destination's id.
func waiting(t *testing.T, s *db.Store, pool *sqlx.DB, company *db.Customer, n int) int64 {
	t.Helper()
	d := devtest.Must[*db.Destination](t)(s.InsertDestination(t.Context(), db.Destination{CustomerID: company.ID, URL: "https://receiver.example", Signing: "SPEC"}))
	pool.MustExecContext(t.Context(), `
		WITH emitted AS (INSERT INTO webhook_deliveries (customer_id, destination_id, event_id, type, payload)
			SELECT $1, $2, 'evt_' || n, 'agent.created', '' FROM generate_series(1, $3::integer) n RETURNING id, destination_id)
		INSERT INTO webhook_due (destination_id, delivery_id) SELECT destination_id, id FROM emitted`, company.ID, d.ID, n)
	return d.ID
}

func number(t *testing.T, pool *sqlx.DB, query string, args ...any) (n int64) {
	t.Helper()
	devtest.Check(t, pool.GetContext(t.Context(), &n, query, args...))
	return n
}

// due lists the destinations with something due.
func due(t *testing.T, s *db.Store) (ids []int64) {
	t.Helper()
	for _, d := range devtest.Must[db.Look](t)(s.LookForDue(t.Context())).Due {
		ids = append(ids, d.ID)
	}
	return ids
}

func limit(t *testing.T, s *db.Store, company *db.Customer, most int64) {
	t.Helper()
	devtest.Check(t, s.SetLimit(t.Context(), company.ID, quota.DeliveriesPerDay, &most))
}

// TestDeliveriesOfADay: however many workers take deliveries up at the same time, as many are as the limit says, of the company
// and those below it together; the others wait, as they are, until there is room.
func TestDeliveriesOfADay(t *testing.T) {
	const most, each, lanes = 137, 150, 4
	s, pool := openBoth(t)
	root, child, _ := tree(t, s)
	grandchild := devtest.Must[*db.Customer](t)(s.InsertCustomer(t.Context(), db.Customer{ParentID: &child.ID, Name: "Below", RegionID: root.RegionID}))
	limit(t, s, child, most)
	var destinations []int64
	for i := range lanes {
		destinations = append(destinations, waiting(t, s, pool, []*db.Customer{child, grandchild}[i%2], each))
	}
	free := waiting(t, s, pool, root, 3)
	var claimed atomic.Int64
	var workers sync.WaitGroup
	for i := range 3 * lanes {
		workers.Go(func() {
			for range 2 * each {
				rows, err := s.ClaimDeliveries(t.Context(), []db.Wanted{{DestinationID: destinations[i%lanes], Room: 7}}, time.Hour)
				if err != nil {
					t.Error(err)
					return
				}
				if claimed.Add(int64(len(rows))); len(rows) == 0 {
					return
				}
			}
		})
	}
	workers.Wait()
	if claimed.Load() != most {
		t.Errorf("%d were taken up, the limit is %d", claimed.Load(), most)
	}
	for _, c := range []*db.Customer{root, child} {
		if n := number(t, pool, `SELECT sum(n) FROM usage_counts WHERE name = 'deliveriesPerDay' AND customer_id = $1`, c.ID); n != most {
			t.Errorf("%d are counted for company %d", n, c.ID)
		}
	}
	if ids := due(t, s); len(ids) != 1 || ids[0] != free {
		t.Errorf("due are %v, only %d has room", ids, free)
	}
	if b := devtest.Must[db.Backlog](t)(s.DeliveryBacklog(t.Context())); b.Count != 3 {
		t.Errorf("%d are said to be due", b.Count)
	}
	if rows := devtest.Must[[]*db.Claimed](t)(s.ClaimDeliveries(t.Context(), []db.Wanted{{DestinationID: free, Room: 7}}, time.Hour)); len(rows) != 3 {
		t.Errorf("%d of another company were taken up", len(rows))
	}
	if wait := devtest.Must[time.Duration](t)((&db.UntouchedDeliveries{Store: s}).For(t.Context())); wait != 0 {
		t.Errorf("something is said to be untouched for %v", wait)
	}
	if n := number(t, pool, `SELECT count(*) FROM limit_notices WHERE name = 'deliveriesPerDay' AND customer_id = $1`, child.ID); n != 2 {
		t.Errorf("%d notices, of four fifths and the whole", n)
	}
	if n := number(t, pool, `SELECT count(*) FROM webhook_due u JOIN webhook_deliveries w ON w.id = u.delivery_id WHERE NOT begun AND next_attempt_at = created_at`); n != lanes*each-most {
		t.Errorf("%d are as they were written", n)
	}

	limit(t, s, child, most+1)
	if ids := due(t, s); len(ids) != lanes {
		t.Errorf("under a higher limit %v are due", ids)
	}
	if rows := devtest.Must[[]*db.Claimed](t)(s.ClaimDeliveries(t.Context(), []db.Wanted{{DestinationID: destinations[0], Room: 7}}, time.Hour)); len(rows) != 1 {
		t.Errorf("%d were taken up, there was room for one", len(rows))
	}
	if rows := devtest.Must[[]*db.Claimed](t)(s.ClaimDeliveries(t.Context(), []db.Wanted{{DestinationID: destinations[1], Room: 7}}, time.Hour)); len(rows) != 0 || len(due(t, s)) != 0 {
		t.Errorf("%d were taken up, there was no room; due: %v", len(rows), due(t, s))
	}

	pool.MustExecContext(t.Context(), `UPDATE delivery_holds SET day = day - 1`)
	pool.MustExecContext(t.Context(), `UPDATE usage_counts SET day = day - 1, grown = 0 WHERE day IS NOT NULL`)
	if ids := due(t, s); len(ids) != lanes {
		t.Errorf("on the next day %v are due", ids)
	}
	if rows := devtest.Must[[]*db.Claimed](t)(s.ClaimDeliveries(t.Context(), []db.Wanted{{DestinationID: destinations[1], Room: 7}}, time.Hour)); len(rows) != 7 {
		t.Errorf("%d were taken up on the next day", len(rows))
	}
}

// TestRetriesNeedNoRoom: what was attempted on a day that is full by now goes on, also after its worker has died, and so does what
// tells of limits. What waits for a destination that is deleted ends.
func TestRetriesNeedNoRoom(t *testing.T) {
	s, pool := openBoth(t)
	_, child, _ := tree(t, s)
	limit(t, s, child, 2)
	to := waiting(t, s, pool, child, 5)
	claim := func(lease time.Duration) []*db.Claimed {
		return devtest.Must[[]*db.Claimed](t)(s.ClaimDeliveries(t.Context(), []db.Wanted{{DestinationID: to, Room: 10}}, lease))
	}
	rows := claim(-time.Second)
	if len(rows) != 2 {
		t.Fatalf("%d were taken up", len(rows))
	}
	if again := claim(-time.Second); len(again) != 2 {
		t.Fatalf("%d were taken up on a full day, 2 were interrupted", len(again))
	}
	if ids := due(t, s); len(ids) != 1 {
		t.Errorf("what was interrupted is not due: %v", ids)
	}
	again := claim(time.Hour)
	if len(again) != 2 || !again[0].LeasedUntil.After(rows[0].LeasedUntil) {
		t.Errorf("taken up again: %d", len(again))
	}
	if held := claim(time.Hour); len(held) != 0 {
		t.Errorf("%d were taken up on a full day", len(held))
	}
	if n := number(t, pool, `SELECT sum(n) FROM usage_counts WHERE name = 'deliveriesPerDay' AND customer_id = $1`, child.ID); n != 2 || len(due(t, s)) != 0 {
		t.Errorf("%d are counted, due: %v", n, due(t, s))
	}
	_, told, err := s.Tell(t.Context(), nil, []db.NewEvent{{CustomerID: child.ID, ID: "evt_told", Type: "limit.reached", Payload: []byte{}, All: true, Free: true}})
	if devtest.Check(t, err); !slices.Equal(told, []db.Destined{{ID: to, BranchID: child.Lineage.Branch()}}) {
		t.Errorf("there is something to deliver to %v", told)
	}
	if told := claim(time.Hour); len(told) != 1 || told[0].EventID != "evt_told" {
		t.Errorf("what tells of the limit: %d", len(told))
	}
	devtest.Check(t, s.DeleteDestination(t.Context(), to))
	if gone := claim(time.Hour); len(gone) != 3 || gone[0].URL != "" {
		t.Errorf("of a deleted destination: %d", len(gone))
	}
	if n := number(t, pool, `SELECT sum(n) FROM usage_counts WHERE name = 'deliveriesPerDay' AND customer_id = $1`, child.ID); n != 2 {
		t.Errorf("%d are counted", n)
	}
}
