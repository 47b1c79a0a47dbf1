package jobs

import (
	"context"
	"maps"
	"time"

	"canopy/db"
)

// relayBatch is how many originals to delete are handed out together.
const relayBatch = 500

// pokeAgain is how long the relay waits before it tells the queue once more of a destination
// where the same delivery is still the first one due: its lane is full, or the task was lost.
const pokeAgain = time.Second

// pokeBatch is how many destinations the queue is told of before the relay looks anew, for those of others
// that have something due by then.
const pokeBatch = 256

// relayBlobs hands out originals to delete, and looks again at once after a full batch.
func (r *relay) relayBlobs(ctx context.Context) (time.Duration, error) {
	due, err := r.store.LeaseBlobs(ctx, relayBatch, leaseTime)
	if err != nil {
		return 0, err
	}
	next := relayEvery
	if len(due) == relayBatch {
		next = 0
	}
	return next, enqueue(ctx, r, due, blobTask, r.store.ReleaseBlobs)
}

// deliveryRelay tells the queue of the destinations with something due.
type deliveryRelay struct {
	*relay
	poked map[int64]poke
}

// poke is what the queue was told of a destination, and when.
type poke struct {
	oldest time.Time
	at     time.Time
}

// look tells the queue of destinations only: their deliveries stay where they are until a worker has
// room for them.
func (r *deliveryRelay) look(ctx context.Context) (time.Duration, error) {
	due, err := r.store.DueDestinations(ctx)
	if err != nil {
		return 0, err
	}
	now := time.Now()
	seen, told := make(map[int64]poke, len(due)), 0
	for _, d := range due {
		last, known := r.poked[d.ID]
		if known && last.oldest.Equal(d.Oldest) && now.Sub(last.at) < pokeAgain {
			seen[d.ID] = last
			continue
		}
		if told++; told > pokeBatch {
			break
		}
		if err := r.pokeQueue(ctx, d); err != nil {
			return 0, err
		}
		seen[d.ID] = poke{d.Oldest, now}
	}
	if told > pokeBatch {
		maps.Copy(r.poked, seen)
		return 0, nil
	}
	r.poked = seen
	return relayEvery, nil
}

func (r *deliveryRelay) pokeQueue(ctx context.Context, d db.DueDestination) error {
	t, err := deliverTask(d)
	if err != nil {
		return err
	}
	_, err = r.client.EnqueueContext(ctx, t)
	return err
}
