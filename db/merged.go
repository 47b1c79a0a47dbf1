package db

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/problem"
)

// What companies have is in several cells, so rows of one list are, too. A cursor means the same in each of them, as ids are of one cell alone: each gives its first rows behind the cursor, and
// the first of all of these are the page.

// merging is a row of such a list.
type merging[V any] interface {
	member[V]
	GlobalID() globalid.ID
}

// Merged puts rows together that several cells have given for the same ask. Keys compare here as PostgreSQL has them: such lists are in the order of moments, of ids, and of words that are
// alike in every collation. What has moved from the home into a cell, and is forgotten there a minute later, is the cell's, whose rows come first.
func Merged[V any, R merging[V]](l *List, a Ask, parts ...[]*V) []*V {
	keys := l.keys(cmp.Or(a.order, l.otherwise))
	seen := map[int64]bool{}
	rows := slices.DeleteFunc(slices.Concat(parts...), func(r *V) bool {
		id := R(r).GlobalID().Int
		again := seen[id]
		seen[id] = true
		return again
	})
	slices.SortFunc(rows, func(x, y *V) int {
		order := comparePlaces(keys, R(x).kin().FoundAt(), R(y).kin().FoundAt())
		if a.Page.Backward {
			return -order
		}
		return order
	})
	return join[V, R](rows[:min(len(rows), a.Page.Size+1)])
}

// comparePlaces tells which of two places in an order comes first.
func comparePlaces(keys []sortedKey, x, y []string) int {
	for i, k := range keys {
		order := cmp.Compare(x[i], y[i])
		if k.kind.sql == integers.sql || k.kind.sql == moments.sql {
			a, _ := strconv.ParseInt(x[i], 10, 64)
			b, _ := strconv.ParseInt(y[i], 10, 64)
			order = cmp.Compare(a, b)
		}
		if k.down {
			order = -order
		}
		if order != 0 {
			return order
		}
	}
	return 0
}

// There says of rows that another cell has given them, with what hangs from them.
func There[V any, R member[V]](rows []*V, at problem.Place) {
	for _, r := range rows {
		R(r).kin().there = &at
	}
}

// There refuses what hangs from a row that another cell has.
func (s *siblings) There() error {
	if s.there == nil {
		return nil
	}
	e := problem.Elsewhere(s.there.Region, s.there.Address)
	e.Place.OfRows = true
	return e
}

// askText is an Ask as another cell is asked it.
type askText struct {
	Where    Where
	Order    string
	Size     int
	Backward bool
	Bound    string
}

// MarshalJSON is how another cell is asked.
func (a Ask) MarshalJSON() ([]byte, error) {
	text := askText{Where: a.Where(), Order: a.order, Size: a.Page.Size, Backward: a.Page.Backward}
	if !a.Page.IsOpen() {
		text.Bound = a.Page.Bound().String()
	}
	return json.Marshal(text)
}

// maxAsked is how many rows another cell asks for at most.
const maxAsked = 10_000

// ReadAsk reads what another cell asks of the list.
func (l *List) ReadAsk(raw []byte) (Ask, error) {
	var text askText
	if err := json.Unmarshal(raw, &text); err != nil {
		return Ask{}, err
	}
	if text.Size < 0 || text.Size > maxAsked || !l.knows(text.Where) {
		return Ask{}, fmt.Errorf("this cell knows no such list: %.1000s", raw)
	}
	var by []Sort
	if text.Order != "" {
		by = sorts(text.Order)
	}
	for _, s := range by {
		if _, is := l.orders[s.Field]; !is {
			return Ask{}, fmt.Errorf("this cell knows no order by %.100q", s.Field)
		}
	}
	bound, err := l.Order(by).Parse(text.Bound, "after")
	if err != nil {
		return Ask{}, err
	}
	page := paging.NewPage(text.Size, bound)
	page.Backward = text.Backward
	return NewAsk(text.Where, text.Order, page), nil
}

// knows tells whether the list has all members of a filter.
func (l *List) knows(w Where) bool {
	return !slices.ContainsFunc(w.Terms, func(t Term) bool { return l.members[t.Member] == "" }) && !slices.ContainsFunc(w.Or, func(o Where) bool { return !l.knows(o) })
}
