package outbox

import (
	"context"
	"encoding/json"

	"canopy/db"
	"canopy/internal/diagram"
	"canopy/internal/webhook"
)

// FailRun ends a running run as failed, and adds the event of it to the record; ErrNoRows when it has ended already.
func FailRun(ctx context.Context, tx *db.Store, record *Record, r *db.Run, cause *diagram.Error) error {
	raw, err := json.Marshal(cause)
	if err != nil {
		return err
	}
	r.Status, r.Error = db.RunFailed, (*json.RawMessage)(&raw)
	if err := tx.EndRun(ctx, r); err != nil {
		return err
	}
	return record.Emit(r.CustomerID, webhook.NewRunFailed(r.JobKey))
}

// FinishRun ends a running run well, and adds the event of it to the record; ErrNoRows when it has ended already.
func FinishRun(ctx context.Context, tx *db.Store, record *Record, r *db.Run, output json.RawMessage) error {
	r.Status, r.Output = db.RunFinished, &output
	if err := tx.EndRun(ctx, r); err != nil {
		return err
	}
	return record.Emit(r.CustomerID, webhook.NewRunCompleted(r.JobKey))
}
