package db

import (
	"context"

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
		"applicationId": `EXISTS (SELECT FROM app_instances i WHERE i.id = a.app_instance_id AND i.application_id = ?::bigint OFFSET 0)`,
	},
	orders: map[string]key{
		"ID":          {by: "p.id", kind: integers},
		"CREATED_AT":  {by: "p.created_at", kind: moments},
		"LAST_ACCESS": {by: "COALESCE(p.last_access, 'epoch')", kind: moments},
	},
	otherwise: "ID",
	columns:   permissionColumns,
	tables:    joinByID("permissions", "p", "f.id") + permissionJoins,
}

// placeOfPermission joins the account and the company of permission p.
var placeOfPermission = joinByID("accounts", "a", "p.account_id") + joinByID("customers", "c", "a.customer_id")

var (
	// permissionsOfUser are those of a user within a scope.
	permissionsOfUser = hung{list: Permissions, scoped: true, ways: func(st *statement, terms []Term) []way {
		return []way{{from: "permissions p" + placeOfPermission, where: []string{"p.user_id = k.id"}, held: append(st.terms(terms), withinScope)}}
	}}
	permissionsOfAccount = hung{list: Permissions, ways: func(st *statement, terms []Term) []way {
		return []way{st.led(way{from: "permissions p" + placeOfPermission, held: st.terms(terms)}, "p.account_id", "k.id", "p.id")}
	}}
)

// permissionsWithin are the ways to the permissions of a scope, whose bounds are $1 and $2.
func permissionsWithin(scope access.Scope) ways {
	return func(st *statement, terms []Term) []way {
		held := append(st.terms(terms), withinScope)
		var list []way
		for _, t := range terms {
			switch t.Member {
			case "ids":
				return []way{named("unnest("+st.value(t, "bigint[]")+") n(id)"+joinByID("permissions", "p", "n.id")+placeOfPermission, held...)}
			case "userId", "accountId":
				return []way{{from: "permissions p" + placeOfPermission, where: []string{st.condition(t)}, held: held}}
			case "roleId":
				role := st.condition(t)
				list = append(list, way{from: "permissions p" + placeOfPermission, size: "permissions p WHERE " + role, where: []string{role}, held: held})
			case "disabled":
				if t.Value == "true" {
					list = append(list, way{from: "permissions p" + placeOfPermission, size: "permissions p WHERE p.disabled", where: []string{"p.disabled"}, held: held})
				}
			case "customerId":
				list = append(list, way{from: "accounts a" + permissionsOn("a.id") + joinByID("customers", "c", "a.customer_id"), where: []string{st.condition(t)}, held: held})
			}
		}
		if len(list) == 0 && !scope.Whole() {
			own := st.led(way{each: "(SELECT * FROM customers c WHERE " + inScope + " OFFSET 0) c" + accountsOf("c.id"), from: "permissions p", held: st.terms(terms)}, "p.account_id", "a.id", "p.id")
			if own.ordered {
				own.size, own.most = "customers c WHERE "+inScope, mostOwners
			}
			list = append(list, own)
		}
		return append(list, way{from: "permissions p" + placeOfPermission, held: held, ordered: true})
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
	return find[Permission](ctx, s, Permissions, a, permissionsWithin(scope), scope.From(), scope.To())
}

// CountPermissions counts the permissions on accounts within the scope that are asked for.
func (s *Store) CountPermissions(ctx context.Context, scope access.Scope, a Ask) (int, error) {
	return countOf(ctx, s, Permissions, a.counted(), permissionsWithin(scope), scope.From(), scope.To())
}
