package diagram

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"canopy/internal/share"
)

// places are for diagrams that are read, and for expressions that take long, at the same time. The largest diagram keeps a
// processor busy for a second, so a branch that asks for many has them read one after the other.
var places = share.NewGate[int64](max(2, runtime.GOMAXPROCS(0)))

// inTurn does what reads a diagram of a branch when it has a place.
func inTurn[T any](ctx context.Context, branch int64, do func() T) (out T, err error) {
	if err := places.Enter(ctx, branch); err != nil {
		return out, err
	}
	defer places.Leave(branch)
	out = do()
	return out, ctx.Err()
}

// turn is what a step has of the processors. It takes a place after the first millisecond of work, so that what is small
// waits for nobody, and gives it up after each further one: what is long waits for others, and not they for it.
type turn struct {
	// ctx is a step's, which ends with it.
	ctx    context.Context
	branch int64
	// patience is the time that the step has; nil has no end. What is waited here does not count.
	patience *patience
	held     bool
}

// next takes a place, after those who wait for one. An error is the context's.
func (t *turn) next() error {
	t.rest()
	if err := t.ctx.Err(); err != nil {
		return err
	}
	if t.held = places.TryEnter(t.branch); t.held {
		return nil
	}
	t.patience.pause()
	defer t.patience.resume()
	err := places.Enter(t.ctx, t.branch)
	t.held = err == nil
	return err
}

// rest gives the place back, while there is nothing to do but to wait for somebody else.
func (t *turn) rest() {
	if t.held {
		t.held = false
		places.Leave(t.branch)
	}
}

// patience ends a context after a time, of which pauses are no part.
type patience struct {
	timer *time.Timer
	left  time.Duration
	since time.Time
}

// errPatience is the cause of a step's context that has ended by the step's own limit.
var errPatience = fmt.Errorf("the step's time is over: %w", context.DeadlineExceeded)

// withPatience gives a context that ends with errPatience after a time.
func withPatience(parent context.Context, left time.Duration) (context.Context, *patience, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	p := &patience{timer: time.AfterFunc(left, func() { cancel(errPatience) }), left: left, since: time.Now()}
	return ctx, p, func() {
		p.timer.Stop()
		cancel(nil)
	}
}

func (p *patience) pause() {
	if p != nil && p.timer.Stop() {
		p.left -= time.Since(p.since)
	}
}

func (p *patience) resume() {
	if p != nil {
		p.since = time.Now()
		p.timer.Reset(max(p.left, 0))
	}
}
