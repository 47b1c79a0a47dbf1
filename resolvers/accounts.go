package resolvers

import (
	"context"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/internal/rule"
)

// Account gives an account within reach.
func (q Query) Account(ctx context.Context, id globalid.ID) (*db.Account, error) {
	c, err := q.may(ctx, rule.Account)
	if err != nil {
		return nil, err
	}
	n, err := id.Of("Account", "id")
	if err != nil {
		return nil, err
	}
	row, err := q.Store.Account(ctx, c.Scope(), n)
	return row, c.unreached(err, "account", n)
}

// ListAccounts gives each account of a company within reach that fits a filter, by id unless asked for otherwise, with its permissions.
func (q Query) ListAccounts(ctx context.Context, id *globalid.ID, filter *AccountFilter, l Listing, each func(*db.AccountLine, paging.Cursor) error) error {
	c, err := q.may(ctx, rule.CustomerAccounts)
	if err != nil {
		return err
	}
	customer, err := q.customer(ctx, c, id, "cid")
	if err != nil {
		return err
	}
	read := func(ctx context.Context, a db.Ask) ([]*db.AccountLine, error) {
		return q.Store.FindAccounts(ctx, c.Scope(), customer.ID, a)
	}
	return listAll(ctx, q.Resolver, c, asked{list: db.Accounts, filter: filter}, l, read, each)
}

// SetAccountDisabledInput is an account to close or open.
type SetAccountDisabledInput struct {
	ID        globalid.ID
	Disabled  bool
	IfVersion *int
}

// SetAccountDisabledPayload is what SetAccountDisabled changed.
type SetAccountDisabledPayload struct{ Account *db.Account }

// SetAccountDisabled closes an account to all its users, or opens it again. The account that the
// caller itself stands on stays open, so that a company does not lock itself out.
func (m Mutation) SetAccountDisabled(ctx context.Context, in SetAccountDisabledInput) (*SetAccountDisabledPayload, error) {
	c, err := m.may(ctx, rule.SetAccountDisabled)
	if err != nil {
		return nil, err
	}
	id, err := in.ID.Of("Account", "id")
	if err != nil {
		return nil, err
	}
	out := &SetAccountDisabledPayload{}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		if out.Account, err = tx.AccountForUpdate(ctx, c.Scope(), id); err != nil {
			return c.unreached(err, "account", id)
		}
		if err := unchanged(out.Account.Version, in.IfVersion); err != nil {
			return err
		}
		if in.Disabled && id == c.AccountID {
			return problem.Bad("the account that the token stands on can't be disabled with it")
		}
		if out.Account.Disabled && !in.Disabled {
			if err := mayOpen(ctx, tx, c, out.Account); err != nil {
				return err
			}
		}
		if out.Account.Disabled == in.Disabled {
			return nil
		}
		before := *out.Account
		if err := tx.SetAccountDisabled(ctx, out.Account, in.Disabled); err != nil {
			return err
		}
		return ch.audit(out.Account.CustomerID, audit.AccountUpdated, out.Account, audit.Between(&before, out.Account))
	})
	return out, err
}

// AccountEdges resolves the edges of an account.
type AccountEdges struct{ *Resolver }

// Customer is the company that the account belongs to.
func (e AccountEdges) Customer(ctx context.Context, obj *db.Account) (*db.Customer, error) {
	return obj.Customer(ctx, e.Store, reach(ctx))
}

// Application is the application of the account.
func (e AccountEdges) Application(ctx context.Context, obj *db.Account) (*db.Application, error) {
	return obj.Application(ctx, e.Store)
}

// Region is where the account runs.
func (e AccountEdges) Region(ctx context.Context, obj *db.Account) (*db.Region, error) {
	return obj.Region(ctx, e.Store)
}

// Permissions is a page of the permissions on the account.
func (e AccountEdges) Permissions(ctx context.Context, obj *db.Account, filter *PermissionFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*PermissionConnection, error) {
	c, err := e.may(ctx, rule.AccountPermissions)
	if err != nil {
		return nil, err
	}
	return connected(ctx, e.Resolver, c, asked{list: db.Permissions, filter: filter, order: orderBy, args: page(first, after, last, before)},
		within(e.Store, obj.Permissions),
		within(e.Store, obj.PermissionCount))
}
