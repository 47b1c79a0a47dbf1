package db

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lib/pq"
)

// ScimUser is a member of a company as a directory sees it.
type ScimUser struct {
	ID         int64   `db:"id"`
	Email      string  `db:"email"`
	FirstName  string  `db:"first_name"`
	LastName   string  `db:"last_name"`
	ExternalID *string `db:"external_id"`
	Active     bool    `db:"active"`
	// Disabled are the permissions that were taken away when the user was made inactive.
	Disabled pq.Int64Array `db:"disabled"`
	// Accepted: the person has accepted the company.
	Accepted  bool      `db:"accepted"`
	CreatedAt time.Time `db:"created_at"`
	ChangedAt time.Time `db:"changed_at"`
}

// scimUserOf selects members of the company $1, of memberships m.
const scimUserOf = `
	SELECT m.user_id AS id, CASE WHEN m.accepted_at IS NULL THEN m.email ELSE u.email END AS email,
		CASE WHEN m.accepted_at IS NULL THEN m.first_name ELSE u.first_name END AS first_name,
		CASE WHEN m.accepted_at IS NULL THEN m.last_name ELSE u.last_name END AS last_name,
		x.external_id, COALESCE(x.active, true) AS active, COALESCE(x.disabled, '{}') AS disabled, m.accepted_at IS NOT NULL AS accepted, m.created_at, COALESCE(x.changed_at, m.created_at) AS changed_at
	FROM m CROSS JOIN LATERAL (SELECT * FROM users WHERE id = m.user_id OFFSET 0) u
	LEFT JOIN LATERAL (SELECT * FROM scim_users WHERE customer_id = m.customer_id AND user_id = m.user_id OFFSET 0) x ON true `

var (
	qScimUser = prepare(`WITH m AS (SELECT * FROM memberships WHERE customer_id = $1 AND user_id = $2)` + scimUserOf)
	// Of who has not accepted, the company goes on seeing the address that it has entered, also where the person has another one by now: that is found by its words.
	qScimUsersByEmail = prepare(`
		WITH words AS (
			SELECT ('''' || NULLIF(array_to_string(tsvector_to_array(words_in(limb_of(lineage), $2)), ''' & '''), '') || '''')::tsquery AS query FROM customers WHERE id = $1),
		m AS (SELECT * FROM memberships WHERE customer_id = $1 AND user_id IN (
			SELECT id FROM users WHERE lower(email) = lower($2) AND erased_at IS NULL
			UNION SELECT user_id FROM member_names n
			WHERE words_in(n.limb_id, n.said) @@ (SELECT query FROM words) AND n.customer_id = $1 AND n.emailed = lower($2) COLLATE "C"))` + scimUserOf)
	qScimUserByExternal = prepare(`
		WITH m AS (SELECT * FROM memberships WHERE customer_id = $1 AND user_id = (SELECT user_id FROM scim_users WHERE customer_id = $1 AND external_id = $2))` + scimUserOf)
	qScimUsers = prepare(`
		WITH m AS (SELECT * FROM memberships WHERE customer_id = $1 AND user_id > $2 ORDER BY user_id OFFSET $3 LIMIT $4)` + scimUserOf + `ORDER BY m.user_id`)
	qScimUsersAmong = prepare(`WITH m AS (SELECT * FROM memberships WHERE customer_id = $1 AND user_id = ANY ($2::bigint[]))` + scimUserOf)
	qScimUserCount  = prepare(`SELECT count(*) FROM memberships WHERE customer_id = $1`)
	qSetScimUser    = prepare(`
		INSERT INTO scim_users (customer_id, user_id, external_id, active, disabled) VALUES ($1, $2, $3, $4, COALESCE($5::bigint[], '{}'))
		ON CONFLICT (customer_id, user_id) DO UPDATE SET external_id = excluded.external_id, active = excluded.active, disabled = excluded.disabled, changed_at = now()`)
	qDisabledByScim       = prepare(`UPDATE scim_users SET disabled = disabled || $3::bigint, changed_at = now() WHERE customer_id = $1 AND user_id = $2`)
	qRenameMemberOf       = prepare(`UPDATE memberships SET first_name = $3, last_name = $4 WHERE customer_id = $1 AND user_id = $2`)
	qHasAcceptedElsewhere = prepare(`SELECT EXISTS (SELECT FROM memberships WHERE user_id = $1 AND customer_id <> $2 AND accepted_at IS NOT NULL)`)
)

// ScimUsersExternal is the constraint that one member of a company has an external id.
const ScimUsersExternal = "scim_users_external"

// ScimUser reads a member of a company.
func (s *Store) ScimUser(ctx context.Context, customerID, userID int64) (*ScimUser, error) {
	u := &ScimUser{}
	err := s.get(ctx, u, qScimUser, customerID, userID)
	return u, err
}

// ScimUsersByEmail finds members of a company by an address: theirs, or the one that the company sees of them.
func (s *Store) ScimUsersByEmail(ctx context.Context, customerID int64, email string) (rows []*ScimUser, err error) {
	err = s.list(ctx, &rows, qScimUsersByEmail, customerID, email)
	return slices.DeleteFunc(rows, func(u *ScimUser) bool { return !strings.EqualFold(u.Email, email) }), err
}

// ScimUserByExternal finds a member of a company by what the directory calls it.
func (s *Store) ScimUserByExternal(ctx context.Context, customerID int64, external string) (*ScimUser, error) {
	u := &ScimUser{}
	err := s.get(ctx, u, qScimUserByExternal, customerID, external)
	return u, err
}

// ScimUsers are members of a company by id, of those behind after the ones behind the first few, at most limit.
func (s *Store) ScimUsers(ctx context.Context, customerID, after int64, skip, limit int) (rows []*ScimUser, err error) {
	err = s.list(ctx, &rows, qScimUsers, customerID, after, skip, limit)
	return rows, err
}

// ScimUsersAmong are those of the users who are members of a company.
func (s *Store) ScimUsersAmong(ctx context.Context, customerID int64, ids []int64) (map[int64]*ScimUser, error) {
	var rows []*ScimUser
	err := s.list(ctx, &rows, qScimUsersAmong, customerID, ids)
	users := make(map[int64]*ScimUser, len(rows))
	for _, u := range rows {
		users[u.ID] = u
	}
	return users, err
}

// ScimUserCount counts the members of a company.
func (s *Store) ScimUserCount(ctx context.Context, customerID int64) (n int, err error) {
	err = s.get(ctx, &n, qScimUserCount, customerID)
	return n, err
}

// SetScimUser writes what a directory says of a member.
func (s *Store) SetScimUser(ctx context.Context, customerID int64, u *ScimUser) error {
	return s.must(ctx, qSetScimUser, customerID, u.ID, u.ExternalID, u.Active, u.Disabled)
}

// DisabledByScim writes down that a permission of a member waits until the member is active again.
func (s *Store) DisabledByScim(ctx context.Context, customerID, userID, permissionID int64) error {
	return s.must(ctx, qDisabledByScim, customerID, userID, permissionID)
}

// RenameMemberOf writes what a company calls one of its members.
func (s *Store) RenameMemberOf(ctx context.Context, customerID, userID int64, first, last string) error {
	return s.must(ctx, qRenameMemberOf, customerID, userID, first, last)
}

// HasAcceptedElsewhere tells whether a person has accepted another company than this one.
func (s *Store) HasAcceptedElsewhere(ctx context.Context, userID, customerID int64) (has bool, err error) {
	err = s.get(ctx, &has, qHasAcceptedElsewhere, userID, customerID)
	return has, err
}
