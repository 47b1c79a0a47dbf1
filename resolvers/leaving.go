package resolvers

import (
	"context"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/problem"
	"canopy/internal/rule"
)

// UpdateUserInput is a change of a user; nil keeps a field.
type UpdateUserInput struct {
	ID        globalid.ID
	FirstName *string
	LastName  *string
	IfVersion *int
}

// UpdateUserPayload is what UpdateUser changed.
type UpdateUserPayload struct{ User *db.User }

// UpdateUser changes a user's names: the person's own, or, with the right user.write, those of somebody who has accepted
// no company out of reach.
func (m Mutation) UpdateUser(ctx context.Context, in UpdateUserInput) (*UpdateUserPayload, error) {
	c, err := m.may(ctx, rule.UpdateUser)
	if err != nil {
		return nil, err
	}
	id, err := in.ID.Of("User", "id")
	if err != nil {
		return nil, err
	}
	own := id == c.UserID && c.Login()
	if !own {
		if err := c.mayInTenant(access.UserWrite); err != nil {
			return nil, err
		}
	}
	var v check
	v.person("firstName", in.FirstName)
	v.person("lastName", in.LastName)
	if err := v.err(); err != nil {
		return nil, err
	}
	out := &UpdateUserPayload{}
	if _, err := m.user(ctx, c, in.ID, "id"); err != nil {
		return nil, err
	}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		if _, err := tx.LockUser(ctx, id); err != nil {
			return c.unreached(err, "user", id)
		}
		old, err := userIn(ctx, tx, c, in.ID, "id") // as nobody else can change it any more
		if err != nil {
			return err
		}
		if err := unchanged(old.Version, in.IfVersion); err != nil {
			return err
		}
		first, last := or(in.FirstName, old.FirstName), or(in.LastName, old.LastName)
		home, entered := c.CustomerID, false
		if own {
			if err := c.vouchedWhole(ctx, tx); err != nil {
				return err
			}
		} else {
			if home, err = mayRename(ctx, tx, c, id); err != nil {
				return err
			}
			if entered, err = tx.RenameMember(ctx, c.Scope(), id, first, last); err != nil {
				return err
			}
		}
		changed, err := tx.RenameUser(ctx, id, first, last)
		if err != nil {
			return err
		}
		if out.User = old; !changed && !entered {
			return nil
		}
		if out.User, err = tx.User(ctx, c.Scope(), id); err != nil {
			return err
		}
		return ch.audit(home, audit.UserUpdated, old, audit.Between(old, out.User))
	})
	return out, err
}

// mayRename: who has accepted a company out of the caller's reach is not this one's to name. It gives the company that
// the change is told in: the caller's own, or else the one within reach that the user has belonged to longest.
func mayRename(ctx context.Context, tx *db.Store, c *caller, userID int64) (home int64, err error) {
	elsewhere, err := tx.HasAcceptedOutside(ctx, c.Scope(), userID)
	if err == nil && elsewhere {
		err = problem.Denied("the user belongs to companies out of reach, too: only the user itself can change its name")
	}
	if err != nil {
		return 0, err
	}
	member, err := tx.MemberToInvite(ctx, c.Scope(), userID, c.CustomerID)
	return member.CustomerID, c.unreached(err, "user", userID)
}

// RemoveUserInput names a user of a company, by default the caller's own.
type RemoveUserInput struct {
	CustomerID *globalid.ID
	UserID     globalid.ID
}

// RemoveUserPayload is who was taken out of which company.
type RemoveUserPayload struct {
	DeletedID globalid.ID
	Customer  *db.Customer
}

// RemoveUser takes a user out of a company: its permissions, API keys and sessions there end.
func (m Mutation) RemoveUser(ctx context.Context, in RemoveUserInput) (*RemoveUserPayload, error) {
	c, err := m.may(ctx, rule.RemoveUser)
	if err != nil {
		return nil, err
	}
	userID, err := in.UserID.Of("User", "userId")
	if err != nil {
		return nil, err
	}
	out := &RemoveUserPayload{DeletedID: globalid.ID{Type: "User", Int: userID}}
	out.Customer, err = m.customer(ctx, c, in.CustomerID, "customerId")
	if err != nil {
		return nil, err
	}
	return out, m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		left, err := ch.leave(ctx, userID, out.Customer.ID, c.mayTakeOut(ctx, tx, out.Customer.ID))
		if err == nil && len(left) == 0 {
			err = c.unreached(db.ErrNoRows, "user", userID)
		}
		return err
	})
}

// mayTakeOut: who may take a user out of a company within reach may end its permissions there. The last owner of the
// caller's own stays.
func (c *caller) mayTakeOut(ctx context.Context, tx *db.Store, customerID int64) func(*db.Permission) error {
	above := customerID != c.CustomerID
	return func(p *db.Permission) error {
		if err := c.mayDealWithOwners(p.RoleOwner); err != nil || above {
			return err
		}
		return mayLoseOwner(ctx, tx, c, p)
	}
}

// LeaveCustomerInput names a company that the caller belongs to.
type LeaveCustomerInput struct{ CustomerID globalid.ID }

// LeaveCustomerPayload is which company was left.
type LeaveCustomerPayload struct{ DeletedID globalid.ID }

