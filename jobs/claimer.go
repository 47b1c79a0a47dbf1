package jobs

import (
	"context"
	"sync"
	"time"

	"canopy/db"
	"canopy/internal/share"
)

const (
	// claimTogether is for how many deliveries one statement of several branches has room: it takes a few milliseconds then. One of a branch
	// alone keeps nobody else waiting.
	claimTogether = 128
	claimAlone    = 2048
	// claimsAtOnce is how many statements are under way.
	claimsAtOnce = 4
)

// claimer takes deliveries up for the lanes. Those that ask while statements are under way are served by the next one together, by turns
// of branches: the more destinations have something due, the less each costs. A branch has one statement under way, so that what
// it has due keeps no other's waiting.
type claimer struct {
	store *db.Store
	lease time.Duration

	mu      sync.Mutex
	waiting share.Turns[int64, *claiming]
	// underway are statements; atWork are the branches that they claim for.
	underway int
	atWork   map[int64]bool
}

// claiming is what a lane asks for, and what it gets.
type claiming struct {
	branch int64
	wanted db.Wanted
	rows   []*db.Claimed
	err    error
	done   chan struct{}
}

func newClaimer(store *db.Store, lease time.Duration) *claimer {
	return &claimer{store: store, lease: lease, atWork: map[int64]bool{}}
}

// claim takes up to room due deliveries of a destination of a branch up.
func (c *claimer) claim(ctx context.Context, branch, destination int64, room int) ([]*db.Claimed, error) {
	own := &claiming{branch: branch, wanted: db.Wanted{DestinationID: destination, Room: room}, done: make(chan struct{})}
	c.mu.Lock()
	c.waiting.Add(branch, own)
	c.begin(ctx)
	c.mu.Unlock()
	<-own.done
	return own.rows, own.err
}

// begin begins the statements that can be. The caller holds the lock.
func (c *claimer) begin(ctx context.Context) {
	for c.underway < claimsAtOnce {
		batch := c.batch()
		if len(batch) == 0 {
			return
		}
		c.underway++
		go c.serve(ctx, batch)
	}
}

// batch is what the next statement claims for.
func (c *claimer) batch() (batch []*claiming) {
	busy := func(branch int64) bool { return c.atWork[branch] }
	alone := true
	for room := 0; room < claimTogether || alone && room < claimAlone; {
		_, own, ok := c.waiting.Next(busy)
		if !ok {
			break
		}
		batch, room = append(batch, own), room+own.wanted.Room
		alone = alone && own.branch == batch[0].branch
	}
	for _, own := range batch {
		c.atWork[own.branch] = true
	}
	return batch
}

// serve serves a batch, and begins what has waited for that.
func (c *claimer) serve(ctx context.Context, batch []*claiming) {
	c.claimAll(ctx, batch)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, own := range batch {
		delete(c.atWork, own.branch)
	}
	c.underway--
	c.begin(ctx)
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
