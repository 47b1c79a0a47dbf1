package db

import (
	"context"

	"canopy/internal/access"
)

// The status of a company. Its own says what was done to it; what holds for it counts those above, too: a company that is
// suspended or deleted takes everything below along.
const (
	CustomerActive    = "ACTIVE"
	CustomerSuspended = "SUSPENDED"
	CustomerDeleted   = "DELETED"
)

// inactive tells whether one of some companies, an array of ids, is suspended or deleted. Those that are have an index of
// their own.
func inactive(companies string) string {
	return `EXISTS (SELECT FROM customers h WHERE h.id = ANY (` + companies + `) AND h.status <> 'ACTIVE')`
}

// lineageOfAccount selects where the company of an account stands.
func lineageOfAccount(id string) string {
	return `(SELECT c.lineage FROM accounts a JOIN customers c ON c.id = a.customer_id WHERE a.id = ` + id + `)::bigint[]`
}

// lineageOfContext selects where the company of a context stands.
func lineageOfContext(id string) string {
	return `(SELECT c.lineage FROM contexts x JOIN accounts a ON a.id = x.account_id JOIN customers c ON c.id = a.customer_id WHERE x.id = ` + id + `)::bigint[]`
}

var qSuspendCustomer = prepare(`
	UPDATE customers c SET suspended = $4 WHERE c.id = $3 AND ` + withinScope)

// SuspendCustomer suspends a company, or ends that. ErrNoRows: there is none in the scope.
func (s *Store) SuspendCustomer(ctx context.Context, scope access.Scope, id int64, suspended bool) error {
	return s.must(ctx, qSuspendCustomer, scope.From(), scope.To(), id, suspended)
}

// EffectiveStatus is the status that holds for the company: the gravest of its own and of those above it.
func (c *Customer) EffectiveStatus(ctx context.Context, s *Store) (string, error) {
	above, err := c.Ancestors(ctx, s)
	status := c.Status
	for _, a := range above {
		status = graver(status, a.Status)
	}
	return status, err
}

// graver gives the status of two that holds where both are met.
func graver(a, b string) string {
	switch {
	case a == CustomerDeleted || b == CustomerDeleted:
		return CustomerDeleted
	case a == CustomerSuspended || b == CustomerSuspended:
		return CustomerSuspended
	}
	return CustomerActive
}
