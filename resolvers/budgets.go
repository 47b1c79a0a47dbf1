package resolvers

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/limit"
	"canopy/internal/problem"
	"canopy/internal/quota"
)

// budget is a minute that something a caller does counts against: its own, by API key or person, or that of a
// company that it belongs to.
type budget struct {
	limit.Budget
	// customerID is the company; 0 for the caller itself.
	customerID int64
}

// Rates counts what callers do in a minute.
type Rates struct {
	Limiter *limit.Limiter
	// Defaults are the limits of companies right below root that have none of their own.
	Defaults map[quota.Name]int64
	// Store is told of what is to be announced; nil tells nobody.
	Store *db.Store
	// Tell, unless it is nil, tells the caller of a limit of its own or its companies': its name, how much it
	// allows in a minute, how much is left, and when it begins anew.
	Tell func(ctx context.Context, name string, most, left int, reset time.Duration)

	// Uncounted, unless it is nil, is told of what was let through because Redis could not be asked.
	Uncounted func(ctx context.Context)

	// announced has the day on which the level of a company's limit was last written down.
	announced sync.Map
}

// companies are the minutes of the companies above a caller, and its own: of those that have a limit.
func (r *Rates) companies(p *access.Principal, name quota.Name) (list []budget) {
	for level, id := range p.Lineage {
		most, limited := p.Rate(id, string(name))
		if !limited && level == 1 {
			most, limited = r.Defaults[name]
		}
		if limited {
			list = append(list, budget{limit.Budget{Name: counted(name, id), Limit: int(most)}, id})
		}
	}
	return list
}

func counted(name quota.Name, customerID int64) string {
	return string(name) + ":company:" + strconv.FormatInt(customerID, 10)
}

// Spend counts something that costs so much against the caller's own minute of own, unless that is 0, and those of its
// companies. It gives what is left of the least, and the refusal where that is too little. Without Redis every limit
// is open.
func (r *Rates) Spend(ctx context.Context, p *access.Principal, name quota.Name, cost, own int) (left int, refused error) {
	mine := r.companies(p, name)
	var root []budget
	if len(mine) > 0 && mine[0].customerID == p.Lineage[0] {
		root, mine = mine[:1], mine[1:]
	}
	if own > 0 {
		mine = append([]budget{{Budget: limit.Budget{Name: string(name) + ":" + p.Credential(), Limit: own}}}, mine...)
	}
	left = math.MaxInt
	// Root's come last: what a branch is refused takes nothing from the others.
	for _, of := range []struct {
		branch  int64
		budgets []budget
	}{{p.Lineage.Branch(), mine}, {ofRoot, root}} {
		if len(of.budgets) == 0 {
			continue
		}
		d, err := r.take(ctx, of.branch, cost, of.budgets)
		if err != nil {
			if r.Uncounted != nil {
				r.Uncounted(ctx)
			}
			continue
		}
		r.tell(ctx, name, of.budgets, d)
		if left = min(left, d.Remaining); !d.Allowed {
			return left, refusalOf(p, name, of.budgets[d.Over], d)
		}
	}
	if left == math.MaxInt {
		left = own
	}
	return left, nil
}

// wholeBranch is whose the minute of a company is.
const wholeBranch = "the company with all companies below it"

// ofRoot is where root's minutes lie, which all branches share: beside those of no branch.
const ofRoot = 0

func (r *Rates) take(ctx context.Context, branch int64, cost int, budgets []budget) (limit.Decision, error) {
	plain := make([]limit.Budget, len(budgets))
	for i, b := range budgets {
		plain[i] = b.Budget
	}
	return r.Limiter.Allow(ctx, branchKey(branch), cost, plain...)
}

func branchKey(branch int64) string { return strconv.FormatInt(branch, 10) }

// tokensPerMinute are the tokens of an API key in a minute. They are counted apart from its requests, and as many are allowed.
const tokensPerMinute = "tokensPerMinute"

// fewTokens are allowed however few requests are.
const fewTokens = 120

// spendToken counts a token against the minutes of its key and of the key's branch; most is what a key may ask, 0 for no limit. Without Redis both are open.
func (r *Rates) spendToken(ctx context.Context, x *db.Exchange, most int) error {
	if most == 0 {
		return nil
	}
	most = max(most, fewTokens)
	budgets := []limit.Budget{{Name: tokensPerMinute + ":key:" + strconv.FormatInt(x.KeyID, 10), Limit: most}}
	if x.BranchID != 0 {
		budgets = append(budgets, limit.Budget{Name: tokensPerMinute + ":branch", Limit: quota.BranchShare * most})
	}
	d, err := r.Limiter.Allow(ctx, branchKey(x.BranchID), 1, budgets...)
	if err != nil {
		return nil // Redis is away
	}
	if r.Tell != nil {
		r.Tell(ctx, tokensPerMinute, most, d.Left[0], d.Reset)
	}
	if d.Allowed {
		return nil
	}
	who := [...]string{"the API key", wholeBranch}[d.Over]
	e := problem.OverRate(tokensPerMinute, int64(budgets[d.Over].Limit), d.RetryAfter)
	e.Reason = "" // a limit of no company
	e.Detail = fmt.Sprintf("%s is over its limit %s of %d: a token can be used until it expires", who, tokensPerMinute, budgets[d.Over].Limit)
	return e
}

func refusalOf(p *access.Principal, name quota.Name, b budget, d limit.Decision) error {
	who := "the API key"
	switch {
	case b.customerID != 0:
		who = wholeBranch
	case p.Login():
		who = "the person"
	}
	e := problem.OverRate(string(name), int64(b.Limit), d.RetryAfter)
	if b.customerID == 0 {
		e.Reason = "" // a limit of no company
	}
	e.Detail = fmt.Sprintf("%s is over its limit %s of %d: %d are left", who, name, b.Limit, d.Remaining)
	return e
}

// tell tells the caller of its limits, and has it announced where a company's is reached, or nearly.
func (r *Rates) tell(ctx context.Context, name quota.Name, budgets []budget, d limit.Decision) {
	for i, b := range budgets {
		policy := string(name)
		if b.customerID != 0 {
			policy += "-" + strconv.FormatInt(b.customerID, 10)
			r.announce(ctx, name, b, d.Left[i])
		}
		if r.Tell != nil {
			r.Tell(ctx, policy, b.Limit, d.Left[i], d.Reset)
		}
	}
}

// announce writes down that a company's limit is reached, or nearly, once a day for each process and level.
func (r *Rates) announce(ctx context.Context, name quota.Name, b budget, left int) {
	if r.Store == nil || left > b.Limit/5 {
		return
	}
	level := db.LimitNearly
	if left == 0 {
		level = db.LimitFull
	}
	key, today := fmt.Sprint(b.Name, level), time.Now().UTC().Format(time.DateOnly)
	if before, _ := r.announced.Swap(key, today); before == today {
		return
	}
	r.Store.NoteLimit(ctx, b.customerID, name, level, int64(b.Limit-left), int64(b.Limit))
}

// used fills in what companies have done in the minute at hand, of which Redis knows.
func (r *Rates) used(ctx context.Context, c *db.Customer, list []*db.Usage) {
	branch := c.Lineage.Branch()
	if c.ParentID == nil {
		branch = ofRoot
	}
	for _, u := range list {
		if u.Name.PerMinute() {
			u.Used = r.Limiter.Count(ctx, branchKey(branch), counted(u.Name, c.ID))
		}
	}
}
