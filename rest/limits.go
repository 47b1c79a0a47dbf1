package rest

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/quota"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// usage is how much a company has of something, with everything below it, and how much that may be.
type usage struct {
	Name      quota.Name        `json:"name" doc:"What is counted"`
	Used      int64             `json:"used" doc:"How much there is, or was done in the time at hand"`
	Limit     *int64            `json:"limit" doc:"The smallest of the company's own limit and those of the companies above; null where there is none"`
	Own       *int64            `json:"own" doc:"The limit that was set for the company itself, whether it is the smallest or not; null where none was. A company right below the root has the platform's default then"`
	LimitedBy *ancestorCustomer `json:"limitedBy"`
	AsOf      *time.Time        `json:"asOf" doc:"Where other cells have some of it: when they told so last, give or take a minute. They tell it every few seconds; null where all is counted by the cell that answers"`
}

// TransformSchema documents the names, and that the company may be null, which needs the object spelled out.
func (usage) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	for _, name := range quota.Names() {
		s.Properties["name"].Enum = append(s.Properties["name"].Enum, string(name))
	}
	by := *r.SchemaFromRef(r.Schema(reflect.TypeFor[ancestorCustomer](), true, "").Ref)
	by.Nullable = true
	by.Description = "The company whose limit that is; null where there is none, and beyond the caller's reach"
	s.Properties["limitedBy"] = &by
	return s
}

// limitSet are limits by name; null takes one away.
type limitSet map[quota.Name]*int64

// Schema documents the names that there are.
func (limitSet) Schema(huma.Registry) *huma.Schema {
	least, most := 0.0, float64(quota.Highest)
	s := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: false}
	for _, name := range quota.Names() {
		s.Properties[string(name)] = &huma.Schema{Type: huma.TypeInteger, Format: "int64", Minimum: &least, Maximum: &most, Nullable: true}
	}
	return s
}

type setLimitsInput struct {
	CustomerPath
	Body struct {
		Limits limitSet `json:"limits" doc:"The most that there may be, by name; null takes the company's own limit away. Those that are left out stay"`
	} `nameHint:"SetLimitsRequest"`
}

func (a *api) registerLimits() {
	const doc = "What a company has of everything that is limited, with everything below it, and how much that may be."
	add(a, operation{
		id: "getUsage", rule: rule.CustomerUsage, method: http.MethodGet, path: "/tenant/usage", tag: tagLimits, errors: []int{http.StatusNotFound},
		summary: "Get what the caller's company uses", description: doc,
	}, getUsage[OwnCustomer](a))
	add(a, operation{
		id: "getUsageOf", rule: rule.CustomerUsage, method: http.MethodGet, path: "/tenant/usage/{cid}", tag: tagLimits, errors: []int{http.StatusNotFound},
		summary: "Get what a company uses", description: doc,
	}, getUsage[CustomerPath](a))
	add(a, operation{
		id: "setLimits", rule: rule.SetLimits, method: http.MethodPut, path: "/tenant/limits/{cid}", tag: tagLimits, errors: []int{http.StatusNotFound}, status: http.StatusOK,
		summary: "Set limits of a company", description: "Sets how much a company may have with everything below it, and answers what it uses. Only from above: a company above it, or the root for itself.",
		names: map[string]string{"customerId": "cid"},
	}, a.setLimits)
}

func getUsage[I any, P inputOf[I]](a *api) func(context.Context, *I) (*one[[]usage], error) {
	return func(ctx context.Context, in *I) (*one[[]usage], error) {
		c, err := a.queries().Customer(ctx, P(in).customer())
		if err != nil {
			return nil, err
		}
		rows, err := resolvers.CustomerEdges{Resolver: a.r}.Usage(ctx, c)
		if err != nil {
			return nil, err
		}
		return a.usage(ctx, rows)
	}
}

func (a *api) setLimits(ctx context.Context, in *setLimitsInput) (*one[[]usage], error) {
	set := resolvers.SetLimitsInput{CustomerID: globalid.ID{Int: in.CID}}
	for _, name := range quota.Names() {
		if most, named := in.Body.Limits[name]; named {
			set.Limits = append(set.Limits, &resolvers.LimitInput{Name: name, Limit: most})
		}
	}
	out, err := a.mutations().SetLimits(ctx, set)
	if err != nil {
		return nil, err
	}
	return a.usage(ctx, out.Usage)
}

func (a *api) usage(ctx context.Context, rows []*db.Usage) (*one[[]usage], error) {
	list := make([]usage, len(rows))
	for i, u := range rows {
		by, err := resolvers.UsageEdges{Resolver: a.r}.LimitedBy(ctx, u)
		if err != nil {
			return nil, err
		}
		list[i] = usage{Name: u.Name, Used: u.Used, Limit: u.Limit, Own: u.Own, AsOf: u.AsOf}
		if by != nil {
			shown := ancestorOf(by)
			list[i].LimitedBy = &shown
		}
	}
	return &one[[]usage]{list}, nil
}
