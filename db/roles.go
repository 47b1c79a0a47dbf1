package db

import (
	"context"
	"time"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/globalid"
)

// Role is a named set of rights in one application: system-wide, or a company's own.
type Role struct {
	ID            int64          `db:"id"`
	ApplicationID int64          `db:"application_id" audit:"application"`
	CustomerID    *int64         `db:"customer_id"`
	Name          string         `db:"name" audit:"name"`
	Description   string         `db:"description" audit:"description"`
	IsOwner       bool           `db:"is_owner" audit:"isOwner"`
	Features      pq.StringArray `db:"features" audit:"features"`
	CreatedAt     time.Time      `db:"created_at"`
	Version       int            `db:"row_version"`

	siblings
}

// GlobalID is the node id of the role.
func (r *Role) GlobalID() globalid.ID { return globalid.ID{Type: "Role", Int: r.ID} }

var roleColumns = columns[Role]("r")

// rolesToGive holds the roles r of each application x that companies of some ids can give: the system-wide ones, and
// their own.
func rolesToGive(companies string) string {
	return `applications x CROSS JOIN unnest(0::bigint || ` + companies + `) by(id) CROSS JOIN LATERAL (
			SELECT * FROM roles WHERE application_id = x.id AND COALESCE(customer_id, 0) = by.id OFFSET 0) r`
}

var (
	// A role is in scope when it is system-wide or its company is.
	roleInScope = `(r.customer_id IS NULL OR EXISTS (SELECT 1 FROM customers c WHERE c.id = r.customer_id AND ` + withinScope + `))`

	qRolesByID       = prepare(`SELECT ` + roleColumns + ` FROM roles r WHERE r.id = ANY($1)`)
	qRoleForKeyShare = prepare(`SELECT ` + roleColumns + ` FROM roles r WHERE r.id = $1 FOR KEY SHARE`)
	qRole            = prepare(`SELECT ` + roleColumns + ` FROM roles r WHERE r.id = $3 AND ` + roleInScope)
	qOwnRole         = prepare(`
		SELECT ` + roleColumns + ` FROM roles r JOIN customers c ON c.id = r.customer_id
		WHERE r.id = $3 AND ` + withinScope + ` FOR UPDATE OF r`)
	qRolesFor = prepare(`
		SELECT ` + roleColumns + ` FROM ` + rolesToGive("ARRAY[$1::bigint]") + `
		WHERE $2::bigint IS NULL OR x.id = $2
		ORDER BY r.application_id, r.customer_id NULLS FIRST, r.id`)
	qStreamRoles = prepare(`
		SELECT ` + roleColumns + ` FROM ` + rolesToGive("ARRAY[$1::bigint]") + `
		WHERE ($2::bigint IS NULL OR x.id = $2) AND r.id > $3 ORDER BY r.id LIMIT $4`)
	qRolesOf = prepare(`
		SELECT ` + roleColumns + ` FROM ` + rolesToGive("$1::bigint[]") + `
		ORDER BY r.application_id, r.customer_id NULLS FIRST, r.id`)
	qInsertRole = prepare(`
		INSERT INTO roles AS r (application_id, customer_id, name, description, is_owner, features)
		VALUES ($1, $2, $3, $4, $5, $6) RETURNING ` + roleColumns)
	qUpdateRole = prepare(`
		UPDATE roles r SET name = $2, description = $3, features = $4 WHERE id = $1 RETURNING ` + roleColumns)
	qDeleteRole    = prepare(`DELETE FROM roles WHERE id = $1`)
	qPutSystemRole = prepare(`
		INSERT INTO roles (application_id, name, description, is_owner, features) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (application_id, COALESCE(customer_id, 0), lower(name))
		DO UPDATE SET features = EXCLUDED.features, description = EXCLUDED.description`)
)

var (
	rolesByID = rowsBy(qRolesByID, onlyIDs, func(r *Role) int64 { return r.ID })

	customerRoles   = edgeBy((*Customer).key, rolesOf)
	roleApplication = edgeBy(func(r *Role) int64 { return r.ApplicationID }, applicationsByID)
	roleCustomer    = edgeBy(func(r *Role) int64 { return orZero(r.CustomerID) }, customersByID)
)

