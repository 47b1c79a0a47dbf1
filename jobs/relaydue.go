package jobs

import (
	"context"
	"time"

	"canopy/db"
)

// pokeAgain is how long the relay waits before it tells the queue once more of a destination
// where the same delivery is still the first one due: its lane is full, or the task was lost.
const pokeAgain = time.Second

// relaySoon is how long the relay waits for room in the queue.
const relaySoon = 50 * time.Millisecond

// runBacklog is how many runs wait in the queue at most, for each worker; the others wait in the
// database, where they are not handed out over and over.
const runBacklog = 4 * runsAtOnce

// dueRelay hands runs and destinations with due deliveries to the queue. It has a loop of its own
// for each, so that none waits for another.
type dueRelay struct {
	*Relay
	poked map[int64]poke
	// room is how many more runs the queue takes before it is looked at again.
	room int
	// workers is how many there were then.
	workers int
}

// poke is what the queue was told of a destination, and when.
type poke struct {
	oldest time.Time
	at     time.Time
}

// watch has relay look whenever it is woken, soon while it tells that there is more, and every so
// often anyway.
func (r *Relay) watch(ctx context.Context, outbox string, relay func(context.Context) (more bool, err error)) {
	wake := r.Bus.Subscribe(ctx, topicWake)
	for {
		more, err := relay(ctx)
		if err != nil && ctx.Err() == nil {
			r.Log.WarnContext(ctx, "the relay could not hand on its rows", "outbox", outbox, "error", err)
		}
		wait := relayEvery
		if more && err == nil {
			wait = relaySoon
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		case <-wake:
			// What was told meanwhile is looked for in one go.
			for len(wake) > 0 {
				<-wake
			}
		}
	}
}

// relayRuns hands out what is to be taken up: runs that were started, and those whose worker died. It
// fills the queue up to its backlog, and looks into it anew when it has handed out as many as there was
// room for.
func (r *dueRelay) relayRuns(ctx context.Context) (more bool, err error) {
	if r.room <= 0 {
		waiting, err := r.pending(queueRuns)
		if err != nil {
			return false, err
		}
		if r.workers, err = r.servers(queueRuns); err != nil {
			return false, err
		}
		if r.room = runBacklog*r.workers - waiting; r.room <= 0 {
			return true, nil
		}
	}
	due, err := r.Store.LeaseRuns(ctx, r.room, accountRuns*r.workers, leaseTime)
	if err != nil {
		return false, err
	}
	r.room -= len(due)
	return r.room == 0, enqueue(ctx, r.Relay, due, runTask, r.Store.ReleaseRuns)
}

// relayDeliveries tells the queue of the destinations with something due. The deliveries
// themselves stay where they are until a worker has room for them.
func (r *dueRelay) relayDeliveries(ctx context.Context) (more bool, err error) {
	due, err := r.Store.DueDestinations(ctx)
	if err != nil {
		return false, err
	}
	now := time.Now()
	seen := make(map[int64]poke, len(due))
	for _, d := range due {
		last, known := r.poked[d.ID]
		if known && last.oldest.Equal(d.Oldest) && now.Sub(last.at) < pokeAgain {
			seen[d.ID] = last
			continue
		}
		if err := r.pokeQueue(ctx, d); err != nil {
			return false, err
		}
		seen[d.ID] = poke{d.Oldest, now}
	}
	r.poked = seen
	return false, nil
}

func (r *dueRelay) pokeQueue(ctx context.Context, d db.DueDestination) error {
	t, err := deliverTask(d)
	if err != nil {
		return err
	}
	_, err = r.Client.EnqueueContext(ctx, t)
	return err
}
