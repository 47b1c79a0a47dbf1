package db

import (
	"testing"

	"canopy/internal/access"
	"canopy/internal/paging"
)

// sharedWords are 9,000 persons of company 3 with the same names, one of whom belongs to company 2 with 3,000 others.
var sharedWords = []string{
	`SET session_replication_role = replica`,
	`INSERT INTO users (id, email, first_name, last_name) SELECT 100000 + i, 'person' || i || '@x.example', CASE WHEN i > 3000 THEN 'First' ELSE 'Only' END, CASE WHEN i > 3000 THEN 'Last' ELSE 'Guest' END
		FROM generate_series(1, 12000) i`,
	`INSERT INTO memberships (customer_id, user_id, email, first_name, last_name, lineage)
		SELECT c.id, u.id, u.email, u.first_name, u.last_name, c.lineage FROM users u JOIN customers c ON c.id = CASE WHEN u.id > 103000 THEN 3 ELSE 2 END OR u.id = 103001 AND c.id = 2 WHERE u.id > 100000`,
	`INSERT INTO subtree_users (customer_id, user_id, email, name, created_at, accepted, has_password)
		SELECT DISTINCT a.id, m.user_id, m.email, m.first_name || ' ' || m.last_name, m.created_at, false, false FROM memberships m CROSS JOIN unnest(m.lineage) a(id) WHERE m.user_id > 100000`,
	`INSERT INTO member_names SELECT customer_id, user_id, limb_of(lineage), first_name || ' ' || last_name || ' ' || email, lower(first_name || ' ' || last_name), email, created_at FROM memberships WHERE user_id > 100000`,
	`RESET session_replication_role`,
	`VACUUM ANALYZE`,
}

// TestSharedWordsOfOthersCostNothing: people are found by a word that very many others share, and few where they are looked for, by
// reading few of either, whether the word is as it stands or within one edit.
func TestSharedWordsOfOthersCostNothing(t *testing.T) {
	t.Parallel()
	pool := planGrown(t, sharedWords)
	conn := planConn(t, pool, readLists{})
	defer func() { _ = conn.Close() }()
	scope := access.Lineage{1, 2}.Subtree()
	users := listExample{name: "users", list: Users, ways: usersWithin(scope), args: []any{scope.From(), scope.To()}, most: fromFew}
	for _, sought := range []Term{{searched, "first las"}, {nearBy, "0 frist"}, {nearBy, "0 frist last"}} {
		where := Where{Terms: []Term{sought}}
		for _, order := range []string{"ID", "-NAME", "EMAIL", "-CREATED_AT"} {
			users.run(t, conn, 10, NewAsk(where, order, paging.NewPage(20, paging.Cursor{})), false)
		}
		users.most = fromFew / 16 // as it counts, a list may read more
		users.run(t, conn, 10, NewAsk(where, "", paging.Page{}).counted(), true)
		users.most = fromFew
	}
}
