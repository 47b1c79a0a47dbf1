package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"

	"canopy/db"
	"canopy/internal/blob"
)

// Waits between attempts to delete an original, and the age from which one without a document is an
// orphan: no upload takes longer.
const (
	blobMinWait = 30 * time.Second
	blobMaxWait = time.Hour
	orphanAge   = 24 * time.Hour
	sweepBatch  = 1000
)

// remover deletes originals.
type remover struct {
	store *db.Store
	blobs blob.Store
}

// ProcessTask makes one attempt to delete an original. If it fails, the row is due again by itself.
func (r *remover) ProcessTask(ctx context.Context, t *asynq.Task) error {
	var due db.DueBlob
	if err := json.Unmarshal(t.Payload(), &due); err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	b, err := r.store.ClaimBlob(ctx, due, min(blobMinWait<<min(due.Attempts, 20), blobMaxWait))
	if errors.Is(err, db.ErrNoRows) {
		return sayNothingToDo(t)
	}
	if err != nil {
		return err
	}
	if err := r.blobs.Delete(ctx, b.Key); err != nil {
		return err
	}
	if err := r.store.BlobGone(ctx, b.ID); err != nil {
		return err
	}
	say(t, "The original was deleted.")
	return nil
}

// SweepBlobs finds originals without a document, and archives without an import, that are older than the age, and puts them up for
// deletion: what an upload left that ended between the two.
func SweepBlobs(ctx context.Context, store *db.Store, blobs blob.Store, age time.Duration) error {
	before := time.Now().Add(-age)
	if err := blobs.Sweep(ctx, before); err != nil {
		return err
	}
	err := sweep(ctx, blobs, db.BlobPrefix, before, store.DropOrphans)
	if store.Cell() != nil { // archives are read in at the home
		return err
	}
	return errors.Join(err, sweep(ctx, blobs, db.ImportPrefix, before, store.DropArchives))
}

// sweep hands the keys that were written before a moment on, many at a time.
func sweep(ctx context.Context, blobs blob.Store, prefix string, before time.Time, drop func(context.Context, []string) (int64, error)) error {
	var keys []string
	for e, err := range blobs.List(ctx, prefix) {
		if err != nil {
			return err
		}
		if !e.Written.Before(before) {
			continue
		}
		if keys = append(keys, e.Key); len(keys) == sweepBatch {
			if _, err := drop(ctx, keys); err != nil {
				return err
			}
			keys = keys[:0]
		}
	}
	_, err := drop(ctx, keys)
	return err
}
