package db

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"canopy/internal/access"
)

const nameOfCustomer = `lower(c.name) COLLATE "C"`

// InPreorder is the order of the tree, in which companies are listed unless asked for otherwise.
const InPreorder = "PATH"

// Customers lists companies c.
var Customers = &List{
	id: "c.id",
	members: map[string]string{
		"ids":          `c.id = ANY (?::bigint[])`,
		"regionId":     `c.region_id = ?::bigint`,
		"status":       `c.status = ?::text`,
		"level":        `c.level = ?::integer`,
		"parentId":     `c.parent_id = ?::bigint`,
		"below":        `c.id <> ?::bigint`,
		"createdSince": `c.created_at >= ?::timestamptz`,
		"createdUntil": `c.created_at < ?::timestamptz`,
		"begins":       `starts_with(lower(c.name), lower(?::text))`,
		searched:       matching("c.name"),
		nearBy:         near("c.name"),
	},
	orders: map[string]key{
		"ID":         {by: "c.id", kind: integers},
		"NAME":       {by: nameOfCustomer, kind: texts},
		"CREATED_AT": {by: "c.created_at", kind: moments},
		InPreorder:   {by: "c.lineage", kind: lineages, once: true},
		"STATUS":     {by: "c.status", kind: texts, member: "status", values: []string{CustomerActive, CustomerSuspended}},
	},
	otherwise: InPreorder,
	columns:   customerColumns,
	tables:    joinByID("customers", "c", "f.id"),
}

// children are the companies right below.
var children = hung{list: Customers, ways: func(st *statement, terms []Term) []way {
	return []way{st.led(way{from: "customers c", held: st.alive(terms, "c.lineage[c.level + 1:]")}, "c.parent_id", "k.id", "c.id")}
}}

// alive are the conditions of terms on company c, and that it is not deleted, nor one above it, as far as below has them: the
// ids of those below where the list is asked for, from the top down. Who asks for those that are deleted gets these.
func (s *statement) alive(terms []Term, below string) []string {
	if status, _ := value(terms, "status"); status == CustomerDeleted {
		return s.terms(terms)
	}
	return append(s.terms(terms), notDeleted(below))
}

// notDeleted tells whether none of some companies, an array of ids, is deleted. Where none at all is, it does not look for them.
func notDeleted(companies string) string {
	return `(NOT EXISTS (SELECT FROM customers d WHERE d.status = 'DELETED')
		OR NOT EXISTS (SELECT FROM customers d WHERE d.id = ANY (` + companies + `) AND d.status = 'DELETED'))`
}

// aliveInScope tells whether the company of an id is not deleted, nor one above it below the top of the scope, whose bounds are $1 and $2. Where
// none in the scope is deleted, it does not look for them: of lists of what companies have, no row is looked at twice then.
func aliveInScope(company string) string {
	return "(" + noneDeleted + " OR alive_in(" + company + ", $1::bigint[]))"
}

// noneDeleted tells whether no company of the scope is deleted, whose bounds are $1 and $2.
const noneDeleted = `NOT EXISTS (SELECT FROM customers gone WHERE gone.status = 'DELETED' AND gone.lineage > $1::bigint[] AND gone.lineage < $2::bigint[])`

// rare finds companies by their status, where that is one that few have.
func (s *statement) rare(terms []Term) []string {
	for _, t := range terms {
		if t.Member == "status" && t.Value != CustomerActive {
			return []string{"c.status <> 'ACTIVE'", s.condition(t)}
		}
	}
	return nil
}

// The companies anywhere below p, without it and with it.
var (
	descendants = hung{list: Customers, ways: waysBelow(`>`)}
	subtree     = hung{list: Customers, ways: waysBelow(`>=`)}
)

