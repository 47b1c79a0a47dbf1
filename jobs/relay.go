package jobs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/hibiken/asynq"

	"canopy/db"
	"canopy/internal/bus"
)

// The relay's pace: it looks when it is woken, and every so often anyway.
const (
	relayEvery = time.Second
	relayBatch = 500
)

// Relay hands due outbox rows to the queue.
type Relay struct {
	Store  *db.Store
	Client *asynq.Client
	Bus    *bus.Bus
	Log    *slog.Logger
	// Mails: this worker sends mails, so it hands them out.
	Mails bool
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
	outboxes := map[string]func(context.Context) (int, error){}
	if r.Mails {
		outboxes[queueMail] = r.relayMails
	}
	for name, relay := range outboxes {
		for {
			n, err := relay(ctx)
			if err != nil && ctx.Err() == nil {
				r.Log.WarnContext(ctx, "the relay could not hand on its rows", "outbox", name, "error", err)
			}
			if err != nil || n < relayBatch {
				break
			}
		}
	}
}

func (r *Relay) relayMails(ctx context.Context) (int, error) {
	due, err := r.Store.LeaseMails(ctx, relayBatch, leaseTime)
	if err != nil {
		return 0, err
	}
	for i, d := range due {
		if err := r.enqueueMail(ctx, d); err != nil {
			// Without the release they would wait for their lease's end when the queue is back.
			return 0, errors.Join(err, r.Store.ReleaseMails(ctx, due[i:]))
		}
	}
	return len(due), nil
}

func (r *Relay) enqueueMail(ctx context.Context, due db.DueMail) error {
	t, err := mailTask(due)
	if err != nil {
		return err
	}
	if _, err = r.Client.EnqueueContext(ctx, t); errors.Is(err, asynq.ErrDuplicateTask) {
		return nil // it waits there from an earlier lease
	}
	return err
}
