package db

import (
	"encoding/json"
	"slices"
	"strings"

	"canopy/internal/paging"
	"canopy/internal/words"
)

// Term is one member of a filter with its value, as text of the type that the list declares.
type Term struct{ Member, Value string }

// Where bounds a list: rows have to fit every term, and of Or, where there is any, at least one.
type Where struct {
	Terms []Term  `json:",omitempty"`
	Or    []Where `json:",omitempty"`
}

// alternatives gives the filter as a union of plain terms that are and-ed: each of these is read in its own best way.
func (w Where) alternatives() [][]Term {
	if len(w.Or) == 0 {
		return [][]Term{w.Terms}
	}
	var list [][]Term
	for _, o := range w.Or {
		for _, b := range o.alternatives() {
			list = append(list, append(slices.Clone(w.Terms), b...))
		}
	}
	return list
}

// value is that of the first term of a member; false where there is none.
func value(terms []Term, member string) (string, bool) {
	for _, t := range terms {
		if t.Member == member {
			return t.Value, true
		}
	}
	return "", false
}

// near is the ask for what lies within one edit of the text that is searched for, word by word: false where there is no such text, or
// none that is tried so. Of alternatives, none is.
func (a Ask) near() (Ask, bool) {
	w := a.Where()
	text, given := value(w.Terms, searched)
	if a.plainly || !given || len(w.Or) > 0 {
		return a, false
	}
	for i := range words.Parse(text).Nears() {
		w.Or = append(w.Or, Where{Terms: []Term{{nearBy, nearValue(i, text)}}})
	}
	w.Terms = slices.DeleteFunc(w.Terms, func(t Term) bool { return t.Member == searched })
	return NewAsk(w, a.order, a.Page), len(w.Or) > 0
}

// Sort is one field of an order.
type Sort struct {
	Field string
	Down  bool
}

// Ask is what is asked of a list: which rows, in which order, which page. Asks for the same rows are equal by ==.
type Ask struct {
	where string
	order string
	Page  paging.Page
	// plainly: what is searched for and not found is not looked for within one edit, and of much that is found, any will do.
	plainly bool
}

// Plainly is the ask for some of what has the words that are searched for, and for nothing that is near.
func (a Ask) Plainly() Ask {
	a.plainly = true
	return a
}

// NewAsk is an ask for a page of the rows that fit, in an order.
func NewAsk(w Where, order string, p paging.Page) Ask {
	a := Ask{order: order, Page: p}
	if len(w.Terms)+len(w.Or) > 0 {
		text, err := json.Marshal(w)
		if err != nil {
			panic(err) // it is made of texts
		}
		a.where = string(text)
	}
	return a
}

// counted is the ask for how many rows there are on all pages.
func (a Ask) counted() Ask { return Ask{where: a.where} }

// Where gives which rows are asked for.
func (a Ask) Where() (w Where) {
	if a.where != "" {
		if err := json.Unmarshal([]byte(a.where), &w); err != nil {
			panic(err) // NewAsk has written it
		}
	}
	return w
}

// OrderName is the name of an order in cursors: its fields, those from the largest down with a sign.
func OrderName(by []Sort) string {
	names := make([]string, len(by))
	for i, s := range by {
		names[i] = s.Field
		if s.Down {
			names[i] = "-" + s.Field
		}
	}
	return strings.Join(names, ",")
}

// sorts reads the name of an order.
func sorts(name string) []Sort {
	var by []Sort
	for field := range strings.SplitSeq(name, ",") {
		bare, down := strings.CutPrefix(field, "-")
		by = append(by, Sort{bare, down})
	}
	return by
}
