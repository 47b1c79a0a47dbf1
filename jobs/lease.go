package jobs

import (
	"context"
	"errors"
	"time"

	"canopy/db"
	"canopy/internal/share"
)

// errLost says that what a worker is at work on is another's by now, has ended, or is gone.
var errLost = errors.New("the work is no longer this worker's")

// errStopped says that the worker stops.
var errStopped = errors.New("the worker stops")

// lease keeps a document or a run a worker's own while it is at work on it.
type lease[T any] struct {
	// every is how often it is renewed anyway.
	every time.Duration
	// early gives the occasions to renew it before that, where want says so.
	early <-chan T
	want  func(T) bool
	// stop ends the work; nil where the work looks for itself.
	stop <-chan struct{}
	// renew writes it down; db.ErrNoRows where the row is not this worker's any more.
	renew func(context.Context) error
}

// hold does the work while the lease is kept. The work's context ends with errLost as soon as the
// lease is lost, and with errStopped when the worker stops; if the work fails then, that is the error.
// What the work itself says it has missed stays: its own end may be what the lease was lost by.
func (l lease[T]) hold(ctx context.Context, work func(context.Context) error) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		cancel(l.keep(ctx))
	}()
	defer func() {
		own := missed("")
		if cause := context.Cause(ctx); err != nil && cause != nil && !errors.As(err, &own) {
			err = cause
		}
		cancel(nil)
		<-kept
	}()
	return share.Guard(func() error { return work(ctx) })
}

// keep renews the lease until ctx ends, and gives the reason when it has to be given up before.
func (l lease[T]) keep(ctx context.Context) error {
	tick := time.NewTicker(l.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.stop:
			return errStopped
		case e, open := <-l.early:
			if !open {
				l.early = nil
			}
			if !open || !l.want(e) {
				continue
			}
		case <-tick.C:
		}
		// A fault of the database may pass before the lease ends.
		if err := l.renew(ctx); errors.Is(err, db.ErrNoRows) {
			return errLost
		}
	}
}
