package db

import (
	"context"

	"canopy/internal/access"
)

// AuditEvents lists audit events e. They are written in the order of their time.
var AuditEvents = &List{
	id: "e.id",
	members: map[string]string{
		"ids":          `e.id = ANY (?::bigint[])`,
		"action":       `e.action = ?::text`,
		"objectType":   `e.object_type = ?::text`,
		"objectId":     `e.object_id = ?::bigint`,
		"actorId":      `e.actor_user_id = ?::bigint`,
		"actorKind":    kindOfActor + ` = ?::text`,
		"customerId":   `e.customer_id = ?::bigint`,
		"createdSince": `e.created_at >= ?::timestamptz`,
		"createdUntil": `e.created_at < ?::timestamptz`,
	},
	orders: map[string]key{
		"ID":         {by: "e.created_at", kind: moments},
		"CREATED_AT": {by: "e.created_at", kind: moments},
	},
	otherwise: "-CREATED_AT",
	columns:   auditColumns,
	tables:    joinByID("audit_events", "e", "f.id"),
}

var loggedEvents = logged{
	rows: "audit_events e", table: "audit_events e", company: "e.customer_id", limb: "e.limb_id", time: "e.created_at", owner: "e.customer_id", id: "c.id",
	kind: "e.action", kindType: "text", kindMember: "action", kindOf: func(action string) (string, bool) { return action, true }, kept: true,
}

// eventsOfType are found by the type of what they are about.
var eventsOfType = func(l logged) logged {
	l.kind, l.kindMember, l.ofLimbs = "e.object_type", "objectType", true
	return l
}(loggedEvents)

// eventsOfKind are found by the kind of their actor.
var eventsOfKind = func(l logged) logged {
	l.kind, l.kindMember = kindOfActor, "actorKind"
	return l
}(loggedEvents)

// eventsOfActor are found by who has caused them.
var eventsOfActor = func(l logged) logged {
	l.kind, l.kindType, l.kindMember, l.ofLimbs = "e.actor_user_id", "bigint", "actorId", true
	return l
}(loggedEvents)

// eventsWithin are the ways to the events of a scope, whose bounds are $1 and $2. What is named, an object or a user, is few
// rows, of which those in the scope are kept.
func eventsWithin(scope access.Scope) ways {
	return func(st *statement, terms []Term) []way {
		for _, t := range terms {
			w := loggedEvents.anywhere(st, scope, terms)
			switch t.Member {
			case "ids":
				w.from = namedIn("e", st.value(t, "bigint[]"), w.from)
				return []way{w}
			case "objectId":
				if is, typed := value(terms, "objectType"); typed && st.ordersBy("e.created_at") {
					return []way{loggedEvents.spanned(st, st.led(w, "e.object_id, e.object_type", st.value(t, "bigint")+", "+st.arg(is, "text"), "e.created_at"), terms)}
				}
				w.where = append(w.where, st.condition(t))
				return []way{w}
			case "actorId":
				return loggedEvents.typed(st, scope, terms, "e.actor_user_id", st.value(t, "bigint"), eventsOfActor.within(st, scope, terms))
			}
		}
		_, named := value(terms, "action")
		is, given := value(terms, "objectType")
		if !given {
			if _, kind := value(terms, "actorKind"); kind && !named {
				return eventsOfKind.within(st, scope, terms)
			}
			return loggedEvents.within(st, scope, terms)
		}
		events := eventsOfType
		if named { // which fewer have
			events = loggedEvents
		} else if !inLimb(scope) {
			return events.within(st, scope, terms)
		}
		return loggedEvents.typed(st, scope, terms, "e.object_type", st.arg(is, "text"), events.within(st, scope, terms))
	}
}

// FindAuditEvents is a page of the events within the scope.
func (s *Store) FindAuditEvents(ctx context.Context, scope access.Scope, a Ask) ([]*AuditEvent, error) {
	return findWithin[AuditEvent](ctx, s, scope, AuditEvents, a, eventsWithin(scope))
}

// CountAuditEvents counts the events within the scope that are asked for.
func (s *Store) CountAuditEvents(ctx context.Context, scope access.Scope, a Ask) (int, error) {
	return countWithin(ctx, s, scope, AuditEvents, a, eventsWithin(scope))
}
