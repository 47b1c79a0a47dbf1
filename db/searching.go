package db

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/words"
)

// A search looks for the words of a text among those of names. An index has each word, so what has rare words is found by it. What
// has words that many have is met soon by walking the list in its order.

// The members of filters that search: searched finds names that have all words of a text, the last one as a beginning; nearBy such
// as have one of the words within one edit, and the others.
const searched, nearBy = "search", "near"

// nearValue names one of the words of a text that are tried within one edit.
func nearValue(word int, text string) string { return strconv.Itoa(word) + " " + text }

func parseNear(v string) words.Near {
	word, text, _ := strings.Cut(v, " ")
	i, _ := strconv.Atoi(word) // nearValue has written it
	return words.Parse(text).Nears()[i]
}

// arguments are the value of a term as its condition takes it: that of each ?, and of each !.
func (t Term) arguments() []any {
	switch t.Member {
	case searched:
		sought := words.Parse(t.Value)
		return []any{pq.StringArray(sought.Patterns()), pq.StringArray(sought.Parts())}
	case nearBy:
		near := parseNear(t.Value)
		return []any{pq.StringArray(near.Patterns()), pq.StringArray(near.Parts())}
	}
	return []any{t.Value}
}

// matching is the condition that a name matches the patterns of a search, and near that of one for what lies within one edit. A regular expression takes the most of it, so a name that lacks
// parts is not held against it. Without letters but those of ASCII, as most are, a name is plain once it is lower.
func matching(name string) string { return matchingBy(name, "ALL") }

func near(name string) string { return matchingBy(name, "ANY") }

func matchingBy(name, parts string) string {
	return "(octet_length(" + name + ") <> char_length(" + name + ") OR lower((" + name + `) COLLATE "C") LIKE ` + parts + " (!::text[])) AND plain(" + name + ") ~ ALL (?::text[])"
}

// How far a list is walked in the hope of a page, at first and where some of the first ones fit; and of how many rows
// that the index finds a page is made. Where there are no more than a handful to look through, the index is not asked.
const (
	aGlance, aWalk  = 300, 4_000
	some, someByUse = 3, 5
	aHandful        = 200
	fewFound, found = 2_000, 20_000
)

// Of so many rows that lie apart in a walk so many are common: the index, which reads all that has a word before it gives the first, is not asked whether they are few.
// Where half of them are, it is not asked at all.
const spreadOf, common, veryCommon = 100, 3, 50

// manyLast is of how many of these the last word of a text is that the index need not be asked for beside rare ones.
const manyLast = 20

// searching is how the rows of a list are found by the words of their names.
type searching struct {
	// table has the words; id is what it names a row by, fits tells whether its words fit a tsquery, which stands for ?, and also bounds its rows.
	table, id, fits string
	also            []string
	// behind, where there is one, tells the same of words behind limbs, which another index has.
	behind string
	// others: the index finds rows of others, too, and is not asked for those in order where it finds very many; own tells of a row of the table alone that it is not of others.
	others bool
	own    string
	// keys are, for keys of orders, what the table has of them, or what joined joins to it where the order is beside; limb is what it has of the limb of a row.
	keys                 map[string]string
	beside, joined, limb string
	// from joins to n.id what the list is made of, and held is what else is asked for.
	from string
	held []string
	// each is what is searched below again and again: a FROM clause.
	each string
	// few are ways for parts of the tree that are small; walk goes through the list in its order, where an index has that.
	few  []way
	walk *way
	// walkMany: the list is walked for more than few that the index finds, also where each of several parts is walked.
	walkMany bool
	// byUse are, where users are ordered by their last use, the ways to what the index finds: a walk costs more for each row then than the index does for
	// each that it finds, and to order these costs more yet.
	byUse func(ids string) []way
	// along are further walks through what fits in the order, as one through a level is.
	along []way
	// spread, where there is one, is a walk by the id through the rows of walk, or more: how many of these fit is told by rows that lie apart in it.
	spread *way
	// whole: nothing lies outside of what is asked for, so what the index finds is no more than what a walk would pass.
	whole bool
	// limbs: the index also has each word behind the limb that the name is of.
	limbs bool
	// sole: nothing else is asked for that few of what the index finds may fit.
	sole bool
	// spared: the index is not asked for the last word where it is one that many have and the others are not, as it would collect all that begins with it.
	spared bool
}

// mark is what stands before each word of a query, for the limb. It is in no word.
const mark = "?"