// LeaveCustomer takes the caller out of a company, wherever that is: its permissions, API keys and sessions there end.
func (m Mutation) LeaveCustomer(ctx context.Context, in LeaveCustomerInput) (*LeaveCustomerPayload, error) {
	c, err := m.person(ctx, rule.LeaveCustomer)
	if err != nil {
		return nil, err
	}
	customerID, err := in.CustomerID.Of("Customer", "customerId")
	if err != nil {
		return nil, err
	}
	foreign := problem.Denied("you don't belong to the company %d", customerID)
	if customerID == 0 { // which would be all of them
		return nil, foreign
	}
	out := &LeaveCustomerPayload{globalid.ID{Type: "Customer", Int: customerID}}
	return out, m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		if err := c.vouched(ctx, tx, customerID); err != nil {
			return err
		}
		if err := ch.declineOf(ctx, c.UserID, customerID); err != nil {
			return err
		}
		left, err := ch.leave(ctx, c.UserID, customerID, func(p *db.Permission) error { return mayBeWithout(ctx, tx, p) })
		if err == nil && len(left) == 0 {
			err = foreign
		}
		return err
	})
}

// leave takes a user out of a company, or, with 0, out of all, as far as each of its permissions may be lost, and gives the companies.
// What the user had there ends: permissions, API keys, sessions, links; whatever it has open is looked at again.
func (ch *changes) leave(ctx context.Context, userID, customerID int64, mayLose func(*db.Permission) error) (left []int64, err error) {
	if err := ch.tx.HoldAccountsOf(ctx, userID, customerID); err != nil {
		return nil, err
	}
	if _, err := ch.tx.LockUser(ctx, userID); err != nil {
		return nil, unlessGone(err)
	}
	permissions, err := ch.tx.PermissionsIn(ctx, userID, customerID)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(permissions))
	for i, p := range permissions {
		if err := mayLose(p); err != nil {
			return nil, err
		}
		ids[i] = p.ID
	}
	if err := ch.tx.DropPermissions(ctx, userID, ids); err != nil {
		return nil, err
	}
	for _, p := range permissions {
		if err := ch.audit(p.CustomerID, audit.PermissionDeleted, p, audit.Removed(p)); err != nil {
			return nil, err
		}
	}
	if err := revokeKeys(ctx, ch, userID, customerID); err != nil {
		return nil, err
	}
	if left, err = ch.tx.DropMemberships(ctx, userID, customerID); err != nil {
		return nil, err
	}
	for _, id := range left {
		if err := ch.audit(id, audit.UserRemoved, &db.User{ID: userID}, audit.None().Value("customer", id, nil)); err != nil {
			return nil, err
		}
	}
	return left, ch.endSessionsIn(ctx, userID, customerID)
}

// EraseUserInput names a user to erase.
type EraseUserInput struct{ UserID globalid.ID }

// EraseUserPayload is who was erased.
type EraseUserPayload struct{ DeletedID globalid.ID }

// EraseUser takes a person out of all companies and away: nothing of the address and the names is left, and the audit log has a
// pseudonym. Only the person itself may ask for it, or an owner of the root company.
func (m Mutation) EraseUser(ctx context.Context, in EraseUserInput) (*EraseUserPayload, error) {
	c, err := m.may(ctx, rule.EraseUser)
	if err != nil {
		return nil, err
	}
	id, err := in.UserID.Of("User", "userId")
	if err != nil {
		return nil, err
	}
	own := id == c.UserID && c.Login()
	if !own {
		if err := c.mayErase(); err != nil {
			return nil, err
		}
	}
	out := &EraseUserPayload{globalid.ID{Type: "User", Int: id}}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		if own { // before it is told what keeps the person in a company
			if err := c.mayEraseOneself(ctx, tx); err != nil {
				return err
			}
		}
		left, err := ch.leave(ctx, id, 0, func(p *db.Permission) error {
			if own {
				return mayBeWithout(ctx, tx, p)
			}
			return mayLoseOwner(ctx, tx, c, p)
		})
		if err == nil && own { // of those, too, that the person was added to until it was held
			err = c.vouched(ctx, tx, left...)
		}
		if err != nil {
			return err
		}
		if err := tx.EraseUser(ctx, id); err != nil {
			return missing(err, "user", id)
		}
		return ch.audit(c.CustomerID, audit.UserErased, &db.User{ID: id}, audit.None().With("erased", true))
	})
	if err != nil {
		return nil, err
	}
	if err := m.Store.DropKeptOf(ctx, id); err != nil { // which go after a day anyhow
		m.Log.WarnContext(ctx, "answers that are kept for an erased person", "user", id, "error", err)
	}
	return out, nil
}

// mayEraseOneself: with the person go all ways in which it signs in, and all companies.
func (c *caller) mayEraseOneself(ctx context.Context, tx *db.Store) error {
	if err := c.whole(ctx, tx); err != nil {
		return err
	}
	return c.vouchedWhole(ctx, tx)
}

// mayErase: an owner of the root company may erase others. An API key that is bound to less is no owner's hand.
func (c *caller) mayErase() error {
	if err := c.mayInTenant(access.UserWrite); err != nil {
		return err
	}
	if c.IsRoot() && c.Grants[access.Tenant].Owner {
		return nil
	}
	return problem.Denied("only the person itself, with the token of a login, or an owner of the root company may erase a user")
}
