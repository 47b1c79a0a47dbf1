package db

import (
	"context"
	"strings"

	"canopy/internal/access"
)

// A membership is what one company has of a person: the address and the name that it has entered, and whether the
// person has accepted it, by redeeming an invitation of it or by signing in to it.

// Given is a person as a company has entered it.
type Given struct {
	Email     string `db:"email"`
	FirstName string `db:"first_name"`
	LastName  string `db:"last_name"`
}

// Name is the full name.
func (g Given) Name() string { return fullName(g.FirstName, g.LastName) }

func fullName(first, last string) string { return strings.TrimSpace(first + " " + last) }

// Member is a person as one company knows it.
type Member struct {
	UserID       int64  `db:"user_id"`
	CustomerID   int64  `db:"customer_id"`
	CustomerName string `db:"customer_name"`
	Given
}

// memberInScope bounds membership m by the companies below $1 and $2, as inScope does companies.
const memberInScope = `m.lineage >= $1::bigint[] AND m.lineage < $2::bigint[]`

// willing: user u, as the member m of a company, may be acted for and written to by it. Who has accepted it may, and
// who was new to the platform until the first password is set: whoever has one decides.
const willing = `(m.accepted_at IS NOT NULL OR NOT m.known AND u.password_hash IS NULL)`

// A new membership: company $1, user $2, added $3, as it was given $4 to $6, and by whom $7.
const insertMembership = `
	INSERT INTO memberships (customer_id, user_id, added, email, first_name, last_name, created_by, known)
	SELECT t.id, u.id, $3, $4, $5, $6, NULLIF($7::bigint, 0), u.password_hash IS NOT NULL OR EXISTS (
		SELECT FROM memberships m WHERE m.user_id = u.id AND m.lineage[t.level + 1] IS DISTINCT FROM t.id)
	FROM customers t, users u WHERE t.id = $1 AND u.id = $2 AND u.erased_at IS NULL FOR KEY SHARE OF u
	ON CONFLICT (customer_id, user_id) `

var (
	qAddMember      = prepare(insertMembership + `DO NOTHING`)
	qHoldMembership = prepare(insertMembership + `DO UPDATE SET added = memberships.added`)
	qLockMembership = prepare(`SELECT added FROM memberships WHERE customer_id = $1 AND user_id = $2 FOR UPDATE`)
	qDropMembership = prepare(`
		DELETE FROM memberships m WHERE m.customer_id = $1 AND m.user_id = $2 AND NOT m.added
		AND NOT EXISTS (SELECT 1 FROM permissions p JOIN accounts a ON a.id = p.account_id
			WHERE p.user_id = m.user_id AND a.customer_id = m.customer_id)`)
	qIsMember = prepare(`SELECT EXISTS (SELECT 1 FROM memberships WHERE customer_id = $1 AND user_id = $2)`)
	qAccept   = prepare(`UPDATE memberships SET accepted_at = now() WHERE customer_id = $1 AND user_id = $2 AND accepted_at IS NULL`)
	qTakeName = prepare(`
		UPDATE users u SET email = m.email, first_name = m.first_name, last_name = m.last_name
		FROM memberships m WHERE m.customer_id = $1 AND m.user_id = u.id AND u.id = $2 AND u.password_hash IS NULL
		AND m.first_name || m.last_name <> ''`)
	// Whoever has a key in a company can act in all below it: a company above that may be acted for does as well.
	qMayActAs = prepare(`
		SELECT EXISTS (SELECT FROM memberships m JOIN users u ON u.id = m.user_id
			WHERE m.user_id = $4 AND ` + memberInScope + ` AND m.customer_id = ANY(k.lineage) AND ` + willing + `)
		FROM memberships own JOIN customers k ON k.id = own.customer_id WHERE own.customer_id = $3 AND own.user_id = $4`)
	qCompaniesOf    = prepare(`SELECT customer_id FROM memberships WHERE user_id = $1`)
	qMemberToInvite = prepare(`
		SELECT m.user_id, m.customer_id, c.name AS customer_name, m.email, m.first_name, m.last_name
		FROM memberships m JOIN customers c ON c.id = m.customer_id
		WHERE m.user_id = $3 AND ` + memberInScope + ` ORDER BY c.id <> $4, m.created_at, c.id LIMIT 1`)
)

// AddMember puts a user into a company by name; false when it is there already. createdBy 0 stands for the platform itself.
func (s *Store) AddMember(ctx context.Context, customerID, userID int64, as Given, createdBy int64) (bool, error) {
	n, err := s.exec(ctx, qAddMember, customerID, userID, true, as.Email, as.FirstName, as.LastName, createdBy)
	return n == 1, err
}

// IsMember tells whether a user belongs to a company, by name or by a permission.
func (s *Store) IsMember(ctx context.Context, customerID, userID int64) (member bool, err error) {
	err = s.get(ctx, &member, qIsMember, customerID, userID)
	return member, err
}

// holdMembership makes a user who gets a permission in a company a member of it; ErrNoRows when it was erased meanwhile.
func (s *Store) holdMembership(ctx context.Context, customerID int64, u *User, createdBy int64) error {
	return s.must(ctx, qHoldMembership, customerID, u.ID, false, u.Email, u.FirstName, u.LastName, createdBy)
}

// releaseMembership takes a user who was in a company only by permissions out of it with the last
// of them. The row is locked by a statement of its own first, so that the one that judges sees
// what a concurrent grant has committed.
func (s *Store) releaseMembership(ctx context.Context, customerID, userID int64) error {
	var added bool
	if err := s.get(ctx, &added, qLockMembership, customerID, userID); err != nil || added {
		return ignoreNoRows(err)
	}
	_, err := s.exec(ctx, qDropMembership, customerID, userID)
	return err
}

// Accept writes down that a user has accepted a company that it belongs to; a second time changes nothing.
func (s *Store) Accept(ctx context.Context, customerID, userID int64) error {
	_, err := s.exec(ctx, qAccept, customerID, userID)
	return err
}

// Redeem is Accept for a user who redeems the invitation of a company; 0 is none. The first time, before a password is set, the user
// takes the name that this company has given: another may have entered the address before, under any name.
func (s *Store) Redeem(ctx context.Context, customerID, userID int64) error {
	if _, err := s.exec(ctx, qTakeName, customerID, userID); err != nil {
		return err
	}
	return s.Accept(ctx, customerID, userID)
}

// MayActAs tells whether a key of a company may act as a user: one who has accepted the company, or one above it within
// the scope, or is new to the platform. ErrNoRows: the user does not belong to the company.
func (s *Store) MayActAs(ctx context.Context, scope access.Scope, customerID, userID int64) (may bool, err error) {
	err = s.get(ctx, &may, qMayActAs, scope.From(), scope.To(), customerID, userID)
	return may, err
}

// CompaniesOf are the companies that a user belongs to.
func (s *Store) CompaniesOf(ctx context.Context, userID int64) (ids []int64, err error) {
	err = s.list(ctx, &ids, qCompaniesOf, userID)
	return ids, err
}

// MemberToInvite gives the membership that a user is invited for again: that of the named company, or else the
// oldest one within the scope. ErrNoRows: there is none.
func (s *Store) MemberToInvite(ctx context.Context, scope access.Scope, userID, customerID int64) (*Member, error) {
	m := &Member{}
	err := s.get(ctx, m, qMemberToInvite, scope.From(), scope.To(), userID, customerID)
	return m, err
}
