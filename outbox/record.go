package outbox

import (
	"context"
	"encoding/json"
	"time"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/bus"
	"canopy/internal/enum"
	"canopy/internal/webhook"
)

// Record is what a transaction has to tell of its change: audit events, and events for webhooks. It is collected on
// the way and written at once, at the end of the transaction.
type Record struct {
	audits []db.NewAudit
	events []db.NewEvent
}

// Told is what was written of a record.
type Told struct {
	// Audits are the ids of the audit events.
	Audits []int64
	// Due are the destinations with something to deliver.
	Due []db.Destined
}

// Add adds what was written of another record of the same transaction.
func (t *Told) Add(more Told) {
	t.Audits, t.Due = append(t.Audits, more.Audits...), append(t.Due, more.Due...)
}

// Announce tells, once the transaction is committed, who follows audit events, and the relays of what is to be delivered.
func (t Told) Announce(ctx context.Context, b *bus.Bus) {
	for _, id := range t.Audits {
		TellAudit(ctx, b, id)
	}
	if len(t.Due) > 0 {
		WakeDeliveries(ctx, b, t.Due)
	}
}

// Audit adds an audit event with what was changed. It is told, too, to each destination of the company that asked for
// it by name.
func (r *Record) Audit(e db.AuditEvent, what audit.Changes) (err error) {
	if e.Details, err = json.Marshal(what); err != nil {
		return err
	}
	r.audits = append(r.audits, named(e))
	return nil
}

// Emit adds an event of a company: its bytes are made here, once, for each of the company's destinations that wants it.
func (r *Record) Emit(customerID int64, data webhook.Data) error {
	return r.emit(customerID, time.Now(), data)
}

// emit adds an event that was recorded at a time.
func (r *Record) emit(customerID int64, at time.Time, data webhook.Data) error {
	e, err := webhook.New(at, data)
	if err != nil {
		return err
	}
	names, all := webhook.NamesOf(e.Type)
	r.events = append(r.events, db.NewEvent{
		CustomerID: customerID, ID: e.ID, Type: e.Type, Payload: e.Payload, Names: names, All: all, Free: webhook.IsLimit(e.Type),
	})
	return nil
}

// Add adds all of another record.
func (r *Record) Add(more *Record) {
	r.audits, r.events = append(r.audits, more.audits...), append(r.events, more.events...)
}

// Write writes the record, in the transaction of what it tells of.
func (r *Record) Write(ctx context.Context, tx *db.Store) (told Told, err error) {
	if len(r.audits)+len(r.events) == 0 {
		return told, nil
	}
	return r.WriteBy(ctx, tx, tx.Tell)
}

// WriteBy is Write by a statement that does more at once.
func (r *Record) WriteBy(ctx context.Context, tx *db.Store,
	tell func(context.Context, []db.NewAudit, []db.NewEvent) ([]db.WrittenAudit, []db.Destined, error),
) (told Told, err error) {
	written, due, err := tell(ctx, r.audits, r.events)
	if err != nil {
		return told, err
	}
	told.Due = due
	var wanted Record
	for i, w := range written {
		told.Audits = append(told.Audits, w.ID)
		if !w.Wanted {
			continue
		}
		if err := wanted.audited(ctx, tx, r.audits[i].AuditEvent, w); err != nil {
			return told, err
		}
	}
	more, err := wanted.Write(ctx, tx)
	told.Add(more)
	return told, err
}

// audited adds the event that tells webhooks of an audit event that was written.
func (r *Record) audited(ctx context.Context, tx *db.Store, e db.AuditEvent, w db.WrittenAudit) (err error) {
	e.ID, e.ActorKind, e.CreatedAt = w.ID, w.ActorKind, w.CreatedAt
	belongs := false
	if e.ActorUserID != nil {
		if belongs, err = tx.Within(ctx, e.CustomerID, *e.ActorUserID); err != nil {
			return err
		}
	}
	return r.tellOf(e, belongs, time.Now())
}

// tellOf adds the event, recorded at a time, that tells webhooks of an audit event, and by whom it was where that is somebody who belongs to the company.
func (r *Record) tellOf(e db.AuditEvent, belongs bool, at time.Time) error {
	told := webhook.Audited{
		AuditEventID: e.ID, Action: e.Action, ObjectType: e.ObjectType, ObjectID: e.ObjectID, CustomerID: e.CustomerID, ActorKind: enum.LowerCamel(e.ActorKind),
		ClientID: unlessEmpty(e.ClientID), Details: e.Details, CreatedAt: e.CreatedAt.UTC().Truncate(time.Millisecond),
	}
	if belongs {
		told.ActorID = e.ActorUserID
	}
	return r.emit(e.CustomerID, at, told)
}

func unlessEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
