package jobs

import (
	"context"
	"encoding/json"

	"canopy/db"
	"canopy/internal/diagram"
	"canopy/internal/webhook"
)

// TopicRun is where it is told that a run has moved on.
func TopicRun(jobKey string) string { return "run:" + jobKey }

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

// finishRun ends a running run well, and records the event of it.
func finishRun(ctx context.Context, tx *db.Store, r *db.Run, output json.RawMessage) (bool, error) {
	r.Status, r.Output = db.RunFinished, &output
	if err := tx.EndRun(ctx, r); err != nil {
		return false, err
	}
	return Emit(ctx, tx, r.CustomerID, webhook.NewRunCompleted(r.JobKey))
}
