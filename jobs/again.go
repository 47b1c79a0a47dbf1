package jobs

import (
	"context"
	"time"

	"canopy/internal/share"
)

// again does something every so often, until ctx ends. Each time that it fails trouble is told of, as it is tried again.
func (w *Worker) again(ctx context.Context, every time.Duration, trouble string, do func(context.Context) error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := share.Guard(func() error { return do(ctx) }); err != nil && ctx.Err() == nil {
			w.Log.WarnContext(ctx, trouble+"; it is tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
