package jobs

import (
	"context"
	"time"

	"canopy/db"
	"canopy/internal/share"
)

// claimFirst is how many deliveries a lane claims at first, and twice as many each time that there were so many: places that lanes
// hold for what may be due are missing to others meanwhile. claimAtLeast is the room that a lane waits for before it claims more, so
// that claims come in batches; claimPause is how long it waits for that, starvedPause for room in the whole worker. claimRest is how long a lane
// rests after a claim that took up all there was: what is published one by one meanwhile is one claim.
const (
	claimFirst   = laneWidth / 8
	claimAtLeast = laneWidth / 2
	claimPause   = 2 * time.Millisecond
	starvedPause = 20 * time.Millisecond
	claimRest    = 4 * time.Millisecond
	orphanBatch  = 1000
)

// lane makes the attempts on one destination: it claims as many deliveries as it has room for, and
// more when some are done. It ends when there is nothing left to do.
type lane struct {
	d           *dispatcher
	branch      int64
	destination int64
	wake        chan struct{}
	done        chan result
	// follower counts what comes of the attempts, for a task; nil where none follows. Under d.mu.
	follower *tally

	// pace is how many deliveries are claimed together at most; 0 is claimFirst.
	pace int
	// emptied is when a claim last took up all there was.
	emptied time.Time

	flying int
	// slow: the last attempt timed out. starved: the worker had no room for another attempt.
	slow, starved bool
}

// result is the end of one attempt.
type result struct {
	status   string
	timedOut bool
}

func (l *lane) run() {
	more := false
	for {
		if more {
			more = l.claim()
		}
		if l.flying == 0 && !more && l.rest() <= 0 && l.leave() {
			return
		}
		more = l.wait(more) || more
	}
}

// width is how many attempts may be under way.
func (l *lane) width() int {
	if l.slow && l.d.places.Busy() {
		return slowWidth
	}
	return laneWidth
}

// claim takes up what there is room for and begins the attempts; it tells whether more may be due.
func (l *lane) claim() bool {
	room := min(l.width()-l.flying, max(l.pace, claimFirst))
	if room <= 0 {
		return true
	}
	if l.d.ctx.Err() != nil {
		return false
	}
	room = l.reserve(room)
	l.starved = room == 0
	if l.starved {
		return true
	}
	rows, err := l.d.claims.claim(l.d.ctx, l.branch, l.destination, room)
	if err != nil {
		// The relay comes by again.
		l.d.log.WarnContext(l.d.ctx, "due deliveries could not be claimed", "destination", l.destination, "error", err)
	}
	for range room - len(rows) {
		l.d.places.Leave(l.branch)
	}
	for _, row := range rows {
		l.flying++
		go l.attempt(row)
	}
	if len(rows) > 0 && rows[0].URL == "" {
		l.failOrphans()
	}
	if err != nil || len(rows) < room {
		l.pace, l.emptied = 0, time.Now()
		return false
	}
	l.pace = min(2*room, laneWidth)
	return true
}

// reserve takes up to n of the worker's places, waiting for none but the first.
func (l *lane) reserve(n int) (taken int) {
	if l.flying == 0 {
		if l.d.places.Enter(l.d.ctx, l.branch) != nil {
			return 0
		}
		taken++
	}
	for taken < n && l.d.places.TryEnter(l.branch) {
		taken++
	}
	return taken
}

// failOrphans ends what waits for a destination that was deleted.
func (l *lane) failOrphans() {
	for {
		n, err := l.d.store.FailOrphans(l.d.ctx, l.destination, orphanBatch)
		if err != nil || n < orphanBatch {
			return
		}
	}
}

// attempt makes one attempt and has its outcome written down. An attempt under way is not given
// up when the worker stops.
func (l *lane) attempt(row *db.Claimed) {
	ctx := context.WithoutCancel(l.d.ctx)
	var o db.Outcome
	timedOut := false
	err := share.Guard(func() error {
		o, timedOut = l.d.send(ctx, row)
		if l.d.outcomes.record(ctx, o) && o.Status == db.DeliveryPending {
			l.d.retryAfter(l.branch, o)
		}
		return nil
	})
	if err != nil { // it is attempted again when its lease has run out
		l.d.log.ErrorContext(ctx, "an attempt broke off", "delivery", row.ID, "destination", l.destination, "error", err)
	}
	l.d.places.Leave(l.branch)
	l.done <- result{o.Status, timedOut}
}

// rest is how long the lane still rests before it claims again, or ends.
func (l *lane) rest() time.Duration { return claimRest - time.Since(l.emptied) }

// wait waits until there is something to do. It tells whether the lane was told to look for more.
func (l *lane) wait(more bool) (woken bool) {
	var pause <-chan time.Time
	for {
		free, rest := l.width()-l.flying, l.rest()
		switch {
		case pause != nil:
		case more && l.starved:
			pause = time.After(starvedPause)
		case (more || l.flying == 0) && rest > 0:
			pause = time.After(rest)
		case more && free >= claimAtLeast:
			return woken
		case more && free > 0:
			pause = time.After(claimPause)
		}
		select {
		case <-l.wake:
			more, woken = true, true
		case <-pause:
			return woken
		case r := <-l.done:
			l.flying--
			l.slow = r.timedOut
			l.count(r)
			if !more && l.flying == 0 || more && !l.starved && rest <= 0 && l.width()-l.flying >= claimAtLeast {
				return woken
			}
		}
	}
}

// leave takes the lane down, unless it has just been woken.
func (l *lane) leave() bool {
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	if len(l.wake) > 0 && l.d.ctx.Err() == nil {
		return false
	}
	delete(l.d.lanes, l.destination)
	if l.follower != nil {
		close(l.follower.ended)
	}
	return true
}

// count tells the task that follows the lane, if one does, of an attempt's end.
func (l *lane) count(r result) {
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	if l.follower != nil {
		l.follower.add(r.status)
	}
}
