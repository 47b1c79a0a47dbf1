package db

import (
	"context"
	"errors"
	"strings"
	"time"

	"canopy/internal/access"
	"canopy/internal/globalid"
	"canopy/internal/paging"
)

// User is a person. An e-mail address is one user's, without regard to case, across all companies.
type User struct {
	ID          int64     `db:"id"`
	Email       string    `db:"email"`
	FirstName   string    `db:"first_name"`
	LastName    string    `db:"last_name"`
	CreatedAt   time.Time `db:"created_at"`
	HasPassword bool      `db:"has_password,joined"`
	OTPMethod   string    `db:"otp_method"`
	// Via is the company that the user was reached from, when an edge led here.
	Via int64 `db:"via,joined"`

	siblings
}

// GlobalID is the node id of the user.
func (u *User) GlobalID() globalid.ID { return globalid.ID{Type: "User", Int: u.ID} }

// Name is the user's full name.
func (u *User) Name() string { return strings.TrimSpace(u.FirstName + " " + u.LastName) }

func (u *User) key() int64 { return u.ID }

var userColumns = columns[User]("u") + `, u.password_hash IS NOT NULL AS has_password`

// visible bounds user u by the scope: a member of a company in it.
const visible = `EXISTS (SELECT 1 FROM memberships m JOIN customers c ON c.id = m.customer_id
	WHERE m.user_id = u.id AND ` + inScope + `)`

var (
	qUsersByID     = prepare(`SELECT ` + userColumns + ` FROM users u WHERE u.id = ANY($3) AND ` + visible)
	qUserForUpdate = prepare(`SELECT ` + userColumns + ` FROM users u WHERE u.id = $1 FOR UPDATE`)
	qUserByEmail   = prepare(`SELECT ` + userColumns + ` FROM users u WHERE lower(u.email) = lower($1)`)
	qUsersOf       = prepare(`
		SELECT k.id AS via, u.* FROM unnest($1::bigint[]) k(id) CROSS JOIN LATERAL (
			SELECT ` + userColumns + ` FROM memberships m JOIN users u ON u.id = m.user_id
			WHERE m.customer_id = k.id AND m.user_id > $2 ORDER BY m.user_id LIMIT $3) u
		ORDER BY k.id, u.id`)
	qUserCounts = prepare(`
		SELECT customer_id AS id, count(*) AS value FROM memberships WHERE customer_id = ANY($1) GROUP BY customer_id`)
	qCustomersOf = prepare(`
		SELECT k.id AS via, c.* FROM unnest($3::bigint[]) k(id) CROSS JOIN LATERAL (
			SELECT ` + customerColumns + ` FROM memberships m JOIN customers c ON c.id = m.customer_id
			WHERE m.user_id = k.id AND c.id > $4 AND ` + inScope + ` ORDER BY c.id LIMIT $5) c
		ORDER BY k.id, c.id`)
	qCustomerCounts = prepare(`
		SELECT m.user_id AS id, count(*) AS value FROM memberships m JOIN customers c ON c.id = m.customer_id
		WHERE m.user_id = ANY($3) AND ` + inScope + ` GROUP BY m.user_id`)
	qLastAccess = prepare(`
		SELECT p.user_id AS id, max(p.last_access) AS value
		FROM permissions p JOIN accounts a ON a.id = p.account_id JOIN customers c ON c.id = a.customer_id
		WHERE p.user_id = ANY($3) AND ` + inScope + ` GROUP BY p.user_id`)
	qInsertUser = prepare(`
		INSERT INTO users AS u (email, first_name, last_name) VALUES ($1, $2, $3)
		ON CONFLICT (lower(email)) DO NOTHING RETURNING ` + userColumns)
	qAddMember = prepare(`
		INSERT INTO memberships (customer_id, user_id) VALUES ($1, $2) ON CONFLICT (customer_id, user_id) DO NOTHING`)
	qHoldMembership = prepare(`
		INSERT INTO memberships (customer_id, user_id, added) VALUES ($1, $2, false)
		ON CONFLICT (customer_id, user_id) DO UPDATE SET added = memberships.added`)
	qLockMembership = prepare(`SELECT added FROM memberships WHERE customer_id = $1 AND user_id = $2 FOR UPDATE`)
	qDropMembership = prepare(`
		DELETE FROM memberships m WHERE m.customer_id = $1 AND m.user_id = $2 AND NOT m.added
		AND NOT EXISTS (SELECT 1 FROM permissions p JOIN accounts a ON a.id = p.account_id
			WHERE p.user_id = m.user_id AND a.customer_id = m.customer_id)`)
	qIsMember = prepare(`SELECT EXISTS (SELECT 1 FROM memberships WHERE customer_id = $1 AND user_id = $2)`)
)

