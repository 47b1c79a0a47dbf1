package db

import (
	"context"

	"canopy/internal/access"
)

// The two documented listings that nest permissions, each read by one statement whatever its
// length: the rows come joined and in order, and are put together as they stream by.

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
	COALESCE(p.created_at, 'epoch') AS "p.created_at", COALESCE(cr.id, 0) AS "p.creator_id", COALESCE(cr.email, '') AS "p.creator_email",
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
		FROM (SELECT m.user_id FROM memberships m WHERE m.customer_id = $3 AND m.user_id > $4 ORDER BY m.user_id LIMIT $5) m
		JOIN users u ON u.id = m.user_id
		LEFT JOIN (permissions p
			JOIN accounts a ON a.id = p.account_id
			JOIN customers c ON c.id = a.customer_id AND ` + inScope + `
			JOIN app_instances i ON i.id = a.app_instance_id
			JOIN roles r ON r.id = p.role_id
			LEFT JOIN users cr ON cr.id = p.created_by) ON p.user_id = u.id
		ORDER BY u.id, p.id`)
	qAccountLines = prepare(`
		SELECT ` + accountColumns + `, ` + lineColumns + `,
			i.application_id AS "p.application_id", i.region_id AS "p.region_id", i.active AS "p.instance_active",
			COALESCE(u.id, 0) AS "p.user.id", COALESCE(u.email, '') AS "p.user.email", COALESCE(u.first_name, '') AS "p.user.first_name",
			COALESCE(u.last_name, '') AS "p.user.last_name", COALESCE(u.created_at, 'epoch') AS "p.user.created_at"
		FROM (SELECT * FROM accounts a WHERE a.customer_id = $1 AND a.id > $2 ORDER BY a.id LIMIT $3) a
		JOIN app_instances i ON i.id = a.app_instance_id
		LEFT JOIN (permissions p
			JOIN roles r ON r.id = p.role_id
			JOIN users u ON u.id = p.user_id
			LEFT JOIN users cr ON cr.id = p.created_by) ON p.account_id = a.id
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

// StreamUsers gives the members of a company by id, from after the id on, at most limit of them
// (0: all), each with its permissions within the scope.
func (s *Store) StreamUsers(ctx context.Context, scope access.Scope, customerID, after int64, limit int, each func(*UserLine) error) error {
	g := gather[UserLine]{each: each}
	return g.run(s.untimed(ctx, limit, func(s *Store) error {
		return stream(ctx, s, func(r *joinedUser) error {
			if g.open == nil || g.open.ID != r.ID {
				if err := g.next(&UserLine{User: r.User}); err != nil {
					return err
				}
			}
			if r.P.ID != 0 {
				g.open.Permissions = append(g.open.Permissions, r.P)
			}
			return nil
		}, qUserLines, scope.From(), scope.To(), customerID, after, noLimit(limit))
	}))
}

// StreamAccounts gives the accounts of a company by id, from after the id on, at most limit of
// them (0: all), each with its permissions.
func (s *Store) StreamAccounts(ctx context.Context, customerID, after int64, limit int, each func(*AccountLine) error) error {
	g := gather[AccountLine]{each: each}
	return g.run(s.untimed(ctx, limit, func(s *Store) error {
		return stream(ctx, s, func(r *joinedAccount) error {
			if g.open == nil || g.open.ID != r.ID {
				if err := g.next(&AccountLine{Account: r.Account}); err != nil {
					return err
				}
			}
			if r.P.ID != 0 {
				g.open.Permissions = append(g.open.Permissions, r.P)
			}
			return nil
		}, qAccountLines, customerID, after, noLimit(limit))
	}))
}

// gather hands each row on when the next one begins.
type gather[T any] struct {
	open *T
	each func(*T) error
}

func (g *gather[T]) next(row *T) error {
	done := g.open
	g.open = row
	if done == nil {
		return nil
	}
	return g.each(done)
}

func (g *gather[T]) run(err error) error {
	if err != nil {
		return err
	}
	return g.next(nil)
}
