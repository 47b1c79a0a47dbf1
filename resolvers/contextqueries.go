package resolvers

import (
	"context"
	"time"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/rule"
)

// ContextQueryFilter bounds a list of what was asked; nil leaves it open.
type ContextQueryFilter struct {
	IDs                        []globalid.ID `of:"ContextQuery"`
	MaxRelevance               *float64
	CreatedSince, CreatedUntil *time.Time
	Or                         []*ContextQueryFilter
}

func (q Query) contextQueryNode(ctx context.Context, id globalid.ID) (*db.ContextQuery, error) {
	c, err := q.may(ctx, rule.ContextQueries)
	if err != nil {
		return nil, err
	}
	row, err := q.Store.ContextQuery(ctx, c.desk(), id.Int)
	return row, missing(err, "query", id.Int)
}

// ListContextQueries gives what was asked of a context that fits a filter.
func (q Query) ListContextQueries(ctx context.Context, contextID globalid.ID, filter *ContextQueryFilter, l Listing, each func(*db.ContextQuery, paging.Cursor) error) error {
	c, err := q.may(ctx, rule.ContextQueries)
	if err != nil {
		return err
	}
	row, err := q.aContext(ctx, c, contextID, "contextId")
	if err != nil {
		return err
	}
	return listAll(ctx, q.Resolver, c, asked{list: db.ContextQueries, filter: filter}, l, within(q.Store, row.Queries), each)
}

// Queries is a page of what was asked of the context.
func (e ContextEdges) Queries(ctx context.Context, obj *db.Context, filter *ContextQueryFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*ContextQueryConnection, error) {
	c, err := e.may(ctx, rule.ContextQueries)
	if err != nil {
		return nil, err
	}
	return connected(ctx, e.Resolver, c, asked{list: db.ContextQueries, filter: filter, order: orderBy, args: page(first, after, last, before)},
		within(e.Store, obj.Queries),
		within(e.Store, obj.QueryCount))
}

// ContextQueryEdges resolves the edge of what was asked.
type ContextQueryEdges struct{ *Resolver }

// User is who asked; nil when that user is gone, or beyond the caller's reach, and for a run.
func (e ContextQueryEdges) User(ctx context.Context, obj *db.ContextQuery) (*db.User, error) {
	if obj.UserID == nil {
		return nil, nil
	}
	return obj.User(ctx, e.Store, reach(ctx))
}
