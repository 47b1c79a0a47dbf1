package resolvers

import (
	"context"
	"slices"
	"strings"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/internal/rule"
)

// Customer gives a company within reach, the caller's own when id is left out.
func (q Query) Customer(ctx context.Context, id *globalid.ID) (*db.Customer, error) {
	c, err := q.may(ctx, rule.Customer)
	if err != nil {
		return nil, err
	}
	n, err := customerID(c, id, "id")
	if err != nil {
		return nil, err
	}
	// Where it stands is what nearly everybody asks for.
	row, err := q.Store.PlacedCustomer(ctx, c.Scope(), n)
	return row, c.unreached(err, "company", n)
}

// ListedCustomer is a company in the streamed list, with its names from the root down.
type ListedCustomer struct {
	*db.Customer
	Path string
}

// ListCustomers gives each company below one within reach, in preorder, and with self that one
// first. after is a cursor of an earlier call, limit 0 gives all; more rows than the limit are
// never read, so the caller asks for one more to know whether there are any.
func (q Query) ListCustomers(ctx context.Context, id *globalid.ID, self bool, after paging.Cursor, limit int, each func(ListedCustomer) error) error {
	c, err := q.may(ctx, rule.CustomerDescendants)
	if err != nil {
		return err
	}
	top, err := q.customer(ctx, c, id, "cid")
	if err != nil {
		return err
	}
	names, err := q.namesUpTo(ctx, top, after)
	if err != nil {
		return err
	}
	behind := after.Ints()
	if after.IsZero() && !self {
		behind = top.Lineage
	}
	return q.Store.StreamSubtree(ctx, top.Lineage.Subtree(), behind, limit, func(row *db.Customer) error {
		names = append(names[:row.Level], row.Name)
		return each(ListedCustomer{row, strings.Join(names, "/")})
	})
}

// FindCustomers gives each company below one within reach, and with self that one, too, that fits a filter.
func (q Query) FindCustomers(ctx context.Context, id *globalid.ID, self bool, filter *CustomerFilter, l Listing, each func(ListedCustomer, paging.Cursor) error) error {
	c, err := q.may(ctx, rule.CustomerDescendants)
	if err != nil {
		return err
	}
	top, err := q.customer(ctx, c, id, "cid")
	if err != nil {
		return err
	}
	in := asked{list: db.Customers, filter: filter, top: top.Lineage}
	if !self {
		in.also = []db.Term{idTerm("below", top.ID)}
	}
	return listAll(ctx, q.Resolver, c, in, l,
		within(top.Lineage.Subtree(), q.Store.FindCustomers),
		func(row *db.Customer, at paging.Cursor) error {
			names, err := ancestorNames(ctx, q.Store, row)
			if err != nil {
				return err
			}
			return each(ListedCustomer{row, strings.Join(names, "/")}, at)
		})
}

// namesUpTo gives the names on the way from the root to where a list goes on: in preorder the next
// company's parent is among them, and so on for every later one. They are read before the list
// is, which then needs nothing else. So the place of a company that has moved since, or is gone, will do as well.
func (r *Resolver) namesUpTo(ctx context.Context, top *db.Customer, after paging.Cursor) ([]string, error) {
	if after.IsZero() {
		return ancestorNames(ctx, r.Store, top)
	}
	place := after.Ints()
	if len(place) < len(top.Lineage) || !slices.Equal(top.Lineage, place[:len(top.Lineage)]) {
		return nil, problem.Invalid(problem.Fault{Location: "after", Message: otherPlace})
	}
	return r.Store.NamesOn(ctx, place)
}

// ancestorNames gives the names from the root down to a company, its own included.
func ancestorNames(ctx context.Context, s *db.Store, row *db.Customer) ([]string, error) {
	above, err := row.Ancestors(ctx, s)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(above)+1)
	for _, a := range above {
		names = append(names, a.Name)
	}
	return append(names, row.Name), nil
}

