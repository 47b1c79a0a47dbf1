package db

import (
	"context"

	"canopy/internal/access"
)

// Runs lists runs r, of accounts a of companies c. They are written in the order of their time, which is that of their ids.
var Runs = &List{
	id: "r.id",
	members: map[string]string{
		"ids":          `r.id = ANY (?::bigint[])`,
		"agentId":      `r.agent_id = ?::bigint`,
		"status":       `r.status = ?::text`,
		"customerId":   `a.customer_id = ?::bigint`,
		"createdSince": `r.created_at >= ?::timestamptz`,
		"createdUntil": `r.created_at < ?::timestamptz`,
	},
	orders: map[string]key{
		"ID":         {by: "r.created_at", kind: moments},
		"CREATED_AT": {by: "r.created_at", kind: moments},
		"STATUS":     {by: "r.status", kind: texts, member: "status", values: []string{RunFailed, RunFinished, RunRunning}, then: "CREATED_AT"},
	},
	otherwise: "-CREATED_AT",
	columns:   runColumns,
	tables:    joinByID("runs", "r", "f.id") + joinByID("accounts", "a", "r.account_id"),
}

var loggedRuns = logged{
	rows: "runs r", table: "runs r" + joinByID("accounts", "a", "r.account_id"), company: "a.customer_id", limb: "r.limb_id",
	time: "r.created_at", owner: "r.account_id", owners: accountsOf("c.id"), id: "a.id",
	kind: "r.status", kindType: "text", kindMember: "status", only: "r.status <> 'finished'", kindOf: func(status string) (string, bool) { return status, status != RunFinished },
}

// runsOfAgent are the runs of an agent.
var runsOfAgent = hung{list: Runs, ways: func(st *statement, terms []Term) []way {
	w := way{from: "runs r" + joinByID("accounts", "a", "r.account_id"), held: st.terms(terms)}
	return []way{loggedRuns.of(st, w, "r.agent_id", "k.id", terms)}
}}

// runsWithin are the ways to the runs of a scope, whose bounds are $1 and $2.
func runsWithin(scope access.Scope) ways {
	return func(st *statement, terms []Term) []way {
		for _, t := range terms {
			w := loggedRuns.anywhere(st, scope, terms)
			switch t.Member {
			case "ids":
				w.from = namedIn("r", st.value(t, "bigint[]"), w.from)
				return []way{w}
			case "agentId":
				agent := st.value(t, "bigint")
				w = w.ofOne(scope, "agents g"+joinByID("accounts", "a", "g.account_id")+joinByID("customers", "c", "a.customer_id"), "g.id", agent)
				return []way{loggedRuns.of(st, w, "r.agent_id", agent, terms)}
			}
		}
		return loggedRuns.within(st, scope, terms)
	}
}

// FindRuns is a page of the runs within the scope.
func (s *Store) FindRuns(ctx context.Context, scope access.Scope, a Ask) ([]*Run, error) {
	return findWithin[Run](ctx, s, scope, Runs, a, runsWithin(scope))
}

// CountRuns counts the runs within the scope that are asked for.
func (s *Store) CountRuns(ctx context.Context, scope access.Scope, a Ask) (int, error) {
	return countWithin(ctx, s, scope, Runs, a, runsWithin(scope))
}
