package resolvers

import (
	"context"
	"strconv"

	"canopy/internal/access"
	"canopy/internal/limit"
	"canopy/internal/problem"
)

// tenantShare is how many times the budget of one key or person a tenant has, so that more keys are not
// more budget.
const tenantShare = 10

// Budgets are those that something a caller does counts against: the caller's own minute, by API key or
// person, and that of its tenant: the company right below the root, with all below it.
func Budgets(p *access.Principal, kind string, most int) (tenant string, budgets []limit.Budget) {
	return strconv.FormatInt(p.Lineage.Tenant(), 10), []limit.Budget{{Name: kind + ":" + p.Credential(), Limit: most}, {Name: kind, Limit: most * tenantShare}}
}

// Over says whose minute is used up, by the place of its budget.
func Over(p *access.Principal, place int) string {
	switch {
	case place > 0:
		return "the company with all companies below it"
	case p.Login():
		return "the person"
	}
	return "the API key"
}

// withinRate counts a request.
func (r *Resolver) withinRate(ctx context.Context, p *access.Principal) error {
	if r.RequestsPerMinute == 0 {
		return nil
	}
	tenant, budgets := Budgets(p, "requests", r.RequestsPerMinute)
	d, err := r.Limiter.Allow(ctx, tenant, 1, budgets...)
	if err != nil || d.Allowed {
		return nil // without Redis the limit is open
	}
	return &problem.Error{
		Code: problem.RateLimited, RetryAfter: d.RetryAfter,
		Detail: Over(p, d.Over) + " is over its " + strconv.Itoa(budgets[d.Over].Limit) + " requests a minute",
	}
}