// CreateCustomerInput is a new company.
type CreateCustomerInput struct {
	ParentID          *globalid.ID
	Name              string
	RegionID          globalid.ID
	CanAddCustomers   *bool
	DescendantsCanAdd *bool
	Email             string
	FirstName         *string
	LastName          *string
	Assistant         *bool
	Builder           *bool
	Tenant            *bool
}

// CreateCustomerPayload is what CreateCustomer made.
type CreateCustomerPayload struct {
	Customer *db.Customer
	Admin    *db.User
}

// CreateCustomer makes a company with its accounts and its first admin, who owns them.
func (m Mutation) CreateCustomer(ctx context.Context, in CreateCustomerInput) (*CreateCustomerPayload, error) {
	c, err := m.may(ctx, rule.CreateCustomer)
	if err != nil {
		return nil, err
	}
	var v check
	v.name("name", in.Name)
	v.email(in.Email)
	v.person("firstName", in.FirstName)
	v.person("lastName", in.LastName)
	regionID, err := in.RegionID.Of("Region", "regionId")
	if err != nil {
		return nil, err
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	out := &CreateCustomerPayload{}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		parent, err := mayAddBelow(ctx, tx, c, in.ParentID)
		if err != nil {
			return err
		}
		if parent.Level == db.MaxLevel {
			return errTooDeep
		}
		next := db.Customer{
			ParentID: &parent.ID, Name: in.Name, RegionID: regionID,
			CanAddCustomers: or(in.CanAddCustomers, false), DescendantsCanAdd: or(in.DescendantsCanAdd, false),
		}
		if err := mayBeginWith(ctx, tx, parent, &next); err != nil {
			return err
		}
		instances, err := chosenInstances(ctx, tx, in, regionID)
		if err != nil {
			return err
		}
		if out.Customer, err = tx.InsertCustomer(ctx, next); err != nil {
			return err
		}
		admin := db.Given{Email: in.Email, FirstName: filled(in.FirstName, ""), LastName: or(in.LastName, in.Name)}
		if out.Admin, err = m.invite(ctx, ch, out.Customer, admin); err != nil {
			return err
		}
		if err := tx.OpenAccounts(ctx, out.Customer, instances, out.Admin.ID, OwnerRole, ch.actor()); err != nil {
			return err
		}
		return ch.audit(out.Customer.ID, audit.CustomerCreated, out.Customer, audit.Created(out.Customer).With("admin", out.Admin.ID))
	})
	return out, err
}

// chosenInstances gives the application instances that a new company gets accounts in.
func chosenInstances(ctx context.Context, tx *db.Store, in CreateCustomerInput, regionID int64) ([]int64, error) {
	available, err := tx.InstancesIn(ctx, regionID)
	if err != nil {
		return nil, err
	}
	var v check
	if available[access.Assistant.String()] == 0 || available[access.Builder.String()] == 0 {
		v.fault("regionId", "is not one of the available regions")
		return nil, v.err()
	}
	var chosen []int64
	for app, wanted := range map[access.App]*bool{access.Assistant: in.Assistant, access.Builder: in.Builder, access.Tenant: in.Tenant} {
		if !or(wanted, true) {
			continue
		}
		instance := available[app.String()]
		if instance == 0 {
			v.fault(app.String(), "is not available in the region %d", regionID)
		}
		chosen = append(chosen, instance)
	}
	return chosen, v.err()
}

// UpdateCustomerInput is a change of a company; nil keeps a field.
type UpdateCustomerInput struct {
	CustomerID        globalid.ID
	Name              *string
	CanAddCustomers   *bool
	DescendantsCanAdd *bool
	MaxKeyDays        Nullable[int]
	IfVersion         *int
}

// UpdateCustomerInputFields sets the fields of the input where null says something.
type UpdateCustomerInputFields struct{ *Resolver }

// MaxKeyDays sets or unsets the bound.
func (UpdateCustomerInputFields) MaxKeyDays(_ context.Context, in *UpdateCustomerInput, days *int) error {
	in.MaxKeyDays = NullableOf(days)
	return nil
}

