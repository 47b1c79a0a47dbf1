package db

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/paging"
)

// ways are those in which the rows of one alternative of a filter are found.
type ways func(*statement, []Term) []way

// find reads a page of a list. args are those that its ways name. What is searched for and not found at all is looked for within one
// edit.
func find[V any, R member[V]](ctx context.Context, s *Store, l *List, a Ask, w ways, args ...any) ([]*V, error) {
	rows, err := pageOf[V, R](ctx, s, l, a, w, args)
	near, tried := a.near()
	if err != nil || len(rows) > 0 || !tried {
		return rows, err
	}
	if !a.Page.IsOpen() { // it may be behind the last page
		if n, err := countAll(ctx, s, l, a.counted(), w, args); err != nil || n > 0 {
			return rows, err
		}
	}
	return pageOf[V, R](ctx, s, l, near, w, args)
}

func pageOf[V any, R member[V]](ctx context.Context, s *Store, l *List, a Ask, w ways, args []any) ([]*V, error) {
	st := newStatement(l, a, false, args...)
	if st.inGroups(a) {
		g := grouping{s: s, list: l, ask: a, ways: w, args: args}
		ids, full, err := g.ids(ctx)
		if err != nil {
			return nil, err
		}
		if !g.unfit {
			rows, err := pageOf[V, R](ctx, s, l, a.among(ids), w, args)
			if err != nil || !full || len(rows) > a.Page.Size { // otherwise some were removed meanwhile
				return rows, err
			}
		}
	}
	var rows []*V
	if err := st.run(ctx, s, &rows, st.shown("", st.pageOf(st.alternatives(a, w)), "")); err != nil {
		return nil, err
	}
	return join[V, R](rows), nil
}

var qSortByPieces = prepare(`SET LOCAL enable_incremental_sort = on`)

// run reads the rows of a page. Where the order has several fields an index has the first of them, and what is alike in it is ordered
// piece by piece.
func (s *statement) run(ctx context.Context, store *Store, rows any, text string) error {
	text, args := s.finished(text)
	if s.fields < 2 {
		return store.composed(ctx, rows, text, args...)
	}
	return store.Tx(ctx, func(tx *Store) error {
		if _, err := tx.exec(ctx, qSortByPieces); err != nil {
			return err
		}
		return tx.composed(ctx, rows, text, args...)
	})
}

// countOf counts the rows of a list that find gives, as far as lists are counted.
func countOf(ctx context.Context, s *Store, l *List, a Ask, w ways, args ...any) (int, error) {
	n, err := countAll(ctx, s, l, a, w, args)
	near, tried := a.near()
	if err != nil || n > 0 || !tried {
		return n, err
	}
	return countAll(ctx, s, l, near, w, args)
}

func countAll(ctx context.Context, s *Store, l *List, a Ask, w ways, args []any) (int, error) {
	st := newStatement(l, a, true, args...)
	var counts []int
	text, args := st.finished("SELECT " + st.counted(a, w))
	err := s.composed(ctx, &counts, text, args...)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

// hung is a list that hangs from rows, as a company's users do: in its ways, k.id is the id of such a row.
type hung struct {
	list *List
	// scoped: the bounds of a scope are $1 and $2, and the ids come behind them.
	scoped bool
	// carries: its ways have what the list carries.
	carries bool
	// few: there is one way, and what hangs from all the rows together is put in order at once; to order that of each by itself takes longer.
	few  bool
	ways ways
}

// scopedAsk is what is asked of a list that hangs from rows, within a scope where it depends on one.
type scopedAsk struct {
	scope access.Scope
	ask   Ask
}

// begin begins a statement, and gives the clause with the rows that the list hangs from.
func (h hung) begin(a scopedAsk, counting bool, ids []int64) (st *statement, from string) {
	args := []any{pq.Int64Array(ids)}
	if h.scoped {
		args = []any{a.scope.From(), a.scope.To(), pq.Int64Array(ids)}
	}
	st = newStatement(h.list, a.ask, counting, args...)
	st.carries = h.carries && !counting
	return st, "unnest($" + strconv.Itoa(len(args)) + "::bigint[]) k(id)"
}

// pageAt reads a page of what hangs from one row. Unlike that of an edge it is not kept, as lists of any length are read so.
func pageAt[V any, R member[V]](ctx context.Context, s *Store, h hung, id int64, a Ask) ([]*V, error) {
	found, err := pagesOf[V, R](h)(ctx, s, scopedAsk{ask: a}, []int64{id})
	return found[id], err
}

// pagesOf loads a page of a list for each of the rows that it hangs from. What is searched for and not found at all below one of them
// is looked for there within one edit.
func pagesOf[V any, R member[V]](h hung) load[scopedAsk, int64, []*V] {
	return func(ctx context.Context, s *Store, a scopedAsk, ids []int64) (map[int64][]*V, error) {
		found, err := pagesAt[V, R](h)(ctx, s, a, ids)
		if err == nil && h.scoped && len(found) == 0 {
			err = s.Stands(ctx, a.scope)
		}
		near, tried := a.ask.near()
		if err != nil || !tried {
			return found, err
		}
		empty := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return len(found[id]) > 0 })
		if len(empty) > 0 && !a.ask.Page.IsOpen() { // it may be behind the last page
			counts, err := countsAt(h)(ctx, s, scopedAsk{a.scope, a.ask.counted()}, empty)
			if err != nil {
				return nil, err
			}
			empty = slices.DeleteFunc(empty, func(id int64) bool { return counts[id] > 0 })
		}
		return added(found, empty, func() (map[int64][]*V, error) { return pagesAt[V, R](h)(ctx, s, scopedAsk{a.scope, near}, empty) })
	}
}

