package db

import (
	"context"
	"slices"

	"canopy/internal/access"
)

const nameOfAgent = `lower(g.name) COLLATE "C"`

// Agents lists agents g, of accounts a.
var Agents = &List{
	id: "g.id",
	members: map[string]string{
		"ids":       `g.id = ANY (?::bigint[])`,
		"accountId": `g.account_id = ?::bigint`,
		"enabled":   `g.enabled = ?::boolean`,
		"runnable":  `(g.enabled AND g.published_id IS NOT NULL) = ?::boolean`,
		searched:    matching("g.name"),
		nearBy:      near("g.name"),
	},
	orders: map[string]key{
		"ID":         {by: "g.id", kind: integers},
		"NAME":       {by: nameOfAgent, kind: texts},
		"CREATED_AT": {by: "g.created_at", kind: moments},
		"UPDATED_AT": {by: "g.updated_at", kind: moments},
	},
	otherwise: "ID",
	columns:   agentColumns,
	tables:    joinByID("agents", "g", "f.id") + joinByID("accounts", "a", "g.account_id"),
}

var (
	agentsOfAccount = hung{list: Agents, ways: func(st *statement, terms []Term) []way {
		return st.agents(way{lead: "g.account_id", is: "k.id"}, "g.account_id = k.id", terms)
	}}
	agentsOfCustomer = hung{list: Agents, ways: func(st *statement, terms []Term) []way {
		accounts := way{each: "(SELECT * FROM accounts WHERE customer_id = k.id OFFSET 0) a", lead: "g.account_id", is: "a.id"}
		return st.agents(accounts, "g.account_id IN (SELECT id FROM accounts WHERE customer_id = k.id)", terms)
	}}
)

// agents are the ways to the agents of accounts, which walk names: indexes have them in each order. own holds them to be of these accounts.
func (s *statement) agents(walk way, own string, terms []Term) []way {
	walk.from, walk.where, walk.held = "agents g", []string{"g.deleted_at IS NULL"}, s.terms(terms)
	walk.ordered = !s.counting
	in := wordsOfAgents
	in.from, in.own, in.held, in.walk, in.walkMany = joinByID("agents", "g", "n.id"), own, append(s.terms(terms), "g.deleted_at IS NULL", own), &walk, walk.each != ""
	if in.spread = &walk; walk.each != "" {
		in.spread = &way{from: walk.from, held: walk.held}
	}
	if list, given := in.ways(s, terms); given && !s.counting {
		return list
	}
	return []way{walk}
}

// wordsOfAgents finds agents by the words of their names.
var wordsOfAgents = searching{
	table: "agents g", id: "g.id", fits: "words_of(g.name) @@ ?", others: true,
	keys: map[string]string{"g.id": "g.id", nameOfAgent: nameOfAgent, "g.created_at": "g.created_at", "g.updated_at": "g.updated_at"},
}

// FindAgents is a page of the agents within the scope that a filter names, or searches for.
func (s *Store) FindAgents(ctx context.Context, scope access.Scope, a Ask) ([]*Agent, error) {
	return findWithin[Agent](ctx, s, scope, Agents, a, agentsWithin(scope))
}

// agentsWithin are the ways to the agents of a scope, whose bounds are $1 and $2.
func agentsWithin(scope access.Scope) ways {
	return func(st *statement, terms []Term) []way {
		of := joinByID("accounts", "a", "g.account_id") + joinByID("customers", "c", "a.customer_id")
		held := append(st.terms(terms), "g.deleted_at IS NULL")
		in := wordsOfAgents
		in.from, in.held = joinByID("agents", "g", "n.id")+of, append(slices.Clone(held), withinScope, aliveInScope("a.customer_id"))
		return namedOrSearched(st, scope, terms, in, way{from: "agents g" + of, held: in.held, ordered: true},
			way{from: "accounts a CROSS JOIN LATERAL (SELECT * FROM agents WHERE account_id = a.id OFFSET 0) g", where: []string{"a.customer_id = c.id"}, held: append(held, aliveInScope("c.id"))})
	}
}
