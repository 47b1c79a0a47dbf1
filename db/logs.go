package db

import (
	"strings"

	"canopy/internal/access"
)

// Runs, deliveries and audit events are written in the order of their time, and listed in it. Each belongs to a company.

// logged is how rows of such a list are found by their companies.
type logged struct {
	// rows is their table with its alias, table that with what else belongs to a row; company names the row's company, and limb the limb that it was of.
	rows, table, company, limb string
	// time is what they are ordered by; indexes have it behind nothing, and behind owner, which names who has a row by
	// its id, as owners do: what follows the company c.
	time, owner, owners, id string
	// kind is a column that further indexes have right before the time, for the rows that fit only, where that is said. kindOf gives what it is,
	// as a type, where the member of a filter is a value; false where the indexes lack that.
	kind, kindType, kindMember, only string
	kindOf                           func(value string) (string, bool)
	// ofLimbs: only indexes of all and of limbs have the kind, and none of owners.
	ofLimbs bool
	// kept: rows of companies that are deleted are listed until they are erased.
	kept bool
}

// mostOwners is how many companies, or limbs, are few enough to be asked for a page of rows each.
const mostOwners = 2_000

// within are the ways to what the companies of a scope have, whose bounds are $1 and $2: where most of the next rows of all are theirs, these; the page of
// each limb, or of each of a few companies of one; and for more all rows in order, of which those of others are passed over.
func (l logged) within(st *statement, scope access.Scope, terms []Term) []way {
	all := l.timed(st, l.anywhere(st, scope, terms), terms)
	if customer, given := value(terms, "customerId"); given {
		each := "(SELECT * FROM customers WHERE id = " + st.arg(customer, "bigint") + " OFFSET 0) c" + l.owners
		return []way{l.owned(st, way{each: each, from: l.rows, held: append(l.terms(st, terms, "c.id"), withinScope)}, terms)}
	}
	if scope.Whole() {
		return []way{all}
	}
	anywhere := l.anywhere(st, scope, terms)
	anywhere.each, anywhere.first = limbsOfLogs, "l"
	limbs := l.of(st, anywhere, l.limb, "l.id", terms)
	limbs.size, limbs.most = limbsOfLogs, mostOwners
	switch {
	case inLimb(scope):
		own := l.owned(st, way{each: "(SELECT * FROM customers c WHERE " + inScope + " ORDER BY c.lineage OFFSET 0) c" + l.owners, from: l.rows, held: l.terms(st, terms, "c.id")}, terms)
		own.size, own.most = own.each, mostOwners
		if _, given := l.kindIn(terms); given && l.ofLimbs { // each row of others would be passed over
			own.size = own.each + " LEFT JOIN " + l.rows + " ON " + l.owner + " = " + l.id
		}
		return []way{own, limbs, all}
	case all.ordered:
		_, alias, _ := strings.Cut(l.rows, " ")
		return []way{st.soon(all, aGlance/3, joinedTo("n.id", alias, all.from)), limbs, all}
	}
	return []way{limbs, all}
}

// typed puts before other ways that of all rows whose column, which an index has before the time, is something, where few have that. In the whole tree that index has
// their order, however many they are.
func (l logged) typed(st *statement, scope access.Scope, terms []Term, column, is string, otherwise []way) []way {
	if st.counting {
		return otherwise
	}
	w := l.anywhere(st, scope, terms)
	_, kind := l.kindIn(terms)
	if _, named := value(terms, "customerId"); scope.Whole() && !kind && !named && st.ordersBy(l.time) {
		return []way{l.spanned(st, st.led(w, column, is, l.time), terms)}
	}
	w.size, w.most = l.rows+" WHERE "+column+" = "+is, aGlance
	w.where = append(w.where, column+" = "+is)
	return append([]way{w}, otherwise...)
}

// anywhere makes a way of all rows, of which those in the scope are kept. The whole tree needs no look at each row's company.
func (l logged) anywhere(st *statement, scope access.Scope, terms []Term) way {
	if scope.Whole() {
		return way{from: l.table, where: []string{wholeScope}, held: l.terms(st, terms, l.company)}
	}
	return way{from: l.table + joinByID("customers", "c", l.company), held: append(l.terms(st, terms, l.company), withinScope)}
}

// ofOne makes a way of the rows of one thing, as all runs of an agent are of its company: where that is not in the scope none is read, however many there are.
func (w way) ofOne(scope access.Scope, from, id, is string) way {
	if !scope.Whole() {
		w.where = append(w.where, "EXISTS (SELECT FROM "+from+clause([]string{id + " = " + is, withinScope})+")")
	}
	return w
}

// terms are the conditions of terms, and that the row's company is not deleted, nor one above it in the scope.
func (l logged) terms(st *statement, terms []Term, company string) []string {
	if l.kept {
		return st.terms(terms)
	}
	return append(st.terms(terms), aliveInScope(company))
}

// owned makes a way of the rows of each owner.
func (l logged) owned(st *statement, w way, terms []Term) way {
	if l.ofLimbs {
		l.kindMember = ""
	}
	return l.of(st, w, l.owner, l.id, terms)
}

// of makes a way of the rows whose column is a value, which indexes have before the time, or before the kind and the time.
func (l logged) of(st *statement, w way, column, is string, terms []Term) way {
	kind, given := l.kindIn(terms)
	if given && st.counting && l.only == "" {
		w.where = append(w.where, column+" = "+is, l.kind+" = "+st.arg(kind, l.kindType))
		return w
	}
	if given && st.ordersBy(l.time) {
		if l.only == "" || l.only == l.kind { // no other index has this order then, whatever PostgreSQL knows of the rows
			if l.only != "" {
				w.where = append(w.where, l.only)
			}
			return l.spanned(st, st.led(w, column+", "+l.kind, is+", "+st.arg(kind, l.kindType), l.time), terms)
		}
		w.where = append(w.where, column+" = "+is)
		return l.timed(st, w, terms)
	}
	return l.spanned(st, st.led(w, column, is, l.time), terms)
}

// timed makes a way of all rows, or of those of a kind.
func (l logged) timed(st *statement, w way, terms []Term) way {
	kind, given := l.kindIn(terms)
	if !given {
		w.ordered = st.ordersBy(l.time)
		return l.spanned(st, w, terms)
	}
	if l.only != "" {
		w.where = append(w.where, l.only)
	}
	return l.spanned(st, st.led(w, l.kind, st.arg(kind, l.kindType), l.time), terms)
}

// kindIn is what the kind is by a filter, where indexes have that.
func (l logged) kindIn(terms []Term) (string, bool) {
	v, given := value(terms, l.kindMember)
	if !given {
		return "", false
	}
	return l.kindOf(v)
}

// spanned bounds a way by what is asked of the time.
func (l logged) spanned(st *statement, w way, terms []Term) way {
	if w.ordered {
		w.spans = st.spans(terms, "createdSince", "createdUntil")
	}
	return w
}
