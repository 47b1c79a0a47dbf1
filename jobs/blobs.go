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

const (
	// blobMinWait and blobMaxWait are the waits between attempts to delete an original.
	blobMinWait  = 30 * time.Second
	blobMaxWait  = time.Hour
	listedAtOnce = 1000
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

// Orphans goes through originals without a document, and archives without an import, that were written before a moment: what a restored database does not know
// of, or another database has. It gives them some at a time.
func Orphans(ctx context.Context, store *db.Store, blobs blob.Store, before time.Time, found func(keys []string) error) error {
	err := lone(ctx, blobs, db.BlobPrefix, before, store.LoneOriginals, found)
	if store.Cell() != nil { // archives are read in at the home
		return err
	}
	return errors.Join(err, lone(ctx, blobs, db.ImportPrefix, before, store.LoneArchives, found))
}

// lone gives what nothing has of what was written before a moment, many at a time.
func lone(ctx context.Context, blobs blob.Store, prefix string, before time.Time, which func(context.Context, []string) ([]string, error), found func([]string) error) error {
	tell := func(keys []string) error {
		orphans, err := which(ctx, keys)
		if err != nil || len(orphans) == 0 {
			return err
		}
		return found(orphans)
	}
	var keys []string
	for e, err := range blobs.List(ctx, prefix) {
		if err != nil {
			return err
		}
		if !e.Written.Before(before) {
			continue
		}
		if keys = append(keys, e.Key); len(keys) == listedAtOnce {
			if err := tell(keys); err != nil {
				return err
			}
			keys = keys[:0]
		}
	}
	return tell(keys)
}
