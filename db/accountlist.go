package db

import (
	"context"

	"canopy/internal/access"
)

// Accounts lists accounts a of a company, in instances i.
var Accounts = &List{
	id: "a.id",
	members: map[string]string{
		"ids":           `a.id = ANY (?::bigint[])`,
		"applicationId": `i.application_id = ?::bigint`,
		"regionId":      `i.region_id = ?::bigint`,
		"disabled":      `a.disabled = ?::boolean`,
		searched:        matching("a.name"),
		nearBy:          near("a.name"),
	},
	orders: map[string]key{
		"ID":         {by: "a.id", kind: integers},
		"NAME":       {by: `lower(a.name) COLLATE "C"`, kind: texts},
		"CREATED_AT": {by: "a.created_at", kind: moments},
	},
	otherwise: "ID",
	columns:   accountColumns,
	tables:    joinByID("accounts", "a", "f.id") + instanceOf,
}

// accountsOfCustomer are a company's accounts: it is opened one in each instance, so they are few, and no index has them in other orders.
var accountsOfCustomer = hung{list: Accounts, ways: func(st *statement, terms []Term) []way {
	return []way{st.led(way{from: "accounts a" + instanceOf, held: st.terms(terms)}, "a.customer_id", "k.id", "a.id")}
}}

// FindAccounts is a page of the accounts of a company, each with its permissions, whose users are as they are known within the scope.
func (s *Store) FindAccounts(ctx context.Context, scope access.Scope, customerID int64, a Ask) ([]*AccountLine, error) {
	rows, err := pageAt[Account](ctx, s, accountsOfCustomer, customerID, a)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return s.withPermissions(ctx, scope, rows)
}
