package db

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
	"canopy/internal/paging"
)

// madeLately are eight limbs of 1,500 companies each below company 2, of which the last two were made lately, and so was a limb of 300 that moved into the first one.
var madeLately = []string{
	`SET session_replication_role = replica`,
	`INSERT INTO customers (id, parent_id, lineage, name, region_id, created_at) SELECT 100000, 2, '{1,2,100000}', 'Top', 1, '2020-01-01'`,
	`INSERT INTO customers (id, parent_id, lineage, name, region_id, created_at)
		SELECT 200000 + i, 100000, ARRAY[1, 2, 100000, 200000 + i]::bigint[], 'Limb ' || i, 1, CASE WHEN i > 6 THEN now() ELSE '2020-01-01' END FROM generate_series(1, 8) i`,
	`INSERT INTO limbs SELECT id, lineage FROM customers WHERE id >= 100000`,
	`INSERT INTO customers (id, parent_id, lineage, name, region_id, created_at)
		SELECT 300000 + l * 2000 + i, 200000 + l, ARRAY[1, 2, 100000, 200000 + l, 300000 + l * 2000 + i]::bigint[], 'Leaf ' || i % 97, 1, CASE WHEN l > 6 AND i % 5 > 0 THEN now() ELSE '2020-01-01' END
		FROM generate_series(1, 8) l, generate_series(1, 1500) i`,
	`INSERT INTO limbs SELECT id, lineage FROM customers WHERE id = 302700`,
	`INSERT INTO customers (id, parent_id, lineage, name, region_id, created_at)
		SELECT 400000 + i, 302700, ARRAY[1, 2, 100000, 200001, 302700, 400000 + i]::bigint[], 'Moved ' || i, 1, now() FROM generate_series(1, 300) i`,
	`UPDATE customers SET suspended = true WHERE id > 300000 AND id % 50 = 3`,
	`INSERT INTO customer_words (customer_id, words, named, created_at, limb_id) SELECT id, words_of(name), lower(name), created_at, limb_of(lineage) FROM customers WHERE id >= 100000`,
	`RESET session_replication_role`,
	`VACUUM ANALYZE`,
}

// TestCompaniesMadeLately: companies of a time are found whole and in order, each once, wherever in the order they stand.
func TestCompaniesMadeLately(t *testing.T) {
	t.Parallel()
	s, pool := storeGrown(t, madeLately)
	for _, scope := range []access.Scope{access.Lineage{1}.Subtree(), access.Lineage{1, 2}.Subtree(), access.Lineage{1, 2, 100000}.Subtree()} {
		read := idsOf(func(ctx context.Context, a Ask) ([]*Customer, error) { return s.FindCustomers(ctx, scope, a) }, func(c *Customer) int64 { return c.ID })
		for member, op := range map[string]string{"createdSince": ">=", "createdUntil": "<"} {
			for order, by := range map[string]string{
				"PATH": "lineage", "-PATH": "lineage DESC", "ID": "id", "-ID": "id DESC", "STATUS": "status, id", "-STATUS": "status DESC, id DESC",
			} {
				for _, more := range [][]Term{nil, {{"status", CustomerSuspended}}, {{"regionId", "1"}}} {
					terms := append([]Term{{member, "2020-02-01T00:00:00Z"}}, more...)
					where := fmt.Sprintf("lineage >= $1 AND lineage < $2 AND created_at %s '2020-02-01'", op)
					if len(more) > 0 && more[0].Member == "status" {
						where += " AND status = 'SUSPENDED'"
					} else if len(more) > 0 {
						where += " AND region_id = 1"
					}
					var want []int64
					devtest.Check(t, pool.SelectContext(t.Context(), &want, "SELECT id FROM customers WHERE "+where+" ORDER BY "+by, scope.From(), scope.To()))
					if got := pagesOfFound(t, read, Where{Terms: terms}, order, len(want)+1); !slices.Equal(got, want) {
						t.Errorf("within %v, %v by %s: %d rows, want %d", scope.From(), terms, order, len(got), len(want))
					}
				}
			}
		}
	}
}

// madeLastly are twelve limbs of 1,500 companies each below company 2, of which the last nine were made lately.
var madeLastly = []string{
	`SET session_replication_role = replica`,
	`INSERT INTO customers (id, parent_id, lineage, name, region_id, created_at) SELECT 100000, 2, '{1,2,100000}', 'Top', 1, '2020-01-01'`,
	`INSERT INTO customers (id, parent_id, lineage, name, region_id, created_at)
		SELECT 200000 + i, 100000, ARRAY[1, 2, 100000, 200000 + i]::bigint[], 'Limb ' || i, 1, CASE WHEN i > 3 THEN now() ELSE '2020-01-01' END FROM generate_series(1, 12) i`,
	`INSERT INTO limbs SELECT id, lineage FROM customers WHERE id >= 100000`,
	`INSERT INTO customers (id, parent_id, lineage, name, region_id, created_at)
		SELECT 300000 + l * 2000 + i, 200000 + l, ARRAY[1, 2, 100000, 200000 + l, 300000 + l * 2000 + i]::bigint[], 'Leaf ' || lpad((l * 2000 + i)::text, 5, '0'), 1, CASE WHEN l > 3 THEN now() ELSE '2020-01-01' END
		FROM generate_series(1, 12) l, generate_series(1, 1500) i`,
	`INSERT INTO customer_words (customer_id, words, named, created_at, limb_id) SELECT id, words_of(name), lower(name), created_at, limb_of(lineage) FROM customers WHERE id >= 100000`,
	`RESET session_replication_role`,
	`VACUUM ANALYZE`,
}

