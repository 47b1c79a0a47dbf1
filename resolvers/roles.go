package resolvers

import (
	"context"
	"errors"
	"strings"

	"github.com/lib/pq"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/internal/rule"
)

// The names of the system roles.
const (
	OwnerRole  = "Owner"
	AdminRole  = "Admin"
	MemberRole = "Member"
	ViewerRole = "Viewer"
)

// Roles lists the roles that a company within reach can give.
func (q Query) Roles(ctx context.Context, customerID, applicationID *globalid.ID) ([]*db.Role, error) {
	c, err := q.may(ctx, rule.Roles)
	if err != nil {
		return nil, err
	}
	customer, err := q.customer(ctx, c, customerID, "customerId")
	if err != nil {
		return nil, err
	}
	application, err := applicationOf(applicationID)
	if err != nil {
		return nil, err
	}
	return q.Store.RolesFor(ctx, customer.ID, application)
}

// GetRole gives a role that is system-wide or of a company within reach.
func (q Query) GetRole(ctx context.Context, id globalid.ID) (*db.Role, error) {
	c, err := q.may(ctx, rule.Roles)
	if err != nil {
		return nil, err
	}
	row, err := q.Store.Role(ctx, c.Scope(), id.Int)
	return row, c.unreached(err, "role", id.Int)
}

func (q Query) roleNode(ctx context.Context, id globalid.ID) (*db.Role, error) {
	return q.GetRole(ctx, id)
}

// ListRoles gives each role that a company within reach can give, by id: of one application or, with nil, of all. after is
// the cursor of an earlier call; limit 0 gives all.
func (q Query) ListRoles(ctx context.Context, customerID, applicationID *globalid.ID, after paging.Cursor, limit int, each func(*db.Role) error) error {
	c, err := q.may(ctx, rule.Roles)
	if err != nil {
		return err
	}
	customer, err := q.customer(ctx, c, customerID, "customerId")
	if err != nil {
		return err
	}
	application, err := applicationOf(applicationID)
	if err != nil {
		return err
	}
	return q.Store.StreamRoles(ctx, customer.ID, application, lastID(after), limit, each)
}

// applicationOf reads the id of an application that need not be given.
func applicationOf(id *globalid.ID) (*int64, error) {
	if id == nil {
		return nil, nil
	}
	n, err := id.Of("Application", "applicationId")
	return &n, err
}

// CreateRoleInput is a new role of a company.
type CreateRoleInput struct {
	ApplicationID globalid.ID
	CustomerID    *globalid.ID
	Name          string
	Description   *string
	IsOwner       *bool
	Features      []string
}

// CreateRolePayload is what CreateRole made.
type CreateRolePayload struct{ Role *db.Role }

// CreateRole makes a role of a company's own.
func (m Mutation) CreateRole(ctx context.Context, in CreateRoleInput) (*CreateRolePayload, error) {
	c, err := m.may(ctx, rule.CreateRole)
	if err != nil {
		return nil, err
	}
	applicationID, err := in.ApplicationID.Of("Application", "applicationId")
	if err != nil {
		return nil, err
	}
	var v check
	v.name("name", in.Name)
	v.text("description", or(in.Description, ""), maxText)
	features := v.features(in.Features)
	switch _, err := m.Store.Application(ctx, applicationID); {
	case errors.Is(err, db.ErrNoRows):
		v.fault("applicationId", "is not an application")
	case err != nil:
		return nil, err
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	customer, err := m.customer(ctx, c, in.CustomerID, "customerId")
	if err != nil {
		return nil, err
	}
	if err := c.mayDealWithOwners(or(in.IsOwner, false)); err != nil {
		return nil, err
	}
	if err := c.mayGive(access.ParseFeatures(features)); err != nil {
		return nil, err
	}
	out := &CreateRolePayload{}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		out.Role, err = tx.InsertRole(ctx, db.Role{
			ApplicationID: applicationID, CustomerID: &customer.ID, Name: in.Name, Description: or(in.Description, ""),
			IsOwner: or(in.IsOwner, false), Features: features,
		})
		if err != nil {
			return roleNameTaken(err)
		}
		return ch.audit(customer.ID, audit.RoleCreated, out.Role, audit.Created(out.Role))
	})
	return out, err
}

func roleNameTaken(err error) error {
	if db.Violates(err, db.RolesName) {
		return problem.Invalid(problem.Fault{Location: "name", Message: "is the name of another role of this company and application"})
	}
	return err
}

// features checks the rights of a role and puts them into their fixed order.
func (v *check) features(list []string) pq.StringArray {
	var set access.Features
	for _, name := range list {
		f, ok := access.ParseFeature(name)
		if !ok {
			v.fault("features", "%q is not a right; the rights are %s", clip(name), strings.Join(access.FeatureNames(), ", "))
			break
		}
		set |= f
	}
	return set.Names()
}

