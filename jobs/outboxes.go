package jobs

import (
	"context"
	"time"

	"github.com/hibiken/asynq"

	"canopy/db"
)

// relayBatch is how many mails, or originals to delete, are handed out together.
const relayBatch = 500

// What waits in the queue at most; the others wait in the database, where they are not handed out over
// and over. Of runs it is for each worker.
const (
	documentBacklog = 64
	runBacklog      = 4 * runsAtOnce
)

// pokeAgain is how long the relay waits before it tells the queue once more of a destination
// where the same delivery is still the first one due: its lane is full, or the task was lost.
const pokeAgain = time.Second

// relayMails hands out mails.
func (r *relay) relayMails(ctx context.Context) (time.Duration, error) {
	due, err := r.store.LeaseMails(ctx, relayBatch, leaseTime)
	return relayLeased(ctx, r, due, err, mailTask, r.store.ReleaseMails)
}

// relayBlobs hands out originals to delete.
func (r *relay) relayBlobs(ctx context.Context) (time.Duration, error) {
	due, err := r.store.LeaseBlobs(ctx, relayBatch, leaseTime)
	return relayLeased(ctx, r, due, err, blobTask, r.store.ReleaseBlobs)
}

// relayLeased hands on a batch of rows, and looks again at once after a full one. err is the lease's.
func relayLeased[T any](ctx context.Context, r *relay, due []T, err error, task func(T) (*asynq.Task, error), release func(context.Context, []T) error) (time.Duration, error) {
	if err != nil {
		return 0, err
	}
	next := relayEvery
	if len(due) == relayBatch {
		next = 0
	}
	return next, enqueue(ctx, r, due, task, release)
}

// relayDocuments fills the queue up to its backlog.
func (r *relay) relayDocuments(ctx context.Context) (time.Duration, error) {
	waiting, err := r.pending(queueDocuments)
	if err != nil || waiting >= documentBacklog {
		return relayEvery, err
	}
	due, err := r.store.LeaseDocuments(ctx, documentBacklog-waiting, leaseTime)
	if err != nil {
		return 0, err
	}
	return relayEvery, enqueue(ctx, r, due, documentTask, r.store.ReleaseDocuments)
}

// runRelay hands out runs.
type runRelay struct {
	*relay
	// room is how many more runs the queue takes before it is looked at again.
	room int
	// workers is how many there were then.
	workers int
}

// look hands out what is to be taken up: runs that were started, and those whose worker died. It
// fills the queue up to its backlog, and looks into it anew when it has handed out as many as there was
// room for.
func (r *runRelay) look(ctx context.Context) (time.Duration, error) {
	if r.room <= 0 {
		waiting, err := r.pending(queueRuns)
		if err != nil {
			return 0, err
		}
		if r.workers, err = r.servers(queueRuns); err != nil {
			return 0, err
		}
		if r.room = runBacklog*r.workers - waiting; r.room <= 0 {
			return relaySoon, nil
		}
	}
	due, err := r.store.LeaseRuns(ctx, r.room, accountRuns*r.workers, leaseTime)
	if err != nil {
		return 0, err
	}
	next := relayEvery
	if r.room -= len(due); r.room == 0 {
		next = relaySoon
	}
	return next, enqueue(ctx, r.relay, due, runTask, r.store.ReleaseRuns)
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
	seen := make(map[int64]poke, len(due))
	for _, d := range due {
		last, known := r.poked[d.ID]
		if known && last.oldest.Equal(d.Oldest) && now.Sub(last.at) < pokeAgain {
			seen[d.ID] = last
			continue
		}
		if err := r.pokeQueue(ctx, d); err != nil {
			return 0, err
		}
		seen[d.ID] = poke{d.Oldest, now}
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
