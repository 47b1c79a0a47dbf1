package resolvers

import (
	"context"
	"time"

	"canopy/outbox"
)

// treeEvery is how often the log of the tree is looked at while somebody listens.
const treeEvery = 500 * time.Millisecond

// WatchTree tells this process which companies have changed their status or place, by the log of that, until ctx ends: what is told from process to process
// may be lost, and is while Redis is away.
func (r *Resolver) WatchTree(ctx context.Context) {
	tick := time.NewTicker(treeEvery)
	defer tick.Stop()
	watch := treeWatch{}
	for failed := false; ; {
		if watch.since == "" || r.Bus.Listened(outbox.TreeTopic) {
			err := watch.look(ctx, r)
			if err != nil && !failed && ctx.Err() == nil {
				r.Log.WarnContext(ctx, "the log of the tree can't be read; it is tried again", "error", err)
			}
			failed = err != nil
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// treeWatch is how far the log of the tree was read.
type treeWatch struct {
	since string
	// seen are the changes that may be given once more.
	seen map[int64]bool
}

func (w *treeWatch) look(ctx context.Context, r *Resolver) error {
	changes, next, err := r.Store.TreeChanges(ctx, w.since)
	if err != nil {
		return err
	}
	seen := make(map[int64]bool, len(changes))
	for _, c := range changes {
		if seen[c.ID] = true; !w.seen[c.ID] {
			outbox.TellTreeHere(r.Bus, c.CustomerID)
		}
	}
	w.since, w.seen = next, seen
	return nil
}