// behindLimb is a query, a text with a mark, as it looks for a word of the limb v.
func behindLimb(query string) string {
	return "replace(" + query + ", '" + mark + "', v.limb)::tsquery"
}

// rows selects columns of what fits queries, expressions for single words. Each is a condition of its own: of a query of several words the index would read
// all that has either, and so it goes from one that has the rare word to the next.
func (f searching) rows(columns string, queries []string) string {
	fits := slices.Clone(f.also)
	for _, q := range queries {
		fits = append(fits, strings.ReplaceAll(f.fits, "?", q))
	}
	return "SELECT " + columns + " FROM " + f.table + clause(fits)
}

// named is the id of a row that is found.
func (f searching) named() string { return f.id + " AS id" }

// inLimbs: the index is asked for the words of each limb.
func (f searching) inLimbs() bool { return f.limbs && !f.whole }

// queries are queries with marks as expressions, for words behind limbs or as they are.
func (f searching) queries(s *statement, queries []string, limbs bool) []string {
	list := make([]string, len(queries))
	for i, q := range queries {
		if limbs {
			list[i] = behindLimb(s.arg(q, "text"))
		} else {
			list[i] = s.arg(strings.ReplaceAll(q, mark, ""), "tsquery")
		}
	}
	if last := len(list) - 1; f.spared {
		list[last] = "CASE WHEN (SELECT * FROM spared) THEN " + list[0] + " ELSE " + list[last] + " END"
	}
	return list
}

// found selects columns of the rows whose words fit queries with marks.
func (f searching) found(s *statement, columns string, queries []string) string {
	if !f.inLimbs() {
		return f.rows(columns, f.queries(s, queries, false))
	}
	return "SELECT y.* FROM " + limbsUpTo(limbsOfQuery) + " CROSS JOIN LATERAL (" + f.ofLimb(func(f searching, limbs bool) string {
		return f.rows(columns, f.queries(s, queries, limbs))
	}) + " OFFSET 0) y"
}

// foundByAny selects columns of the rows whose words fit one of many queries with marks, and all others.
func (f searching) foundByAny(s *statement, columns string, queries func(mark string) []string, others []string) string {
	rows := func(f searching, limbs bool) string {
		if !limbs {
			begin := "unnest(" + s.arg(pq.StringArray(queries("")), "tsquery[]") + ") q(query)"
			return "SELECT z.* FROM " + begin + " CROSS JOIN LATERAL (" + f.rows(columns, append(f.queries(s, others, false), "q.query")) + " OFFSET 0) z"
		}
		begin := "unnest(" + s.arg(pq.StringArray(queries(mark)), "text[]") + ") q(query)"
		return "SELECT z.* FROM " + begin + " CROSS JOIN LATERAL (" + f.rows(columns, append(f.queries(s, others, true), behindLimb("q.query"))) + " OFFSET 0) z"
	}
	if !f.inLimbs() {
		return rows(f, false)
	}
	return "SELECT y.* FROM " + limbsUpTo(limbsOfQueries) + " CROSS JOIN LATERAL (" + f.ofLimb(rows) + " OFFSET 0) y"
}

// ofLimb selects rows by their words behind the limb v, or where that is none by the words alone, which the same index has, or another one.
func (f searching) ofLimb(rows func(f searching, limbs bool) string) string {
	if f.behind == "" {
		return rows(f, true)
	}
	of, alone := f, f
	of.fits, of.also = f.behind, append(slices.Clip(f.also), "v.limb <> ''")
	alone.also = append(slices.Clip(f.also), "v.limb = ''")
	return rows(of, true) + " UNION ALL " + rows(alone, false)
}

