package resolvers

import (
	"context"
	"errors"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/problem"
	"canopy/internal/rule"
)

// Permission gives a permission within reach.
func (q Query) Permission(ctx context.Context, id globalid.ID) (*db.Permission, error) {
	c, err := q.may(ctx, rule.Permission)
	if err != nil {
		return nil, err
	}
	n, err := id.Of("Permission", "id")
	if err != nil {
		return nil, err
	}
	row, err := q.Store.Permission(ctx, c.Scope(), n)
	return row, c.unreached(err, "permission", n)
}

// CreatePermissionInput is a new permission. The user is given by id or by address.
type CreatePermissionInput struct {
	AccountID globalid.ID
	RoleID    globalid.ID
	UserID    *globalid.ID
	Email     *string
	FirstName *string
	LastName  *string
	Name      *string
	Disabled  *bool
}

// CreatePermissionPayload is what CreatePermission made.
type CreatePermissionPayload struct{ Permission *db.Permission }

// CreatePermission gives a user a role on an account.
func (m Mutation) CreatePermission(ctx context.Context, in CreatePermissionInput) (*CreatePermissionPayload, error) {
	c, err := m.may(ctx, rule.CreatePermission)
	if err != nil {
		return nil, err
	}
	accountID, err := in.AccountID.Of("Account", "accountId")
	if err != nil {
		return nil, err
	}
	roleID, err := in.RoleID.Of("Role", "roleId")
	if err != nil {
		return nil, err
	}
	var v check
	switch {
	case in.UserID == nil && in.Email == nil:
		v.fault("userId", "is required, or email in its place")
	case in.UserID != nil && in.Email != nil:
		v.fault("email", "goes in place of userId, not beside it")
	case in.Email != nil:
		v.email(*in.Email)
	}
	who := v.invitee(or(in.Email, ""), in.FirstName, in.LastName, in.Name)
	if err := v.err(); err != nil {
		return nil, err
	}
	out := &CreatePermissionPayload{}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		account, err := tx.AccountForUpdate(ctx, c.Scope(), accountID)
		if err != nil {
			return c.unreached(err, "account", accountID)
		}
		if _, err := mayGiveRole(ctx, tx, c, account, roleID); err != nil {
			return err
		}
		user, err := m.granted(ctx, ch, account, in.UserID, who)
		if err != nil {
			return err
		}
		id, err := tx.InsertPermission(ctx, account, user, roleID, or(in.Disabled, false), ch.actor())
		if db.Violates(err, db.PermissionsUserAccount) {
			return problem.Bad("the user has a permission on this account already").With("permission_exists")
		}
		if err != nil {
			return c.unreached(err, "user", user.ID)
		}
		if out.Permission, err = tx.Permission(ctx, c.Scope(), id); err != nil {
			return err
		}
		return ch.audit(account.CustomerID, audit.PermissionCreated, out.Permission, audit.Created(out.Permission))
	})
	return out, err
}

// granted gives the user of a new permission: one in reach by id, or one by address, who is added to the company.
func (r *Resolver) granted(ctx context.Context, ch *changes, account *db.Account, id *globalid.ID, who db.Given) (*db.User, error) {
	if id != nil {
		return userIn(ctx, ch.tx, ch.caller, *id, "userId")
	}
	customer, err := ch.tx.Customer(ctx, ch.caller.Scope(), account.CustomerID)
	if err != nil {
		return nil, err
	}
	user, _, err := r.admitUser(ctx, ch, customer, who)
	return user, err
}

// UpdatePermissionInput is a new role for a permission.
type UpdatePermissionInput struct {
	ID        globalid.ID
	RoleID    globalid.ID
	IfVersion *int
}

// UpdatePermissionPayload is what UpdatePermission changed.
type UpdatePermissionPayload struct{ Permission *db.Permission }

// UpdatePermission replaces the role of a permission.
func (m Mutation) UpdatePermission(ctx context.Context, in UpdatePermissionInput) (*UpdatePermissionPayload, error) {
	p, err := m.changePermission(ctx, rule.UpdatePermission, in.ID, audit.PermissionUpdated, func(tx *db.Store, c *caller, account *db.Account, p *db.Permission) error {
		if err := unchanged(p.Version, in.IfVersion); err != nil {
			return err
		}
		roleID, err := in.RoleID.Of("Role", "roleId")
		if err != nil {
			return err
		}
		role, err := mayGiveRole(ctx, tx, c, account, roleID)
		if err != nil {
			return err
		}
		if !role.IsOwner {
			if err := mayLoseOwner(ctx, tx, c, p); err != nil {
				return err
			}
		}
		if roleID == p.RoleID {
			return nil
		}
		return tx.SetPermissionRole(ctx, p.ID, roleID)
	})
	return &UpdatePermissionPayload{p}, err
}

// TogglePermissionInput names a permission to suspend or restore.
type TogglePermissionInput struct{ ID globalid.ID }

// TogglePermissionPayload is what TogglePermission changed.
type TogglePermissionPayload struct{ Permission *db.Permission }

// TogglePermission suspends a permission, or restores it.
func (m Mutation) TogglePermission(ctx context.Context, in TogglePermissionInput) (*TogglePermissionPayload, error) {
	p, err := m.changePermission(ctx, rule.TogglePermission, in.ID, audit.PermissionToggled, func(tx *db.Store, c *caller, _ *db.Account, p *db.Permission) error { return flip(ctx, tx, c, p) })
	return &TogglePermissionPayload{p}, err
}

