package resolvers

import (
	"context"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/problem"
	"canopy/internal/rule"
)

// Regions lists the regions that take new companies; with all, every region, for callers of the
// root company only.
func (q Query) Regions(ctx context.Context, all *bool) ([]*db.Region, error) {
	c, err := q.may(ctx, rule.Regions)
	if err != nil {
		return nil, err
	}
	if !or(all, false) {
		return q.Store.AvailableRegions(ctx)
	}
	if !c.IsRoot() {
		return nil, problem.Denied("only the root company lists all regions")
	}
	return q.Store.Regions(ctx)
}

// Region gives one region.
func (q Query) Region(ctx context.Context, id globalid.ID) (*db.Region, error) {
	if _, err := q.may(ctx, rule.Region); err != nil {
		return nil, err
	}
	n, err := id.Of("Region", "id")
	if err != nil {
		return nil, err
	}
	row, err := q.Store.Region(ctx, n)
	return row, missing(err, "region", n)
}

// Applications lists the platform's applications.
func (q Query) Applications(ctx context.Context) ([]*db.Application, error) {
	if _, err := q.may(ctx, rule.Applications); err != nil {
		return nil, err
	}
	return q.Store.Applications(ctx)
}

// applicationNode gives one application.
func (q Query) applicationNode(ctx context.Context, id globalid.ID) (*db.Application, error) {
	if _, err := q.may(ctx, rule.Applications); err != nil {
		return nil, err
	}
	row, err := q.Store.Application(ctx, id.Int)
	return row, missing(err, "application", id.Int)
}

// Places are the applications and regions, by id: few, and named wherever an account is shown.
type Places struct {
	Applications map[int64]*db.Application
	Regions      map[int64]*db.Region
}

// Places reads what listings show beside accounts and permissions.
func (q Query) Places(ctx context.Context) (*Places, error) {
	if _, err := q.may(ctx, rule.Applications); err != nil {
		return nil, err
	}
	applications, err := q.Store.Applications(ctx)
	if err != nil {
		return nil, err
	}
	regions, err := q.Store.Regions(ctx)
	if err != nil {
		return nil, err
	}
	p := &Places{map[int64]*db.Application{}, map[int64]*db.Region{}}
	for _, a := range applications {
		p.Applications[a.ID] = a
	}
	for _, r := range regions {
		p.Regions[r.ID] = r
	}
	return p, nil
}
