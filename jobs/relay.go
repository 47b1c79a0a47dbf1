package jobs

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/hibiken/asynq"

	"canopy/db"
	"canopy/internal/bus"
)

// The relay's pace: it looks when it is woken, and every so often anyway.
const (
	relayEvery = time.Second
	relayBatch = 500
	// documentBacklog is how many documents wait in the queue at most; the others wait in the
	// database, where they are not handed out over and over.
	documentBacklog = 64
)

// Relay hands due outbox rows to the queue.
type Relay struct {
	Store  *db.Store
	Client *asynq.Client
	Bus    *bus.Bus
	Log    *slog.Logger
	// Inspector tells how much the queue holds already.
	Inspector *asynq.Inspector
	// Mails: this worker sends mails, so it hands them out. Documents: it processes documents.
	Mails, Documents bool
}

// Run relays until ctx ends.
func (r *Relay) Run(ctx context.Context) {
	wake := r.Bus.Subscribe(ctx, topicWake)
	tick := time.NewTicker(relayEvery)
	defer tick.Stop()
	for {
		r.relayAll(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-wake:
		}
	}
}

// relayAll empties each outbox of what is due. A fault is told and ends this round: the rows are
// leased, and come up again.
func (r *Relay) relayAll(ctx context.Context) {
	outboxes := map[string]func(context.Context) (more bool, err error){}
	if r.Mails {
		outboxes[queueMail] = r.relayMails
	}
	if r.Documents {
		outboxes[queueBlobs] = r.relayBlobs
		outboxes[queueDocuments] = r.relayDocuments
	}
	for name, relay := range outboxes {
		for more := true; more; {
			var err error
			if more, err = relay(ctx); err != nil {
				if ctx.Err() == nil {
					r.Log.WarnContext(ctx, "the relay could not hand on its rows", "outbox", name, "error", err)
				}
				break
			}
		}
	}
}

func (r *Relay) relayMails(ctx context.Context) (bool, error) {
	due, err := r.Store.LeaseMails(ctx, relayBatch, leaseTime)
	if err != nil {
		return false, err
	}
	return len(due) == relayBatch, enqueue(ctx, r, due, mailTask, r.Store.ReleaseMails)
}

func (r *Relay) relayBlobs(ctx context.Context) (bool, error) {
	due, err := r.Store.LeaseBlobs(ctx, relayBatch, leaseTime)
	if err != nil {
		return false, err
	}
	return len(due) == relayBatch, enqueue(ctx, r, due, blobTask, r.Store.ReleaseBlobs)
}

// relayDocuments fills the queue up to its backlog.
func (r *Relay) relayDocuments(ctx context.Context) (bool, error) {
	waiting, err := r.pending(queueDocuments)
	if err != nil || waiting >= documentBacklog {
		return false, err
	}
	due, err := r.Store.LeaseDocuments(ctx, documentBacklog-waiting, leaseTime)
	if err != nil {
		return false, err
	}
	return false, enqueue(ctx, r, due, documentTask, r.Store.ReleaseDocuments)
}

// pending counts the tasks that wait in a queue. A queue exists from its first task on.
func (r *Relay) pending(queue string) (int, error) {
	queues, err := r.Inspector.Queues()
	if err != nil || !slices.Contains(queues, queue) {
		return 0, err
	}
	info, err := r.Inspector.GetQueueInfo(queue)
	if err != nil {
		return 0, err
	}
	return info.Pending, nil
}

// servers counts the workers that serve a queue; at least this one does.
func (r *Relay) servers(queue string) (int, error) {
	list, err := r.Inspector.Servers()
	n := 0
	for _, s := range list {
		if _, serves := s.Queues[queue]; serves {
			n++
		}
	}
	return max(n, 1), err
}

// enqueue hands leased rows to the queue. What it does not take is released: otherwise it would wait
// for its lease's end when the queue is back.
func enqueue[T any](ctx context.Context, r *Relay, due []T, task func(T) (*asynq.Task, error), release func(context.Context, []T) error) error {
	for i, d := range due {
		t, err := task(d)
		if err == nil {
			_, err = r.Client.EnqueueContext(ctx, t)
		}
		if errors.Is(err, asynq.ErrDuplicateTask) {
			continue // it waits there from an earlier lease
		}
		if err != nil {
			return errors.Join(err, release(ctx, due[i:]))
		}
	}
	return nil
}
