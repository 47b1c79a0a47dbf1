package db

import (
	"context"

	"canopy/internal/access"
)

// The two documented listings that nest permissions, a page of each read by one
// statement: the rows come joined and in order, and are put together as they stream by.

// PermissionLine is a permission with what the listings show beside it.
type PermissionLine struct {
	Permission
	Role    Role    `db:"role"`
	Account Account `db:"account"`
	User    User    `db:"user"`
}

// UserLine is a user with all of its permissions within the scope.
type UserLine struct {
	User
	Permissions []PermissionLine
}

// AccountLine is an account with all of its permissions.
type AccountLine struct {
	Account
	Permissions []PermissionLine
}

// Lines without a permission carry zeros in its columns.
const lineColumns = `
	COALESCE(p.id, 0) AS "p.id", COALESCE(p.disabled, false) AS "p.disabled", p.last_access AS "p.last_access",
	COALESCE(p.created_at, 'epoch') AS "p.created_at", COALESCE(cr.id, 0) AS "p.creator_id", ` + creatorEmail + ` AS "p.creator_email",
	COALESCE(r.id, 0) AS "p.role.id", COALESCE(r.application_id, 0) AS "p.role.application_id", r.customer_id AS "p.role.customer_id",
	COALESCE(r.name, '') AS "p.role.name", COALESCE(r.description, '') AS "p.role.description",
	COALESCE(r.is_owner, false) AS "p.role.is_owner", COALESCE(r.features, '{}') AS "p.role.features",
	COALESCE(r.created_at, 'epoch') AS "p.role.created_at"`

var (
	qUserLines = prepare(`
		SELECT ` + userColumns + `, ` + lineColumns + `,
			COALESCE(a.id, 0) AS "p.account.id", COALESCE(a.name, '') AS "p.account.name",
			COALESCE(a.customer_id, 0) AS "p.account.customer_id", COALESCE(a.disabled, false) AS "p.account.disabled",
			COALESCE(i.application_id, 0) AS "p.application_id", COALESCE(i.region_id, 0) AS "p.region_id",
			COALESCE(i.active, false) AS "p.instance_active"
		FROM (SELECT m.user_id FROM memberships m WHERE m.customer_id = $3 AND m.user_id > $4 ORDER BY m.user_id LIMIT $5) n
		CROSS JOIN LATERAL (` + seen("n.user_id") + `) u
		LEFT JOIN LATERAL (SELECT p.* FROM permissions p` + joinByID("accounts", "a", "p.account_id") + joinByID("customers", "c", "a.customer_id") + `
			WHERE p.user_id = u.id AND ` + withinScope + ` OFFSET 0) p ON true` +
		leftByID("accounts", "a", "p.account_id") + leftByID("app_instances", "i", "a.app_instance_id") +
		leftByID("roles", "r", "p.role_id") + leftByID("users", "cr", "p.created_by") + `
		ORDER BY u.id, p.id`)
	qAccountLines = prepare(`
		SELECT ` + accountColumns + `, ` + lineColumns + `,
			i.application_id AS "p.application_id", i.region_id AS "p.region_id", i.active AS "p.instance_active",
			COALESCE(u.id, 0) AS "p.user.id", COALESCE(u.email, '') AS "p.user.email", COALESCE(u.first_name, '') AS "p.user.first_name",
			COALESCE(u.last_name, '') AS "p.user.last_name", COALESCE(u.created_at, 'epoch') AS "p.user.created_at"
		FROM unnest($3::bigint[]) n(id)` + joinByID("accounts", "a", "n.id") + instanceOf + `
		LEFT JOIN LATERAL (SELECT * FROM permissions WHERE account_id = a.id OFFSET 0) p ON true` +
		leftByID("roles", "r", "p.role_id") + leftByID("users", "cr", "p.created_by") + `
		LEFT JOIN LATERAL (` + seen("p.user_id") + `) u ON true
		ORDER BY a.id, p.id`)
)

type joinedUser struct {
	User
	P PermissionLine `db:"p"`
}

type joinedAccount struct {
	Account
	P PermissionLine `db:"p"`
}

// userLines are the members of a company by id, each with its permissions within the scope.
func userLines(scope access.Scope, customerID int64) wholeList[UserLine, int64] {
	return wholeList[UserLine, int64]{
		scope: scope,
		place: func(l *UserLine) int64 { return l.ID },
		read: func(ctx context.Context, s *Store, after int64, limit int) (lines []*UserLine, err error) {
			err = stream(ctx, s, func(r *joinedUser) error {
				if len(lines) == 0 || lines[len(lines)-1].ID != r.ID {
					lines = append(lines, &UserLine{User: r.User})
				}
				if r.P.ID != 0 {
					l := lines[len(lines)-1]
					l.Permissions = append(l.Permissions, r.P)
				}
				return nil
			}, qUserLines, scope.From(), scope.To(), customerID, after, limit)
			return lines, err
		},
	}
}

// withPermissions gives accounts with their permissions, whose users are as they are known within the scope.
func (s *Store) withPermissions(ctx context.Context, scope access.Scope, accounts []*Account) ([]*AccountLine, error) {
	ids, lines, unseen := make([]int64, len(accounts)), make([]*AccountLine, len(accounts)), false
	of := make(map[int64]*AccountLine, len(accounts))
	for i, a := range accounts {
		ids[i], lines[i] = a.ID, &AccountLine{Account: *a}
		of[a.ID] = lines[i]
	}
	err := stream(ctx, s, func(r *joinedAccount) error {
		if l := of[r.ID]; r.P.ID != 0 {
			l.Permissions = append(l.Permissions, r.P)
			unseen = unseen || r.P.User.ID == 0
		}
		return nil
	}, qAccountLines, scope.From(), scope.To(), ids)
	if err == nil && unseen { // nobody of a company that was moved is seen from its old place
		err = s.Stands(ctx, scope)
	}
	return lines, err
}

// StreamUsers gives the members of a company by id, from after the id on, at most limit of them
// (0: all), each with its permissions within the scope.
func (s *Store) StreamUsers(ctx context.Context, scope access.Scope, customerID, after int64, limit int, each func(*UserLine) error) error {
	return userLines(scope, customerID).each(ctx, s, after, limit, each)
}
