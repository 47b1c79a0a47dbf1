package db

import (
	"context"
	"time"

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

var (
	qSuspended       = prepare(`SELECT ` + inactive("(SELECT c.lineage FROM customers c WHERE c.id = $1)::bigint[]"))
	qSuspendCustomer = prepare(`UPDATE customers c SET suspended = $4 WHERE c.id = $3 AND ` + withinScope)
	qDeleteCustomer  = prepare(`
		UPDATE customers c SET erase_at = now() + $4 * interval '1 second' WHERE c.id = $3 AND c.erase_at IS NULL AND ` + withinScope)
	// Once its time has come, nobody knows how much of it is there.
	qRestoreCustomer = prepare(`
		UPDATE customers c SET erase_at = NULL WHERE c.id = $3 AND c.erase_at > clock_timestamp() AND ` + withinScope)
)

// Suspended tells whether a company, or one above it, is suspended or deleted. It takes no scope: whoever is invited may know.
func (s *Store) Suspended(ctx context.Context, id int64) (suspended bool, err error) {
	err = s.get(ctx, &suspended, qSuspended, id)
	return suspended, err
}

// SuspendCustomer suspends a company, or ends that. ErrNoRows: there is none in the scope.
func (s *Store) SuspendCustomer(ctx context.Context, scope access.Scope, id int64, suspended bool) error {
	return s.must(ctx, qSuspendCustomer, scope.From(), scope.To(), id, suspended)
}

// DeleteCustomer deletes a company, which is erased when the time is over. ErrNoRows: there is none in the scope, or it is
// deleted already.
func (s *Store) DeleteCustomer(ctx context.Context, scope access.Scope, id int64, after time.Duration) error {
	return s.must(ctx, qDeleteCustomer, scope.From(), scope.To(), id, after.Seconds())
}

// RestoreCustomer takes the deletion of a company back. ErrNoRows: there is none in the scope that can be restored.
func (s *Store) RestoreCustomer(ctx context.Context, scope access.Scope, id int64) error {
	return s.must(ctx, qRestoreCustomer, scope.From(), scope.To(), id)
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
