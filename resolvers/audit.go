package resolvers

import (
	"context"
	"strconv"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/outbox"
)

// audit tells of a change, with the old and the new values, in the change's own transaction.
func (ch *changes) audit(customerID int64, action audit.Action, object Node, what audit.Changes) error {
	return ch.record.Audit(ch.event(customerID, action, object), what)
}

// event is the event of what is done to an object, by who does it.
func (ch *changes) event(customerID int64, action audit.Action, object Node) db.AuditEvent {
	e := db.AuditEvent{CustomerID: customerID, ClientID: ch.client, Action: string(action), ObjectType: object.GlobalID().Type, ObjectID: object.GlobalID().Int}
	if actor := ch.actor(); actor != 0 {
		e.ActorUserID = &actor
	}
	if ch.caller != nil {
		e.ClientID = ch.caller.ClientID
	}
	return e
}

// AuditEvent gives the changes within reach as they happen.
func (s Subscription) AuditEvent(ctx context.Context) (<-chan *db.AuditEvent, error) {
	if _, err := s.may(ctx, rule.AuditEvent); err != nil {
		return nil, err
	}
	return follow(ctx, s.Resolver, feed[db.AuditEvent]{topic: outbox.AuditTopic, load: func(ctx context.Context, message []byte) ([]*db.AuditEvent, error) {
		c, err := s.may(ctx, rule.AuditEvent)
		if err != nil || message == nil {
			return nil, err
		}
		id, err := strconv.ParseInt(string(message), 10, 64)
		if err != nil {
			return nil, err
		}
		e, err := s.Store.AuditEvent(ctx, c.Scope(), id)
		return []*db.AuditEvent{e}, missing(err, "audit event", id)
	}})
}

// OthersWithEvents are the cells beside this one that can have audit events within reach of the caller.
func (r *Resolver) OthersWithEvents(ctx context.Context) ([]problem.Place, error) {
	c, err := r.may(ctx, rule.AuditEvent)
	if err != nil {
		return nil, err
	}
	return spreadEvents.others(ctx, r, c.Scope(), db.Ask{})
}

func (q Query) auditEventNode(ctx context.Context, id globalid.ID) (*db.AuditEvent, error) {
	c, err := q.may(ctx, rule.AuditEvents)
	if err != nil {
		return nil, err
	}
	row, err := q.Store.AuditEvent(ctx, c.Scope(), id.Int)
	return row, c.unreached(err, "audit event", id.Int)
}

// AuditEventEdges resolves the edges of an audit event.
type AuditEventEdges struct{ *Resolver }

// ClientID is the API key that was used; nil for a person and for the platform itself.
func (e AuditEventEdges) ClientID(_ context.Context, obj *db.AuditEvent) (*string, error) {
	if obj.ClientID == "" {
		return nil, nil
	}
	return &obj.ClientID, nil
}

// Actor is who made the change; nil for the platform itself, for who has not shown to be anybody, and beyond the caller's reach.
func (e AuditEventEdges) Actor(ctx context.Context, obj *db.AuditEvent) (*db.User, error) {
	if obj.ActorUserID == nil {
		return nil, nil
	}
	return obj.Actor(ctx, e.Store, reach(ctx))
}

// Customer is the company that the change is about.
func (e AuditEventEdges) Customer(ctx context.Context, obj *db.AuditEvent) (*db.Customer, error) {
	return obj.Customer(ctx, e.Store, reach(ctx))
}