// TestCompaniesMadeLatelyReadLittle: wherever in an order the companies of a time stand, what lies between is not passed over for them.
func TestCompaniesMadeLatelyReadLittle(t *testing.T) {
	t.Parallel()
	pool := planGrown(t, madeLastly)
	conn := planConn(t, pool, readLists{})
	defer func() { _ = conn.Close() }()
	for _, scope := range []access.Scope{access.Lineage{1}.Subtree(), access.Lineage{1, 2}.Subtree()} {
		l := listExample{name: "companies", list: Customers, ways: customersWithin(scope), args: []any{scope.From(), scope.To()}, most: 700}
		for member, orders := range map[string][]string{"createdUntil": {"-PATH", "-ID"}, "createdSince": {"PATH", "ID"}} {
			for _, order := range orders {
				l.run(t, conn, 10, NewAsk(Where{Terms: []Term{{member, "2020-02-01T00:00:00Z"}}}, order, paging.NewPage(20, paging.Cursor{})), false)
			}
		}
	}
}

// TestCommonNamesReadLittle: a word that many have, but none of the first ones in the order, has the index asked for it once it has not been met soon; it is walked to where
// the order stands elsewhere than the words.
func TestCommonNamesReadLittle(t *testing.T) {
	t.Parallel()
	pool := planGrown(t, madeLastly)
	conn := planConn(t, pool, readLists{})
	defer func() { _ = conn.Close() }()
	for _, q := range []struct {
		scope       access.Scope
		text, order string
	}{
		{access.Lineage{1}.Subtree(), "leaf 2", "NAME"},
		{access.Lineage{1, 2}.Subtree(), "leaf 1", "-PATH"},
		{access.Lineage{1}.Subtree(), "leaf 2", "PATH"},
	} {
		l := listExample{name: "companies", list: Customers, ways: customersWithin(q.scope), args: []any{q.scope.From(), q.scope.To()}, most: 600}
		l.run(t, conn, 10, NewAsk(Where{Terms: []Term{{searched, q.text}}}, q.order, paging.NewPage(20, paging.Cursor{})), false)
	}
}

// farInLimbs are nine limbs below company 100000, of which four that stand in neither end share a word, one of them very often, and so do two that moved into these.
var farInLimbs = []string{
	`SET session_replication_role = replica`,
	`INSERT INTO customers (id, parent_id, lineage, name, region_id) SELECT 100000, 2, '{1,2,100000}', 'Top', 1`,
	`INSERT INTO customers (id, parent_id, lineage, name, region_id) SELECT 200000 + i, 100000, ARRAY[1, 2, 100000, 200000 + i]::bigint[], 'Limb far ' || i, 1 FROM generate_series(1, 9) i`,
	`INSERT INTO limbs SELECT id, lineage FROM customers WHERE id >= 100000`,
	`INSERT INTO customers (id, parent_id, lineage, name, region_id)
		SELECT 300000 + l * 20000 + i, 200000 + l, ARRAY[1, 2, 100000, 200000 + l, 300000 + l * 20000 + i]::bigint[], CASE WHEN l BETWEEN 5 AND 8 AND (l = 6 OR i % 3 > 0) THEN 'Leaf far ' ELSE 'Leaf ' END || i % 97, 1
		FROM generate_series(1, 9) l, generate_series(1, CASE l WHEN 6 THEN 12000 WHEN 9 THEN 5000 ELSE 1500 END) i`,
	`INSERT INTO limbs SELECT id, lineage FROM customers WHERE id IN (400030, 461480)`,
	`INSERT INTO customers (id, parent_id, lineage, name, region_id)
		SELECT 500000 + i, p.id, p.lineage || (500000 + i)::bigint, 'Moved far ' || i, 1 FROM generate_series(1, 900) i JOIN customers p ON p.id = CASE WHEN i > 300 THEN 461480 ELSE 400030 END`,
	`UPDATE customers SET suspended = true WHERE id > 300000 AND id % 50 = 3`,
	`INSERT INTO customer_words (customer_id, words, named, created_at, limb_id) SELECT id, words_of(name), lower(name), created_at, limb_of(lineage) FROM customers WHERE id >= 100000`,
	`RESET session_replication_role`,
	`VACUUM ANALYZE`,
}

