package db

import (
	"context"
	"slices"
	"strconv"

	"canopy/internal/access"
)

const nameOfUser, addressOfUser = `lower(s.name) COLLATE "C"`, `lower(s.email) COLLATE "C"`

// Users lists users as the companies of a scope know them: each row s is of the company at the top of the scope, and
// is kept for it by triggers whenever one below it hears something new of a user.
var Users = &List{
	id: "s.user_id",
	members: map[string]string{
		"ids":             `s.user_id = ANY (?::bigint[])`,
		"email":           `lower(s.email) COLLATE "C" = lower(?::text) COLLATE "C"`,
		"hasPassword":     `s.has_password = ?::boolean`,
		"customerId":      `EXISTS (SELECT FROM memberships m WHERE m.customer_id = ?::bigint AND m.user_id = s.user_id OFFSET 0)`,
		"lastAccessSince": usedSince,
		hasUsed:           "(NOT s.unused OR " + usedWithin("p.last_access IS NOT NULL") + ") = ?::boolean",
		"createdSince":    `s.created_at >= ?::timestamptz`,
		"createdUntil":    `s.created_at < ?::timestamptz`,
		"begins":          `starts_with(lower(s.name), lower(?::text))`,
		searched:          matching("s.name || ' ' || s.email"),
		nearBy:            near("s.name || ' ' || s.email"),
	},
	orders: map[string]key{
		"ID":          {by: "s.user_id", kind: integers},
		"NAME":        {by: nameOfUser, kind: texts},
		"EMAIL":       {by: addressOfUser, kind: texts},
		"CREATED_AT":  {by: "s.created_at", kind: moments},
		"LAST_ACCESS": {by: lastUse, kind: moments, has: hasUsed},
	},
	otherwise: "ID",
	columns:   userColumns,
	several: ` CROSS JOIN LATERAL (SELECT user_id, customer_id, email, first_name, last_name, created_at, accepted_at, row_version
		FROM memberships m WHERE m.user_id = f.id AND ` + memberInScope + ` OFFSET 0) m`,
	first:  seenFirst,
	tables: joinByID("users", "o", "f.user_id") + `CROSS JOIN LATERAL (SELECT ` + seenColumns("f") + `) u`,
}

// usesWithin are the permissions p of user s within the scope.
var usesWithin = `FROM permissions p WHERE p.user_id = s.user_id AND ` + reaches("p")

// lastUse is when a user has last used a permission within the scope, and hasUsed the member that tells who ever has.
var lastUse = `COALESCE((SELECT max(p.last_access) ` + usesWithin + ` AND p.last_access IS NOT NULL), 'epoch')`

const hasUsed = "used"

// usedWithin tells whether a user has used a permission within the scope of which something holds.
func usedWithin(what string) string {
	return `EXISTS (SELECT ` + usesWithin + ` AND ` + what + ` OFFSET 0)`
}

// usedSince holds a user to have used a permission within the scope since a moment.
var usedSince = usedWithin(`p.last_access >= ?::timestamptz`)

// topOfScope is the company at the top of the scope in $1 and $2.
const topOfScope = "($1::bigint[])[cardinality($1::bigint[])]"

// seenBy joins what the company at the top of the scope has of a user.
func seenBy(id string) string {
	return " CROSS JOIN LATERAL (SELECT * FROM subtree_users WHERE customer_id = " + topOfScope + " AND user_id = " + id + " OFFSET 0) s"
}

// members are those who belong to a company itself.
var members = hung{list: Users, scoped: true, ways: func(st *statement, terms []Term) []way {
	known := seenBy("m.user_id")
	if len(terms) == 0 && st.ordersBy("s.user_id") { // all else of a user is read of those that are shown
		known = " CROSS JOIN LATERAL (SELECT m.user_id) s"
	}
	return []way{{from: "memberships m" + known, where: []string{"m.customer_id = k.id"}, held: st.terms(terms)}}
}}

