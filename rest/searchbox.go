package rest

import (
	"context"
	"net/http"

	"canopy/db"
	"canopy/internal/enum"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// SearchQuery are the parameters of the search box.
type SearchQuery struct {
	Text  string   `query:"text" required:"true" doc:"What to look for"`
	Types []string `query:"types" enum:"customer,user,context,document,agent,run,webhookDestination,webhookDelivery" doc:"Only these kinds, separated by commas; by default all"`
	First int      `query:"first" minimum:"1" maximum:"50" default:"10" doc:"How many"`
}

// searchResult is something that was found.
type searchResult struct {
	Type       string  `json:"type" enum:"customer,user,context,document,agent,run,webhookDestination,webhookDelivery"`
	ID         int64   `json:"id"`
	Name       string  `json:"name" doc:"What it goes by: of a run its job key, of a delivery the id of its event"`
	Email      *string `json:"email" doc:"The address of a user; null for what is none"`
	URL        *string `json:"url" doc:"The address of a webhook destination; null for what is none"`
	CustomerID *int64  `json:"customerId" doc:"The company of an agent, a run, a webhook destination or a delivery; otherwise null"`
	ContextID  *int64  `json:"contextId" doc:"The context of a document; otherwise null"`
}

func searchResultOf(row resolvers.SearchResult) searchResult {
	id := row.GlobalID()
	r := searchResult{Type: lowerCase(id.Type), ID: id.Int, Name: resolvers.Calls(row)[0]}
	switch x := row.(type) {
	case *db.User:
		r.Email = &x.Email
	case *db.Document:
		r.ContextID = &x.ContextID
	case *db.Agent:
		r.CustomerID = &x.CustomerID
	case *db.Run:
		r.CustomerID = &x.CustomerID
	case *db.Destination:
		r.URL, r.CustomerID = &x.URL, &x.CustomerID
	case *db.Delivery:
		r.CustomerID = &x.CustomerID
	}
	return r
}

// lowerCase writes the name of a type in lower camel case.
func lowerCase(name string) string { return string(name[0]|0x20) + name[1:] }

// registerSearch registers the search box.
func (a *api) registerSearch() {
	add(a, operation{
		id: "search", rule: rule.Search, method: http.MethodGet, path: "/tenant/search", tag: tagCustomers,
		summary: "Search",
		description: "What goes by a text, of what the caller may list within reach: names that have all its words, the last one as a beginning, " +
			"or where nothing fits so well, within one edit; ids and event ids as a whole; and job keys, or what they begin with, of 6 digits at least. What fits best comes first.",
	}, func(ctx context.Context, in *SearchQuery) (*one[[]searchResult], error) {
		var types []string
		for _, t := range in.Types {
			types = append(types, enum.UpperCase(t))
		}
		rows, err := a.queries().Search(ctx, in.Text, types, &in.First)
		if err != nil {
			return nil, err
		}
		return &one[[]searchResult]{mapped(rows, searchResultOf)}, nil
	})
}
