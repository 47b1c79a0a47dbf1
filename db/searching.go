package db

import (
	"strconv"
	"strings"

	"github.com/lib/pq"

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

// argument is the value of a term as its condition takes it.
func (t Term) argument() any {
	switch t.Member {
	case searched:
		return pq.StringArray(words.Parse(t.Value).Patterns())
	case nearBy:
		return pq.StringArray(parseNear(t.Value).Patterns())
	}
	return t.Value
}

// matching is the condition that a name matches the patterns of a search.
func matching(name string) string { return "folded(" + name + ") ~ ALL (?::text[])" }

// How far a list is walked in the hope of a page, at first and after the index has told that there are many; and of how many rows
// that the index finds a page is made. Where there are no more than a handful to look through, the index is not asked.
const (
	aGlance, aWalk  = 300, 4_000
	aHandful        = 200
	fewFound, found = 2_000, 20_000
)

// searching is how the rows of a list are found by the words of their names.
type searching struct {
	// ids selects, as id, the rows whose words fit a tsquery, which stands for ?.
	ids string
	// from joins to n.id what the list is made of, and held is what else is asked for.
	from string
	held []string
	// each is what is searched below again and again: a FROM clause.
	each string
	// few are ways for parts of the tree that are small; walk goes through the list in its order, where an index has that.
	few  []way
	walk *way
	// whole: nothing lies outside of what is asked for, so what the index finds is no more than what a walk would pass.
	whole bool
	// limbs: the index also has each word behind the limb that the name is of.
	limbs bool
}

// mark is what stands before each word of a query, for the limb. It is in no word.
const mark = "?"

// behindLimb is a query, a text with marks, as it looks for words of the limb v.
func behindLimb(query string) string {
	return "replace(" + query + ", '" + mark + "', v.limb)::tsquery"
}

// found selects, as id, the rows whose words fit a query with marks.
func (f searching) found(s *statement, query string) string {
	if !f.limbs || f.whole {
		return strings.ReplaceAll(f.ids, "?", s.arg(strings.ReplaceAll(query, mark, ""), "tsquery"))
	}
	return "SELECT y.id FROM " + limbsUpTo(limbsOfQuery) + " CROSS JOIN LATERAL (" + strings.ReplaceAll(f.ids, "?", behindLimb(s.arg(query, "text"))) + " OFFSET 0) y"
}

// foundByAny selects, as id, the rows whose words fit one of many queries with marks.
func (f searching) foundByAny(s *statement, queries func(mark string) []string) string {
	begin, query := "unnest("+s.arg(pq.StringArray(queries("")), "tsquery[]")+") q(query)", "q.query"
	if f.limbs && !f.whole {
		begin, query = limbsUpTo(limbsOfQueries)+" CROSS JOIN unnest("+s.arg(pq.StringArray(queries(mark)), "text[]")+") q(query)", behindLimb("q.query")
	}
	return "SELECT y.id FROM " + begin + " CROSS JOIN LATERAL (" + strings.ReplaceAll(f.ids, "?", query) + " OFFSET 0) y"
}

// ways are those for a filter's search; false where it has none.
func (f searching) ways(s *statement, terms []Term) ([]way, bool) {
	if text, given := value(terms, searched); given {
		return f.plain(s, words.Parse(text)), true
	}
	if v, given := value(terms, nearBy); given {
		return f.near(s, parseNear(v)), true
	}
	return nil, false
}

func (f searching) plain(s *statement, sought words.Sought) []way {
	ids := f.found(s, sought.Query(mark))
	switch {
	case s.counting || f.walk == nil:
		return []way{f.all(ids)}
	case f.walk.each != "":
		return append(f.few, f.upTo(found, ids), *f.walk)
	case f.whole && s.anyOf:
		return []way{s.soon(*f.walk, aGlance), f.all("SELECT x.id FROM (" + ids + ") x LIMIT " + strconv.Itoa(fewFound))}
	}
	list := []way{s.soon(*f.walk, aGlance)}
	if f.limbs {
		for _, w := range f.few {
			w.most = aHandful
			list = append(list, w)
		}
		list = append(append(list, f.upTo(fewFound, ids)), f.few...)
	} else { // a word that all others have too costs more than to look through the few
		list = append(append(list, f.few...), f.upTo(fewFound, ids))
	}
	list = append(list, s.soon(*f.walk, aWalk))
	if f.whole {
		return append(list, f.all(ids))
	}
	return append(list, f.upTo(found, ids), *f.walk)
}

// near has a query for each word that lies within one edit: one for all of them would look at each of them for each row.
func (f searching) near(s *statement, n words.Near) []way {
	all := f.all(f.foundByAny(s, n.Queries))
	if s.counting {
		return []way{all}
	}
	var list []way
	if f.walk != nil && f.walk.each == "" {
		list = append(list, s.soon(*f.walk, aGlance))
	}
	if others := n.Others(mark); others != "" {
		list = append(list, f.upTo(fewFound, f.found(s, others)))
	}
	return append(append(list, f.few...), all)
}

// upTo is the way of the rows that the index finds, where they are not more than most; all is that of all of them.
func (f searching) upTo(most int, ids string) way {
	return way{each: f.each, ids: ids, from: f.from, held: f.held, most: most}
}

func (f searching) all(ids string) way {
	return way{each: f.each, from: "(SELECT DISTINCT x.id FROM (" + ids + ") x) n(id)" + f.from, held: f.held}
}

// soon walks a list where the page is full with what fits among so many rows to come.
func (s *statement) soon(w way, rows int) way {
	rows = max(rows, 4*(s.page.Size+1))
	w.size = "(SELECT " + strings.Join(w.held, " AND ") + " AS fits FROM " + w.from + clause(append(append([]string{}, w.where...), s.bounds(w)...)) +
		s.orderBy(w.lead, s.by) + " LIMIT (SELECT " + strconv.Itoa(rows) + ")) x WHERE x.fits IS NOT TRUE"
	w.most = rows - s.page.Size - 1
	return w
}

// namedOrSearched are the ways to rows that a filter names by their ids, or else searches for.
func namedOrSearched(s *statement, terms []Term, f searching) []way {
	if ids, given := value(terms, "ids"); given {
		return []way{named("unnest("+s.arg(ids, "bigint[]")+") n(id)"+f.from, f.held...)}
	}
	list, _ := f.ways(s, terms)
	return list
}

// beginning are the conditions of names that begin as a text does, without regard to case.
func (s *statement) beginning(name, text string) []string {
	at := "(lower(" + s.arg(text, "text") + `) COLLATE "C")`
	return []string{name + " >= " + at, name + " < (" + at + ` || U&'\+10FFFF')`}
}
