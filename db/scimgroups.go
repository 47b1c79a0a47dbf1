package db

import "context"

// ScimGroup is a role on an account of a company, as a directory sees it.
type ScimGroup struct {
	AccountID   int64  `db:"account_id"`
	Application string `db:"application"`
	RoleID      int64  `db:"role_id"`
	RoleName    string `db:"role_name"`
	// Several tells that the company has other open accounts for the application.
	Several bool `db:"several"`
}

// ScimMember has a role on an account.
type ScimMember struct {
	AccountID int64 `db:"account_id"`
	RoleID    int64 `db:"role_id"`
	UserID    int64 `db:"user_id"`
}

// scimGroups selects the roles on the open accounts of the company $1.
var scimGroups = `
	WITH a AS (
		SELECT a.id, i.application_id, count(*) OVER (PARTITION BY i.application_id) > 1 AS several
		FROM accounts a` + instanceOf + `WHERE a.customer_id = $1 AND NOT a.disabled)
	SELECT a.id AS account_id, a.several, p.code AS application, r.id AS role_id, r.name AS role_name
	FROM a` + joinByID("applications", "p", "a.application_id") + `
	JOIN roles r ON r.application_id = a.application_id AND COALESCE(r.customer_id, 0) = ANY (ARRAY[0, $1::bigint])
	WHERE true `

var (
	qScimGroups = prepare(scimGroups + `ORDER BY a.id, r.id LIMIT $2`)
	qScimGroup  = prepare(scimGroups + `AND a.id = $2 AND r.id = $3`)
	// An account is read whole: its people are found by it, and not by roles that all companies have.
	qScimMembers = prepare(`
		SELECT p.account_id, p.role_id, p.user_id FROM (SELECT * FROM permissions WHERE account_id = ANY ($1::bigint[]) OFFSET 0) p
		WHERE p.role_id = ANY ($2::bigint[]) ORDER BY p.account_id, p.role_id, p.user_id LIMIT $3`)
	qScimMemberships = prepare(`
		SELECT p.account_id, p.role_id, p.user_id FROM (SELECT * FROM permissions WHERE user_id = ANY ($2::bigint[]) OFFSET 0) p` + joinByID("accounts", "a", "p.account_id") + `
		WHERE a.customer_id = $1`)
	qScimPermissions = prepare(`
		SELECT ` + permissionColumns + ` FROM (SELECT * FROM permissions WHERE account_id = $1 AND user_id = ANY ($2::bigint[]) OFFSET 0) p` + permissionJoins + `ORDER BY p.user_id`)
	qScimOthers = prepare(`
		SELECT ` + permissionColumns + ` FROM (
			SELECT * FROM (SELECT * FROM permissions WHERE account_id = $1 OFFSET 0) x WHERE role_id = $2 AND user_id <> ALL (COALESCE($3::bigint[], '{}')) ORDER BY user_id LIMIT $4) p` + permissionJoins + `ORDER BY p.user_id`)
)

// ScimGroups are the roles on the open accounts of a company, at most limit of them.
func (s *Store) ScimGroups(ctx context.Context, customerID int64, limit int) (rows []*ScimGroup, err error) {
	err = s.list(ctx, &rows, qScimGroups, customerID, limit)
	return rows, err
}

// ScimGroup is a role on an open account of a company; ErrNoRows where there is none.
func (s *Store) ScimGroup(ctx context.Context, customerID, accountID, roleID int64) (*ScimGroup, error) {
	g := &ScimGroup{}
	err := s.get(ctx, g, qScimGroup, customerID, accountID, roleID)
	return g, err
}

// ScimMembers are those who have one of the roles on one of the accounts, at most limit of them.
func (s *Store) ScimMembers(ctx context.Context, accounts, roles []int64, limit int) (rows []*ScimMember, err error) {
	err = s.list(ctx, &rows, qScimMembers, accounts, roles, limit)
	return rows, err
}

// ScimMemberships are what users have on the accounts of a company.
func (s *Store) ScimMemberships(ctx context.Context, customerID int64, users []int64) (rows []*ScimMember, err error) {
	err = s.list(ctx, &rows, qScimMemberships, customerID, users)
	return rows, err
}

// ScimPermissions are what users have on an account, by the user.
func (s *Store) ScimPermissions(ctx context.Context, accountID int64, users []int64) (rows []*Permission, err error) {
	err = s.list(ctx, &rows, qScimPermissions, accountID, users)
	return rows, err
}

// ScimOthers are the permissions of a role on an account, but for those of some users, at most limit of them.
func (s *Store) ScimOthers(ctx context.Context, accountID, roleID int64, but []int64, limit int) (rows []*Permission, err error) {
	err = s.list(ctx, &rows, qScimOthers, accountID, roleID, but, limit)
	return rows, err
}
