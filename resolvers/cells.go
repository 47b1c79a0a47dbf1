package resolvers

import (
	"context"
	"slices"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/globalid"
	"canopy/internal/hop"
	"canopy/internal/rule"
)

// answersFor refuses what another cell has to answer: whatever the assistant does is of the caller's own account, and lives in the cell of its region. All else looks by itself for
// what is asked for, which may be of a company below: by the id, which tells the cell, or by the company or account that is named. So does what another cell has passed on.
// Who is who is changed at the home, also where a cell would find nothing to change: its replica may be late.
func (r *Resolver) answersFor(ctx context.Context, p *access.Principal, need *rule.Rule) error {
	if need.AtHome() {
		return r.Store.AtHome()
	}
	if hop.By(ctx) != "" || !need.OfData() || !slices.Equal(need.Apps, []access.App{access.Assistant}) {
		return nil
	}
	return r.hasOf(ctx, p.RegionID)
}

// hasOf refuses what companies of a region have, where another cell has it.
func (r *Resolver) hasOf(ctx context.Context, regionID int64) error {
	if !r.Store.Elsewhere(regionID) {
		return nil
	}
	return r.Store.Misdirected(ctx, regionID)
}

// holder gives the company of an optional argument, the caller's own when it is left out, as the one whose agents, destinations or secrets are asked for: those have to be here.
func (r *Resolver) holder(ctx context.Context, c *caller, id *globalid.ID, field string) (*db.Customer, error) {
	row, err := r.customer(ctx, c, id, field)
	if err != nil {
		return nil, err
	}
	return row, r.hasOf(ctx, row.RegionID)
}