func waysBelow(from string) ways {
	return func(st *statement, terms []Term) []way {
		reached := way{
			from: "customers c", each: "(SELECT id, lineage, level FROM customers WHERE id = k.id OFFSET 0) p",
			where: append(st.rare(terms), "c.lineage "+from+" p.lineage", "c.lineage < p.lineage[1:p.level] || (p.id + 1)"),
			held:  st.alive(terms, "c.lineage[p.level + 2:]"), ordered: st.inPreorder(),
		}
		// Counted in order: else the index would give all of them before the first is counted.
		reached.size = reached.each + " CROSS JOIN LATERAL (SELECT FROM customers c" + clause(reached.where) + " ORDER BY c.lineage LIMIT (SELECT " + strconv.Itoa(handful+1) + ")) x"
		walk := way{from: reached.from, each: reached.each, held: append(slices.Clone(reached.where), reached.held...), ordered: true}
		if ids, given := value(terms, "ids"); given {
			return []way{{each: reached.each, from: namedIn("c", st.arg(ids, "bigint[]"), "customers c"), held: walk.held}}
		}
		in := wordsOfCustomers
		in.each, in.held, in.few, in.walk, in.limbs, in.behind = reached.each, walk.held, []way{reached}, &walk, false, ""
		if reached.ordered {
			in.walk = &reached
		}
		if list, given := in.ways(st, terms); given {
			return list
		}
		var list []way
		if parent, given := value(terms, "parentId"); given {
			list = append(list, way{each: reached.each, from: reached.from, lead: "c.parent_id", is: st.arg(parent, "bigint"), held: walk.held})
		}
		for _, t := range terms {
			if t.Member == "regionId" || t.Member == "level" { // which indexes have in the order of the tree
				list = append(list, way{each: reached.each, from: reached.from, where: append([]string{st.condition(t)}, reached.where...), held: reached.held, ordered: reached.ordered})
			}
		}
		if st.counting {
			return append(list, reached)
		}
		var made []way
		if period := st.period(terms, "createdSince", "createdUntil"); len(period) > 0 {
			made = []way{st.few(handful, "c.created_at", walk.held, period...)}
			made[0].each = reached.each
		}
		if reached.ordered {
			return append(append(list, made...), reached)
		}
		return append(append(append(list, reached), made...), walk)
	}
}

// companiesByID joins companies that were found.
var companiesByID = joinByID("customers", "c", "n.id")

// wordsOfCustomers finds companies by the words of their names.
var wordsOfCustomers = searching{
	table: "customer_words w", id: "w.customer_id", fits: "w.words @@ ?", from: companiesByID, limb: "w.limb_id",
	limbs: true, behind: "words_behind(w.limb_id, w.words) @@ ?",
	keys:   map[string]string{"c.id": "w.customer_id", nameOfCustomer: "w.named", "c.created_at": "w.created_at", "c.lineage": "o.lineage"},
	beside: "c.lineage", joined: joinByID("customers", "o", "w.customer_id"), // which a move changes
}

// inPreorder tells whether rows are asked for in the order of the tree.
func (s *statement) inPreorder() bool { return !s.counting && s.keys[0].by == "c.lineage" }

// FindCustomers is a page of the companies within the scope.
func (s *Store) FindCustomers(ctx context.Context, scope access.Scope, a Ask) ([]*Customer, error) {
	return findWithin[Customer](ctx, s, scope, Customers, a, customersWithin(scope))
}

// CountCustomers counts the companies within the scope that are asked for.
func (s *Store) CountCustomers(ctx context.Context, scope access.Scope, a Ask) (int, error) {
	return countWithin(ctx, s, scope, Customers, a, customersWithin(scope))
}

// customersOfUser are the companies within a scope that a user belongs to.
var customersOfUser = hung{list: Customers, scoped: true, ways: func(st *statement, terms []Term) []way {
	return []way{{from: "memberships m" + joinByID("customers", "c", "m.customer_id"), where: []string{"m.user_id = k.id", memberInScope}, held: st.alive(terms, belowScope)}}
}}

// belowScope are the ids of company c and of those above it below the top of the scope, whose lineage is $1.
const belowScope = `c.lineage[cardinality($1::bigint[]) + 1:]`

