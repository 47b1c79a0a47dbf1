package resolvers

import (
	"context"
	"encoding/json"
	"slices"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/hop"
	"canopy/internal/problem"
	"canopy/internal/rule"
)

// What the search box finds of data is in several cells, too: each is asked once, and gives its own hits with how they fit.

// boxAsk is how another cell is asked what goes by a text.
type boxAsk struct {
	Text  string
	Types []string
	First int
}

// boxHit is what it has found.
type boxHit struct {
	Type string
	Fits int
	Row  json.RawMessage
}

type boxHits struct{ Hits []boxHit }

// rowOf reads the row of a kind that another cell has found.
func rowOf[T any](there func([]*T, problem.Place)) func(json.RawMessage, problem.Place) (SearchResult, error) {
	return func(raw json.RawMessage, at problem.Place) (SearchResult, error) {
		row := new(T)
		if err := json.Unmarshal(raw, row); err != nil {
			return nil, err
		}
		there([]*T{row}, at)
		result, is := any(row).(SearchResult)
		if !is {
			panic("resolvers: what the search box finds has no id")
		}
		return result, nil
	}
}

// spreadBox is the search box as another cell asks for it.
type spreadBox struct{}

func (spreadBox) answer(ctx context.Context, q Query, in asking) (any, error) {
	c, err := q.may(ctx, rule.Search)
	if err != nil {
		return nil, err
	}
	var ask boxAsk
	if err := json.Unmarshal(in.Ask, &ask); err != nil {
		return nil, problem.Bad("this cell knows no such search").Because(err)
	}
	b, err := q.found(ctx, c, ask.Text, ask.Types, ask.First)
	if err != nil {
		return nil, err
	}
	out := boxHits{Hits: []boxHit{}}
	for _, h := range b.best() {
		row, err := json.Marshal(h.SearchResult)
		if err != nil {
			return nil, err
		}
		out.Hits = append(out.Hits, boxHit{resultKinds[h.kind].name, h.fits, row})
	}
	return out, nil
}

// elsewhere adds what other cells have found of the kinds that live in cells.
func (b *box) elsewhere(ctx context.Context, r *Resolver, c *access.Principal, here func(context.Context) error) error {
	var types []string
	for i, k := range resultKinds {
		if b.callers[i] != nil && k.rowOf != nil {
			types = append(types, upperSnake(k.name))
		}
	}
	var others []problem.Place
	if len(types) > 0 && r.Cells.Passes(ctx) && !hop.OfRows(ctx) {
		var err error
		if others, err = r.Store.OtherCells(ctx, c.Scope(), db.Ask{}, false); err != nil {
			return err
		}
	}
	found := make([]boxHits, len(others))
	err := beside(ctx, others, here, func(ctx context.Context, i int) error {
		return r.askFor(ctx, others[i], asking{List: boxName}, c.Scope(), boxAsk{b.text, types, b.first}, &found[i])
	})
	if err != nil || len(others) == 0 {
		return err
	}
	for i, of := range found {
		for _, h := range of.Hits {
			kind := slices.IndexFunc(resultKinds, func(k resultKind) bool { return k.name == h.Type && k.rowOf != nil })
			if kind < 0 {
				continue // of a later version
			}
			row, err := resultKinds[kind].rowOf(h.Row, others[i])
			if err != nil {
				return hop.Away(others[i], err)
			}
			b.add(hit{row, kind, h.Fits})
		}
	}
	b.dropNear()
	return nil
}

// dropNear takes away what one cell has looked for within one edit, as it had nothing that fits well, where another one has.
func (b *box) dropNear() {
	well := b.count(-1, nameBegins) > 0 || b.count(-1, nameHasWords) >= b.first
	b.hits = slices.DeleteFunc(b.hits, func(h hit) bool { return h.fits == nearName && (well || b.count(h.kind, nameHasWords) > 0) })
}
