package jobs

import (
	"fmt"
	"time"

	"github.com/hibiken/asynq"

	"canopy/db"
)

// followFor is how long a task follows the deliveries of a destination that never rests.
const followFor = 10 * time.Second

// tally counts what comes of a destination's attempts while a task follows them. The dispatcher's lock
// guards the counts.
type tally struct {
	delivered, retried, failed, blocked int
	// ended is closed when the destination's lane has nothing left to do.
	ended chan struct{}
}

func (f *tally) add(status string) {
	switch status {
	case db.DeliveryDelivered:
		f.delivered++
	case db.DeliveryPending:
		f.retried++
	case db.DeliveryBlocked:
		f.blocked++
	default:
		f.failed++
	}
}

// follow pokes a destination's lane and counts what comes of it. It gives nil where another task follows
// the lane already, or so many do that no more can be waited for: the work is done all the same.
func (d *dispatcher) follow(due destinationDue) *tally {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.look(due.BranchID, due.DestinationID)
	if l == nil || l.follower != nil || d.following >= followers {
		return nil
	}
	d.following++
	l.follower = &tally{ended: make(chan struct{})}
	return l.follower
}

// unfollow ends a tally, and tells in words what it has counted: an error where an attempt did not deliver.
func (d *dispatcher) unfollow(t *asynq.Task, destination int64, f *tally) error {
	d.mu.Lock()
	d.following--
	if l := d.lanes[destination]; l != nil && l.follower == f {
		l.follower = nil
	}
	d.mu.Unlock()
	words := fmt.Sprintf("%d delivered, %d to be tried again, %d failed, %d blocked.", f.delivered, f.retried, f.failed, f.blocked)
	if f.retried+f.failed+f.blocked > 0 {
		return missed(words + " The log of the deliveries tells why.")
	}
	say(t, words)
	return nil
}
