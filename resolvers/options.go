package resolvers

import (
	"context"
	"slices"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/problem"
	"canopy/internal/rule"
)

// PermissionOptions is what can be chosen for a new permission, step by step. The lists of later
// steps are empty.
type PermissionOptions struct {
	Applications, Regions, Accounts, Roles, Users []*db.Option
}

// PermissionOptions lists what can be chosen next: without choices the applications, with an
// application its regions, with a region the accounts there, with an account roles and users.
func (q Query) PermissionOptions(ctx context.Context, application, region, account, customerID *globalid.ID, all *bool) (*PermissionOptions, error) {
	c, err := q.may(ctx, rule.PermissionOptions)
	if err != nil {
		return nil, err
	}
	chosen, err := chosenOptions(application, region, account)
	if err != nil {
		return nil, err
	}
	customer, err := q.optionCustomer(ctx, c, customerID, chosen.account)
	if err != nil {
		return nil, err
	}
	out := &PermissionOptions{Applications: []*db.Option{}, Regions: []*db.Option{}, Accounts: []*db.Option{}, Roles: []*db.Option{}, Users: []*db.Option{}}
	if out.Applications, err = q.Store.OptionApplications(ctx, customer, or(all, false)); err != nil || !selectOption(out.Applications, chosen.application) {
		return out, firstError(err, chosen.unknown("type", chosen.application))
	}
	if out.Regions, err = q.Store.OptionRegions(ctx, customer, or(all, false), *chosen.application); err != nil || !selectOption(out.Regions, chosen.region) {
		return out, firstError(err, chosen.unknown("region", chosen.region))
	}
	if out.Accounts, err = q.Store.OptionAccounts(ctx, customer, or(all, false), *chosen.application, *chosen.region); err != nil || !selectOption(out.Accounts, chosen.account) {
		return out, firstError(err, chosen.unknown("account", chosen.account))
	}
	if out.Roles, err = q.Store.OptionRoles(ctx, customer, *chosen.application); err != nil {
		return nil, err
	}
	selectOption(out.Roles, nil)
	if out.Users, err = q.Store.OptionUsers(ctx, c.Scope(), customer); err != nil {
		return nil, err
	}
	selectOption(out.Users, nil)
	return out, nil
}

// choices are the values chosen in earlier steps.
type choices struct{ application, region, account *int64 }

func chosenOptions(application, region, account *globalid.ID) (c choices, err error) {
	for _, step := range []struct {
		id          *globalid.ID
		typ, field  string
		needs, into **int64
	}{
		{id: application, typ: "Application", field: "type", into: &c.application},
		{id: region, typ: "Region", field: "region", needs: &c.application, into: &c.region},
		{id: account, typ: "Account", field: "account", needs: &c.region, into: &c.account},
	} {
		if step.id == nil {
			continue
		}
		if step.needs != nil && *step.needs == nil {
			return c, problem.Invalid(problem.Fault{Location: step.field, Message: "is chosen after the steps before it"})
		}
		n, err := step.id.Of(step.typ, step.field)
		if err != nil {
			return c, err
		}
		*step.into = &n
	}
	return c, nil
}

// unknown is the fault of a choice that is not among the options; nil when nothing was chosen.
func (choices) unknown(field string, value *int64) error {
	if value == nil {
		return nil
	}
	return problem.Invalid(problem.Fault{Location: field, Message: "is not one of the options"})
}

// optionCustomer is the company whose options are asked for: the one named, else that of the
// chosen account, else the caller's own.
func (r *Resolver) optionCustomer(ctx context.Context, c *caller, customerID *globalid.ID, account *int64) (int64, error) {
	if customerID == nil && account != nil {
		row, err := r.Store.Account(ctx, c.Scope(), *account)
		if err != nil {
			return 0, c.unreached(err, "account", *account)
		}
		return row.CustomerID, nil
	}
	customer, err := r.customer(ctx, c, customerID, "customerId")
	if err != nil {
		return 0, err
	}
	return customer.ID, nil
}

// selectOption marks the chosen option, or the only one there is; it tells whether one was chosen.
func selectOption(list []*db.Option, value *int64) bool {
	if value == nil {
		if len(list) == 1 {
			list[0].Selected = true
		}
		return false
	}
	i := slices.IndexFunc(list, func(o *db.Option) bool { return o.Value == *value })
	if i >= 0 {
		list[i].Selected = true
	}
	return i >= 0
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