// inOrder are the ways of the rows that the index finds, of which found selects columns, ordered by what stands beside their words: only those of the page are
// looked up. Of very many only the first ones are put in order, as long as these fill the page, where nothing else is asked for. None where not all of the order stands there.
func (f searching) inOrder(s *statement, found func(f searching, columns string) string) []way {
	if !f.has(s) {
		return nil
	}
	columns, names, held := []string{f.named()}, []string{"x.id"}, f.held
	for i, k := range s.keys {
		if k.by == f.beside {
			f.table += f.joined
		}
		columns, names = append(columns, f.keys[k.by]+" AS "+s.column(i)), append(names, "x."+s.column(i))
		// A company may call somebody what the one at the top of the scope does not.
		held = append(slices.Clip(held), k.by+" = n."+s.column(i))
	}
	if f.limb != "" && !f.whole {
		f.also = append(slices.Clip(f.also), unindexed(f.limb+" IN (SELECT l.id FROM "+limbsInScope+")"))
	}
	name := func(i int) string { return "x." + s.column(i) }
	sorted, beyond, behind := "SELECT DISTINCT "+strings.Join(names, ", "), s.beyond("", "", name), s.orderBy("", name)
	if f.others {
		of, hits := f.hits(found, columns)
		return []way{{from: "(" + sorted + " FROM hits x" + clause(append(beyond, of)) + behind + " OFFSET 0) n" + f.from, held: held, sorted: true, with: []string{hits}}}
	}
	rows := " FROM (" + found(f, strings.Join(columns, ", ")) + " OFFSET 0) x" + clause(beyond)
	all := way{from: "(" + sorted + rows + behind + " OFFSET 0) n" + f.from, held: held, sorted: true}
	if !f.sole {
		return []way{all}
	}
	most := strconv.Itoa(4 * (s.page.Size + 1))
	text := "SELECT n.id, " + strings.Join(held, " AND ") + " AS fits FROM (" + sorted + " FROM firsts x" + behind + " OFFSET 0) n" + f.from + s.orderBy("", func(i int) string { return "n." + s.column(i) })
	first := s.met(text, "true", "(SELECT count(*) = "+most+" FROM firsts)", f.from)
	first.with = []string{"firsts AS MATERIALIZED (SELECT " + strings.Join(names, ", ") + rows + behind + " LIMIT (SELECT " + most + "))"}
	return []way{first, all}
}

// hits are columns of what the index finds, others' rows too, as far as it is asked: it is read once, to be counted and to be put in order. own tells of one that it is not of others.
func (f searching) hits(rows func(f searching, columns string) string, columns []string) (own, hits string) {
	own = "true"
	if f.own != "" {
		own, columns = "x.own", append(columns, unindexed(f.own)+" AS own")
	}
	var open []string
	if f.spread != nil {
		open = []string{"NOT " + isVeryCommon}
	}
	return own, "hits AS MATERIALIZED (SELECT * FROM (" + rows(f, strings.Join(columns, ", ")) + ") x" + clause(open) + " LIMIT (SELECT " + strconv.Itoa(found+1) + "))"
}

// has tells whether all of the order stands beside the words.
func (f searching) has(s *statement) bool {
	return !slices.ContainsFunc(s.keys, func(k sortedKey) bool { return f.keys[k.by] == "" })
}

// ordered are the last ways: inOrder, and where very many are found, which may be others', the walk instead. None where not all of the order stands beside the words.
func (f searching) ordered(s *statement, rows func(f searching, columns string) string) []way {
	list := f.inOrder(s, rows)
	if len(list) == 0 || !f.others {
		return list
	}
	w := list[0]
	w.size, w.most = "hits x", found
	if f.spread != nil {
		w.size = "(SELECT FROM hits UNION ALL SELECT FROM generate_series(0, " + strconv.Itoa(found) + ") WHERE " + isVeryCommon + ") x"
	}
	return []way{w, *f.walk}
}

// ways are those for a filter's search; false where it has none.
func (f searching) ways(s *statement, terms []Term) ([]way, bool) {
	f.sole = !slices.ContainsFunc(terms, func(t Term) bool {
		return t.Member != searched && t.Member != nearBy && t.Member != "below" && (t.Member != "status" || t.Value != CustomerActive)
	})
	if text, given := value(terms, searched); given {
		return f.plain(s, words.Parse(text)), true
	}
	if v, given := value(terms, nearBy); given {
		return f.near(s, parseNear(v)), true
	}
	return nil, false
}

func (f searching) plain(s *statement, sought words.Sought) []way {
	if f.spread == nil || f.walk == nil || s.counting || len(sought) < 2 {
		return f.plainly(s, sought)
	}
	f.spared = true
	list := f.plainly(s, sought)
	list[0].with = append([]string{"spared AS MATERIALIZED (" + f.sparing(s, sought) + ")"}, list[0].with...)
	return list
}

