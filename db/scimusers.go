package db

import (
	"context"
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
	Disabled  pq.Int64Array `db:"disabled"`
	CreatedAt time.Time     `db:"created_at"`
	ChangedAt time.Time     `db:"changed_at"`
}

// scimUserOf selects members of the company $1, of memberships m.
const scimUserOf = `
	SELECT m.user_id AS id, CASE WHEN m.accepted_at IS NULL THEN m.email ELSE u.email END AS email,
		CASE WHEN m.accepted_at IS NULL THEN m.first_name ELSE u.first_name END AS first_name,
		CASE WHEN m.accepted_at IS NULL THEN m.last_name ELSE u.last_name END AS last_name,
		x.external_id, COALESCE(x.active, true) AS active, COALESCE(x.disabled, '{}') AS disabled, m.created_at, COALESCE(x.changed_at, m.created_at) AS changed_at
	FROM m CROSS JOIN LATERAL (SELECT * FROM users WHERE id = m.user_id OFFSET 0) u
	LEFT JOIN LATERAL (SELECT * FROM scim_users WHERE customer_id = m.customer_id AND user_id = m.user_id OFFSET 0) x ON true `

var (
	qScimUser        = prepare(`WITH m AS (SELECT * FROM memberships WHERE customer_id = $1 AND user_id = $2)` + scimUserOf)
	qScimUserByEmail = prepare(`
		WITH m AS (SELECT * FROM memberships WHERE customer_id = $1 AND user_id = (SELECT id FROM users WHERE lower(email) = lower($2) AND erased_at IS NULL))` + scimUserOf)
	qScimUserByExternal = prepare(`
		WITH m AS (SELECT * FROM memberships WHERE customer_id = $1 AND user_id = (SELECT user_id FROM scim_users WHERE customer_id = $1 AND external_id = $2))` + scimUserOf)
	qScimUsers = prepare(`
		WITH m AS (SELECT * FROM memberships WHERE customer_id = $1 ORDER BY user_id OFFSET $2 LIMIT $3)` + scimUserOf + `ORDER BY m.user_id`)
	qScimUserCount = prepare(`SELECT count(*) FROM memberships WHERE customer_id = $1`)
	qSetScimUser   = prepare(`
		INSERT INTO scim_users (customer_id, user_id, external_id, active, disabled) VALUES ($1, $2, $3, $4, COALESCE($5::bigint[], '{}'))
		ON CONFLICT (customer_id, user_id) DO UPDATE SET external_id = excluded.external_id, active = excluded.active, disabled = excluded.disabled, changed_at = now()`)
	// A company's accounts with the roles that can be given there.
	qScimGroups = prepare(`
		SELECT a.id AS account_id, a.name AS account_name, p.code AS application, r.id AS role_id, r.name AS role_name
		FROM accounts a` + instanceOf + joinByID("applications", "p", "i.application_id") + `
		JOIN roles r ON r.application_id = i.application_id AND (r.customer_id IS NULL OR r.customer_id = $1)
		WHERE a.customer_id = $1 AND NOT a.disabled ORDER BY a.id, r.id`)
	qScimMembers = prepare(`
		SELECT p.user_id, p.id AS permission_id, m.email FROM (SELECT * FROM permissions WHERE account_id = $1 AND role_id = $2 OFFSET 0) p
		JOIN memberships m ON m.customer_id = $3 AND m.user_id = p.user_id ORDER BY p.user_id LIMIT $4`)
	qScimPermission = prepare(`SELECT p.user_id, p.id AS permission_id, '' AS email, p.role_id FROM permissions p WHERE p.account_id = $1 AND p.user_id = $2`)
)

// ScimUsersExternal is the constraint that one member of a company has an external id.
const ScimUsersExternal = "scim_users_external"

// ScimUser reads a member of a company.
func (s *Store) ScimUser(ctx context.Context, customerID, userID int64) (*ScimUser, error) {
	u := &ScimUser{}
	err := s.get(ctx, u, qScimUser, customerID, userID)
	return u, err
}

// ScimUserByEmail finds a member of a company by the address.
func (s *Store) ScimUserByEmail(ctx context.Context, customerID int64, email string) (*ScimUser, error) {
	u := &ScimUser{}
	err := s.get(ctx, u, qScimUserByEmail, customerID, email)
	return u, err
}

// ScimUserByExternal finds a member of a company by what the directory calls it.
func (s *Store) ScimUserByExternal(ctx context.Context, customerID int64, external string) (*ScimUser, error) {
	u := &ScimUser{}
	err := s.get(ctx, u, qScimUserByExternal, customerID, external)
	return u, err
}

// ScimUsers are members of a company by id, behind the first few, at most limit of them.
func (s *Store) ScimUsers(ctx context.Context, customerID int64, skip, limit int) (rows []*ScimUser, err error) {
	err = s.list(ctx, &rows, qScimUsers, customerID, skip, limit)
	return rows, err
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

// ScimGroup is a role on an account of a company.
type ScimGroup struct {
	AccountID   int64  `db:"account_id"`
	AccountName string `db:"account_name"`
	Application string `db:"application"`
	RoleID      int64  `db:"role_id"`
	RoleName    string `db:"role_name"`
}

// ScimGroups are the roles on the open accounts of a company.
func (s *Store) ScimGroups(ctx context.Context, customerID int64) (rows []*ScimGroup, err error) {
	err = s.list(ctx, &rows, qScimGroups, customerID)
	return rows, err
}

// ScimMember has a role on an account.
type ScimMember struct {
	UserID       int64  `db:"user_id"`
	PermissionID int64  `db:"permission_id"`
	Email        string `db:"email"`
	RoleID       int64  `db:"role_id"`
}

// ScimMembers are those who have a role on an account of a company, at most limit of them.
func (s *Store) ScimMembers(ctx context.Context, customerID int64, g *ScimGroup, limit int) (rows []*ScimMember, err error) {
	err = s.list(ctx, &rows, qScimMembers, g.AccountID, g.RoleID, customerID, limit)
	return rows, err
}

// ScimPermission is what a user has on an account; ErrNoRows where it has nothing.
func (s *Store) ScimPermission(ctx context.Context, accountID, userID int64) (*ScimMember, error) {
	m := &ScimMember{}
	err := s.get(ctx, m, qScimPermission, accountID, userID)
	return m, err
}
