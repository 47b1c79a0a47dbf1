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

// ofWhatIsNamed are the fields of the builder that look by themselves whether the company or the account that they are of has it here.
var ofWhatIsNamed = []*rule.Rule{rule.CustomerAgents, rule.CustomerDeletedAgents, rule.AccountAgents, rule.Agents, rule.CreateAgent}

// answersFor refuses what another cell has to answer: whatever the assistant and the builder do is of the caller's company, and lives in the cell of its region. In tenant
// management a caller asks for other companies, too: there it is the company that is asked for. What another cell has passed on is looked for in any case: builders name agents and runs of companies
// below their own, by ids that tell the cell. So are the agents of a company or an account, which are where that lives.
func (r *Resolver) answersFor(ctx context.Context, p *access.Principal, need *rule.Rule) error {
	if hop.By(ctx) != "" || slices.Contains(need.Apps, access.Tenant) || !need.OfData() || slices.Contains(ofWhatIsNamed, need) {
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