// sparing tells of the rows of a sample whether many have the last word, and few the others.
func (f searching) sparing(s *statement, sought words.Sought) string {
	last := len(sought) - 1
	fits := func(patterns, parts []string) string {
		return s.filled(s.list.members[searched], pq.StringArray(patterns), pq.StringArray(parts))
	}
	patterns, parts := sought.Patterns(), sought.Parts()
	n := func(column string) string { return "count(DISTINCT x.id) FILTER (WHERE x." + column + ")" }
	return f.apart(s, n("others")+" < "+strconv.Itoa(common)+" AND "+n("last")+" >= "+strconv.Itoa(manyLast), fits(patterns[:last], parts[:last])+" AS others, "+fits(patterns[last:], parts[last:])+" AS last")
}

func (f searching) plainly(s *statement, sought words.Sought) []way {
	queries := sought.Queries(mark)
	ids := f.found(s, f.named(), queries)
	switch {
	case s.counting || f.walk == nil:
		return []way{f.all(ids)}
	case f.walkMany:
		return append(f.few, f.orderedOrFew(s, ids, func(f searching, columns string) string { return f.found(s, columns, queries) })...)
	case f.walk.each != "":
		return append(f.few, f.upTo(found, ids), *f.walk)
	case f.byUse != nil:
		return append(append(f.handful(), f.glance(s, aGlance/3, aWalk, someByUse)...), f.byUse(ids)...)
	case f.whole && s.anyOf:
		return []way{s.soon(*f.walk, aGlance, f.from), f.all("SELECT x.id FROM (" + ids + ") x LIMIT " + strconv.Itoa(fewFound))}
	}
	list := f.glance(s, aGlance, aWalk, some)
	if f.limbs {
		list = append(append(append(list, f.handful()...), f.unless(isCommon, fewFound, ids)), f.few...)
	} else { // a word that all others have too costs more than to look through the few
		list = append(append(list, f.few...), f.unless(isCommon, fewFound, ids))
	}
	for _, w := range f.along {
		list = append(list, s.soon(w, aWalk, f.from))
	}
	if f.behind != "" && s.ordersBy(f.beside) {
		list = append(list, f.limbByLimb(s, queries))
	}
	list = append(list, f.farther(s))
	if ordered := f.ordered(s, func(f searching, columns string) string { return f.found(s, columns, queries) }); len(ordered) > 0 {
		return append(list, ordered...)
	}
	if f.whole {
		return append(list, f.all(ids))
	}
	return append(list, f.upTo(found, ids), *f.walk)
}

// fewOfLimb is how many of those that an index finds in a limb are looked up for their places; where they are more, the limb's part of the order is walked.
const fewOfLimb = 10_000