// customersWithin are the ways to the companies of a scope, whose bounds are $1 and $2. Few are read all, and ordered. Of
// many, those of the branch, the company right below root with all below it, or of a company right below that are walked in order, as far as the page goes, and those of what
// lies deeper are picked out of them.
func customersWithin(scope access.Scope) ways {
	return func(st *statement, terms []Term) []way {
		held := st.alive(terms, belowScope)
		all := way{from: "customers c", where: append(st.rare(terms), inScope), held: held, ordered: st.inPreorder()}
		held = append(held, withinScope)
		if ids, given := value(terms, "ids"); given {
			return []way{named("unnest("+st.arg(ids, "bigint[]")+") n(id)"+joinByID("customers", "c", "n.id"), held...)}
		}
		walk := all
		if !all.ordered {
			walk = st.walkCustomers(scope, terms, held)
		}
		in := wordsOfCustomers
		in.held, in.few, in.walk, in.whole = held, []way{all}, &walk, scope.Whole()
		if !st.counting {
			spread := led(scope, way{from: "customers c", held: held})
			in.spread = &spread
		}
		if level, given := st.walkLevel(terms, held); given && !all.ordered {
			if len(scope.From()) <= 2 {
				spread := way{from: level.from, lead: level.lead, is: level.is, held: held}
				if level.lead == "" { // it is bounded in its order
					spread = *in.spread
				}
				in.walk, in.spread = &level, &spread
			} else {
				in.along = []way{level}
			}
		}
		if list, given := in.ways(st, terms); given {
			if st.counting {
				return list
			}
			return append(st.narrow(scope, terms, held, handful), list...)
		}
		if _, begins := value(terms, "begins"); begins {
			return []way{walk}
		}
		if all.ordered {
			return append(append(st.narrow(scope, terms, held, handful), st.madeThen(scope, terms, walk)...), st.alongOf(walk, terms))
		}
		few := st.narrow(scope, terms, held, handful)
		narrowed := len(few) > 0 && !st.counting
		var list []way
		level, given := st.walkLevel(terms, held)
		if given && narrowed {
			list = append(list, st.soon(level, aGlance, companiesByID))
		}
		if list = append(list, few...); !scope.Whole() {
			list = append(list, all)
		}
		if narrowed {
			list = append(list, st.soon(walk, aWalk, companiesByID))
			if given {
				list = append(list, st.soon(level, aWalk, companiesByID))
			}
			list = append(list, st.madeIn(scope, terms, held, idedCustomers)...)
			list = append(list, st.narrow(scope, terms, held, tooFewToWalk)...)
		}
		if given && scope.Whole() && narrowed {
			return append(list, level)
		}
		return append(list, walk)
	}
}

// walkLevel walks the companies of one level in order, where a filter names that.
func (s *statement) walkLevel(terms []Term, held []string) (way, bool) {
	level, given := value(terms, "level")
	if !given {
		return way{}, false
	}
	return s.through(way{from: "customers c", lead: "c.level", is: s.arg(level, "integer"), held: held, ordered: true}, terms), true
}

// tooFewToWalk is how many companies are ordered rather than walked past all others in the hope of them, where a walk has not met enough soon.
const tooFewToWalk = 40_000

// narrow are the ways to the companies that a term of a filter finds by an index, where they are not more than most.
func (s *statement) narrow(scope access.Scope, terms []Term, held []string, most int) []way {
	var list []way
	for _, t := range terms {
		switch t.Member {
		case "parentId":
			list = append(list, way{from: "customers c", lead: "c.parent_id", is: s.value(t, "bigint"), held: held, most: most})
		case "regionId", "level":
			if !s.inPreorder() { // an index has these in it
				list = append(list, s.few(most, "c.lineage", held, s.condition(t), inScope))
			}
		case "status":
			if rare := s.rare(terms); rare != nil && !s.inPreorder() {
				list = append(list, way{from: "customers c", where: append(rare, inScope), held: held, most: most})
			}
		}
	}
	if period := s.period(terms, "createdSince", "createdUntil"); len(period) > 0 {
		list = append(list, s.few(most, "c.created_at", held, led(scope, way{}).within(period...).where...))
	}
	return list
}

// few is the way of the companies that some conditions bound in the index of an order, where they are not more than most. They are asked for in that
// order, and no more of them: otherwise PostgreSQL reads all companies, where it takes most for of those.
func (s *statement) few(most int, order string, held []string, conditions ...string) way {
	if s.counting {
		return way{from: "customers c", where: conditions, held: held}
	}
	rows := " FROM customers c" + clause(conditions) + " ORDER BY " + order + " LIMIT (SELECT " + strconv.Itoa(most+1) + ")"
	return way{from: "(SELECT *" + rows + ") c", size: "(SELECT" + rows + ") x", held: held, most: most}
}

