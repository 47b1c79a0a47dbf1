package db

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/globalid"
)

// User is a person as the companies within a scope know it: as it is by one that it has accepted, and otherwise as
// entered there, as if it were new. An e-mail address is one user's, without regard to case, across all companies.
type User struct {
	ID          int64     `db:"id"`
	Email       string    `db:"email"`
	FirstName   string    `db:"first_name" audit:"firstName"`
	LastName    string    `db:"last_name" audit:"lastName"`
	CreatedAt   time.Time `db:"created_at"`
	Version     int       `db:"row_version"`
	HasPassword bool      `db:"has_password"`
	OTPMethod   string    `db:"otp_method"`

	siblings
}

// GlobalID is the node id of the user.
func (u *User) GlobalID() globalid.ID { return globalid.ID{Type: "User", Int: u.ID} }

// Name is the user's full name.
func (u *User) Name() string { return fullName(u.FirstName, u.LastName) }

func (u *User) key() int64 { return u.ID }

// Person is a user as the platform itself knows it, whoever has accepted whom.
type Person struct {
	ID          int64 `db:"id"`
	HasPassword bool  `db:"has_password"`
	// Made tells that EnsureUser has just made the person.
	Made bool `db:"made"`
}

var userColumns = sent[User]("u")

// seenColumns are the columns of the user o as a membership knows it.
func seenColumns(membership string) string {
	return strings.ReplaceAll(`o.id, CASE WHEN m.accepted_at IS NULL THEN m.email ELSE o.email END AS email,
			CASE WHEN m.accepted_at IS NULL THEN m.first_name ELSE o.first_name END AS first_name,
			CASE WHEN m.accepted_at IS NULL THEN m.last_name ELSE o.last_name END AS last_name,
			CASE WHEN m.accepted_at IS NULL THEN m.created_at ELSE o.created_at END AS created_at,
			m.accepted_at IS NOT NULL AND o.password_hash IS NOT NULL AS has_password,
			CASE WHEN m.accepted_at IS NULL THEN 'none' ELSE o.otp_method END AS otp_method,
			m.row_version + CASE WHEN m.accepted_at IS NULL THEN 0 ELSE o.row_version END AS row_version`, "m.", membership+".")
}

// seenFirst is the order of a user's memberships m within a scope, by the first of which the user is seen.
const seenFirst = `m.accepted_at IS NULL, m.created_at, m.customer_id`

// seen selects the user of an id as it is known within the scope; no row where no company in it has the user. Whatever
// lists, filters or orders users for somebody does so by these columns.
func seen(id string) string {
	return `
		SELECT ` + seenColumns("m") + `
		FROM memberships m JOIN users o ON o.id = m.user_id WHERE m.user_id = ` + id + ` AND ` + memberInScope + `
		ORDER BY ` + seenFirst + ` LIMIT 1`
}

const personColumns = `u.id, u.password_hash IS NOT NULL AS has_password`

var (
	qUsersByID = prepare(`SELECT ` + userColumns + ` FROM unnest($3::bigint[]) k(id) CROSS JOIN LATERAL (` + seen("k.id") + `) u`)
	// Who has left is seen as the company knew the person that was left last. Who was erased is seen by everyone, since there is nothing to see.
	qActorsByID = prepare(`SELECT ` + userColumns + ` FROM unnest($3::bigint[]) k(id) CROSS JOIN LATERAL (SELECT * FROM (
		(SELECT s.*, 1 AS rank FROM (` + seen("k.id") + `) s) UNION ALL
		(SELECT f.user_id, f.email, f.first_name, f.last_name, f.created_at, false, 'none', 1, 2
			FROM former_members f` + joinByID("customers", "c", "f.customer_id") + ` WHERE f.user_id = k.id AND f.email <> '' AND ` + withinScope + ` ORDER BY f.id DESC LIMIT 1) UNION ALL
		(SELECT x.id, x.email, x.first_name, x.last_name, x.created_at, false, 'none', x.row_version, 3 FROM users x WHERE x.id = k.id AND x.erased_at IS NOT NULL)
		) known ORDER BY rank LIMIT 1) u`)
	qUserForUpdate = prepare(`SELECT ` + personColumns + ` FROM users u WHERE u.id = $1 AND u.erased_at IS NULL FOR UPDATE`)
	qHoldPeople    = prepare(`SELECT id FROM users WHERE id = ANY ($1::bigint[]) AND erased_at IS NULL ORDER BY id FOR KEY SHARE`)
	qLastAccess    = prepare(`
		SELECT p.user_id AS id, max(p.last_access) AS value
		FROM permissions p` + joinByID("accounts", "a", "p.account_id") + joinByID("customers", "c", "a.customer_id") + `
		WHERE p.user_id = ANY($3) AND ` + withinScope + ` GROUP BY p.user_id`)
	qEnsureUser = prepare(`
		WITH there AS (SELECT ` + personColumns + ` FROM users u WHERE lower(u.email) = lower($1)),
		made AS (
			INSERT INTO users AS u (email, first_name, last_name) SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT FROM there)
			ON CONFLICT (lower(email)) DO NOTHING RETURNING ` + personColumns + `)
		SELECT there.*, false AS made FROM there UNION ALL SELECT made.*, true FROM made`)
)