// limbByLimb is, in the order of the tree, the way of the first ones that the index finds in the limbs there, in turn, as far as it takes. What comes before all that was not read yet is in its
// place: of the limbs to come nothing stands before their tops, or, from the end, beyond one that they lie in and that has more than its top.
func (f searching) limbByLimb(s *statement, queries []string) way {
	dir, want := direction(s.keys[0].down), 4*(s.page.Size+1)
	if !f.sole {
		want = max(want, handful)
	}
	most, behind := strconv.Itoa(want), []string{"l.lineage >= $1::bigint[]", "l.lineage < $2::bigint[]"}
	if len(s.after) > 0 {
		if s.keys[0].down {
			behind = append(behind, "l.lineage < "+s.after[0])
		} else {
			behind = append(behind, "("+pastLimb+") > "+s.after[0])
		}
	}
	of := f
	of.fits, of.also = f.behind, nil
	beyond := append([]string{}, s.beyond("", "", func(int) string { return "c.lineage" })...)
	end := " ORDER BY c.lineage" + dir + " LIMIT (SELECT " + most + ")"
	looked := "SELECT c.id, c.lineage FROM unnest(g.ids) x(id)" + joinByID("customers", "c", "x.id") + clause(append(beyond, "cardinality(g.ids) <= "+strconv.Itoa(fewOfLimb)))
	walked := "SELECT c.id, c.lineage FROM customers c" + clause(append(append(slices.Clip(beyond), "c.lineage >= l.lineage", "c.lineage < "+pastLimb, "cardinality(g.ids) > "+strconv.Itoa(fewOfLimb)), f.held...)) + end
	hits := "SELECT l.lineage AS low, " + pastLimb + " AS high, c.id, c.lineage FROM (SELECT l.* FROM limbs l" + clause(behind) + " ORDER BY l.lineage" + dir + ") l" +
		" CROSS JOIN LATERAL (SELECT array_agg(y.id) AS ids FROM (SELECT l.id || ':' AS limb) v CROSS JOIN LATERAL (" + of.rows(f.named(), of.queries(s, queries, true)) + " OFFSET 0) y) g" +
		" CROSS JOIN LATERAL (SELECT * FROM ((" + looked + ") UNION ALL (" + walked + ")) c" + end + ") c LIMIT (SELECT " + most + ")"
	with := "hits AS MATERIALIZED (" + hits + ")"
	bound, inPlace := "SELECT LEAST((SELECT max(h.lineage) FROM hits h WHERE h.low = e.low), (SELECT l.lineage FROM limbs l WHERE l.lineage > e.low ORDER BY l.lineage LIMIT 1)) AS at FROM (SELECT max(h.low) AS low FROM hits h) e", " <= "
	if s.keys[0].down {
		bound, inPlace = "SELECT GREATEST((SELECT min(h.lineage) FROM hits h WHERE h.low = e.low), (SELECT max("+pastLimb+") FROM (SELECT DISTINCT unnest(h.low[:cardinality(h.low) - 1]) AS id FROM hits h) a"+
			joinByID("limbs", "l", "a.id")+"WHERE l.lineage < e.low AND (SELECT count(*) FROM (SELECT FROM customer_words w WHERE w.limb_id = l.id LIMIT 2) w) > 1)) AS at FROM (SELECT min(h.low) AS low FROM hits h) e", " >= "
	}
	all := "(SELECT count(*) < " + most + " FROM hits)"
	text := "SELECT c.id, " + strings.Join(f.held, " AND ") + " AS fits FROM (SELECT DISTINCT h.lineage, h.id FROM hits h WHERE " + all + " OR h.lineage" + inPlace + "(" + bound + ") ORDER BY h.lineage" + dir + " OFFSET 0) n" +
		f.from + "ORDER BY n.lineage" + dir
	few := "(SELECT count(*) <= " + strconv.Itoa(mostOwners) + " FROM (SELECT FROM limbs l WHERE l.lineage >= $1::bigint[] AND l.lineage < $2::bigint[] LIMIT " + strconv.Itoa(mostOwners+1) + ") x)" +
		" AND EXISTS (SELECT FROM limbs l WHERE l.lineage = $1::bigint[])"
	w := s.met(text, few, "CASE WHEN "+few+" THEN NOT "+all+" ELSE true END", f.from)
	w.with = []string{with}
	return w
}

// pastLimb is the first lineage past all of limb l.
const pastLimb = "l.lineage[1:cardinality(l.lineage) - 1] || (l.id + 1)"

// handful are the ways for parts of the tree that are smaller still.
func (f searching) handful() (list []way) {
	for _, w := range f.few {
		w.most = aHandful
		list = append(list, w)
	}
	return list
}

// near has a query for each word that lies within one edit: one for all of them would look at each of them for each row.
func (f searching) near(s *statement, n words.Near) []way {
	others := n.Others(mark)
	edits := func(f searching, columns string) string { return f.foundByAny(s, columns, n.Queries, others) }
	ids := edits(f, f.named())
	switch {
	case s.counting:
		return []way{f.all(ids)}
	case f.walkMany:
		return append(f.few, f.orderedOrFew(s, ids, edits)...)
	}
	var list []way
	if f.walk != nil && f.walk.each == "" && f.byUse == nil {
		list = append(list, f.glance(s, aGlance, aWalk, some)...)
	}
	if len(others) > 0 {
		list = append(list, f.upTo(fewFound, f.found(s, f.named(), others)))
	}
	if f.byUse != nil { // to order all that a word which very many have finds would take longer than anybody waits
		return append(append(append(list, f.handful()...), s.soon(*f.walk, aGlance/3, f.from)), f.byUse(ids)...)
	}
	if list = append(list, f.few...); f.walk != nil && f.walk.each == "" {
		f.spread = nil
		if ordered := f.ordered(s, edits); len(ordered) > 0 {
			return append(list, ordered...)
		}
	}
	return append(list, f.all(ids))
}

// upTo is the way of the rows that the index finds, where they are not more than most; all is that of all of them.
func (f searching) upTo(most int, ids string) way {
	return way{each: f.each, ids: ids, from: f.from, held: f.held, most: most}
}

func (f searching) all(ids string) way {
	return way{each: f.each, from: "(SELECT DISTINCT x.id FROM (" + ids + ") x) n(id)" + f.from, held: f.held}
}