// piecesOfTime is how many pieces of a list are few enough to be asked each for what was made at a time, and fewPieces how many of those that have some are walked for it.
const piecesOfTime, fewPieces = mostOwners, 4

// madeThen are, where a filter bounds when companies were made, the ways before a walk in the order of the tree: it is walked soon, and then limb by limb, from the first that has such.
// A limb's stretch of that order goes on to the next limb: what is there is of that limb, or of one that it lies in and that has more than its own top.
func (s *statement) madeThen(scope access.Scope, terms []Term, walk way) []way {
	made := s.madeWhen(terms)
	if len(made) == 0 || s.counting || inLimb(scope) {
		return nil
	}
	dir, want, behind := direction(s.keys[0].down), strconv.Itoa(2*(s.page.Size+1)), "true"
	if len(s.after) > 0 {
		if behind = "(l.high IS NULL OR l.high > " + s.after[0] + ")"; s.keys[0].down {
			behind = "l.low < " + s.after[0]
		}
	}
	const limbs = "limbs l WHERE l.lineage >= $1::bigint[] AND l.lineage < $2::bigint[]"
	parts := "WITH part AS MATERIALIZED (SELECT l.*, n.n, n.below FROM (SELECT l.id, l.lineage AS low, lead(l.lineage) OVER (ORDER BY l.lineage) AS high FROM " + limbs + ") l" +
		" CROSS JOIN LATERAL (SELECT count(*) AS n, count(*) > count(*) FILTER (WHERE x.id = l.id) AS below FROM (SELECT w.customer_id AS id FROM customer_words w" +
		clause(append([]string{"w.limb_id = l.id"}, made...)) + " LIMIT (SELECT " + want + ")) x OFFSET 0) n) " +
		"SELECT l.low, l.high, row_number() OVER (ORDER BY l.low" + dir + ") AS nth, sum(l.n) OVER (ORDER BY l.low" + dir + ") - l.n AS before FROM part l" +
		" WHERE (l.n > 0 OR l.low && (SELECT array_agg(p.id) FROM part p WHERE p.below)) AND " + behind
	within := append([]string{"c.lineage >= l.low", "c.lineage < COALESCE(l.high, $2::bigint[])"}, s.period(terms, "createdSince", "createdUntil")...)
	text := "SELECT c.id, " + strings.Join(walk.held, " AND ") + " AS fits FROM (" + parts + ") l CROSS JOIN LATERAL (SELECT * FROM customers c" +
		clause(append(within, s.beyond("", "", s.by(walk))...)) + " ORDER BY c.lineage" + dir + " LIMIT (SELECT " + want + ")) c WHERE l.nth <= " + strconv.Itoa(fewPieces) + " AND l.before < " + want + " ORDER BY c.lineage" + dir
	return []way{s.soon(walk, aWalk, companiesByID), s.met(text, "(SELECT count(*) <= "+strconv.Itoa(piecesOfTime)+" FROM (SELECT FROM "+limbs+" LIMIT "+strconv.Itoa(piecesOfTime+1)+") x)", "true", companiesByID)}
}

// ided are rows that know when they were made, of which an index has some thousand ids each in the order of that: a table, what it names a row by, what joins to n.id what a list is made of, and the
// key of the list that is the id.
type ided struct{ table, id, from, key string }

var idedCustomers = ided{table: "customer_words", id: "w.customer_id", from: companiesByID, key: "c.id"}