// wordsOfUsers finds users by the words of what somebody calls them: what the company at the top of the scope does is held
// against it.
var wordsOfUsers = searching{
	table: "member_names m", id: "m.user_id", fits: "words_in(m.limb_id, m.said) @@ ?", from: seenBy("n.id"), limb: "m.limb_id", limbs: true,
	keys: map[string]string{"s.user_id": "m.user_id", nameOfUser: "m.named", addressOfUser: "m.emailed", "s.created_at": "m.created_at"},
}

// markedUnused holds a user whom the index finds to be marked by the company at the top of the scope to have used nothing. An index has these alone, so the others need not be looked up.
const markedUnused = "EXISTS (SELECT FROM subtree_users x WHERE x.customer_id = " + topOfScope + " AND x.user_id = m.user_id AND x.unused OFFSET 0)"

// idedUsers are users by when the companies that they belong to know them from: what the company at the top of the scope does is held against it.
var idedUsers = ided{table: "member_names", id: "w.user_id", from: seenBy("n.id"), key: "s.user_id"}

// alivelyKnown holds a user to belong to a company of the scope that is not deleted, nor one above it there.
const alivelyKnown = "(" + noneDeleted + " OR known_alive_in(s.user_id, $1::bigint[], $2::bigint[]))"

// usersWithin are the ways to the users of a scope, whose bounds are $1 and $2.
func usersWithin(scope access.Scope) ways {
	return func(st *statement, terms []Term) []way { return usersOf(st, scope, terms) }
}

func usersOf(st *statement, scope access.Scope, terms []Term) []way {
	used, halved := value(terms, hasUsed)
	if _, since := value(terms, "lastAccessSince"); halved && used == "false" && since {
		return []way{{from: "subtree_users s", where: []string{"false"}}}
	}
	held := append(st.terms(terms), alivelyKnown)
	all := st.walkUsers(terms, held)
	if text, begins := value(terms, "begins"); begins && (st.counting || st.ordersBy(nameOfUser)) {
		return []way{all.within(st.beginning(nameOfUser, text)...)}
	}
	own := way{from: "subtree_users s", where: []string{ownUser}, held: held}
	in := wordsOfUsers
	in.held, in.few, in.walk, in.whole = held, []way{own}, &all, scope.Whole()
	if halved && used == "false" {
		in.also = []string{markedUnused}
	}
	if !st.counting && all.keys == nil {
		in.spread = &all
	}
	if all.keys != nil {
		in.byUse = func(ids string) []way {
			walks := st.walksByUse(scope, all)
			if inLimb(scope) { // of those that the index finds in the limb most may be others'
				return append([]way{in.upTo(2*fewFound, ids)}, walks...)
			}
			list := []way{in.upTo(fewFound/2, "SELECT id FROM met"), st.walkMet(terms, ids)}
			if !scope.Whole() { // so many fit that a page is soon met, where each limb would be walked for a page of its own
				list = append(list, st.soon(all, found, in.from))
			}
			return append(list, walks...)
		}
	}
	var list []way
	for _, t := range terms {
		switch t.Member {
		case "ids":
			return []way{named("unnest("+st.value(t, "bigint[]")+") n(id)"+seenBy("n.id"), held...)}
		case "email":
			return []way{{from: own.from, where: []string{ownUser, st.condition(t)}, held: held}}
		case "hasPassword":
			list = append(list, way{ids: "SELECT s.user_id AS id FROM subtree_users s WHERE " + ownUser + " AND " + st.condition(t), from: seenBy("n.id"), held: held})
		case "customerId":
			in := "m.customer_id = " + st.value(t, "bigint")
			list = append(list, way{from: "memberships m" + seenBy("m.user_id"), size: "memberships m WHERE " + in, where: []string{in}, held: held})
		case "lastAccessSince":
			list = append(list, st.usedSince(scope, t, terms, held))
		}
	}
	if searched, given := in.ways(st, terms); given {
		if _, named := value(terms, "customerId"); named && st.counting {
			return list
		}
		return append(list, searched...)
	}
	if period := st.period(terms, "createdSince", "createdUntil"); len(period) > 0 {
		if st.ordersBy("s.created_at") {
			return append(list, all.within(period...))
		}
		list = append(list, way{from: own.from, where: append(period, ownUser), held: held})
		if made := st.madeIn(scope, terms, held, idedUsers); len(made) > 0 {
			list = append(append(list, st.soon(all, aWalk, idedUsers.from)), made...)
		}
	}
	if st.ordersBy(lastUse) {
		return st.byUse(scope, list, own, all)
	}
	if halved && used == "false" {
		list = append(list, st.unused(all, held)...)
	}
	return append(list, all)
}