// UpdateCustomerPayload is what UpdateCustomer changed.
type UpdateCustomerPayload struct{ Customer *db.Customer }

// UpdateCustomer renames a company or sets its flags.
func (m Mutation) UpdateCustomer(ctx context.Context, in UpdateCustomerInput) (*UpdateCustomerPayload, error) {
	c, err := m.may(ctx, rule.UpdateCustomer)
	if err != nil {
		return nil, err
	}
	id, err := in.CustomerID.Of("Customer", "customerId")
	if err != nil {
		return nil, err
	}
	var v check
	if in.Name != nil {
		v.name("name", *in.Name)
	}
	if days := in.MaxKeyDays.to; days != nil && (*days < 1 || *days > longestKeyDays) {
		v.fault("maxKeyDays", "must be between 1 and %d", longestKeyDays)
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	out := &UpdateCustomerPayload{}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		row, err := tx.CustomerForUpdate(ctx, c.Scope(), id)
		if err != nil {
			return c.unreached(err, "company", id)
		}
		if err := unchanged(row.Version, in.IfVersion); err != nil {
			return err
		}
		next := *row
		next.Name = or(in.Name, row.Name)
		next.CanAddCustomers = or(in.CanAddCustomers, row.CanAddCustomers)
		next.DescendantsCanAdd = or(in.DescendantsCanAdd, row.DescendantsCanAdd)
		next.MaxKeyDays = in.MaxKeyDays.or(row.MaxKeyDays)
		if err := mayTurnOn(ctx, tx, c, row, &next); err != nil {
			return err
		}
		if out.Customer = row; same(row, &next) {
			return nil
		}
		if out.Customer, err = tx.UpdateCustomer(ctx, c.Scope(), &next); err != nil {
			return err
		}
		return ch.audit(id, audit.CustomerUpdated, row, audit.Between(row, out.Customer))
	})
	return out, err
}

// CustomerEdges resolves the edges of a company.
type CustomerEdges struct{ *Resolver }

// EffectiveCanAddCustomers tells whether the company may create others at this moment.
func (e CustomerEdges) EffectiveCanAddCustomers(ctx context.Context, obj *db.Customer) (bool, error) {
	if _, err := e.may(ctx, rule.CustomerEffectiveCanAddCustomers); err != nil {
		return false, err
	}
	return effectiveCanAdd(ctx, e.Store, obj)
}

// Path joins the names from the root down.
func (e CustomerEdges) Path(ctx context.Context, obj *db.Customer) (string, error) {
	if _, err := e.may(ctx, rule.CustomerPath); err != nil {
		return "", err
	}
	names, err := ancestorNames(ctx, e.Store, obj)
	return strings.Join(names, "/"), err
}

// Region is where the company's data lives.
func (e CustomerEdges) Region(ctx context.Context, obj *db.Customer) (*db.Region, error) {
	return obj.Region(ctx, e.Store)
}

// Parent is the company above; nil for the root.
func (e CustomerEdges) Parent(ctx context.Context, obj *db.Customer) (*db.CustomerRef, error) {
	if _, err := e.may(ctx, rule.CustomerParent); err != nil {
		return nil, err
	}
	if obj.ParentID == nil {
		return nil, nil
	}
	above, err := obj.Ancestors(ctx, e.Store)
	if err != nil {
		return nil, err
	}
	return above[len(above)-1], nil
}

// Ancestors lists the companies above, root first.
func (e CustomerEdges) Ancestors(ctx context.Context, obj *db.Customer) ([]*db.CustomerRef, error) {
	if _, err := e.may(ctx, rule.CustomerAncestors); err != nil {
		return nil, err
	}
	return obj.Ancestors(ctx, e.Store)
}

