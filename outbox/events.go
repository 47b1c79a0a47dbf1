package outbox

import (
	"context"
	"time"

	"canopy/db"
	"canopy/internal/webhook"
)

// Emit records an event of a company: its bytes are made here, once, and written with one delivery
// for each of the company's destinations that wants it, in the transaction of what it tells of. It
// tells whether there is anything to deliver.
func Emit(ctx context.Context, tx *db.Store, customerID int64, data webhook.Data) (bool, error) {
	e, err := webhook.New(time.Now(), data)
	if err != nil {
		return false, err
	}
	names, all := webhook.NamesOf(e.Type)
	n, err := tx.Emit(ctx, customerID, db.NewEvent{
		ID: e.ID, Type: e.Type, Payload: e.Payload, Names: names, All: all, Free: webhook.IsLimit(e.Type),
	})
	return n > 0, err
}
