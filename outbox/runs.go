package outbox

import (
	"context"
	"encoding/json"

	"canopy/db"
	"canopy/internal/diagram"
	"canopy/internal/webhook"
)

// FailRun ends a running run as failed, and records the event of it; ErrNoRows when it has ended
// already. It tells whether there is anything to deliver.
func FailRun(ctx context.Context, tx *db.Store, r *db.Run, cause *diagram.Error) (bool, error) {
	raw, err := json.Marshal(cause)
	if err != nil {
		return false, err
	}
	r.Status, r.Error = db.RunFailed, (*json.RawMessage)(&raw)
	if err := tx.EndRun(ctx, r); err != nil {
		return false, err
	}
	return Emit(ctx, tx, r.CustomerID, webhook.NewRunFailed(r.JobKey))
}

// FinishRun ends a running run well, and records the event of it; ErrNoRows when it has ended already. It
// tells whether there is anything to deliver.
func FinishRun(ctx context.Context, tx *db.Store, r *db.Run, output json.RawMessage) (bool, error) {
	r.Status, r.Output = db.RunFinished, &output
	if err := tx.EndRun(ctx, r); err != nil {
		return false, err
	}
	return Emit(ctx, tx, r.CustomerID, webhook.NewRunCompleted(r.JobKey))
}
