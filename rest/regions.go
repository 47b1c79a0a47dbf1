package rest

import (
	"context"
	"net/http"

	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/rule"
)

type listAll struct{ Paging }

type regionPath struct {
	ID int64 `path:"id" doc:"The region's id"`
}

func (a *api) registerRegions() {
	addList(a, operation{
		id: "listAvailableRegions", rule: rule.Regions, path: "/region/available", tag: tagRegions, summary: "List the available regions",
		description: "The regions where both the agent builder and the assistant take new companies.",
	}, 1, a.regions(false))
	addList(a, operation{
		id: "listRegions", rule: rule.Regions, path: "/region", tag: tagRegions, summary: "List all regions",
		description: "Every region; for callers of the root company only.",
	}, 1, a.regions(true))
	add(a, operation{
		id: "getRegion", rule: rule.Region, method: http.MethodGet, path: "/region/{id}", tag: tagRegions, errors: []int{http.StatusNotFound},
		summary: "Get a region", description: "One region.",
	}, func(ctx context.Context, in *regionPath) (*one[region], error) {
		row, err := a.queries().Region(ctx, globalid.ID{Int: in.ID})
		if err != nil {
			return nil, err
		}
		return &one[region]{regionOf(row)}, nil
	})
}

// regions reads a list of regions; those of all are few, so a page is cut from the whole.
func (a *api) regions(all bool) func(context.Context, *listAll, query, emit[region]) error {
	return func(ctx context.Context, _ *listAll, q query, each emit[region]) error {
		rows, err := a.queries().Regions(ctx, &all)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if !q.after.IsZero() && row.ID <= q.after.Ints()[0] {
				continue
			}
			if err := each(regionOf(row), paging.IDs(row.ID)); err != nil {
				return err
			}
		}
		return nil
	}
}