// madeIn is the same in the order of the ids: those of a time are found in the first of some thousand ids each that have such.
func (s *statement) madeIn(scope access.Scope, terms []Term, held []string, of ided) []way {
	made := s.madeWhen(terms)
	if len(made) == 0 || s.counting || inLimb(scope) || !s.ordersBy(of.key) {
		return nil
	}
	dir, want, first := direction(s.keys[0].down), strconv.Itoa(4*(s.page.Size+1)), ""
	if scope.Whole() { // otherwise most of them may be others'
		first = " LIMIT (SELECT " + want + ")"
	}
	piece, table := of.id+" / 4096", of.table+" w"
	low, high := "(SELECT min("+piece+") FROM "+table+")", "(SELECT max("+piece+") FROM "+table+")"
	within := clause(append([]string{piece + " = b.nth"}, append(made, unindexed(strings.Join(append(s.beyond("", "", func(int) string { return of.id }), "true"), " AND ")))...))
	pieces := "SELECT b.nth, sum(n.n) OVER (ORDER BY b.nth" + dir + ") - n.n AS before FROM generate_series(" + low + ", " + high + ") b(nth)" +
		" CROSS JOIN LATERAL (SELECT count(*) AS n FROM (SELECT FROM " + table + within + " LIMIT (SELECT " + want + ")) x OFFSET 0) n"
	found := "SELECT DISTINCT w.id FROM (" + pieces + ") b CROSS JOIN LATERAL (SELECT " + of.id + " AS id FROM " + table + within + " OFFSET 0) w WHERE b.before < " + want + " ORDER BY w.id" + dir + first
	text := "SELECT n.id, " + strings.Join(held, " AND ") + " AS fits FROM (" + found + ") n" + of.from + " ORDER BY n.id" + dir
	return []way{s.met(text, high+" - "+low+" < "+strconv.Itoa(piecesOfTime), "true", of.from)}
}

// madeWhen are the conditions of when rows were made as they are held against a table w that has that, such as customer_words.
func (s *statement) madeWhen(terms []Term) (list []string) {
	for _, span := range s.spans(terms, "createdSince", "createdUntil") {
		list = append(list, "w.created_at "+span[0]+" "+span[1])
	}
	return list
}

// met is the way of those of some rows in order that fit, each with whether it does, where they fill the page or there are no more; from joins to n.id what the list is made of.
// They are looked at on a condition.
func (s *statement) met(text, condition, more, from string) way {
	return way{from: from, listed: func(open, _ string) string {
		return "SELECT CASE WHEN " + open + " THEN count(*) < " + s.rows + " AND " + more + " ELSE false END AS many, array_agg(x.id) AS ids FROM (SELECT x.id FROM (" + text +
			") x WHERE x.fits AND " + open + " AND " + condition + " LIMIT " + s.rows + ") x OFFSET 0"
	}}
}

// alongOf makes a walk in the order of the tree one through the companies of a region or a level, which indexes have in that order.
func (s *statement) alongOf(walk way, terms []Term) way {
	for _, t := range terms {
		if t.Member == "regionId" || t.Member == "level" {
			walk.where = append(slices.Clone(walk.where), s.condition(t))
			break
		}
	}
	return walk
}

// walkCustomers walks the companies of the branch, or right below its top, or of the whole tree, in order.
func (s *statement) walkCustomers(scope access.Scope, terms []Term, held []string) way {
	return s.through(led(scope, way{from: "customers c", held: held, ordered: true}), terms)
}

// through makes a walk one through what a filter bounds of its order.
func (s *statement) through(w way, terms []Term) way {
	if period := s.period(terms, "createdSince", "createdUntil"); len(period) > 0 && s.ordersBy("c.created_at") {
		return w.within(period...)
	}
	if text, begins := value(terms, "begins"); begins && (s.counting || s.ordersBy(nameOfCustomer)) {
		return w.within(s.beginning(nameOfCustomer, text)...)
	}
	return w
}

// led leads a way by the company of the scope, or the one above it that is at the deepest level which has indexes.
func led(scope access.Scope, w way) way {
	top := scope.From()
	if len(top) < 2 {
		return w
	}
	lead := min(len(top), leads)
	w.lead, w.is = "c.lineage["+strconv.Itoa(lead)+"]", "($1::bigint[])["+strconv.Itoa(lead)+"]"
	if lead > 2 { // what lies higher is in none of these indexes
		w.where = []string{"c.level > " + strconv.Itoa(lead-2)}
	}
	return w
}

// leads is how many levels down companies have indexes of their own for each order.
const leads = 4