var (
	usersByID = rowsBy(qUsersByID, scoped, (*User).key)

	customerUsers     = edgeBy((*Customer).key, listsBy(qUsersOf, fromID, func(u *User) int64 { return u.Via }))
	customerUserCount = edgeBy((*Customer).key, valueOf[int](qUserCounts, onlyIDs))
	userCustomers     = edgeBy((*User).key, listsBy(qCustomersOf, scopedPage.args, via))
	userCustomerCount = edgeBy((*User).key, valueOf[int](qCustomerCounts, scoped))
	userLastAccess    = edgeBy((*User).key, valueOf[*time.Time](qLastAccess, scoped))
)

// User reads one user who is a member of a company within the scope.
func (s *Store) User(ctx context.Context, scope access.Scope, id int64) (*User, error) {
	return one(ctx, s, usersByID, scope, id)
}

// LockUser holds a user's row until the transaction ends. It takes no scope: the caller of this
// package has found the user within its own before.
func (s *Store) LockUser(ctx context.Context, id int64) (*User, error) {
	u := &User{}
	err := s.get(ctx, u, qUserForUpdate, id)
	return u, err
}

// Users is a page of the members of a company, by id.
func (c *Customer) Users(ctx context.Context, s *Store, p paging.Page) ([]*User, error) {
	return follow(ctx, s, c, customerUsers, p)
}

// UserCount counts the members of a company.
func (c *Customer) UserCount(ctx context.Context, s *Store) (int, error) {
	return follow(ctx, s, c, customerUserCount, none{})
}

// Customers is a page of the companies within the scope that a user is a member of.
func (u *User) Customers(ctx context.Context, s *Store, scope access.Scope, p paging.Page) ([]*Customer, error) {
	return follow(ctx, s, u, userCustomers, scopedPage{scope, p})
}

// CustomerCount counts the companies within the scope that a user is a member of.
func (u *User) CustomerCount(ctx context.Context, s *Store, scope access.Scope) (int, error) {
	return follow(ctx, s, u, userCustomerCount, scope)
}

// LastAccess is when the user last used a permission within the scope; nil when never.
func (u *User) LastAccess(ctx context.Context, s *Store, scope access.Scope) (*time.Time, error) {
	return follow(ctx, s, u, userLastAccess, scope)
}

// EnsureUser gives the user of an e-mail address, making it if there is none; made tells which.
// Two callers at once get the same user.
func (s *Store) EnsureUser(ctx context.Context, email, firstName, lastName string) (u *User, made bool, err error) {
	u = &User{}
	if err = s.get(ctx, u, qUserByEmail, email); !errors.Is(err, ErrNoRows) {
		return u, false, err
	}
	err = s.get(ctx, u, qInsertUser, email, firstName, lastName)
	switch {
	case err == nil:
		return u, true, nil
	case errors.Is(err, ErrNoRows):
		return u, false, s.get(ctx, u, qUserByEmail, email)
	}
	return u, false, err
}

// AddMember puts a user into a company by name; false when it is there already.
func (s *Store) AddMember(ctx context.Context, customerID, userID int64) (bool, error) {
	n, err := s.exec(ctx, qAddMember, customerID, userID)
	return n == 1, err
}

// IsMember tells whether a user belongs to a company, by name or by a permission.
func (s *Store) IsMember(ctx context.Context, customerID, userID int64) (member bool, err error) {
	err = s.get(ctx, &member, qIsMember, customerID, userID)
	return member, err
}

// holdMembership makes a user who gets a permission in a company a member of it.
func (s *Store) holdMembership(ctx context.Context, customerID, userID int64) error {
	_, err := s.exec(ctx, qHoldMembership, customerID, userID)
	return err
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
