package db

import (
	"context"
	"slices"

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
		"createdSince":    `s.created_at >= ?::timestamptz`,
		"createdUntil":    `s.created_at < ?::timestamptz`,
		"begins":          `starts_with(lower(s.name), lower(?::text))`,
		searched:          matching("s.name || ' ' || s.email"),
		nearBy:            matching("s.name || ' ' || s.email"),
	},
	orders: map[string]key{
		"ID":         {by: "s.user_id", kind: integers},
		"NAME":       {by: nameOfUser, kind: texts},
		"EMAIL":      {by: addressOfUser, kind: texts},
		"CREATED_AT": {by: "s.created_at", kind: moments},
	},
	otherwise: "ID",
	columns:   userColumns,
	tables:    ` CROSS JOIN LATERAL (` + seen("f.id") + `) u`,
}

// usedSince holds a user to have used a permission within the scope since a moment.
var usedSince = `EXISTS (SELECT FROM permissions p` + joinByID("accounts", "a", "p.account_id") + joinByID("customers", "c", "a.customer_id") + `
	WHERE p.user_id = s.user_id AND p.last_access >= ?::timestamptz AND ` + withinScope + ` OFFSET 0)`

// topOfScope is the company at the top of the scope in $1 and $2.
const topOfScope = "($1::bigint[])[cardinality($1::bigint[])]"

// seenBy joins what the company at the top of the scope has of a user.
func seenBy(id string) string {
	return " CROSS JOIN LATERAL (SELECT * FROM subtree_users WHERE customer_id = " + topOfScope + " AND user_id = " + id + " OFFSET 0) s"
}

// members are those who belong to a company itself.
var members = hung{list: Users, scoped: true, ways: func(st *statement, terms []Term) []way {
	return []way{{from: "memberships m" + seenBy("m.user_id"), where: []string{"m.customer_id = k.id"}, held: st.terms(terms)}}
}}

// wordsOfUsers finds users by the words of what somebody calls them: what the company at the top of the scope does is held
// against it.
var wordsOfUsers = searching{
	table: "member_names m", id: "m.user_id", fits: "words_in(m.limb_id, m.said) @@ ?", from: seenBy("n.id"), limb: "m.limb_id", limbs: true,
	keys: map[string]string{"s.user_id": "m.user_id", nameOfUser: "m.named", addressOfUser: "m.emailed", "s.created_at": "m.created_at"},
}

// alivelyKnown holds a user to belong to a company of the scope that is not deleted, nor one above it there.
const alivelyKnown = "(" + noneDeleted + " OR known_alive_in(s.user_id, $1::bigint[], $2::bigint[]))"

// usersWithin are the ways to the users of a scope, whose bounds are $1 and $2.
func usersWithin(scope access.Scope) ways {
	return func(st *statement, terms []Term) []way { return usersOf(st, scope, terms) }
}

func usersOf(st *statement, scope access.Scope, terms []Term) []way {
	held := append(st.terms(terms), alivelyKnown)
	const own = "s.customer_id = " + topOfScope
	all := way{from: "subtree_users s", lead: "s.customer_id", is: topOfScope, held: held, ordered: true}
	if text, begins := value(terms, "begins"); begins && (st.counting || st.ordersBy(nameOfUser)) {
		return []way{all.within(st.beginning(nameOfUser, text)...)}
	}
	in := wordsOfUsers
	in.held, in.few, in.walk, in.whole = held, []way{{from: all.from, where: []string{own}, held: all.held}}, &all, scope.Whole()
	var list []way
	for _, t := range terms {
		switch t.Member {
		case "ids":
			return []way{named("unnest("+st.value(t, "bigint[]")+") n(id)"+seenBy("n.id"), held...)}
		case "email":
			return []way{{from: "subtree_users s", where: []string{own, st.condition(t)}, held: held}}
		case "hasPassword":
			list = append(list, way{ids: "SELECT s.user_id AS id FROM subtree_users s WHERE " + own + " AND " + st.condition(t), from: seenBy("n.id"), held: held})
		case "customerId":
			in := "m.customer_id = " + st.value(t, "bigint")
			list = append(list, way{from: "memberships m" + seenBy("m.user_id"), size: "memberships m WHERE " + in, where: []string{in}, held: held})
		case "lastAccessSince":
			since := ".last_access >= " + st.value(t, "timestamptz")
			once := "p.id = (SELECT max(l.id) FROM permissions l WHERE l.user_id = p.user_id AND l" + since + ")"
			list = append(list, way{from: "permissions p" + seenBy("p.user_id"), size: "permissions p WHERE p" + since, where: []string{"p" + since}, held: append(slices.Clone(held), once)})
		}
	}
	if list, given := in.ways(st, terms); given {
		return list
	}
	if period := st.period(terms, "createdSince", "createdUntil"); len(period) > 0 {
		if st.ordersBy("s.created_at") {
			return append(list, all.within(period...))
		}
		list = append(list, way{from: "subtree_users s", where: append(period, own), held: held})
	}
	return append(list, all)
}

// FindUsers is a page of the users within the scope.
func (s *Store) FindUsers(ctx context.Context, scope access.Scope, a Ask) ([]*User, error) {
	return find[User](ctx, s, Users, a, usersWithin(scope), scope.From(), scope.To())
}

// CountUsers counts the users within the scope that are asked for.
func (s *Store) CountUsers(ctx context.Context, scope access.Scope, a Ask) (int, error) {
	return countOf(ctx, s, Users, a.counted(), usersWithin(scope), scope.From(), scope.To())
}
