package db

import (
	"context"
	"time"

	"canopy/internal/access"
	"canopy/internal/quota"
)

// LateMail is a mail that did not go out at its last attempt.
type LateMail struct {
	ID       int64  `db:"id"`
	Kind     string `db:"kind"`
	UserID   *int64 `db:"user_id"`
	BranchID int64  `db:"branch_id"`
	Attempts int    `db:"attempts"`
	// Reason is what the mail server has said, or why it was not reached.
	Reason    string    `db:"last_error"`
	CreatedAt time.Time `db:"created_at"`
	// NextAttemptAt is nil, and GivenUpAt is set, where it is tried no more.
	NextAttemptAt *time.Time `db:"next_attempt_at"`
	GivenUpAt     *time.Time `db:"failed_at"`

	siblings
}

// NearLimit tells that a company has come near a limit, or has reached it.
type NearLimit struct {
	CustomerID int64      `db:"customer_id"`
	Name       quota.Name `db:"name"`
	Reached    bool       `db:"reached"`
	Used       int64      `db:"used"`
	Limit      int64      `db:"most"`
	// Day is its midnight, UTC.
	Day time.Time `db:"day"`

	siblings
}

// shortlist is how many rows an operator sees of what needs a look; who has more of them has one reason for many.
const shortlist = 100

var (
	qLateMails = prepare(`
		SELECT m.id, m.kind, m.user_id, m.branch_id, m.attempts, m.last_error, m.created_at, m.failed_at,
			CASE WHEN m.failed_at IS NULL THEN m.next_attempt_at END AS next_attempt_at
		FROM mail_outbox m WHERE m.sent_at IS NULL AND m.last_error <> '' ORDER BY m.created_at DESC, m.id DESC LIMIT $1`)
	qFailing = prepare(`
		SELECT ` + destinationColumns + ` FROM webhook_destinations d
		WHERE d.failing_since IS NOT NULL AND ` + unindexed("d.deleted_at IS NULL") + ` ORDER BY d.failing_since LIMIT $1`)
	qBusiest = prepare(`
		SELECT ` + customerColumns + ` FROM (SELECT id FROM customers WHERE parent_id IS NULL OFFSET 0) r
		CROSS JOIN LATERAL (SELECT * FROM customers WHERE parent_id BETWEEN r.id AND r.id ORDER BY parent_id OFFSET 0) c
		CROSS JOIN LATERAL (SELECT ` + usedOf("c.id", "$1") + ` AS used) u
		WHERE u.used > 0 ORDER BY u.used DESC, c.id LIMIT $2`)
	qNearLimits = prepare(`
		SELECT n.customer_id, n.name, n.level >= 100 AS reached, n.used, n.most, n.day::timestamptz AS day
		FROM limit_notices n ORDER BY n.day DESC, reached DESC, n.customer_id, n.name LIMIT $1`)
)

var (
	lateMailUser      = edgeBy(func(m *LateMail) int64 { return orZero(m.UserID) }, usersByID)
	lateMailBranch    = edgeBy(func(m *LateMail) int64 { return m.BranchID }, customersByID)
	nearLimitCustomer = edgeBy(func(n *NearLimit) int64 { return n.CustomerID }, customersByID)
)

// LateMails lists the last mails that did not go out, newest first, at most 100. Those that were given up are kept for a month.
func (s *Store) LateMails(ctx context.Context) (rows []*LateMail, err error) {
	err = s.list(ctx, &rows, qLateMails, shortlist)
	return join(rows), err
}

// User is the edge to whom a mail is for; nil for those beyond the scope.
func (m *LateMail) User(ctx context.Context, s *Store, scope access.Scope) (*User, error) {
	return follow(ctx, s, m, lateMailUser, scope)
}

// Branch is the edge to the company right below root, or root itself, whose work a mail is.
func (m *LateMail) Branch(ctx context.Context, s *Store, scope access.Scope) (*Customer, error) {
	return follow(ctx, s, m, lateMailBranch, scope)
}

// FailingNow lists the destinations to which nothing gets through, the longest first, at most 100.
func (s *Store) FailingNow(ctx context.Context) (rows []*Destination, err error) {
	err = s.list(ctx, &rows, qFailing, shortlist)
	return join(rows), err
}

// Busiest lists the companies right below root that have most of something, or have done most of it today.
func (s *Store) Busiest(ctx context.Context, by quota.Name, first int) (rows []*Customer, err error) {
	err = s.list(ctx, &rows, qBusiest, by, first)
	return join(rows), err
}

// NearLimits lists the limits that were come near or reached in the last days, newest first, at most 100.
func (s *Store) NearLimits(ctx context.Context) (rows []*NearLimit, err error) {
	err = s.list(ctx, &rows, qNearLimits, shortlist)
	return join(rows), err
}

// Customer is the edge to the company whose limit it is.
func (n *NearLimit) Customer(ctx context.Context, s *Store, scope access.Scope) (*Customer, error) {
	return follow(ctx, s, n, nearLimitCustomer, scope)
}
