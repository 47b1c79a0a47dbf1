package jobs

import (
	"context"
	"sync"
	"time"

	"canopy/internal/share"
)

// How often copies of vectors follow their contexts, and how often contexts are looked for that have become large. A search is right whatever a copy is
// behind: it compares what that lacks.
const (
	followEvery = 2 * time.Second
	largeEvery  = time.Minute
	// copiesEnd is how long what is being copied may take to end when the worker stops: the database may be one that does not answer.
	copiesEnd = 2 * time.Second
)

// keepCopies keeps the copies of the vectors of large contexts, until ctx ends. Any number of workers may do so: one at a time is at a context.
func (w *Worker) keepCopies(ctx context.Context) {
	var running sync.WaitGroup
	for every, do := range map[time.Duration]func(context.Context) error{followEvery: w.Copies.FollowCopies, largeEvery: w.Copies.FindLarge} {
		running.Go(func() { w.keep(ctx, every, do) })
	}
	running.Wait()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), copiesEnd)
	defer cancel()
	w.Copies.AwaitCopies(ending)
}

// keep does something again and again. That it fails is told once, until it works again.
func (w *Worker) keep(ctx context.Context, every time.Duration, do func(context.Context) error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for failing := false; ; {
		err := share.Guard(func() error { return do(ctx) })
		if err != nil && ctx.Err() == nil && !failing {
			w.Log.WarnContext(ctx, "vectors are not copied; it is tried again", "error", err, "every", every)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
