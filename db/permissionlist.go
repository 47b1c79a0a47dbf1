package db

import (
	"context"
	"slices"
	"strings"

	"canopy/internal/access"
)

// Permissions lists permissions p, on accounts a of companies c.
var Permissions = &List{
	id: "p.id",
	members: map[string]string{
		"ids":           `p.id = ANY (?::bigint[])`,
		"userId":        `p.user_id = ?::bigint`,
		"accountId":     `p.account_id = ?::bigint`,
		"roleId":        `p.role_id = ?::bigint`,
		"disabled":      `p.disabled = ?::boolean`,
		"customerId":    `a.customer_id = ?::bigint`,
		"applicationId": `p.application_id = ?::bigint`,
	},
	orders: map[string]key{
		"ID":          {by: "p.id", kind: integers},
		"CREATED_AT":  {by: "p.created_at", kind: moments},
		"LAST_ACCESS": {by: lastAccess, kind: moments},
	},
	otherwise: "ID",
	columns:   permissionColumns,
	tables:    joinByID("permissions", "p", "f.id") + permissionJoins,
	carried:   strings.TrimPrefix(columns[Permission]("p"), "p.id, ") + ", p.created_by, a.customer_id, a.app_instance_id",
	handed: ` CROSS JOIN LATERAL (SELECT ` + columns[Permission]("f") + `, f.created_by) p CROSS JOIN LATERAL (SELECT f.customer_id, f.app_instance_id) a ` +
		instanceOf + joinByID("roles", "r", "p.role_id") + leftByID("users", "cr", "p.created_by"),
}

// lastAccess is when a permission was used last, long ago where never.
const lastAccess = "COALESCE(p.last_access, 'epoch')"

// placeOfPermission joins the account and the company of permission p.
var placeOfPermission = joinByID("accounts", "a", "p.account_id") + joinByID("customers", "c", "a.customer_id")

// reaches tells whether a permission is on an account of a scope, whose bounds are $1 and $2: of the whole tree, or of a limb that begins there, which is nearly all of them, or
// else by the account.
func reaches(p string) string {
	return "((SELECT whole_scope($1::bigint[], $2::bigint[])) OR " + p + ".limb_id IN (SELECT l.id FROM limbs l WHERE l.lineage >= $1::bigint[] AND l.lineage < $2::bigint[])" +
		" OR account_in(" + p + ".account_id, $1::bigint[], $2::bigint[]))"
}

var (
	// permissionsOfUser are those of a user within a scope.
	permissionsOfUser = hung{list: Permissions, scoped: true, carries: true, few: true, ways: func(st *statement, terms []Term) []way {
		return []way{{from: "permissions p" + placeOfPermission, where: []string{"p.user_id = k.id"}, held: append(st.terms(terms), withinScope)}}
	}}
	permissionsOfAccount = hung{list: Permissions, carries: true, ways: func(st *statement, terms []Term) []way {
		return []way{st.ofAccount(way{from: "permissions p" + placeOfPermission, held: st.terms(terms)}, "k.id")}
	}}
)

