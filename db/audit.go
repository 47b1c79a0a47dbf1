package db

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"canopy/internal/access"
	"canopy/internal/globalid"
)

// AuditEvent is the record of one change: who did what to which object, in which company.
type AuditEvent struct {
	ID          int64           `db:"id"`
	CustomerID  int64           `db:"customer_id"`
	ActorUserID *int64          `db:"actor_user_id"`
	ClientID    string          `db:"client_id"`
	Action      string          `db:"action"`
	ObjectType  string          `db:"object_type"`
	ObjectID    int64           `db:"object_id"`
	Details     json.RawMessage `db:"details"`
	CreatedAt   time.Time       `db:"created_at"`
	// ActorKind is what kind of actor it was, also where nobody is told who: one of ActorKinds. It follows from the others.
	ActorKind string `db:"actor_kind"`

	siblings
}

// GlobalID is the node id of the event.
func (e *AuditEvent) GlobalID() globalid.ID { return globalid.ID{Type: "AuditEvent", Int: e.ID} }

// ActorKinds are those that there are.
var ActorKinds = []string{"USER", "API_KEY", "DIRECTORY", "UNKNOWN", "PLATFORM"}

// actorKind is what kind of actor has caused an audit event. What leads an order is told apart by ", ", so that is not in it.
func actorKind(actor, client, action string) string {
	return "audit_actor_kind(" + actor + "," + client + "," + action + ")"
}

// kindOfActor is that of the event e, as indexes have it.
var kindOfActor = actorKind("e.actor_user_id", "e.client_id", "e.action")

var auditColumns = strings.Replace(columns[AuditEvent]("e"), "e.actor_kind", kindOfActor+" AS actor_kind", 1)

var (
	qWithin     = prepare(`SELECT ` + belongs("$1::bigint", "$2::bigint"))
	qAuditEvent = prepare(`
		SELECT ` + auditColumns + ` FROM audit_events e JOIN customers c ON c.id = e.customer_id
		WHERE e.id = $3 AND ` + withinScope)
)

var (
	auditEventCustomer = edgeBy(func(e *AuditEvent) int64 { return e.CustomerID }, customersByID)
	auditEventActor    = edgeBy(func(e *AuditEvent) int64 { return orZero(e.ActorUserID) }, actorsByID)
)

// belongs holds for a user who belongs to a company, or to one below it, or has belonged to it.
func belongs(customer, user string) string {
	return `(EXISTS (SELECT FROM customers own CROSS JOIN LATERAL (
			SELECT FROM memberships m WHERE m.user_id = ` + user + ` AND m.lineage >= own.lineage AND m.lineage < own.lineage[1:own.level] || (own.id + 1) LIMIT 1) m
			WHERE own.id = ` + customer + `)
		OR EXISTS (SELECT FROM former_members f` + joinByID("customers", "c", "f.customer_id") + ` WHERE f.user_id = ` + user + ` AND ` + customer + ` = ANY (c.lineage)))`
}

// Within tells whether a user belongs to a company, or to one below it, or has belonged to it.
func (s *Store) Within(ctx context.Context, customerID, userID int64) (is bool, err error) {
	err = s.get(ctx, &is, qWithin, customerID, userID)
	return is, err
}

// AuditEvent reads one event of a company within the scope.
func (s *Store) AuditEvent(ctx context.Context, scope access.Scope, id int64) (*AuditEvent, error) {
	e := &AuditEvent{}
	err := s.get(ctx, e, qAuditEvent, scope.From(), scope.To(), id)
	return e, err
}

// Customer is the edge from an event to the company that it is about.
func (e *AuditEvent) Customer(ctx context.Context, s *Store, scope access.Scope) (*Customer, error) {
	return follow(ctx, s, e, auditEventCustomer, scope)
}

// Actor is the edge from an event to the user who caused it; nil when that was the platform
// itself, or never was within the scope; who was erased stands under a pseudonym.
func (e *AuditEvent) Actor(ctx context.Context, s *Store, scope access.Scope) (*User, error) {
	return follow(ctx, s, e, auditEventActor, scope)
}
