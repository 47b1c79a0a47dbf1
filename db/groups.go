package db

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"canopy/internal/paging"
)

// An order of several fields is one of groups: of rows that have the first field alike, each in the order of the others. Indexes have the first field and behind it the
// id, and a group may be very large, as all that is made in one transaction has one time. So a page's groups are found first. All of them but the last, and the one that the page
// begins in, lie within as many rows as the page has; what of these two is in the page, if they are large, is found by a walk in the order of the next field.

// fewInGroup is how many rows of a group are put in order, where the next field is not the id.
const fewInGroup = 2_000

// inGroups tells whether a page is found by its groups: where the order's first field, behind one that has few values, is one that an index has, and nothing is asked for that finds few rows, or
// finds them in an order of its own.
func (s *statement) inGroups(a Ask) bool {
	keys := s.inEachPart()
	if first := keys[0]; s.fields < 2 || first.has != "" || len(first.values) > 0 || !s.list.ofTime(first) && slices.ContainsFunc(keys, func(k sortedKey) bool { return k.has != "" }) {
		return false
	}
	for _, terms := range a.Where().alternatives() {
		for _, t := range terms {
			if t.Member == "ids" || t.Member == searched || t.Member == nearBy || t.Member == "begins" {
				return false
			}
		}
	}
	return true
}

// ofTime tells whether a key is the time by which a filter finds rows.
func (l *List) ofTime(k sortedKey) bool {
	return l.members["createdSince"] == k.by+" >= ?::timestamptz"
}

// atMoment are the terms of a filter for what was made at a moment, by how that stands in a cursor.
func atMoment(text string) []Term {
	n, _ := strconv.ParseInt(text, 10, 64) // a cursor's fits
	at := func(micro int64) string { return time.UnixMicro(micro).UTC().Format(time.RFC3339Nano) }
	return []Term{{"createdSince", at(n)}, {"createdUntil", at(n + 1)}}
}

// grouping finds the groups of a page.
type grouping struct {
	s    *Store
	list *List
	ask  Ask
	ways ways
	args []any
	// unsorted: any rows will do, as far as they are read.
	unsorted bool
	// unfit: rows are not found in a way that a group can be found in.
	unfit bool
}

// inPlace is a row that was found, and where it stands in the order of the first key.
type inPlace struct {
	ID int64  `db:"id"`
	At string `db:"at"`
}

// ids are those of rows among which the whole page is, as far as one is found so. full: there are as many rows as the page takes.
func (g *grouping) ids(ctx context.Context) (ids []int64, full bool, err error) {
	begun := g.statement(0)
	if len(begun.keys[0].values) > 0 {
		return g.inParts(ctx, begun)
	}
	first, rest, after, size := begun.keys[0], begun.keys[1:], begun.after, g.ask.Page.Size+1
	for rest[0].by == first.by && len(rest) > 1 {
		if rest = rest[1:]; len(after) > 0 {
			after = slices.Delete(slices.Clone(after), 1, 2)
		}
	}
	var from []string
	if len(after) > 0 {
		at := g.ask.Page.Bound().Keys[0]
		var walked bool
		if ids, walked, err = g.group(ctx, first, at, rest, true, size); err != nil || walked && len(ids) == size {
			return ids, true, err
		}
		end := int64(math.MaxInt64)
		if first.down {
			end = math.MinInt64
		}
		from = []string{at, strconv.FormatInt(end, 10)}
	}
	next, err := g.rows(ctx, []sortedKey{first, g.byID(first.down)}, from, size, g.ways)
	if err != nil || len(next) == 0 {
		return ids, false, err
	}
	full = len(next) == size
	last := next[len(next)-1].At
	for _, row := range next {
		if !full || row.At != last {
			ids = append(ids, row.ID)
		}
	}
	if full {
		of, _, err := g.group(ctx, first, last, rest, false, size)
		return append(ids, of...), true, err
	}
	return ids, false, nil
}

// inParts are those of an order that begins with what has few values: of each value by itself, until there are as many as the page takes.
func (g *grouping) inParts(ctx context.Context, begun *statement) (ids []int64, full bool, err error) {
	for _, v := range begun.valuesOf(g.ask.Where().alternatives()...) {
		of, full, err := g.part(begun, v).ids(ctx)
		if ids = append(ids, of...); err != nil || full {
			return ids, full, err
		}
	}
	return ids, false, nil
}

// part finds the groups of one value, in the order of what comes behind it.
func (g *grouping) part(begun *statement, v string) *grouping {
	page, order := g.ask.Page, OrderName(sorts(g.ask.order)[1:])
	bound := paging.Cursor{}
	if keys := page.Bound().Keys; len(keys) > 0 && keys[0] == v {
		bound = paging.Cursor{Order: order, Keys: keys[1:]}
	}
	part := *g
	part.ask = g.ask.and(Term{begun.keys[0].member, v})
	part.ask.order, part.ask.Page = order, paging.NewPage(page.Size, bound)
	part.ask.Page.Backward = page.Backward
	return &part
}

