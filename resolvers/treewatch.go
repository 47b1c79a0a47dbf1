package resolvers

import (
	"context"
	"time"

	"canopy/db"
	"canopy/outbox"
)

// treeEvery is how often the log of the tree is looked at while somebody listens.
const treeEvery = 500 * time.Millisecond

// WatchTree tells this process which companies have changed their status or place, by the log of that, until ctx ends: what is told from process to process
// may be lost, and is while Redis is away.
func (r *Resolver) WatchTree(ctx context.Context) {
	tick := time.NewTicker(treeEvery)
	defer tick.Stop()
	since := ""
	for failed := false; ; {
		if since == "" || r.Bus.Listened(outbox.TreeTopic) {
			next, err := r.Store.TreeChanges(ctx, since, func(c db.TreeChange) { outbox.TellTreeHere(r.Bus, c.CustomerID) })
			if err == nil {
				since = next
			}
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