// soon walks a list where the page is full with what fits among so many rows to come, or no more come: from joins to n.id what the list is made of. No
// more of them are looked at than the page takes; there are too many where the last one is among these.
func (s *statement) soon(w way, rows int, from string) way {
	coming, last := s.coming(w, strconv.Itoa(max(rows, 4*(s.page.Size+1))))
	return way{from: from, listed: func(open, _ string) string {
		return "SELECT bool_or(" + last + ") AS many, " + metSoon + " FROM " + s.metAmong(coming, last, open)
	}}
}

// glance walks a list for so many rows, and on for more where some of the first ones fit, or what fits is common: the page is full then before the index has told
// what it finds.
func (f searching) glance(s *statement, first, more, some int) []way {
	coming, last := s.coming(*f.walk, strconv.Itoa(max(more, 4*(s.page.Size+1))))
	return []way{s.soon(*f.walk, first, f.from), {from: f.from, with: f.sample(s), listed: func(open, before string) string {
		rare := "COALESCE(cardinality(" + before + ".ids), 0) < " + strconv.Itoa(some)
		if f.spread != nil {
			rare = "CASE WHEN " + open + " AND " + rare + " THEN NOT " + isCommon + " ELSE false END"
		}
		return "SELECT CASE WHEN " + open + " AND " + rare + " THEN true ELSE bool_or(" + last + ") END AS many, " + metSoon + " FROM " + s.metAmong(coming, last, open+" AND NOT "+rare)
	}}}
}

// isCommon and isVeryCommon tell what the sample of an alternative has told.
var isCommon, isVeryCommon = "(SELECT n >= " + strconv.Itoa(common) + " FROM sample)", "(SELECT n >= " + strconv.Itoa(veryCommon) + " FROM sample)"

// sample counts what fits of some rows that lie apart.
func (f searching) sample(s *statement) []string {
	if f.spread == nil {
		return nil
	}
	return []string{"sample AS MATERIALIZED (" + f.apart(s, "count(DISTINCT x.id) FILTER (WHERE x.fits) AS n", strings.Join(f.spread.held, " AND ")+" AS fits") + ")"}
}

// apart selects what is told together by columns of some rows x that lie apart in a walk. Ids have gaps, so the rows lie apart between some first ones that lie apart.
func (f searching) apart(s *statement, told, columns string) string {
	w, id := *f.spread, s.list.id
	lead := func(op string) []string {
		if w.lead == "" {
			return w.where
		}
		return append(slices.Clone(w.where), "("+w.lead+") "+op+" ("+w.is+")")
	}
	end := func(dir string) string {
		by := id + dir
		if w.lead != "" {
			by = w.lead + dir + ", " + by
		}
		return "(SELECT " + id + " FROM " + w.from + clause(slices.Concat(lead(">="), lead("<="))) + " ORDER BY " + by + " LIMIT 1)"
	}
	by := id
	if w.lead != "" {
		by = w.lead + ", " + by
	}
	next := func(columns, at string) string {
		return "(SELECT " + columns + " FROM " + w.from + clause(append(slices.Clip(lead("<=")), compare(w.lead, w.is, id, " >= ", at))) + " ORDER BY " + by + " LIMIT 1)"
	}
	apart := strconv.Itoa(spreadOf / 10)
	return "WITH ends AS MATERIALIZED (SELECT " + end("") + " AS low, " + end(" DESC") + " AS high), " +
		"parts AS MATERIALIZED (SELECT x.id AS low, lead(x.id) OVER (ORDER BY x.id) AS high, count(*) OVER () AS n FROM (SELECT y.id FROM ends e CROSS JOIN generate_series(0, " + apart +
		") i(i) CROSS JOIN LATERAL " + next(id+" AS id", "e.low + (e.high - e.low) * i.i / "+apart) + " y GROUP BY y.id) x) " +
		"SELECT " + told + " FROM parts b CROSS JOIN LATERAL generate_series(1, " + strconv.Itoa(spreadOf) + " / b.n) i(i) CROSS JOIN LATERAL " +
		next(id+" AS id, "+columns, "b.low + (b.high - b.low) * i.i / ("+strconv.Itoa(spreadOf)+" / b.n)") + " x WHERE b.high IS NOT NULL"
}