var (
	usersByID  = rowsBy(qUsersByID, scoped, (*User).key)
	actorsByID = rowsBy(qActorsByID, scoped, (*User).key)

	customerUsers     = edgeBy((*Customer).key, pagesOf[User](members))
	customerUserCount = edgeBy((*Customer).key, countsOf(members))
	userCustomers     = edgeBy((*User).key, pagesOf[Customer](customersOfUser))
	userCustomerCount = edgeBy((*User).key, countsOf(customersOfUser))
	userLastAccess    = edgeBy((*User).key, valueOf[*time.Time](qLastAccess, scoped))
)

// User reads one user who is a member of a company within the scope.
func (s *Store) User(ctx context.Context, scope access.Scope, id int64) (*User, error) {
	return one(ctx, s, usersByID, scope, id)
}

// Actor reads one user who is or was a member of a company within the scope, or was erased: one who may have done something there.
func (s *Store) Actor(ctx context.Context, scope access.Scope, id int64) (*User, error) {
	return one(ctx, s, actorsByID, scope, id)
}

// LockUser holds a user's row until the transaction ends; ErrNoRows when it was erased. It takes no scope: the caller of this
// package has found the user within its own before.
func (s *Store) LockUser(ctx context.Context, id int64) (*Person, error) {
	u := &Person{}
	err := s.get(ctx, u, qUserForUpdate, id)
	return u, err
}

// HoldPeople keeps users from being held by LockUser, and waits until they are not, until the transaction ends. Others may hold them so at the same time. It gives
// those who were not erased.
func (s *Store) HoldPeople(ctx context.Context, ids ...int64) (held []int64, err error) {
	err = s.list(ctx, &held, qHoldPeople, pq.Int64Array(ids))
	return held, err
}

// Users is a page of the members of a company within the scope.
func (c *Customer) Users(ctx context.Context, s *Store, scope access.Scope, a Ask) ([]*User, error) {
	return follow(ctx, s, c, customerUsers, scopedAsk{scope, a})
}

// UserCount counts the members of a company within the scope.
func (c *Customer) UserCount(ctx context.Context, s *Store, scope access.Scope, a Ask) (int, error) {
	return follow(ctx, s, c, customerUserCount, scopedAsk{scope, a})
}

// Customers is a page of the companies within the scope that a user is a member of.
func (u *User) Customers(ctx context.Context, s *Store, scope access.Scope, a Ask) ([]*Customer, error) {
	return follow(ctx, s, u, userCustomers, scopedAsk{scope, a})
}

// CustomerCount counts the companies within the scope that a user is a member of.
func (u *User) CustomerCount(ctx context.Context, s *Store, scope access.Scope, a Ask) (int, error) {
	return follow(ctx, s, u, userCustomerCount, scopedAsk{scope, a})
}

// LastAccess is when the user last used a permission within the scope; nil when never.
func (u *User) LastAccess(ctx context.Context, s *Store, scope access.Scope) (*time.Time, error) {
	return follow(ctx, s, u, userLastAccess, scope)
}

// EnsureUser gives the user of an e-mail address, making it as it is given if there is none. Two callers at once get
// the same user.
func (s *Store) EnsureUser(ctx context.Context, as Given) (*Person, error) {
	u := &Person{}
	err := s.get(ctx, u, qEnsureUser, as.Email, as.FirstName, as.LastName)
	if errors.Is(err, ErrNoRows) { // another made it meanwhile
		err = s.get(ctx, u, qEnsureUser, as.Email, as.FirstName, as.LastName)
	}
	return u, err
}