// fewToOrder is how many users a walk passes by in the hope of those who have used nothing, and how many of these are ordered where it has not met enough.
const fewToOrder = 40_000

// unused are the ways to those of a company who are marked to have used nothing, before a walk in an order that no index of these has.
func (s *statement) unused(all way, held []string) []way {
	if len(all.where) > 0 { // there is one
		return nil
	}
	marked := func(most int) way {
		rows := " FROM subtree_users s WHERE " + ownUser + " AND s.unused ORDER BY s.user_id LIMIT (SELECT " + strconv.Itoa(most+1) + ")"
		return way{from: "(SELECT *" + rows + ") s", size: "(SELECT" + rows + ") x", held: held, most: most}
	}
	return []way{marked(handful), s.soon(all, fewToOrder, seenBy("n.id")), marked(fewToOrder)}
}

// usedSince is the way of the users who have used a permission since a moment. Where they are counted each is met by the first of those within the scope, as
// they are not listed first: in the limbs of the scope.
func (s *statement) usedSince(scope access.Scope, t Term, terms []Term, held []string) way {
	since := s.value(t, "timestamptz")
	used := func(p string) string { return latest(p) + " AND " + p + ".last_access >= " + since }
	if !s.counting {
		w := way{ids: "SELECT p.user_id AS id FROM permissions p WHERE " + used("p"), from: seenBy("n.id"), held: held}
		if s.ordersBy(lastUse) { // in which they are walked
			w.most = fewByUse
		}
		return w
	}
	first := "NOT EXISTS (SELECT FROM permissions l WHERE l.user_id = p.user_id AND l.account_id < p.account_id AND " + used("l") + " AND " + reaches("l") + " OFFSET 0)"
	rest := slices.DeleteFunc(slices.Clone(terms), func(o Term) bool { return o == t }) // as who is met there has
	w := way{from: "permissions p" + seenBy("p.user_id"), where: []string{used("p")}, held: append(s.terms(rest), alivelyKnown, reaches("p"), first)}
	if !scope.Whole() {
		w.each, w.where = limbsInScope, append(w.where, "p.limb_id = l.id")
	}
	return w
}

// ownUser are the users s that the company at the top of the scope knows.
const ownUser = "s.customer_id = " + topOfScope

// walkUsers walks the users of the company at the top of the scope in order. By their last use they are met with the permissions p, each with the one that was used
// last; of those who have used none, the few are walked who may not have.
func (s *statement) walkUsers(terms []Term, held []string) way {
	used, given := value(terms, hasUsed)
	switch w := (way{from: "subtree_users s", lead: "s.customer_id", is: topOfScope, held: held, ordered: true}); {
	case given && used == "false":
		if s.ordersBy("s.user_id") { // which an index of these has; in other orders they are passed by
			w.where = []string{"s.unused"}
		}
		return w
	case !s.ordersBy(lastUse):
		return w
	}
	terms = slices.DeleteFunc(slices.Clone(terms), func(t Term) bool { return t.Member == hasUsed }) // as who is met there has
	w := way{
		from:  `permissions p LEFT JOIN LATERAL (SELECT * FROM subtree_users WHERE customer_id = ` + topOfScope + ` AND user_id = p.user_id OFFSET 0) s ON true`,
		where: []string{latest("p")}, held: append(s.terms(terms), "s.user_id IS NOT NULL AND "+alivelyKnown+" AND "+reaches("p")+" AND "+lastUsed), // one condition, which no index of p is chosen for
		keys: map[string]string{lastUse: "p.last_access", "s.user_id": "p.user_id"}, ordered: true,
	}
	if since, given := value(terms, "lastAccessSince"); given {
		w.where = append(w.where, "p.last_access >= "+s.arg(since, "timestamptz"))
	}
	return w
}

