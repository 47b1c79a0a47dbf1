package db

import (
	"context"

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

// destinationsWithin are the ways to the destinations of a scope, whose bounds are $1 and $2.
func destinationsWithin(st *statement, terms []Term) []way {
	return namedOrSearched(st, terms, searching{
		table: "webhook_destinations d", id: "d.id", fits: "words_of(d.name || ' ' || d.url) @@ ?",
		from: joinByID("webhook_destinations", "d", "n.id") + joinByID("customers", "c", "d.customer_id"),
		held: append(st.terms(terms), "d.deleted_at IS NULL", withinScope, aliveInScope("d.customer_id")),
	})
}

// FindDestinations is a page of the destinations within the scope that a filter names, or searches for.
func (s *Store) FindDestinations(ctx context.Context, scope access.Scope, a Ask) ([]*Destination, error) {
	return find[Destination](ctx, s, Destinations, a, destinationsWithin, scope.From(), scope.To())
}
