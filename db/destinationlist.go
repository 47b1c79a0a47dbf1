package db

import (
	"context"
	"slices"

	"canopy/internal/access"
)

// Destinations lists webhook destinations d of companies c.
var Destinations = &List{
	id: "d.id",
	members: map[string]string{
		"ids":    `d.id = ANY (?::bigint[])`,
		searched: matching("d.name || ' ' || d.url"),
		nearBy:   matching("d.name || ' ' || d.url"),
	},
	orders:    map[string]key{"ID": {by: "d.id", kind: integers}},
	otherwise: "ID",
	columns:   destinationColumns,
	tables:    joinByID("webhook_destinations", "d", "f.id"),
}

// wordsOfDestinations finds destinations by the words of their names and addresses.
var wordsOfDestinations = searching{
	table: "webhook_destinations d", id: "d.id", fits: "words_of(d.name || ' ' || d.url) @@ ?", others: true,
	keys: map[string]string{"d.id": "d.id"},
}

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