// latest are the permissions that may be the latest that their users have used anywhere: one of each company, of which an index is.
func latest(p string) string { return p + ".last_access IS NOT NULL AND NOT " + p + ".outdone" }

// lastUsed holds a permission p to be the one that its user has used last within the scope.
var lastUsed = `NOT EXISTS (SELECT FROM permissions l WHERE l.user_id = p.user_id AND (l.last_access, l.id) > (p.last_access, p.id) AND ` + reaches("l") + ` OFFSET 0)`

// fewByUse is how many users may be asked one by one for when they have used a permission, and fewInLimb how many of a part of a limb, where a walk passes over all
// others of it.
const fewByUse, fewInLimb = 200, 600

// byUse are the ways to users by their last use: few are ordered, and many are walked in the limbs of the scope.
func (s *statement) byUse(scope access.Scope, few []way, own, all way) []way {
	own.most = fewByUse
	if inLimb(scope) {
		own.most = fewInLimb
	}
	if few = append(few, own); !scope.Whole() && !inLimb(scope) {
		few = append(few, s.soon(all, aGlance/3, seenBy("n.id")))
	}
	return append(few, s.walksByUse(scope, all)...)
}

// walksByUse walk the users of a scope by their last use: in the limbs there, or among all.
func (s *statement) walksByUse(scope access.Scope, all way) []way {
	if scope.Whole() || all.keys == nil {
		return []way{all}
	}
	limbs := all
	limbs.each, limbs.first, limbs.lead, limbs.is, limbs.size, limbs.most = limbsInScope, "l", "p.limb_id", "l.id", limbsInScope, mostOwners
	return []way{limbs, all}
}

// walkMet walks users by their last use for those whose ids are selected, as long as these are not more than found. The index alone tells whom it meets; only the
// others are looked at.
func (s *statement) walkMet(terms []Term, ids string) way {
	terms = slices.DeleteFunc(slices.Clone(terms), func(t Term) bool { return t.Member == hasUsed }) // as who is met there has
	dir := direction(s.keys[0].down)
	return way{
		met: ids, most: found, ordered: true, keys: map[string]string{lastUse: "p.last_access", "s.user_id": "p.user_id"},
		from: "(SELECT DISTINCT p.last_access, p.user_id FROM permissions p WHERE " + latest("p") + " AND " + isMet("p.user_id") + " ORDER BY p.last_access" + dir + ", p.user_id" + dir + ") p" +
			" LEFT JOIN LATERAL (SELECT * FROM subtree_users WHERE customer_id = " + topOfScope + " AND user_id = p.user_id OFFSET 0) s ON true",
		held: append(s.terms(terms), "s.user_id IS NOT NULL AND "+alivelyKnown+" AND p.last_access = "+lastUse),
	}
}

// FindUsers is a page of the users within the scope.
func (s *Store) FindUsers(ctx context.Context, scope access.Scope, a Ask) ([]*User, error) {
	return findWithin[User](ctx, s, scope, Users, a, usersWithin(scope))
}

// CountUsers counts the users within the scope that are asked for.
func (s *Store) CountUsers(ctx context.Context, scope access.Scope, a Ask) (int, error) {
	return countWithin(ctx, s, scope, Users, a, usersWithin(scope))
}