// clip keeps what a caller sent short where an error quotes it.
func clip(s string) string {
	const limit = 40
	s = strings.ToValidUTF8(s, "\uFFFD")
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}

// UpdateRoleInput is a change of a role; nil keeps a field.
type UpdateRoleInput struct {
	ID          globalid.ID
	Name        *string
	Description *string
	Features    []string
	IfVersion   *int
}

// UpdateRolePayload is what UpdateRole changed.
type UpdateRolePayload struct{ Role *db.Role }

// UpdateRole changes a company's own role.
func (m Mutation) UpdateRole(ctx context.Context, in UpdateRoleInput) (*UpdateRolePayload, error) {
	out := &UpdateRolePayload{}
	err := m.changeRole(ctx, rule.UpdateRole, in.ID, audit.RoleUpdated, func(tx *db.Store, c *caller, role *db.Role) (now *db.Role, err error) {
		var v check
		if in.Name != nil {
			v.name("name", *in.Name)
		}
		v.text("description", or(in.Description, ""), maxText)
		features := v.features(in.Features)
		if err := v.err(); err != nil {
			return nil, err
		}
		if err := c.mayGive(access.ParseFeatures(features)); err != nil {
			return nil, err
		}
		if err := unchanged(role.Version, in.IfVersion); err != nil {
			return nil, err
		}
		next := *role
		next.Name = or(in.Name, role.Name)
		next.Description = or(in.Description, role.Description)
		if in.Features != nil {
			next.Features = features
		}
		if out.Role = role; same(role, &next) {
			return role, nil
		}
		out.Role, err = tx.UpdateRole(ctx, &next)
		return out.Role, roleNameTaken(err)
	})
	return out, err
}

// DeleteRoleInput names a role to remove.
type DeleteRoleInput struct {
	ID        globalid.ID
	IfVersion *int
}

// DeleteRolePayload is what DeleteRole removed.
type DeleteRolePayload struct{ DeletedID globalid.ID }

// DeleteRole removes a company's own role that no permission carries.
func (m Mutation) DeleteRole(ctx context.Context, in DeleteRoleInput) (*DeleteRolePayload, error) {
	out := &DeleteRolePayload{}
	err := m.changeRole(ctx, rule.DeleteRole, in.ID, audit.RoleDeleted, func(tx *db.Store, _ *caller, role *db.Role) (now *db.Role, err error) {
		if err := unchanged(role.Version, in.IfVersion); err != nil {
			return nil, err
		}
		out.DeletedID = role.GlobalID()
		err = tx.DeleteRole(ctx, role.ID)
		if db.Violates(err, db.RoleInUse) {
			err = problem.Bad("permissions carry the role %q: give them another one first", role.Name)
		}
		return nil, err
	})
	return out, err
}

// changeRole changes one role of a company within reach; an owner's only by an owner. do gives the role as it
// is then, the one that it was given where that is as it was, and nil where it is gone.
func (m Mutation) changeRole(ctx context.Context, need *rule.Rule, id globalid.ID, action audit.Action, do func(tx *db.Store, c *caller, role *db.Role) (now *db.Role, err error)) error {
	c, err := m.may(ctx, need)
	if err != nil {
		return err
	}
	n, err := id.Of("Role", "id")
	if err != nil {
		return err
	}
	return m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		role, err := tx.CustomerRoleForUpdate(ctx, c.Scope(), n)
		if errors.Is(err, db.ErrNoRows) {
			if system, e := tx.Role(ctx, c.Scope(), n); e == nil && system.CustomerID == nil {
				return problem.Denied("the role %q is system-wide and can't be changed", system.Name)
			}
		}
		if err != nil {
			return c.unreached(err, "role", n)
		}
		if err := c.mayDealWithOwners(role.IsOwner); err != nil {
			return err
		}
		now, err := do(tx, c, role)
		if err != nil || now == role {
			return err
		}
		return ch.audit(*role.CustomerID, action, role, audit.Between(role, now))
	})
}

// RoleEdges resolves the edges of a role.
type RoleEdges struct{ *Resolver }

// Features lists the rights of the role.
func (e RoleEdges) Features(_ context.Context, obj *db.Role) ([]string, error) {
	return obj.Features, nil
}

// Application is what the role is for.
func (e RoleEdges) Application(ctx context.Context, obj *db.Role) (*db.Application, error) {
	return obj.Application(ctx, e.Store)
}

// Customer is the company that the role belongs to; nil for a system-wide one.
func (e RoleEdges) Customer(ctx context.Context, obj *db.Role) (*db.Customer, error) {
	if obj.CustomerID == nil {
		return nil, nil
	}
	return obj.Customer(ctx, e.Store, reach(ctx))
}