// permissionsWithin are the ways to the permissions of a scope, whose bounds are $1 and $2: those of a few companies, or of a few limbs,
// or all in order, of which those of others are passed over. Those of one application have an order by their last use of their own, as some have users by the thousand and others
// none; and so have those of a role, which is of one.
func permissionsWithin(scope access.Scope) ways {
	return func(st *statement, terms []Term) []way {
		const place = "permissions p"
		held := append(st.terms(terms), withinScope, aliveInScope("a.customer_id"))
		var list []way
		var led []string
		var application, role string
		for _, t := range terms {
			switch t.Member {
			case "ids":
				return []way{named("unnest("+st.value(t, "bigint[]")+") n(id)"+joinByID("permissions", "p", "n.id")+placeOfPermission, held...)}
			case "userId":
				return []way{{from: place + placeOfPermission, where: []string{st.condition(t)}, held: held}}
			case "accountId":
				return []way{st.ofAccount(way{from: place + placeOfPermission, held: held}, st.value(t, "bigint"))}
			case "roleId":
				its := st.condition(t)
				if list = append(list, fewPermissions(scope, its, held)); st.ordersBy("p.id") { // which an index has behind the role and the limb
					led = []string{its}
				}
				role = "(SELECT application_id FROM roles WHERE id = " + st.value(t, "bigint") + ")"
				application = role
			case "applicationId":
				list, application = append(list, fewPermissions(scope, st.condition(t), held)), st.value(t, "bigint")
			case "disabled":
				if t.Value == "true" {
					list = append(list, fewPermissions(scope, "p.disabled", held))
				}
			case "customerId":
				list = append(list, way{from: "accounts a" + permissionsOn("a.id") + joinByID("customers", "c", "a.customer_id"), where: []string{st.condition(t)}, held: held})
			}
		}
		if of, given := value(terms, "applicationId"); given && role != "" && !st.counting { // a role of another one has none there
			list = slices.Insert(list, 0, way{from: place, where: []string{"false"}, size: "generate_series(0, 1) WHERE " + role + " = " + st.arg(of, "bigint"), most: 1})
		}
		all := way{from: place + placeOfPermission, held: held, ordered: true}
		limbs := way{each: limbsInScope, first: "l", from: all.from, where: led, lead: "p.limb_id", is: "l.id", held: held, ordered: true, size: limbsInScope, most: mostOwners}
		if application != "" && st.ordersBy(lastAccess) {
			all.lead, all.is = "p.application_id", application
			limbs.lead, limbs.is = limbs.lead+", p.application_id", limbs.is+", "+application
		}
		if scope.Whole() && len(led) > 0 && !st.counting { // which no other index has
			return append(list, limbs, all)
		}
		if scope.Whole() {
			return append(list, all)
		}
		if !inLimb(scope) && !st.counting {
			return append(list, st.soon(all, aGlance, joinByID("permissions", "p", "n.id")+placeOfPermission), limbs, all)
		}
		own := st.ofAccount(way{each: "(SELECT * FROM customers c WHERE " + inScope + " ORDER BY c.lineage OFFSET 0) c" + accountsOf("c.id"), from: place, held: append(st.terms(terms), aliveInScope("a.customer_id"))}, "a.id")
		if own.ordered {
			own.first, own.size, own.most = "a", "customers c WHERE "+inScope, mostOwners
		}
		if list = append(list, own); st.counting {
			return append(list, all)
		}
		return append(list, limbs, all)
	}
}

// ofAccount makes a way of the permissions on an account, which indexes have in the order of their ids and of their time.
func (s *statement) ofAccount(w way, account string) way {
	key := "p.id"
	if s.ordersBy("p.created_at") {
		key = "p.created_at"
	}
	return s.led(w, "p.account_id", account, key)
}

// fewPermissions are those that a condition finds in the limbs of a scope, where they are few.
func fewPermissions(scope access.Scope, condition string, held []string) way {
	if scope.Whole() {
		return way{from: "permissions p" + placeOfPermission, size: "permissions p WHERE " + condition, where: []string{condition}, held: held}
	}
	return way{
		ids:  "SELECT p.id FROM " + limbsInScope + " CROSS JOIN LATERAL (SELECT p.id FROM permissions p WHERE p.limb_id = l.id AND " + condition + " OFFSET 0) p",
		from: joinByID("permissions", "p", "n.id") + placeOfPermission, held: held,
	}
}

// accountsOf joins the accounts a of a company.
func accountsOf(customer string) string {
	return " CROSS JOIN LATERAL (SELECT * FROM accounts WHERE customer_id = " + customer + " OFFSET 0) a "
}

// permissionsOn joins the permissions p on an account.
func permissionsOn(account string) string {
	return " CROSS JOIN LATERAL (SELECT * FROM permissions WHERE account_id = " + account + " OFFSET 0) p "
}

// FindPermissions is a page of the permissions on accounts within the scope.
func (s *Store) FindPermissions(ctx context.Context, scope access.Scope, a Ask) ([]*Permission, error) {
	return findWithin[Permission](ctx, s, scope, Permissions, a, permissionsWithin(scope))
}

// CountPermissions counts the permissions on accounts within the scope that are asked for.
func (s *Store) CountPermissions(ctx context.Context, scope access.Scope, a Ask) (int, error) {
	return countWithin(ctx, s, scope, Permissions, a, permissionsWithin(scope))
}
