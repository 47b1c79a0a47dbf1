package jobs

import (
	"context"
	"time"

	"canopy/db"
)

// pokeAgain is how long the relay waits before it tells the queue once more of a destination
// where the same delivery is still the first one due: its lane is full, or the task was lost.
const pokeAgain = time.Second

// dueRelay hands runs and destinations with due deliveries to the queue. It has a loop of its own
// for each, so that none waits for another.
type dueRelay struct {
	*Relay
	poked map[int64]poke
}

// poke is what the queue was told of a destination, and when.
type poke struct {
	oldest time.Time
	at     time.Time
}

// run has relay look whenever it is woken, and every so often anyway.
func (r *Relay) watch(ctx context.Context, outbox string, relay func(context.Context) error) {
	wake := r.Bus.Subscribe(ctx, topicWake)
	tick := time.NewTicker(relayEvery)
	defer tick.Stop()
	for {
		if err := relay(ctx); err != nil && ctx.Err() == nil {
			r.Log.WarnContext(ctx, "the relay could not hand on its rows", "outbox", outbox, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-wake:
			// What was told meanwhile is looked for in one go.
			for len(wake) > 0 {
				<-wake
			}
		}
	}
}

// relayRuns hands out what is to be taken up: runs that were started, and those whose worker died.
func (r *dueRelay) relayRuns(ctx context.Context) error {
	for {
		due, err := r.Store.LeaseRuns(ctx, relayBatch, leaseTime)
		if err != nil {
			return err
		}
		for _, d := range due {
			t, err := runTask(d)
			if err != nil {
				return err
			}
			if _, err := r.Client.EnqueueContext(ctx, t); err != nil {
				return err
			}
		}
		if len(due) < relayBatch {
			return nil
		}
	}
}

// relayDeliveries tells the queue of the destinations with something due. The deliveries
// themselves stay where they are until a worker has room for them.
func (r *dueRelay) relayDeliveries(ctx context.Context) error {
	due, err := r.Store.DueDestinations(ctx)
	if err != nil {
		return err
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
			return err
		}
		seen[d.ID] = poke{d.Oldest, now}
	}
	r.poked = seen
	return nil
}

func (r *dueRelay) pokeQueue(ctx context.Context, d db.DueDestination) error {
	t, err := deliverTask(d)
	if err != nil {
		return err
	}
	_, err = r.Client.EnqueueContext(ctx, t)
	return err
}
