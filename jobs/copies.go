package jobs

import (
	"context"
	"sync"
	"time"
)

// How often copies of vectors follow their contexts, how often contexts are looked for that have become large, and how often a copy is compared with all that
// it is to hold. A search is right whatever a copy is behind: it compares what that lacks.
const (
	followEvery  = 2 * time.Second
	largeEvery   = time.Minute
	compareEvery = time.Hour
)

// keepCopies keeps the copies of the vectors of large contexts, until ctx ends. Any number of workers may do so: one at a time is at a context.
// While a context is copied for the first time, which takes long, the others are followed.
func (w *Worker) keepCopies(ctx context.Context) {
	var running sync.WaitGroup
	for every, do := range map[time.Duration]func(context.Context) error{
		followEvery: w.Copies.FollowCopies, largeEvery: w.Copies.FindLarge, compareEvery: w.Copies.CheckCopies,
	} {
		running.Go(func() { w.keep(ctx, every, do) })
	}
	running.Wait()
}

// keep does something again and again. That it fails is told once, until it works again.
func (w *Worker) keep(ctx context.Context, every time.Duration, do func(context.Context) error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for failing := false; ; {
		err := do(ctx)
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
