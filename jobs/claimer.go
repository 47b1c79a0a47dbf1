package jobs

import (
	"context"
	"sync"
	"time"

	"canopy/db"
)

// claimTogether bounds the destinations that one statement claims for.
const claimTogether = 256

// claimer takes deliveries up for the lanes. Those that ask while a statement is under way are served by the next one, all together:
// the more destinations have something due, the less each costs.
type claimer struct {
	store *db.Store
	lease time.Duration

	mu sync.Mutex
	// busy: somebody is at work, and serves those who wait.
	busy    bool
	waiting []*claiming
}

// claiming is what a lane asks for, and what it gets.
type claiming struct {
	wanted db.Wanted
	rows   []*db.Claimed
	err    error
	done   chan struct{}
}

// claim takes up to room due deliveries of a destination up.
func (c *claimer) claim(ctx context.Context, destination int64, room int) ([]*db.Claimed, error) {
	own := &claiming{wanted: db.Wanted{DestinationID: destination, Room: room}, done: make(chan struct{})}
	c.mu.Lock()
	c.waiting = append(c.waiting, own)
	if !c.busy {
		c.busy = true
		go c.serve(ctx)
	}
	c.mu.Unlock()
	<-own.done
	return own.rows, own.err
}

// serve serves those who wait until nobody does.
func (c *claimer) serve(ctx context.Context) {
	for {
		c.mu.Lock()
		batch := c.waiting[:min(len(c.waiting), claimTogether)]
		if c.waiting = c.waiting[len(batch):]; len(batch) == 0 {
			c.busy = false
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		c.claimAll(ctx, batch)
	}
}

// claimAll claims for some destinations. What was taken up is begun, also where it did not come to all of them.
func (c *claimer) claimAll(ctx context.Context, batch []*claiming) {
	wanted, by := make([]db.Wanted, len(batch)), make(map[int64]*claiming, len(batch))
	for i, own := range batch {
		wanted[i], by[own.wanted.DestinationID] = own.wanted, own
	}
	rows, err := c.store.ClaimDeliveries(ctx, wanted, c.lease)
	for _, row := range rows {
		own := by[row.DestinationID]
		own.rows = append(own.rows, row)
	}
	for _, own := range batch {
		own.err = err
		close(own.done)
	}
}
