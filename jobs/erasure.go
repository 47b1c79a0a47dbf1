package jobs

import (
	"context"
	"errors"
	"time"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/share"
	"canopy/outbox"
)

// eraseEvery is how often it is looked for companies whose time is over, and for large contexts that were removed.
const eraseEvery = time.Minute

// eraseDeleted erases deleted companies whose time is over, and removed contexts, until ctx ends. Any number of workers may do so: each part
// is a transaction of its own, and whoever ends in between leaves the rest to the next.
func (w *Worker) eraseDeleted(ctx context.Context) {
	w.again(ctx, eraseEvery, "what was deleted was not erased", w.EraseDue)
}

// EraseDue erases the contexts that were removed, and the deleted companies whose time is over. What is wrong with one company keeps no
// other.
func (w *Worker) EraseDue(ctx context.Context) error {
	var failed error
	for done := false; !done && failed == nil; {
		done, failed = w.Store.EraseContexts(ctx)
	}
	if w.Home != nil {
		return errors.Join(failed, w.eraseInCell(ctx))
	}
	due, err := w.Store.DueErasures(ctx)
	err = errors.Join(failed, err)
	for _, id := range due {
		err = errors.Join(err, share.Guard(func() error { return w.eraseCustomer(ctx, id) }))
	}
	return err
}

// tracesAtOnce is of how many erased people a cell takes away what it has, at a time.
const tracesAtOnce = 50

// eraseInCell erases what a cell has of companies and people that the home erases: of companies before, so that the home is told, and of people after.
func (w *Worker) eraseInCell(ctx context.Context) error {
	due, err := w.Store.DueInCell(ctx)
	for _, id := range due {
		failed := w.Store.EraseInCell(ctx, id)
		if failed == nil {
			failed = w.Home.Erased(ctx, id)
		}
		err = errors.Join(err, failed)
	}
	for {
		if n, failed := w.Store.EraseTraces(ctx, tracesAtOnce); failed != nil || n < tracesAtOnce {
			return errors.Join(err, failed)
		}
	}
}

// eraseCustomer erases a company, part by part. That it is gone is told in the log of the one above, with its number alone.
func (w *Worker) eraseCustomer(ctx context.Context, id int64) error {
	for {
		var told outbox.Told
		e, err := w.Store.EraseSome(ctx, id, func(tx *db.Store, e db.Erasure) (err error) {
			var record outbox.Record
			erased := &db.Customer{ID: id}
			if err := record.Audit(db.AuditEvent{
				CustomerID: e.ParentID, Action: string(audit.CustomerErased), ObjectType: erased.GlobalID().Type, ObjectID: id,
			}, audit.None().With("erased", true)); err != nil {
				return err
			}
			told, err = record.Write(ctx, tx)
			return err
		})
		if errors.Is(err, db.ErrNoRows) { // another worker has it
			return nil
		}
		if err != nil {
			return err
		}
		told.Announce(ctx, w.Bus)
		if e.Done {
			outbox.Wake(ctx, w.Bus)
			return nil
		}
	}
}
