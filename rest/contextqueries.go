package rest

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"canopy/db"
	"canopy/internal/paging"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// contextQuery is what was asked of a context.
type contextQuery struct {
	ID        int64     `json:"id"`
	UserID    *int64    `json:"userId" doc:"Who asked; null for a run"`
	Text      string    `json:"text" doc:"What was asked, the first 1,000 characters of it"`
	Mode      string    `json:"mode" enum:"SEMANTIC,LEXICAL,HYBRID" doc:"What was compared"`
	Hits      int       `json:"hits" doc:"How many hits there were"`
	Relevance float64   `json:"relevance" doc:"The greatest relevance of a hit, 0 to 1; 0 where nothing was found"`
	CreatedAt time.Time `json:"createdAt" doc:"When it was asked"`
}

func contextQueryOf(q *db.ContextQuery) contextQuery {
	return contextQuery{ID: q.ID, UserID: q.UserID, Text: q.Text, Mode: q.Mode, Hits: q.Hits, Relevance: q.Relevance, CreatedAt: q.CreatedAt}
}

// ContextQueryFilter are the parameters that bound a list of what was asked.
type ContextQueryFilter struct {
	IDs          []int64   `query:"ids" doc:"Only those of these ids, separated by commas"`
	MaxRelevance float64   `query:"maxRelevance" minimum:"0" maximum:"1" doc:"Only those whose hits are no more relevant, 0 to 1: with 0 those that found nothing"`
	CreatedSince time.Time `query:"createdSince" doc:"Only those from this moment on"`
	CreatedUntil time.Time `query:"createdUntil" doc:"Only those before this moment"`
}

type listContextQueries struct {
	SettingsPath
	Pages
	OrderQuery
	ContextQueryFilter

	filter *resolvers.ContextQueryFilter
}

// Resolve tells what was given from what was left out.
func (q *listContextQueries) Resolve(hc huma.Context) []error {
	q.filter = filterGiven[resolvers.ContextQueryFilter](hc, &q.ContextQueryFilter)
	return nil
}

// registerContextQueries registers what was asked of contexts.
func (a *api) registerContextQueries() {
	addList(a, operation{
		id: "listContextQueries", rule: rule.ContextQueries, orders: db.ContextQueries, path: "/v1/contexts/{id}/queries", tag: tagContexts, errors: []int{http.StatusNotFound},
		summary:     "List what was asked of a context",
		description: "The searches and questions of a context whose settings say `logsQueries`, newest first: at most 10,000 of the last 30 days.",
	}, anyOrder, func(ctx context.Context, in *listContextQueries, _ query, each emit[contextQuery]) error {
		return a.queries().ListContextQueries(ctx, in.id(), in.filter, in.listing(&in.Pages), func(q *db.ContextQuery, at paging.Cursor) error {
			return each(contextQueryOf(q), at)
		})
	})
}
