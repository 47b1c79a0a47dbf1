package jobs

import (
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"canopy/db"
	"canopy/internal/devstack/devtest"
)

// TestClaimsTogether: lanes that ask while a claim is under way are served together by the next one, each with its own.
func TestClaimsTogether(t *testing.T) {
	const lanes = 20
	room := newRoom(t)
	room.sql(t, `
		WITH emitted AS (INSERT INTO webhook_deliveries (customer_id, destination_id, event_id, type, payload)
			SELECT 1, d, 'evt_' || d, 'run.failed', '' FROM generate_series(1, $1) d RETURNING id, destination_id)
		INSERT INTO webhook_due (destination_id, delivery_id) SELECT destination_id, id FROM emitted`, lanes)
	pool := devtest.Must[*sqlx.DB](t)(db.Connect(room.url, db.Options{}))
	defer func() { _ = pool.Close() }()
	held := devtest.Must[*sqlx.Tx](t)(pool.BeginTxx(t.Context(), nil))
	defer func() { _ = held.Rollback() }()
	held.MustExecContext(t.Context(), `LOCK TABLE webhook_due IN ACCESS EXCLUSIVE MODE`)

	c, before := newClaimer(room.store, time.Minute), room.store.Executed()
	var all sync.WaitGroup
	for id := range int64(lanes) {
		all.Go(func() {
			if rows, err := c.claim(t.Context(), 7, id+1, 4); err != nil || len(rows) != 1 || rows[0].DestinationID != id+1 {
				t.Errorf("destination %d: %d deliveries, %v", id+1, len(rows), err)
			}
		})
		devtest.Eventually(t, "the first is under way, the others wait", func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.underway == 1 && c.waiting.Len() == int(id)
		})
	}
	// Another branch does not wait for these.
	all.Go(func() { _, _ = c.claim(t.Context(), 8, lanes+1, 4) })
	devtest.Eventually(t, "the other's statement is under way", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.underway == 2 && c.waiting.Len() == lanes-1
	})
	devtest.Check(t, held.Rollback())
	all.Wait()
	if n := room.store.Executed() - before; n != 3 {
		t.Errorf("%d statements", n)
	}
}