// flip suspends a permission, or restores it.
func flip(ctx context.Context, tx *db.Store, c *caller, p *db.Permission) error {
	judge := mayLoseOwner
	if p.Disabled {
		judge = mayRestore
	}
	if err := judge(ctx, tx, c, p); err != nil {
		return err
	}
	return tx.SetPermissionDisabled(ctx, p.ID, !p.Disabled)
}

// SetPermissionDisabledInput says whether a permission is to be suspended.
type SetPermissionDisabledInput struct {
	ID        globalid.ID
	Disabled  bool
	IfVersion *int
}

// SetPermissionDisabledPayload is what SetPermissionDisabled changed.
type SetPermissionDisabledPayload struct{ Permission *db.Permission }

// SetPermissionDisabled suspends a permission, or restores it, as is said, however often that is: where it is so already,
// nothing is changed, and nothing told.
func (m Mutation) SetPermissionDisabled(ctx context.Context, in SetPermissionDisabledInput) (*SetPermissionDisabledPayload, error) {
	p, err := m.changePermission(ctx, rule.SetPermissionDisabled, in.ID, audit.PermissionToggled, func(tx *db.Store, c *caller, _ *db.Account, p *db.Permission) error {
		if err := unchanged(p.Version, in.IfVersion); err != nil || p.Disabled == in.Disabled {
			return err
		}
		return flip(ctx, tx, c, p)
	})
	return &SetPermissionDisabledPayload{p}, err
}

// DeletePermissionInput names a permission to remove.
type DeletePermissionInput struct {
	ID        globalid.ID
	IfVersion *int
}

// DeletePermissionPayload is what DeletePermission removed.
type DeletePermissionPayload struct{ DeletedID globalid.ID }

// DeletePermission removes a permission for good.
func (m Mutation) DeletePermission(ctx context.Context, in DeletePermissionInput) (*DeletePermissionPayload, error) {
	out := &DeletePermissionPayload{}
	_, err := m.changePermission(ctx, rule.DeletePermission, in.ID, audit.PermissionDeleted, func(tx *db.Store, c *caller, _ *db.Account, p *db.Permission) error {
		if err := unchanged(p.Version, in.IfVersion); err != nil {
			return err
		}
		if err := mayLoseOwner(ctx, tx, c, p); err != nil {
			return err
		}
		out.DeletedID = p.GlobalID()
		return tx.DeletePermission(ctx, p)
	})
	return out, err
}

// changePermission changes one permission within reach. The account's row is held meanwhile, so
// that rules about all of its permissions are judged one writer at a time.
func (m Mutation) changePermission(ctx context.Context, need *rule.Rule, id globalid.ID, action audit.Action,
	do func(tx *db.Store, c *caller, account *db.Account, p *db.Permission) error,
) (*db.Permission, error) {
	c, err := m.may(ctx, need)
	if err != nil {
		return nil, err
	}
	n, err := id.Of("Permission", "id")
	if err != nil {
		return nil, err
	}
	var changed *db.Permission
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		p, err := tx.Permission(ctx, c.Scope(), n)
		if err != nil {
			return c.unreached(err, "permission", n)
		}
		account, err := tx.AccountForUpdate(ctx, c.Scope(), p.AccountID)
		if err != nil {
			return c.unreached(err, "permission", n)
		}
		if p, err = tx.Permission(ctx, c.Scope(), n); err != nil {
			return c.unreached(err, "permission", n)
		}
		if err := c.mayDealWithOwners(p.RoleOwner); err != nil {
			return err
		}
		if err := do(tx, c, account, p); err != nil {
			return err
		}
		changed, err = tx.Permission(ctx, c.Scope(), n)
		if errors.Is(err, db.ErrNoRows) {
			changed, err = nil, nil
		}
		if err != nil {
			return err
		}
		what := audit.Between(p, changed)
		if what.Empty() {
			return nil
		}
		ch.callers = append(ch.callers, p.UserID)
		return ch.audit(account.CustomerID, action, p, what)
	})
	return changed, err
}

// PermissionEdges resolves the edges of a permission.
type PermissionEdges struct{ *Resolver }

// User is who has the permission.
func (e PermissionEdges) User(ctx context.Context, obj *db.Permission) (*db.User, error) {
	return obj.User(ctx, e.Store, reach(ctx))
}

// Account is what the permission gives access to.
func (e PermissionEdges) Account(ctx context.Context, obj *db.Permission) (*db.Account, error) {
	return obj.Account(ctx, e.Store, reach(ctx))
}

// Role is the role that the permission carries.
func (e PermissionEdges) Role(ctx context.Context, obj *db.Permission) (*db.Role, error) {
	return obj.Role(ctx, e.Store)
}

// Application is the account's application.
func (e PermissionEdges) Application(ctx context.Context, obj *db.Permission) (*db.Application, error) {
	return obj.Application(ctx, e.Store)
}

// Region is the account's region.
func (e PermissionEdges) Region(ctx context.Context, obj *db.Permission) (*db.Region, error) {
	return obj.Region(ctx, e.Store)
}
