package resolvers

import (
	"context"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/problem"
	"canopy/internal/quota"
	"canopy/internal/rule"
)

// LimitInput is one limit of a company; nil takes it away.
type LimitInput struct {
	Name  quota.Name
	Limit *int64
}

// SetLimitsInput are limits of a company to set; those that are not named stay.
type SetLimitsInput struct {
	CustomerID globalid.ID
	Limits     []*LimitInput
}

// SetLimitsPayload is whose limits SetLimits changed, and what that company has.
type SetLimitsPayload struct {
	Customer *db.Customer
	Usage    []*db.Usage
}

// SetLimits sets how much a company may have with everything below it. What is over a limit already stays; no
// more is added to it.
func (m Mutation) SetLimits(ctx context.Context, in SetLimitsInput) (*SetLimitsPayload, error) {
	c, err := m.may(ctx, rule.SetLimits)
	if err != nil {
		return nil, err
	}
	id, err := in.CustomerID.Of("Customer", "customerId")
	if err != nil {
		return nil, err
	}
	var v check
	v.limits("limits", in.Limits)
	if err := v.err(); err != nil {
		return nil, err
	}
	out := &SetLimitsPayload{}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		// The company's row is held, so that what the log tells is what was before.
		if out.Customer, err = tx.CustomerForUpdate(ctx, c.Scope(), id); err != nil {
			return c.unreached(err, "company", id)
		}
		if err := c.mayLimit(out.Customer); err != nil {
			return err
		}
		before, err := tx.LimitsOf(ctx, id)
		if err != nil {
			return err
		}
		what := audit.None()
		for _, l := range in.Limits {
			if err := tx.SetLimit(ctx, id, l.Name, l.Limit); err != nil {
				return err
			}
			var old *int64
			if most, ok := before[l.Name]; ok {
				old = &most
			}
			what = what.Value(string(l.Name), old, l.Limit)
		}
		if what.Empty() {
			return nil
		}
		return ch.audit(id, audit.CustomerLimited, out.Customer, what)
	})
	if err != nil {
		return nil, err
	}
	out.Usage, err = m.usage(ctx, out.Customer)
	return out, err
}

// mayLimit: limits are set from above, root's by itself.
func (c *caller) mayLimit(customer *db.Customer) error {
	if customer.ID == c.CustomerID && !c.IsRoot() {
		return problem.Denied("a company's limits are set only by a company above it")
	}
	return nil
}

// limits checks limits to set.
func (v *check) limits(field string, list []*LimitInput) {
	if len(list) == 0 {
		v.fault(field, "must name at least one")
	}
	seen := map[quota.Name]bool{}
	for _, l := range list {
		place := field + "." + string(l.Name)
		if seen[l.Name] {
			v.fault(place, "is there more than once")
		}
		seen[l.Name] = true
		if l.Limit != nil && (*l.Limit < 0 || *l.Limit > quota.Highest) {
			v.fault(place, "must be between 0 and %d", quota.Highest)
		}
	}
}

// Usage is what the company has of everything that is limited.
func (e CustomerEdges) Usage(ctx context.Context, obj *db.Customer) ([]*db.Usage, error) {
	if _, err := e.may(ctx, rule.CustomerUsage); err != nil {
		return nil, err
	}
	if e.Store.Cell() != nil { // which hears of its own companies, and of those above others of it, alone: the home hears of all
		if err := e.hasOf(ctx, obj.RegionID); err != nil {
			return nil, err
		}
	}
	return e.usage(ctx, obj)
}

// usage is what a company has, and has done.
func (r *Resolver) usage(ctx context.Context, c *db.Customer) ([]*db.Usage, error) {
	list, err := c.Usage(ctx, r.Store)
	if err == nil {
		r.Rates.used(ctx, c, list)
	}
	return list, err
}

// UsageEdges resolves the edge of what a company has.
type UsageEdges struct{ *Resolver }

// LimitedBy is the company whose limit binds; nil where there is none, and beyond reach.
func (e UsageEdges) LimitedBy(ctx context.Context, obj *db.Usage) (*db.CustomerRef, error) {
	return obj.LimitedBy(ctx, e.Store, reach(ctx))
}