// TestCommonNamesInTheOrderOfTheTree: companies that share a word are found whole and in the order of the tree, each once, wherever they stand in it.
func TestCommonNamesInTheOrderOfTheTree(t *testing.T) {
	t.Parallel()
	s, pool := storeGrown(t, farInLimbs)
	for _, scope := range []access.Scope{access.Lineage{1}.Subtree(), access.Lineage{1, 2}.Subtree(), access.Lineage{1, 2, 100000}.Subtree(), access.Lineage{1, 2, 100000, 200005, 400030}.Subtree()} {
		read := idsOf(func(ctx context.Context, a Ask) ([]*Customer, error) { return s.FindCustomers(ctx, scope, a) }, func(c *Customer) int64 { return c.ID })
		for order, by := range map[string]string{"PATH": "lineage", "-PATH": "lineage DESC"} {
			for more, where := range map[Term]string{{}: "", {"status", CustomerSuspended}: " AND status = 'SUSPENDED'", {"createdSince", "2020-01-01T00:00:00Z"}: ""} {
				terms := []Term{{searched, "far"}}
				if more.Member != "" {
					terms = append(terms, more)
				}
				var want []int64
				devtest.Check(t, pool.SelectContext(t.Context(), &want, "SELECT id FROM customers WHERE lineage >= $1 AND lineage < $2 AND name ~ 'far'"+where+" ORDER BY "+by+" LIMIT 2600", scope.From(), scope.To()))
				if got := pagesOfFound(t, read, Where{Terms: terms}, order, len(want)); !slices.Equal(got, want) || len(want) == 0 {
					t.Errorf("within %v, %v by %s: %d rows, want %d", scope.From(), terms, order, len(got), len(want))
				}
			}
		}
	}
}

// knownLately are 12,000 users of company 2, the last 4,000 of whom it knows since lately, as does company 3 every third of all.
var knownLately = []string{
	`SET session_replication_role = replica`,
	`INSERT INTO users (id, email, first_name, last_name) SELECT 100000 + i, 'person' || i || '@x.example', 'Person', 'Number ' || i FROM generate_series(1, 12000) i`,
	`INSERT INTO memberships (customer_id, user_id, email, first_name, last_name, lineage, created_at)
		SELECT c.id, u.id, u.email, u.first_name, u.last_name, c.lineage, CASE WHEN u.id > 108000 OR c.id = 3 THEN now() ELSE '2020-01-01' END
		FROM users u JOIN customers c ON c.id = 2 OR c.id = 3 AND u.id % 3 = 0 WHERE u.id > 100000`,
	`INSERT INTO member_names SELECT customer_id, user_id, limb_of(lineage), first_name || ' ' || last_name || ' ' || email, lower(first_name || ' ' || last_name), email, created_at
		FROM memberships WHERE user_id > 100000`,
	`RESET session_replication_role`,
	`SELECT know_users(array_agg(a.id), array_agg(m.user_id)) FROM memberships m CROSS JOIN unnest(m.lineage) a(id) WHERE m.user_id > 100000`,
	`VACUUM ANALYZE`,
}

// TestUsersMadeLately: users of a time are found whole and in the order of their ids, each once, wherever in it they stand.
func TestUsersMadeLately(t *testing.T) {
	t.Parallel()
	s, pool := storeGrown(t, knownLately)
	for _, top := range []access.Lineage{{1}, {1, 2}, {1, 3}} {
		read := idsOf(func(ctx context.Context, a Ask) ([]*User, error) { return s.FindUsers(ctx, top.Subtree(), a) }, func(u *User) int64 { return u.ID })
		for member, op := range map[string]string{"createdSince": ">=", "createdUntil": "<"} {
			for order, by := range map[string]string{"ID": "user_id", "-ID": "user_id DESC"} {
				var want []int64
				devtest.Check(t, pool.SelectContext(t.Context(), &want, fmt.Sprintf("SELECT user_id FROM subtree_users WHERE customer_id = $1 AND created_at %s '2020-02-01' ORDER BY %s", op, by), top[len(top)-1]))
				if got := pagesOfFound(t, read, Where{Terms: []Term{{member, "2020-02-01T00:00:00Z"}}}, order, len(want)+1); !slices.Equal(got, want) {
					t.Errorf("within %v, %s by %s: %d rows, want %d", top, member, order, len(got), len(want))
				}
			}
		}
	}
}

// TestUsersMadeLatelyReadLittle: users of a time that stand at the end of the order are not walked to.
func TestUsersMadeLatelyReadLittle(t *testing.T) {
	t.Parallel()
	pool := planGrown(t, knownLately)
	conn := planConn(t, pool, readLists{})
	defer func() { _ = conn.Close() }()
	for _, scope := range []access.Scope{access.Lineage{1}.Subtree(), access.Lineage{1, 2}.Subtree()} {
		l := listExample{name: "users", list: Users, ways: usersWithin(scope), args: []any{scope.From(), scope.To()}, most: 500}
		for member, order := range map[string]string{"createdUntil": "-ID", "createdSince": "ID"} {
			l.run(t, conn, 10, NewAsk(Where{Terms: []Term{{member, "2020-02-01T00:00:00Z"}}}, order, paging.NewPage(20, paging.Cursor{})), false)
		}
	}
}
