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
	"canopy/outbox"
)

// relayEvery is the relay's pace: it looks into an outbox when it is woken, and every so often anyway.
const relayEvery = time.Second

// relay hands due outbox rows to the queue. It has a loop of its own for each outbox, so that none
// waits for another.
type relay struct {
	store  *db.Store
	client *asynq.Client
	// inspector tells how much the queue holds already.
	inspector *asynq.Inspector
	bus       *bus.Bus
	log       *slog.Logger
}

// look hands on what is due in an outbox, and tells when there may be more.
type look func(ctx context.Context) (next time.Duration, err error)

// watch looks into an outbox until ctx ends. A fault is told and ends the look: the rows are leased, and
// come up again.
func (r *relay) watch(ctx context.Context, l line) {
	wake := r.bus.Subscribe(ctx, outbox.WakeTopic)
	for {
		next, err := l.look(ctx)
		if err != nil {
			next = relayEvery
			if ctx.Err() == nil {
				r.log.WarnContext(ctx, "the relay could not hand on its rows", "outbox", l.queue, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(next):
		case <-l.done:
		case <-wake:
			// What was told meanwhile is looked for in one go.
			for len(wake) > 0 {
				<-wake
			}
		}
	}
}

// enqueue hands leased rows to the queue. What it does not take is released: otherwise it would wait
// for its lease's end when the queue is back.
func enqueue[T any](ctx context.Context, r *relay, queue string, due []T, task func(T) (*asynq.Task, error), release func(context.Context, []T) error) error {
	if len(due) > 0 {
		defer r.ring(ctx, queue)
	}
	for i, d := range due {
		t, err := task(d)
		if err == nil {
			_, err = r.client.EnqueueContext(ctx, t)
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

// pending counts the tasks that wait in a queue. A queue exists from its first task on.
func (r *relay) pending(queue string) (int, error) {
	queues, err := r.inspector.Queues()
	if err != nil || !slices.Contains(queues, queue) {
		return 0, err
	}
	info, err := r.inspector.GetQueueInfo(queue)
	if err != nil {
		return 0, err
	}
	return info.Pending, nil
}

// servers counts the workers that serve a queue; at least this one does.
func (r *relay) servers(queue string) (int, error) {
	list, err := r.inspector.Servers()
	n := 0
	for _, s := range list {
		if _, serves := s.Queues[queue]; serves {
			n++
		}
	}
	return max(n, 1), err
}