// added adds to what was found for some ids what is found for those that have nothing.
func added[T any](found map[int64]T, empty []int64, read func() (map[int64]T, error)) (map[int64]T, error) {
	if len(empty) == 0 {
		return found, nil
	}
	more, err := read()
	maps.Copy(found, more)
	return found, err
}

func pagesAt[V any, R member[V]](h hung) load[scopedAsk, int64, []*V] {
	return func(ctx context.Context, s *Store, a scopedAsk, ids []int64) (map[int64][]*V, error) {
		st, from := h.begin(a, false, ids)
		var rows []*V
		if err := st.run(ctx, s, &rows, st.pagesOf(from, a.ask, h)); err != nil {
			return nil, err
		}
		return byKey(join[V, R](rows), func(v *V) int64 { return R(v).kin().From }), nil
	}
}

// countsOf counts, for each of the rows that a list hangs from, what pagesOf gives.
func countsOf(h hung) load[scopedAsk, int64, int] {
	return func(ctx context.Context, s *Store, a scopedAsk, ids []int64) (map[int64]int, error) {
		a.ask = a.ask.counted()
		found, err := countsAt(h)(ctx, s, a, ids)
		if err == nil && h.scoped && !slices.ContainsFunc(ids, func(id int64) bool { return found[id] > 0 }) {
			err = s.Stands(ctx, a.scope)
		}
		near, tried := a.ask.near()
		if err != nil || !tried {
			return found, err
		}
		empty := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return found[id] > 0 })
		return added(found, empty, func() (map[int64]int, error) { return countsAt(h)(ctx, s, scopedAsk{a.scope, near}, empty) })
	}
}

func countsAt(h hung) load[scopedAsk, int64, int] {
	return func(ctx context.Context, s *Store, a scopedAsk, ids []int64) (map[int64]int, error) {
		st, from := h.begin(a, true, ids)
		var rows []struct {
			ID    int64 `db:"id"`
			Value int   `db:"value"`
		}
		text, args := st.finished("SELECT k.id, " + st.counted(a.ask, h.ways) + " AS value FROM " + from)
		err := s.composed(ctx, &rows, text, args...)
		found := make(map[int64]int, len(rows))
		for _, r := range rows {
			found[r.ID] = r.Value
		}
		return found, err
	}
}

// alternatives reads each alternative of a filter.
func (s *statement) alternatives(a Ask, w ways) []string {
	var list []string
	for _, terms := range a.Where().alternatives() {
		switch {
		case s.counting:
			list = append(list, s.alternative(w(s, terms)))
		case len(s.keys[0].values) > 0:
			list = append(list, s.parts(terms, w))
		case s.keys[0].has != "":
			list = append(list, s.halves(terms, w))
		default:
			list = append(list, s.alternative(w(s, terms)))
		}
	}
	return list
}

// parts reads an alternative in an order that begins with what has few values: the rows of each value by themselves, in the order of the
// other keys, as indexes have it. Values before the cursor are left out.
func (s *statement) parts(terms []Term, w ways) string {
	first := s.keys[0]
	var list []string
	for _, v := range s.valuesOf(terms) {
		part := *s
		part.keys, part.alike, part.after, part.open = s.keys[1:], first.by, nil, s.notFull(len(list))
		if len(s.after) > 0 && v == s.page.Bound().Keys[0] {
			part.after = s.after[1:]
		}
		within := terms
		if _, given := value(terms, first.member); !given {
			within = append(slices.Clip(terms), Term{first.member, v})
		}
		list = append(list, part.alternative(w(&part, within)))
		s.args = part.args
	}
	if len(list) == 0 {
		return s.nothing()
	}
	return inTurn(list)
}

