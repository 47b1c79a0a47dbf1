package db

import "context"

const nameOfKey = `lower(y.name) COLLATE "C"`

// APIKeys lists API keys y of a company.
var APIKeys = &List{
	id: "y.id",
	members: map[string]string{
		"ids":          `y.id = ANY (?::bigint[])`,
		"userId":       `y.user_id = ?::bigint`,
		"active":       `(y.revoked_at IS NULL AND COALESCE(y.expires_at > now(), true)) = ?::boolean`,
		"expiresUntil": `y.expires_at < ?::timestamptz`,
		"createdSince": `y.created_at >= ?::timestamptz`,
		"createdUntil": `y.created_at < ?::timestamptz`,
		searched:       matching("y.name"),
		nearBy:         near("y.name"),
	},
	orders: map[string]key{
		"ID":           {by: "y.id", kind: integers},
		"NAME":         {by: nameOfKey, kind: texts},
		"CREATED_AT":   {by: "y.created_at", kind: moments},
		"EXPIRES_AT":   {by: "COALESCE(y.expires_at, '9999-12-31T23:59:59Z')", kind: moments},
		"LAST_USED_AT": {by: "COALESCE(y.last_used_at, " + never + ")", kind: moments},
	},
	otherwise: "ID",
	columns:   columns[APIKey]("y"),
	tables:    joinByID("api_keys", "y", "f.id"),
}

// keysOfCustomer are a company's keys, of which it may have very many: indexes have them by id, name and time. Those of one user are found by that, where they are few.
var keysOfCustomer = hung{list: APIKeys, ways: func(st *statement, terms []Term) []way {
	all := st.led(way{from: "api_keys y", held: st.terms(terms)}, "y.customer_id", "k.id", "y.id", nameOfKey, "y.created_at")
	if id, given := value(terms, "userId"); given && !st.counting {
		of := way{from: "api_keys y", where: []string{"y.user_id = " + st.arg(id, "bigint")}, held: append(st.terms(terms), "y.customer_id = k.id")}
		return []way{of, all}
	}
	return []way{all}
}}

// FindAPIKeys is a page of the keys of a company.
func (s *Store) FindAPIKeys(ctx context.Context, customerID int64, a Ask) ([]*APIKey, error) {
	return pageAt[APIKey](ctx, s, keysOfCustomer, customerID, a)
}
