package outbox

import (
	"context"
	"encoding/json"
	"time"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/webhook"
)

// Audit writes an audit event with what was changed, in the transaction of the change, and one delivery for
// each of the company's destinations that asked for it by name. It gives the event's id, and tells whether
// there is anything to deliver.
func Audit(ctx context.Context, tx *db.Store, e db.AuditEvent, what audit.Changes) (id int64, due bool, err error) {
	if e.Details, err = json.Marshal(what); err != nil {
		return 0, false, err
	}
	names, _ := webhook.NamesOf(webhook.AuditType(e.Action))
	written, err := tx.InsertAudit(ctx, e, names)
	if err != nil || !written.Wanted {
		return written.ID, false, err
	}
	told := webhook.Audited{
		AuditEventID: written.ID, Action: e.Action, ObjectType: e.ObjectType, ObjectID: e.ObjectID, CustomerID: e.CustomerID,
		ClientID: unlessEmpty(e.ClientID), Details: e.Details, CreatedAt: written.CreatedAt.UTC().Truncate(time.Millisecond),
	}
	if e.ActorUserID != nil {
		seen, err := tx.Within(ctx, e.CustomerID, *e.ActorUserID)
		if err != nil {
			return written.ID, false, err
		}
		if seen {
			told.ActorID = e.ActorUserID
		}
	}
	due, err = Emit(ctx, tx, e.CustomerID, told)
	return written.ID, due, err
}

func unlessEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
