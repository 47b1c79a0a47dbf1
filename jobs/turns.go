package jobs

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
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
	// stop, where there is one, has a place go on with what is handed out next until it is closed. Each row then has so much time of its own.
	stop    <-chan struct{}
	timeout time.Duration

	queue string
	// each is how many places a worker has. places are those of all workers when the queue was looked at
	// last; 0 when it was full then.
	each   int
	places atomic.Int64
	looked time.Time
}

// goOnFor is how long a place goes on by itself: what it works on meanwhile stands in the queue as the task that it began with.
const goOnFor = 30 * time.Second

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
		if t.stop == nil {
			return handler.ProcessTask(ctx, task)
		}
		if err := t.one(ctx, task, handler); err != nil {
			return err
		}
		return t.goOn(ctx, task, handler)
	})
	return l
}

// one works on one row.
func (t *turns[T]) one(ctx context.Context, task *asynq.Task, handler asynq.Handler) error {
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	return handler.ProcessTask(ctx, task)
}

// goOn works on what is handed out next, until there is nothing more or something fails. By the queue it would come when that is looked at again:
// short work would wait for longer than it takes.
func (t *turns[T]) goOn(ctx context.Context, first *asynq.Task, handler asynq.Handler) error {
	more := 0
	for begun := time.Now(); time.Since(begun) < goOnFor; more++ {
		task := t.next(ctx)
		if task == nil {
			break
		}
		if err := t.one(ctx, task, handler); err != nil {
			return fmt.Errorf("%w (%s)", err, task.Payload())
		}
	}
	if more > 0 {
		say(first, fmt.Sprintf("It is done, and %d that were handed out after it.", more))
	}
	return nil
}

// next gives the first of what is handed out now, and leaves the others to the queue; nil where there is nothing, or the worker stops.
func (t *turns[T]) next(ctx context.Context) (task *asynq.Task) {
	select {
	case <-t.stop:
		return nil
	case <-ctx.Done():
		return nil
	default:
	}
	due, err := t.handOut(ctx)
	if err == nil && len(due) > 0 {
		task, err = t.task(due[0])
		err = errors.Join(err, enqueue(ctx, t.relay, t.queue, due[1:], t.task, t.release))
	}
	if err != nil {
		t.log.WarnContext(ctx, "a place could not hand on its rows", "outbox", t.queue, "error", err)
	}
	return task
}

// handOut leases what there is room for.
func (t *turns[T]) handOut(ctx context.Context) ([]T, error) {
	places := int(t.places.Load())
	if places == 0 {
		return nil, nil
	}
	return t.lease(ctx, places, leaseTime)
}

// look hands out what there is room for: what was put down, what is to be tried again, and what a worker
// has left behind.
func (t *turns[T]) look(ctx context.Context) (time.Duration, error) {
	if time.Since(t.looked) >= relayEvery {
		if err := t.survey(ctx); err != nil {
			return 0, err
		}
	}
	due, err := t.handOut(ctx)
	if err != nil {
		return 0, err
	}
	return relayEvery, enqueue(ctx, t.relay, t.queue, due, t.task, t.release)
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
	places := t.each * workers
	if waiting > places {
		places = 0
	}
	t.places.Store(int64(places))
	t.looked = time.Now()
	return nil
}
