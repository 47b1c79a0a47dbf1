package resolvers

import (
	"context"
	"errors"
	"slices"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/globalid"
	"canopy/internal/hop"
	"canopy/internal/problem"
	"canopy/internal/rule"
)

// answersFor refuses what another cell has to answer: whatever the assistant and the builder do is of the caller's company, and lives in the cell of its region. In tenant
// management a caller asks for other companies, too: there it is the company that is asked for. What another cell asks for of rows that it knows to be here is here.
func (r *Resolver) answersFor(ctx context.Context, p *access.Principal, need *rule.Rule) error {
	if slices.Contains(need.Apps, access.Tenant) || !need.OfData() || hop.OfRows(ctx) {
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

// absent is missing for a row of what companies have, by its id: the id of another cell's says where it is. Who asks for it there is asked for nothing else.
func (r *Resolver) absent(ctx context.Context, err error, what string, id int64) error {
	if !errors.Is(err, db.ErrNoRows) || !r.Cells.PassesParts(ctx) || hop.OfRows(ctx) {
		return missing(err, what, id)
	}
	return missing(ofRow(r.Store.OfOtherCell(ctx, id)), what, id)
}

// ofRow has what another cell is asked for be a row that is there, wherever what the caller's company has is.
func ofRow(err error) error {
	if p := (*problem.Error)(nil); errors.As(err, &p) && p.Place != nil {
		p.Place.OfRows = true
	}
	return err
}