// unless is upTo, but that what the sample tells is common is many without a look at the index.
func (f searching) unless(told string, most int, ids string) way {
	w := f.upTo(most, ids)
	if f.spread != nil {
		w.listed = func(open, _ string) string {
			return "SELECT CASE WHEN " + open + " THEN " + told + " OR many ELSE false END AS many, ids FROM (" + listed(ids, most, open+" AND NOT "+told) + ") w"
		}
	}
	return w
}

// orderedOrFew are the last ways where a list is walked for more than few: those in order, or else what the index finds, unless that is very common. They take the sample themselves.
func (f searching) orderedOrFew(s *statement, ids string, rows func(f searching, columns string) string) []way {
	list := f.ordered(s, rows)
	if len(list) == 0 {
		list = []way{f.unless(isVeryCommon, fewFound, ids)}
	}
	list[0].with = append(f.sample(s), list[0].with...)
	return list
}

// farther walks a list for longer: for longest where what fits is common, as the index would read all that has a word, wherever that is. Where it reads no more of
// that than it may, the glance was enough.
func (f searching) farther(s *statement) way {
	if f.spread == nil {
		return s.soon(*f.walk, aWalk, f.from)
	}
	rows, instead := "CASE WHEN "+isCommon+" THEN "+strconv.Itoa(found)+" ELSE "+strconv.Itoa(aWalk)+" END", "false"
	besides := slices.ContainsFunc(s.keys, func(k sortedKey) bool { return k.by == f.beside }) // which are looked up for all that the index finds
	if f.others || f.inLimbs() || f.whole && f.has(s) && !besides {
		rows, instead = strconv.Itoa(aWalk), isCommon
	}
	coming, last := s.coming(*f.walk, rows)
	return way{from: f.from, listed: func(open, _ string) string {
		return "SELECT CASE WHEN " + open + " AND " + instead + " THEN true ELSE bool_or(" + last + ") END AS many, " + metSoon + " FROM " + s.metAmong(coming, last, open+" AND NOT "+instead)
	}}
}

const metSoon = "array_agg(x.id) FILTER (WHERE x.fits) AS ids"

// coming are so many rows of a walk, each with whether it fits; last tells the last one of these.
func (s *statement) coming(w way, rows string) (text, last string) {
	text = "SELECT " + s.list.id + " AS id, " + strings.Join(w.held, " AND ") + " AS fits FROM " + w.from + clause(append(append([]string{}, w.where...), s.bounds(w)...)) +
		s.orderBy(w.lead, s.by(w)) + " LIMIT (SELECT " + rows + ")"
	return text, "x.nth = " + rows
}

// metAmong are those of the rows to come that fit, as far as the page takes them, and the last one, on a condition.
func (s *statement) metAmong(coming, last, open string) string {
	return "(SELECT x.* FROM (SELECT x.*, row_number() OVER () AS nth FROM (" + coming + ") x) x WHERE (x.fits OR " + last + ") AND " + open + " LIMIT " + s.rows + ") x OFFSET 0"
}

// namedOrSearched are the ways to rows of companies that a filter names by their ids, or else searches for. In the order of their ids all are walked; own is the way of those
// of a few companies.
func namedOrSearched(s *statement, scope access.Scope, terms []Term, f searching, walk, own way) []way {
	if ids, given := value(terms, "ids"); given {
		return []way{named("unnest("+s.arg(ids, "bigint[]")+") n(id)"+f.from, f.held...)}
	}
	if !s.ordersBy(s.list.id) {
		list, _ := f.ways(s, terms)
		return list
	}
	if f.walk, f.spread, f.whole = &walk, &walk, scope.Whole(); f.whole {
		list, _ := f.ways(s, terms)
		return list
	}
	own.each = "(SELECT * FROM customers c WHERE " + inScope + " ORDER BY c.lineage OFFSET 0) c"
	own.size = own.each + " LEFT JOIN LATERAL (SELECT FROM " + own.from + clause(own.where) + " OFFSET 0) x ON true" // companies that have none count, too
	few := own
	few.most = aHandful
	f.few = []way{few}
	list, _ := f.ways(s, terms)
	return slices.Insert(list, len(list)-1, own) // what the index finds may be others'
}

// beginning are the conditions of names that begin as a text does, without regard to case.
func (s *statement) beginning(name, text string) []string {
	at := "(lower(" + s.arg(text, "text") + `) COLLATE "C")`
	return []string{name + " >= " + at, name + " < (" + at + ` || U&'\+10FFFF')`}
}