// Children is a page of the companies right below.
func (e CustomerEdges) Children(ctx context.Context, obj *db.Customer, filter *CustomerFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*CustomerConnection, error) {
	c, err := e.may(ctx, rule.CustomerChildren)
	if err != nil {
		return nil, err
	}
	return connected(ctx, e.Resolver, c, asked{list: db.Customers, filter: filter, order: orderBy, args: page(first, after, last, before)},
		within(e.Store, obj.Children),
		within(e.Store, obj.ChildCount))
}

// Descendants is a page of the companies anywhere below, in preorder unless asked for otherwise.
func (e CustomerEdges) Descendants(ctx context.Context, obj *db.Customer, self *bool, filter *CustomerFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*CustomerConnection, error) {
	c, err := e.may(ctx, rule.CustomerDescendants)
	if err != nil {
		return nil, err
	}
	return connected(ctx, e.Resolver, c, asked{list: db.Customers, filter: filter, order: orderBy, args: page(first, after, last, before), top: obj.Lineage},
		func(ctx context.Context, a db.Ask) ([]*db.Customer, error) {
			return obj.Descendants(ctx, e.Store, or(self, false), a)
		},
		func(ctx context.Context, a db.Ask) (int, error) {
			return obj.DescendantCount(ctx, e.Store, or(self, false), a)
		})
}

// Users is a page of the company's users.
func (e CustomerEdges) Users(ctx context.Context, obj *db.Customer, filter *UserFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*UserConnection, error) {
	c, err := e.may(ctx, rule.CustomerUsers)
	if err != nil {
		return nil, err
	}
	return connected(ctx, e.Resolver, c, asked{list: db.Users, filter: filter, order: orderBy, args: page(first, after, last, before)},
		func(ctx context.Context, a db.Ask) ([]*db.User, error) { return obj.Users(ctx, e.Store, c.Scope(), a) },
		func(ctx context.Context, a db.Ask) (int, error) { return obj.UserCount(ctx, e.Store, c.Scope(), a) })
}

// Accounts is a page of the company's application accounts.
func (e CustomerEdges) Accounts(ctx context.Context, obj *db.Customer, filter *AccountFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*AccountConnection, error) {
	c, err := e.may(ctx, rule.CustomerAccounts)
	if err != nil {
		return nil, err
	}
	return connected(ctx, e.Resolver, c, asked{list: db.Accounts, filter: filter, order: orderBy, args: page(first, after, last, before)},
		within(e.Store, obj.Accounts),
		within(e.Store, obj.AccountCount))
}

// Billing is the company's billing record.
func (e CustomerEdges) Billing(ctx context.Context, obj *db.Customer) (*db.Billing, error) {
	c, err := e.may(ctx, rule.CustomerBilling)
	if err != nil {
		return nil, err
	}
	return obj.Billing(ctx, e.Store, c.Scope())
}

// Roles lists the roles that the company can give.
func (e CustomerEdges) Roles(ctx context.Context, obj *db.Customer) ([]*db.Role, error) {
	if _, err := e.may(ctx, rule.CustomerRoles); err != nil {
		return nil, err
	}
	return obj.Roles(ctx, e.Store)
}

// APIKeys is a page of the company's API keys.
func (e CustomerEdges) APIKeys(ctx context.Context, obj *db.Customer, filter *APIKeyFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*APIKeyConnection, error) {
	c, err := e.may(ctx, rule.CustomerAPIKeys)
	if err != nil {
		return nil, err
	}
	return connected(ctx, e.Resolver, c, asked{list: db.APIKeys, filter: filter, order: orderBy, args: page(first, after, last, before)},
		within(e.Store, obj.APIKeys),
		within(e.Store, obj.APIKeyCount))
}

// CustomerRefEdges resolves the edge of a reference to a company.
type CustomerRefEdges struct{ *Resolver }

// Customer is the company itself; nil beyond the caller's reach.
func (e CustomerRefEdges) Customer(ctx context.Context, obj *db.CustomerRef) (*db.Customer, error) {
	c, err := e.may(ctx, rule.CustomerRefCustomer)
	if err != nil {
		return nil, err
	}
	return obj.Customer(ctx, e.Store, c.Scope())
}
