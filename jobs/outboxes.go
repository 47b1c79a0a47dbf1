package jobs

import (
	"context"
	"time"
)

// relayBatch is how many originals to delete are handed out together.
const relayBatch = 500

// relayBlobs hands out originals to delete, and looks again at once after a full batch.
func (r *relay) relayBlobs(ctx context.Context) (time.Duration, error) {
	due, err := r.store.LeaseBlobs(ctx, relayBatch, leaseTime)
	if err != nil {
		return 0, err
	}
	next := relayEvery
	if len(due) == relayBatch {
		next = 0
	}
	return next, enqueue(ctx, r, queueBlobs, due, blobTask, r.store.ReleaseBlobs)
}
