package rest

import (
	"github.com/danielgtaylor/huma/v2"

	"canopy/internal/globalid"
)

// given are the query parameters that a request has, which tells an empty value from none.
type given map[string]bool

func givenOf(hc huma.Context, names ...string) given {
	g := given{}
	for _, name := range names {
		g[name] = hc.Query(name) != ""
	}
	return g
}

// ifGiven is a parameter's value, nil where it was left out.
func ifGiven[T any](g given, name string, value *T) *T {
	if !g[name] {
		return nil
	}
	return value
}

func (g given) id(name string, n int64) *globalid.ID { return ifGiven(g, name, &globalid.ID{Int: n}) }
