package db

import (
	"context"
	"slices"

	"canopy/internal/access"
)

// nameOfDestination is what a destination goes by: its address, where it has no name.
const nameOfDestination = `lower(COALESCE(NULLIF(d.name, ''), d.url)) COLLATE "C"`

// Destinations lists webhook destinations d of companies c.
var Destinations = &List{
	id: "d.id",
	members: map[string]string{
		"ids":          `d.id = ANY (?::bigint[])`,
		"enabled":      `d.enabled = ?::boolean`,
		"failing":      `(d.failing_since IS NOT NULL) = ?::boolean`,
		"createdSince": `d.created_at >= ?::timestamptz`,
		"createdUntil": `d.created_at < ?::timestamptz`,
		searched:       matching("d.name || ' ' || d.url"),
		nearBy:         near("d.name || ' ' || d.url"),
	},
	orders: map[string]key{
		"ID":         {by: "d.id", kind: integers},
		"NAME":       {by: nameOfDestination, kind: texts},
		"CREATED_AT": {by: "d.created_at", kind: moments},
	},
	otherwise: "ID",
	columns:   destinationColumns,
	tables:    joinByID("webhook_destinations", "d", "f.id"),
}

// wordsOfDestinations finds destinations by the words of their names and addresses.
var wordsOfDestinations = searching{
	table: "webhook_destinations d", id: "d.id", fits: "words_of(d.name || ' ' || d.url) @@ ?", others: true,
	keys: map[string]string{"d.id": "d.id", nameOfDestination: nameOfDestination, "d.created_at": "d.created_at"},
}

// destinationsOfCustomer are a company's destinations, of which it may have very many.
var destinationsOfCustomer = hung{list: Destinations, ways: func(st *statement, terms []Term) []way {
	const own = "d.customer_id = k.id"
	walk := way{from: "webhook_destinations d", lead: "d.customer_id", is: "k.id", where: []string{"d.deleted_at IS NULL"}, held: st.terms(terms), ordered: !st.counting}
	in := wordsOfDestinations
	in.from, in.own, in.held, in.walk, in.spread = joinByID("webhook_destinations", "d", "n.id"), own, append(st.terms(terms), "d.deleted_at IS NULL", own), &walk, &walk
	if list, given := in.ways(st, terms); given && !st.counting {
		return list
	}
	return []way{walk}
}}

// destinationsWithin are the ways to the destinations of a scope, whose bounds are $1 and $2.
func destinationsWithin(scope access.Scope) ways {
	return func(st *statement, terms []Term) []way {
		of := joinByID("customers", "c", "d.customer_id")
		held := append(st.terms(terms), "d.deleted_at IS NULL")
		in := wordsOfDestinations
		in.from, in.held = joinByID("webhook_destinations", "d", "n.id")+of, append(slices.Clone(held), withinScope, aliveInScope("d.customer_id"))
		return namedOrSearched(st, scope, terms, in, way{from: "webhook_destinations d" + of, held: in.held, ordered: true},
			way{from: "webhook_destinations d", where: []string{"d.customer_id = c.id"}, held: append(held, aliveInScope("c.id"))})
	}
}

// FindDestinations is a page of the destinations within the scope that a filter names, or searches for.
func (s *Store) FindDestinations(ctx context.Context, scope access.Scope, a Ask) ([]*Destination, error) {
	return findWithin[Destination](ctx, s, scope, Destinations, a, destinationsWithin(scope))
}

// FindDestinationsOf is a page of the destinations of a company.
func (s *Store) FindDestinationsOf(ctx context.Context, customerID int64, a Ask) ([]*Destination, error) {
	return pageAt[Destination](ctx, s, destinationsOfCustomer, customerID, a)
}