func (g *grouping) byID(down bool) sortedKey {
	return sortedKey{key{by: g.list.id, kind: integers}, down}
}

// group are the rows of a group: all of them, if they are few, and otherwise so many first ones; begun: those behind the cursor. walked: they are the first ones.
func (g *grouping) group(ctx context.Context, first sortedKey, at string, rest []sortedKey, begun bool, size int) (ids []int64, walked bool, err error) {
	var from []string
	if begun {
		from = g.ask.Page.Bound().Keys
		from = from[len(from)-len(rest):]
	}
	if rest[0].by == g.list.id {
		ids, err = g.idsOf(ctx, rest, from, size, g.within(first, at, true))
		return ids, true, err
	}
	if ids, err = g.some(ctx, first, at); err != nil || len(ids) <= fewInGroup {
		return ids, false, err
	}
	if g.list.ofTime(first) { // there are ways to these
		of := *g
		of.ask = g.ask.and(atMoment(at)...)
		ids, err = of.idsOf(ctx, rest, from, size, of.ways)
		return ids, true, err
	}
	ids, err = g.idsOf(ctx, rest, from, size, g.within(first, at, false))
	return ids, true, err
}

// some are the rows of a group, or more than a few of them, whichever are met first.
func (g *grouping) some(ctx context.Context, first sortedKey, at string) ([]int64, error) {
	of := *g
	of.unsorted = true
	ids, err := of.idsOf(ctx, []sortedKey{g.byID(false)}, nil, fewInGroup+1, of.within(first, at, true))
	g.unfit = of.unfit
	return ids, err
}

// within are the ways to the rows of a group: in the order of their ids, by what an index has before these, or in another order, of which those of other groups are passed over.
func (g *grouping) within(first sortedKey, at string, byID bool) ways {
	return func(st *statement, terms []Term) []way {
		asked := *st
		if byID {
			first.down = st.keys[0].down
			asked.keys, asked.after = []sortedKey{first, st.keys[0]}, nil
		}
		all := g.ways(&asked, terms)
		st.args = append(asked.args, at)
		is := strings.ReplaceAll(first.kind.read, "?", "$"+strconv.Itoa(len(st.args)))
		var list []way
		for i, w := range all {
			if w.met != "" || len(w.with) > 0 || w.sorted || w.listed != nil && i == len(all)-1 {
				g.unfit = true
				return all
			}
			if w.listed != nil { // a glance at what comes next in an order, which is not that of the group
				continue
			}
			by := cmp.Or(w.keys[first.by], first.by)
			if byID && w.ordered {
				by = strings.ReplaceAll(by, ", ", ",") // one of several that stand in a row
				w.lead, w.is, w.spans = strings.TrimPrefix(w.lead+", "+by, ", "), strings.TrimPrefix(w.is+", "+is, ", "), nil
				w.exact = true
			} else {
				w.held = append(slices.Clip(w.held), by+" = "+is)
			}
			list = append(list, w)
		}
		return list
	}
}

func (g *grouping) idsOf(ctx context.Context, keys []sortedKey, after []string, size int, w ways) ([]int64, error) {
	rows, err := g.rows(ctx, keys, after, size, w)
	ids := make([]int64, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	return ids, err
}

// rows are so many rows in the order of keys, from behind a place on.
func (g *grouping) rows(ctx context.Context, keys []sortedKey, after []string, size int, w ways) (rows []inPlace, err error) {
	text, args := g.text(keys, after, size, w)
	if g.unfit {
		return nil, nil
	}
	return rows, g.s.composed(ctx, &rows, text, args...)
}

// text reads them.
func (g *grouping) text(keys []sortedKey, after []string, size int, w ways) (string, []any) {
	st := g.statement(size)
	st.keys, st.after, st.unsorted, st.page = keys, nil, g.unsorted, paging.NewPage(size-1, paging.Cursor{Keys: after})
	for i, text := range after {
		st.args = append(st.args, text)
		st.after = append(st.after, strings.ReplaceAll(keys[i].kind.read, "?", "$"+strconv.Itoa(len(st.args))))
	}
	found := st.pageOf(st.alternatives(g.ask, w))
	return st.finished("SELECT f.id, " + strings.ReplaceAll(keys[0].kind.write, "?", "f.k1") + " AS at FROM (" + found + ") f" + st.orderBy("", func(i int) string { return "f." + st.column(i) }))
}

// statement begins a statement of so many rows.
func (g *grouping) statement(size int) *statement {
	a := g.ask
	st := newStatement(g.list, a, false, g.args...)
	if size > 0 {
		st.rows = st.arg(size, "bigint")
	}
	return st
}

// among is the ask for the same page of some rows alone.
func (a Ask) among(ids []int64) Ask {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatInt(id, 10)
	}
	return a.and(Term{"ids", "{" + strings.Join(texts, ",") + "}"})
}

// and is the same ask of fewer rows.
func (a Ask) and(terms ...Term) Ask {
	w := a.Where()
	w.Terms = append(terms, w.Terms...)
	fewer := NewAsk(w, a.order, a.Page)
	fewer.plainly = a.plainly
	return fewer
}