// valuesOf are what the order's first key can be by some filters, from where the page begins on.
func (s *statement) valuesOf(filters ...[]Term) (values []string) {
	first := s.keys[0]
	for _, terms := range filters {
		if v, given := value(terms, first.member); given {
			values = append(values, v)
		} else {
			values = append(values, first.values...)
		}
	}
	slices.Sort(values)
	if values = slices.Compact(values); first.down {
		slices.Reverse(values)
	}
	return slices.DeleteFunc(values, func(v string) bool {
		far := 0
		if len(s.after) > 0 {
			far = cmp.Compare(v, s.page.Bound().Keys[0])
		}
		return far != 0 && far < 0 != first.down
	})
}

// notFull is the condition that so many parts, which come before another one, have not filled the page.
func (s *statement) notFull(parts int) string {
	if parts == 0 {
		return ""
	}
	return "(SELECT count(*) < " + s.rows + " FROM part" + strconv.Itoa(parts) + ")"
}

// inTurn reads parts of an order, one after the other: each is called by its place, and has all before it.
func inTurn(parts []string) string {
	text, last := "", len(parts)-1
	for i, p := range parts[:last] {
		if text += ", "; i > 0 {
			p = "(SELECT * FROM part" + strconv.Itoa(i) + " UNION ALL " + p + ")"
		}
		text += "part" + strconv.Itoa(i+1) + " AS MATERIALIZED " + p
	}
	if last == 0 {
		return parts[0]
	}
	return "(WITH " + text[2:] + " SELECT * FROM part" + strconv.Itoa(last) + " UNION ALL " + parts[last] + ")"
}

// halves reads an alternative in an order by what some have and others have not: these by themselves, in the order of the other keys, unless the cursor is past all of
// them.
func (s *statement) halves(terms []Term, w ways) string {
	first := s.keys[0]
	having := func(is string) []Term { return append(slices.Clip(terms), Term{first.has, is}) }
	some, others := *s, *s
	others.keys, others.alike, others.after = s.keys[1:], never, nil
	if len(s.after) > 0 {
		switch at := s.page.Bound().Keys[0]; {
		case at == noMoment:
			others.after = s.after[1:]
		case !first.down:
			return s.alternative(w(s, having("true")))
		}
	}
	read := func(half *statement, is string) string {
		half.args = s.args
		text := half.alternative(w(half, having(is)))
		s.args = half.args
		return text
	}
	if first.down {
		others.open = s.notFull(1)
		return inTurn([]string{read(&some, "true"), read(&others, "false")})
	}
	some.open = s.notFull(1)
	return inTurn([]string{read(&others, "false"), read(&some, "true")})
}

// nothing has the columns of what is found, and no row.
func (s *statement) nothing() string {
	list := "NULL::bigint AS id"
	for i, k := range s.keys {
		list += ", NULL::" + k.kind.sql + " AS " + s.column(i)
	}
	return "(SELECT " + list + " WHERE false)"
}

// counted counts the rows of all alternatives, each once.
func (s *statement) counted(a Ask, w ways) string {
	text := ""
	for i, b := range s.alternatives(a, w) {
		if i > 0 {
			text += " UNION "
		}
		text += b
	}
	return counted("(" + text + ") n")
}

// Walk is a list that is read from after a cursor on, in an order, or backward from before it.
type Walk struct {
	list     *List
	where    Where
	order    string
	bound    paging.Cursor
	backward bool
}

// Walk is the list from after a cursor on, or backward from before it, of the rows that fit, in an order.
func (l *List) Walk(w Where, order string, bound paging.Cursor, backward bool) Walk {
	return Walk{list: l, where: w, order: order, bound: bound, backward: backward}
}

// Each gives the rows of a list of any length with their places, at most limit of them (0: all), backward the last one first. It
// is read in pages, each of which read gives for an ask.
func Each[T interface{ FoundAt() []string }](ctx context.Context, s *Store, w Walk, limit int,
	read func(context.Context, Ask) ([]T, error), do func(T, paging.Cursor) error,
) error {
	rows := wholeList[T, paging.Cursor]{
		place: func(row *T) paging.Cursor { return w.list.At(w.order, (*row).FoundAt()) },
		read: func(ctx context.Context, _ *Store, bound paging.Cursor, limit int) ([]*T, error) {
			page := paging.NewPage(limit-1, bound) // one more is read than a page has
			page.Backward = w.backward
			found, err := read(ctx, NewAsk(w.where, w.order, page))
			list := make([]*T, len(found))
			for i := range found {
				list[i] = &found[i]
			}
			return list, err
		},
	}
	return rows.each(ctx, s, w.bound, limit, func(row *T) error { return do(*row, rows.place(row)) })
}
