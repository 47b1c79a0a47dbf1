package jobs

import (
	"context"
	"time"

	"github.com/hibiken/asynq"
)

// turns hands out work by turns of branches, as far as workers have places for it. What waits for a
// place waits in the database: in a queue it would stand before what others have.
type turns[T any] struct {
	*relay
	lease   func(ctx context.Context, places int, lease time.Duration) ([]T, error)
	task    func(T) (*asynq.Task, error)
	release func(context.Context, []T) error
	// sort has the work of suspended companies wait, and takes the others' back; nil where no work does.
	sort func(context.Context) error

	queue string
	// each is how many places a worker has. places are those of all workers when the queue was looked at
	// last; 0 when it was full then.
	each, places int
	looked       time.Time
}

// line completes a line whose rows are handed out by turns: when a task is done there is a place for another.
func (t *turns[T]) line(l line) line {
	done, handler := make(chan struct{}, 1), l.handler
	t.queue, t.each = l.queue, l.atOnce
	l.look, l.done = t.look, done
	l.handler = asynq.HandlerFunc(func(ctx context.Context, task *asynq.Task) error {
		defer func() {
			select {
			case done <- struct{}{}:
			default: // the relay is about to look
			}
		}()
		return handler.ProcessTask(ctx, task)
	})
	return l
}

// look hands out what there is room for: what was put down, what is to be tried again, and what a worker
// has left behind.
func (t *turns[T]) look(ctx context.Context) (time.Duration, error) {
	if time.Since(t.looked) >= relayEvery {
		if err := t.survey(ctx); err != nil {
			return 0, err
		}
	}
	if t.places == 0 {
		return relayEvery, nil
	}
	due, err := t.lease(ctx, t.places, leaseTime)
	if err != nil {
		return 0, err
	}
	return relayEvery, enqueue(ctx, t.relay, due, t.task, t.release)
}

// survey counts the workers, and sorts out what waits for companies that are suspended.
func (t *turns[T]) survey(ctx context.Context) error {
	if t.sort != nil {
		if err := t.sort(ctx); err != nil {
			return err
		}
	}
	return t.count()
}

// count counts the workers. A queue that is full has tasks that nobody takes up: their leases run out,
// and no others are put in beside them.
func (t *turns[T]) count() error {
	waiting, err := t.pending(t.queue)
	if err != nil {
		return err
	}
	workers, err := t.servers(t.queue)
	if err != nil {
		return err
	}
	if t.places = t.each * workers; waiting > t.places {
		t.places = 0
	}
	t.looked = time.Now()
	return nil
}
