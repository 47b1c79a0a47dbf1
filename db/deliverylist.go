package db

import (
	"context"

	"canopy/internal/access"
)

// Deliveries lists webhook deliveries w. They are written in the order of their time.
var Deliveries = &List{
	id: "w.id",
	members: map[string]string{
		"ids":           `w.id = ANY (?::bigint[])`,
		"destinationId": `w.destination_id = ?::bigint`,
		"type":          `w.type = ?::text`,
		"eventId":       `w.event_id = ?::text`,
		"status":        `w.status = ?::text`,
		"customerId":    `w.customer_id = ?::bigint`,
		"createdSince":  `w.created_at >= ?::timestamptz`,
		"createdUntil":  `w.created_at < ?::timestamptz`,
	},
	orders: map[string]key{
		"ID":         {by: "w.created_at", kind: moments},
		"CREATED_AT": {by: "w.created_at", kind: moments},
		"STATUS": {
			by: "w.status", kind: texts, member: "status", then: "CREATED_AT",
			values: []string{DeliveryBlocked, DeliveryDelivered, DeliveryFailed, DeliveryPending},
		},
	},
	otherwise: "-CREATED_AT",
	columns:   deliveryColumns,
	tables:    joinByID("webhook_deliveries", "w", "f.id"),
}

var loggedDeliveries = logged{
	rows: "webhook_deliveries w", table: "webhook_deliveries w", company: "w.customer_id", limb: "w.limb_id", time: "w.created_at", owner: "w.customer_id", id: "c.id",
	kind: "w.lost", kindType: "boolean", kindMember: "status", only: "w.lost", kindOf: func(status string) (string, bool) { return "true", isLost(status) },
}

// deliveriesOfType are found by their type.
var deliveriesOfType = func(l logged) logged {
	l.kind, l.kindType, l.kindMember, l.only, l.kindOf, l.ofLimbs = "w.type", "text", "type", "", func(is string) (string, bool) { return is, true }, true
	return l
}(loggedDeliveries)

// isLost tells a status of deliveries that are over, and did not arrive.
func isLost(status string) bool { return status == DeliveryFailed || status == DeliveryBlocked }

// deliveriesOfDestination are the deliveries to a destination.
var deliveriesOfDestination = hung{list: Deliveries, ways: func(st *statement, terms []Term) []way {
	w := loggedDeliveries.of(st, way{from: "webhook_deliveries w", held: st.terms(terms)}, "w.destination_id", "k.id", terms)
	return st.dueFirst(terms, "d.destination_id = k.id", w, []way{w})
}}

// deliveriesWithin are the ways to the deliveries of a scope, whose bounds are $1 and $2.
func deliveriesWithin(scope access.Scope) ways {
	return func(st *statement, terms []Term) []way {
		for _, t := range terms {
			w := loggedDeliveries.anywhere(st, scope, terms)
			switch t.Member {
			case "ids":
				w.from = namedIn("w", st.value(t, "bigint[]"), w.from)
				return []way{w}
			case "eventId":
				w.where = append(w.where, st.condition(t))
				return []way{w}
			case "destinationId":
				to := st.value(t, "bigint")
				w = w.ofOne(scope, "webhook_destinations d"+joinByID("customers", "c", "d.customer_id"), "d.id", to)
				return st.dueFirst(terms, "d.destination_id = "+to, w, []way{loggedDeliveries.of(st, w, "w.destination_id", to, terms)})
			}
		}
		due := "true"
		if customer, given := value(terms, "customerId"); given {
			due = "d.destination_id IN (SELECT x.id FROM webhook_destinations x WHERE x.customer_id = " + st.arg(customer, "bigint") + ")"
		}
		anywhere := loggedDeliveries.anywhere(st, scope, terms)
		is, given := value(terms, "type")
		if !given {
			return st.dueFirst(terms, due, anywhere, loggedDeliveries.within(st, scope, terms))
		}
		deliveries := deliveriesOfType
		if _, lost := loggedDeliveries.kindIn(terms); lost { // which fewer are
			deliveries = loggedDeliveries
		}
		return st.dueFirst(terms, due, anywhere, loggedDeliveries.typed(st, scope, terms, "w.type", st.arg(is, "text"), deliveries.within(st, scope, terms)))
	}
}

// dueFirst looks for what is pending among what is due, which is a table of its own, before all deliveries.
func (s *statement) dueFirst(terms []Term, condition string, anywhere way, otherwise []way) []way {
	if status, _ := value(terms, "status"); status != DeliveryPending || s.counting {
		return otherwise
	}
	due := way{ids: "SELECT d.delivery_id AS id FROM webhook_due d WHERE " + condition, from: joinedTo("n.id", "w", anywhere.from), where: anywhere.where, held: anywhere.held}
	return append([]way{due}, otherwise...)
}

// FindDeliveries is a page of the deliveries of companies within the scope.
func (s *Store) FindDeliveries(ctx context.Context, scope access.Scope, a Ask) ([]*Delivery, error) {
	return findWithin[Delivery](ctx, s, scope, Deliveries, a, deliveriesWithin(scope))
}

// CountDeliveries counts the deliveries of companies within the scope that are asked for.
func (s *Store) CountDeliveries(ctx context.Context, scope access.Scope, a Ask) (int, error) {
	return countWithin(ctx, s, scope, Deliveries, a, deliveriesWithin(scope))
}
