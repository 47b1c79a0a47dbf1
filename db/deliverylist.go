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
	},
	otherwise: "-CREATED_AT",
	columns:   deliveryColumns,
	tables:    joinByID("webhook_deliveries", "w", "f.id"),
}

var loggedDeliveries = logged{
	rows: "webhook_deliveries w", table: "webhook_deliveries w", company: "w.customer_id", time: "w.created_at", owner: "w.customer_id", id: "c.id",
}

// deliveriesOfDestination are the deliveries to a destination.
var deliveriesOfDestination = hung{list: Deliveries, ways: func(st *statement, terms []Term) []way {
	w := st.led(way{from: "webhook_deliveries w", held: st.terms(terms)}, "w.destination_id", "k.id", "w.created_at")
	return []way{loggedDeliveries.spanned(st, w, terms)}
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
				return []way{loggedDeliveries.spanned(st, st.led(w, "w.destination_id", st.value(t, "bigint"), "w.created_at"), terms)}
			}
		}
		return st.lostFirst(scope, terms, loggedDeliveries.within(st, scope, terms))
	}
}

// lostFirst looks among what was lost, which an index has by itself, before all deliveries of a company.
func (s *statement) lostFirst(scope access.Scope, terms []Term, otherwise []way) []way {
	status, _ := value(terms, "status")
	customer, given := value(terms, "customerId")
	if !given || status != DeliveryFailed && status != DeliveryBlocked {
		return otherwise
	}
	lost := loggedDeliveries.anywhere(s, scope, terms)
	lost.where = append(lost.where, "w.customer_id = "+s.arg(customer, "bigint"), "w.lost")
	return append([]way{lost}, otherwise...)
}

// FindDeliveries is a page of the deliveries of companies within the scope.
func (s *Store) FindDeliveries(ctx context.Context, scope access.Scope, a Ask) ([]*Delivery, error) {
	return find[Delivery](ctx, s, Deliveries, a, deliveriesWithin(scope), scope.From(), scope.To())
}

// CountDeliveries counts the deliveries of companies within the scope that are asked for.
func (s *Store) CountDeliveries(ctx context.Context, scope access.Scope, a Ask) (int, error) {
	return countOf(ctx, s, Deliveries, a.counted(), deliveriesWithin(scope), scope.From(), scope.To())
}
