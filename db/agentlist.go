package db

import (
	"context"

	"canopy/internal/access"
)

// Agents lists agents g, of accounts a.
var Agents = &List{
	id: "g.id",
	members: map[string]string{
		"ids":       `g.id = ANY (?::bigint[])`,
		"accountId": `g.account_id = ?::bigint`,
		"enabled":   `g.enabled = ?::boolean`,
		"runnable":  `(g.enabled AND g.published_id IS NOT NULL) = ?::boolean`,
		searched:    matching("g.name"),
		nearBy:      matching("g.name"),
	},
	orders: map[string]key{
		"ID":         {by: "g.id", kind: integers},
		"NAME":       {by: `lower(g.name) COLLATE "C"`, kind: texts},
		"CREATED_AT": {by: "g.created_at", kind: moments},
		"UPDATED_AT": {by: "g.updated_at", kind: moments},
	},
	otherwise: "ID",
	columns:   agentColumns,
	tables:    joinByID("agents", "g", "f.id") + joinByID("accounts", "a", "g.account_id"),
}

var (
	agentsOfAccount  = hung{list: Agents, ways: agentsOn("(SELECT * FROM accounts WHERE id = k.id OFFSET 0) a")}
	agentsOfCustomer = hung{list: Agents, ways: agentsOn("(SELECT * FROM accounts WHERE customer_id = k.id OFFSET 0) a")}
)

func agentsOn(accounts string) ways {
	return func(st *statement, terms []Term) []way {
		w := way{each: accounts, from: "agents g", where: []string{"g.deleted_at IS NULL"}, held: st.terms(terms)}
		return []way{st.led(w, "g.account_id", "a.id", "g.id")}
	}
}

// FindAgents is a page of the agents within the scope that a filter names, or searches for.
func (s *Store) FindAgents(ctx context.Context, scope access.Scope, a Ask) ([]*Agent, error) {
	return find[Agent](ctx, s, Agents, a, agentsWithin, scope.From(), scope.To())
}

// agentsWithin are the ways to the agents of a scope, whose bounds are $1 and $2.
func agentsWithin(st *statement, terms []Term) []way {
	place := joinByID("agents", "g", "n.id") + joinByID("accounts", "a", "g.account_id") + joinByID("customers", "c", "a.customer_id")
	return namedOrSearched(st, terms, searching{
		table: "agents g", id: "g.id", fits: "words_of(g.name) @@ ?", from: place,
		held: append(st.terms(terms), "g.deleted_at IS NULL", withinScope, aliveInScope("a.customer_id")),
	})
}