// rolesOf loads the roles that companies can give.
func rolesOf(ctx context.Context, s *Store, _ none, ids []int64) (map[int64][]*Role, error) {
	var rows []*Role
	if err := s.list(ctx, &rows, qRolesOf, ids); err != nil {
		return nil, err
	}
	join(rows)
	found := make(map[int64][]*Role, len(ids))
	for _, id := range ids {
		for _, r := range rows {
			if r.CustomerID == nil || *r.CustomerID == id {
				found[id] = append(found[id], r)
			}
		}
	}
	return found, nil
}

// RoleToGive reads a role wherever it belongs, and keeps it from being removed until the transaction
// ends; the caller decides whether it fits an account.
func (s *Store) RoleToGive(ctx context.Context, id int64) (*Role, error) {
	r := &Role{}
	err := s.get(ctx, r, qRoleForKeyShare, id)
	return r, err
}

// Role reads a role that is system-wide or belongs to a company within the scope.
func (s *Store) Role(ctx context.Context, scope access.Scope, id int64) (*Role, error) {
	r := &Role{}
	err := s.get(ctx, r, qRole, scope.From(), scope.To(), id)
	return r, err
}

// CustomerRoleForUpdate holds a company's own role until the transaction ends.
func (s *Store) CustomerRoleForUpdate(ctx context.Context, scope access.Scope, id int64) (*Role, error) {
	r := &Role{}
	err := s.get(ctx, r, qOwnRole, scope.From(), scope.To(), id)
	return r, err
}

// RolesFor lists the roles that a company can give: the system-wide ones and its own, of one
// application or, with nil, of all.
func (s *Store) RolesFor(ctx context.Context, customerID int64, applicationID *int64) (rows []*Role, err error) {
	err = s.list(ctx, &rows, qRolesFor, customerID, applicationID)
	return join(rows), err
}

// StreamRoles gives the roles that a company can give, of one application or of all, by id, from after the id on, at most
// limit of them (0: all).
func (s *Store) StreamRoles(ctx context.Context, customerID int64, applicationID *int64, after int64, limit int, each func(*Role) error) error {
	roles := rowsOf(qStreamRoles, func(after int64, limit int) []any { return []any{customerID, applicationID, after, limit} }, func(r *Role) int64 { return r.ID })
	return roles.each(ctx, s, after, limit, each)
}

// Roles is the edge from a company to the roles that it can give.
func (c *Customer) Roles(ctx context.Context, s *Store) ([]*Role, error) {
	return follow(ctx, s, c, customerRoles, none{})
}

// Application is the edge from a role to its application.
func (r *Role) Application(ctx context.Context, s *Store) (*Application, error) {
	return follow(ctx, s, r, roleApplication, none{})
}

// Customer is the edge from a role to the company that it belongs to; nil when it is system-wide
// or the company is beyond the scope.
func (r *Role) Customer(ctx context.Context, s *Store, scope access.Scope) (*Customer, error) {
	return follow(ctx, s, r, roleCustomer, scope)
}

// RolesName is the unique index on a role's name within its company and application.
const RolesName = "roles_name"

// InsertRole makes a company's role.
func (s *Store) InsertRole(ctx context.Context, r Role) (*Role, error) {
	row := &Role{}
	err := s.get(ctx, row, qInsertRole, r.ApplicationID, r.CustomerID, r.Name, r.Description, r.IsOwner, r.Features)
	return row, err
}

// UpdateRole writes a role's name, description and features.
func (s *Store) UpdateRole(ctx context.Context, r *Role) (*Role, error) {
	row := &Role{}
	err := s.get(ctx, row, qUpdateRole, r.ID, r.Name, r.Description, r.Features)
	return row, err
}

// RoleInUse is the foreign key that keeps a role while permissions carry it.
const RoleInUse = "permissions_role_id_fkey"

// DeleteRole removes a role that no permission carries.
func (s *Store) DeleteRole(ctx context.Context, id int64) error { return s.must(ctx, qDeleteRole, id) }

// PutSystemRole makes or brings up to date an application's system-wide role.
func (s *Store) PutSystemRole(ctx context.Context, r Role) error {
	_, err := s.exec(ctx, qPutSystemRole, r.ApplicationID, r.Name, r.Description, r.IsOwner, r.Features)
	return err
}
