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

// farWords are 9,000 companies below company 2 and as many of its users, of whom the last 3,000 by name share a word.
var farWords = []string{
	`SET session_replication_role = replica`,
	`INSERT INTO customers (id, parent_id, lineage, name, region_id, created_at)
		SELECT 100000 + i, 2, ARRAY[1, 2, 100000 + i]::bigint[], CASE WHEN i <= 6000 THEN 'Alder ' ELSE 'Zinnia far ' END || i % 100, 1, now() - i % 7 * interval '1 hour' FROM generate_series(1, 9000) i`,
	`INSERT INTO limbs SELECT id, lineage FROM customers WHERE id > 100000`,
	`INSERT INTO customer_words (customer_id, words, named, created_at, limb_id) SELECT id, words_of(name), lower(name), created_at, id FROM customers WHERE id > 100000`,
	`INSERT INTO users (id, email, first_name, last_name)
		SELECT 100000 + i, 'person' || i || '@x.example', CASE WHEN i <= 6000 THEN 'Alder' ELSE 'Zinnia far' END, 'Number ' || i % 100 FROM generate_series(1, 9000) i`,
	`INSERT INTO memberships (customer_id, user_id, email, first_name, last_name, lineage, created_at)
		SELECT c.id, u.id, u.email, u.first_name, u.last_name, c.lineage, now() - u.id % 7 * interval '1 hour' FROM users u JOIN customers c ON c.id IN (2, 3) WHERE u.id > 100000`,
	`INSERT INTO subtree_users (customer_id, user_id, email, name, created_at, accepted, has_password)
		SELECT DISTINCT a.id, m.user_id, m.email, m.first_name || ' ' || m.last_name, m.created_at, false, false FROM memberships m CROSS JOIN unnest(m.lineage) a(id) WHERE m.user_id > 100000`,
	`INSERT INTO member_names SELECT customer_id, user_id, limb_of(lineage), first_name || ' ' || last_name || ' ' || email, lower(first_name || ' ' || last_name), email, created_at
		FROM memberships WHERE user_id > 100000`,
	`INSERT INTO permissions (account_id, user_id, role_id, limb_id, application_id, last_access)
		SELECT a.id, m.user_id, (SELECT min(id) FROM roles r WHERE r.application_id = a.application_id), a.limb_id, a.application_id, CASE WHEN (m.user_id + m.customer_id) % 20 > 0 THEN now() - ((m.user_id * m.customer_id * 7919) % 100003 / 60 + (m.user_id > 106000)::int * 2000) * interval '1 hour' END
		FROM memberships m CROSS JOIN LATERAL (SELECT a.*, i.application_id FROM accounts a JOIN app_instances i ON i.id = a.app_instance_id WHERE a.customer_id = m.customer_id LIMIT 1) a WHERE m.user_id > 100000`,
	`UPDATE subtree_users s SET unused = NOT EXISTS (SELECT FROM permissions p JOIN accounts a ON a.id = p.account_id JOIN customers c ON c.id = a.customer_id
		WHERE p.user_id = s.user_id AND p.last_access IS NOT NULL AND s.customer_id = ANY (c.lineage)) WHERE user_id > 100000`,
	`RESET session_replication_role`,
	`VACUUM ANALYZE`,
}

// usedLast are users in the order of their last use below a company.
func usedLast(company int64, direction string) string {
	return fmt.Sprintf(`SELECT u.id FROM users u LEFT JOIN LATERAL (SELECT max(p.last_access) AS at FROM permissions p JOIN accounts a ON a.id = p.account_id JOIN customers c ON c.id = a.customer_id
		WHERE p.user_id = u.id AND %[1]d = ANY (c.lineage)) l ON true WHERE u.id > 106000 ORDER BY COALESCE(l.at, 'epoch') %[2]s, u.id %[2]s`, company, direction)
}

// TestSharedWordsAtTheEnd: what very many names share, all of which stand at the end of the order, is found whole and in order, each once.
func TestSharedWordsAtTheEnd(t *testing.T) {
	t.Parallel()
	s, pool := storeGrown(t, farWords)
	companies := idsAndPlaces(s, (*Store).FindCustomers, func(c *Customer) int64 { return c.ID })
	users := idsAndPlaces(s, (*Store).FindUsers, func(u *User) int64 { return u.ID })
	for _, scope := range []access.Scope{access.Lineage{1}.Subtree(), access.Lineage{1, 2}.Subtree()} {
		for _, l := range []struct {
			order, want string
			read        func(context.Context, access.Scope, Ask) ([]int64, [][]string, error)
		}{
			{"NAME", `SELECT id FROM customers WHERE id > 106000 ORDER BY lower(name) COLLATE "C", id`, companies},
			{"ID", `SELECT id FROM customers WHERE id > 106000 ORDER BY id`, companies},
			{"PATH", `SELECT id FROM customers WHERE id > 106000 ORDER BY lineage`, companies},
			{"NAME", `SELECT id FROM users WHERE id > 106000 ORDER BY lower(first_name || ' ' || last_name) COLLATE "C", id`, users},
			{"ID", `SELECT id FROM users WHERE id > 106000 ORDER BY id`, users},
			{"LAST_ACCESS", usedLast(scope.From()[len(scope.From())-1], ""), users},
			{"-LAST_ACCESS", usedLast(scope.From()[len(scope.From())-1], "DESC"), users},
		} {
			t.Run(fmt.Sprint(l.order, scope.From(), l.want), func(t *testing.T) {
				var want, got []int64
				devtest.Check(t, pool.SelectContext(t.Context(), &want, l.want))
				for at := (paging.Cursor{}); ; {
					ids, places, err := l.read(t.Context(), scope, NewAsk(Where{Terms: []Term{{searched, "far zin"}}}, l.order, paging.NewPage(200, at)))
					devtest.Check(t, err)
					if got = append(got, ids[:min(200, len(ids))]...); len(ids) <= 200 {
						break
					}
					at = paging.Cursor{Order: l.order, Keys: places[199]}
				}
				if !slices.Equal(got, want) || len(want) != 3000 {
					t.Errorf("%d rows, want %d", len(got), len(want))
				}
			})
		}
	}
}

// TestMisspeltWordsOfAll: users are found by their last use by a word that lies within one edit of one that all have, without a look at when each of them has used something.
func TestMisspeltWordsOfAll(t *testing.T) {
	t.Parallel()
	pool := planGrown(t, farWords)
	conn := planConn(t, pool, readLists{})
	defer func() { _ = conn.Close() }()
	scope := access.Lineage{1}.Subtree()
	users := listExample{name: "users", list: Users, ways: usersWithin(scope), args: []any{scope.From(), scope.To()}, most: 1_000} // for each of a page
	for _, order := range []string{"LAST_ACCESS", "-LAST_ACCESS"} {
		users.run(t, conn, 10, NewAsk(Where{Terms: []Term{{nearBy, "0 exmaple"}}}, order, paging.NewPage(20, paging.Cursor{})), false)
	}
}

// TestCommonWordsAreWalkedTo: what very many names share is met by walking the list where it is not among the next ones, without a look at all that an index has of
// it.
func TestCommonWordsAreWalkedTo(t *testing.T) {
	t.Parallel()
	pool := planGrown(t, farWords)
	conn := planConn(t, pool, readLists{})
	defer func() { _ = conn.Close() }()
	for _, scope := range []access.Scope{access.Lineage{1}.Subtree(), access.Lineage{1, 2}.Subtree()} {
		args := []any{scope.From(), scope.To()}
		for _, l := range []struct {
			list listExample
			name string
		}{
			{listExample{name: "companies", list: Customers, ways: customersWithin(scope), args: args, most: 110}, "alder 91"},
			{listExample{name: "users", list: Users, ways: usersWithin(scope), args: args, most: 110}, "alder number 91"},
		} {
			before := paging.Cursor{Order: "NAME", Keys: []string{l.name, "0"}} // some 500 names further the first ones have it
			l.list.run(t, conn, 10, NewAsk(Where{Terms: []Term{{searched, "zinnia"}}}, "NAME", paging.NewPage(20, before)), false)
		}
	}
}

// TestGroupsOfAnOrder: what an order of several fields has alike in the first of these, be it little or very much, is found whole and in the order of the others, each once; from both ends, and
// with what filters find.
func TestGroupsOfAnOrder(t *testing.T) {
	t.Parallel()
	s, pool := storeGrown(t, farWords,
		`UPDATE permissions SET created_at = created_at - id % 5 * interval '1 day', last_access = CASE WHEN id % 3 > 0 THEN date_trunc('day', last_access) END WHERE user_id > 100000 AND user_id % 4 = 0`,
		`UPDATE customers SET created_at = date_trunc('hour', created_at) WHERE id % 10 > 0`, `UPDATE memberships SET created_at = date_trunc('hour', created_at)`, `UPDATE subtree_users SET created_at = date_trunc('hour', created_at)`,
		`UPDATE customers SET suspended = true WHERE id > 100000 AND id % 9 < 7`, `UPDATE permissions SET last_access = NULL WHERE user_id > 108000`, `UPDATE subtree_users SET unused = true WHERE user_id > 108000 OR user_id % 4 = 0`, `VACUUM ANALYZE`)
	const permissions = `(SELECT p.*, COALESCE(p.last_access, 'epoch') AS used, c.lineage AS place FROM permissions p JOIN accounts a ON a.id = p.account_id JOIN customers c ON c.id = a.customer_id)`
	const companies = `(SELECT *, lineage AS place, lower(name) COLLATE "C" AS named FROM customers)`
	const users = `(SELECT s.user_id AS id, s.created_at, lower(s.name) COLLATE "C" AS named, lower(s.email) COLLATE "C" AS emailed, t.lineage AS place, COALESCE((SELECT max(p.last_access) FROM permissions p
		JOIN accounts a ON a.id = p.account_id JOIN customers c ON c.id = a.customer_id WHERE p.user_id = s.user_id AND t.id = ANY (c.lineage)), 'epoch') AS used
		FROM subtree_users s JOIN customers t ON t.id = s.customer_id WHERE t.lineage = $1)`
	for _, scope := range []access.Scope{access.Lineage{1}.Subtree(), access.Lineage{1, 2}.Subtree()} {
		for _, l := range []struct {
			from   string
			read   func(context.Context, Ask) ([]int64, [][]string, error)
			orders map[string]string
			where  map[Term]string
		}{
			{
				permissions, idsOf(func(ctx context.Context, a Ask) ([]*Permission, error) { return s.FindPermissions(ctx, scope, a) }, func(p *Permission) int64 { return p.ID }),
				map[string]string{
					"LAST_ACCESS,-ID": "used, id DESC", "-LAST_ACCESS,ID": "used DESC, id", "LAST_ACCESS,CREATED_AT": "used, created_at, id", "-LAST_ACCESS,CREATED_AT": "used DESC, created_at, id",
					"-CREATED_AT,ID": "created_at DESC, id", "-CREATED_AT,-LAST_ACCESS": "created_at DESC, used DESC, id DESC", "CREATED_AT,-LAST_ACCESS,ID": "created_at, used DESC, id",
				},
				map[Term]string{{}: "true", {"applicationId", "3"}: "application_id = 3", {"roleId", "3"}: "role_id = 3", {"disabled", "false"}: "NOT disabled", {"customerId", "2"}: "place = '{1,2}'"},
			},
			{
				companies, idsOf(func(ctx context.Context, a Ask) ([]*Customer, error) { return s.FindCustomers(ctx, scope, a) }, func(c *Customer) int64 { return c.ID }),
				map[string]string{
					"-CREATED_AT,PATH": "created_at DESC, place", "CREATED_AT,-NAME": "created_at, named DESC, id DESC", "-NAME,-STATUS,ID": "named DESC, status DESC, id", "CREATED_AT,-STATUS": "created_at, status DESC, id DESC", "NAME,CREATED_AT": "named, created_at, id",
					"STATUS,CREATED_AT,NAME": "status, created_at, named, id", "-STATUS,-CREATED_AT,PATH": "status DESC, created_at DESC, place", "STATUS,NAME,-CREATED_AT": "status, named, created_at DESC, id DESC",
				},
				map[Term]string{{}: "true", {"level", "3"}: "level = 3", {"status", "ACTIVE"}: "status = 'ACTIVE'", {"status", "SUSPENDED"}: "status = 'SUSPENDED'", {"parentId", "2"}: "parent_id = 2", {"createdUntil", "2100-01-01"}: "true"},
			},
			{
				users, idsOf(func(ctx context.Context, a Ask) ([]*User, error) { return s.FindUsers(ctx, scope, a) }, func(u *User) int64 { return u.ID }),
				map[string]string{
					"LAST_ACCESS,EMAIL": "used, emailed, id", "-LAST_ACCESS,-NAME": "used DESC, named DESC, id DESC", "LAST_ACCESS,-CREATED_AT": "used, created_at DESC, id DESC",
				},
				map[Term]string{{}: "true", {"createdUntil", "2100-01-01"}: "true"},
			},
		} {
			for order, by := range l.orders {
				for more, where := range l.where {
					var terms []Term
					if more.Member != "" {
						terms = append(terms, more)
					}
					var want []int64
					devtest.Check(t, pool.SelectContext(t.Context(), &want, `SELECT id FROM `+l.from+` r WHERE place >= $1 AND place < $2 AND `+where+` ORDER BY `+by, scope.From(), scope.To()))
					most := len(want) + 1
					switch {
					case len(terms) > 0:
						most = 500
					case l.from != permissions: // of the first status, or those who have used nothing, and the next ones
						most = 3_000
					}
					if got := pagesOfFound(t, l.read, Where{Terms: terms}, order, most); !slices.Equal(got, want[:min(most, len(want))]) {
						t.Errorf("within %v, %v by %s: %d rows, want %d", scope.From(), terms, order, len(got), min(most, len(want)))
					}
					last, _, err := l.read(t.Context(), NewAsk(Where{Terms: terms}, order, paging.Page{Size: 50, Backward: true}))
					if slices.Sort(last); err != nil || !slices.Equal(last, slices.Sorted(slices.Values(want[max(0, len(want)-51):]))) {
						t.Errorf("within %v, the last of %v by %s: %d rows, %v", scope.From(), terms, order, len(last), err)
					}
				}
			}
		}
	}
}

// TestGroupsReadLittle: of very many rows that have the first field of an order alike no more are read than the page takes, or than lie before these in the order of the next field.
func TestGroupsReadLittle(t *testing.T) {
	t.Parallel()
	pool := planGrown(t, farWords, `UPDATE permissions SET last_access = NULL WHERE id % 2 = 0`, `UPDATE customers SET created_at = now() WHERE id > 100000`, `VACUUM ANALYZE`)
	var made, madeOf string
	devtest.Check(t, pool.GetContext(t.Context(), &made, `SELECT (extract(epoch FROM created_at) * 1000000)::bigint::text FROM permissions GROUP BY created_at ORDER BY count(*) DESC LIMIT 1`))
	devtest.Check(t, pool.GetContext(t.Context(), &madeOf, `SELECT (extract(epoch FROM created_at) * 1000000)::bigint::text FROM customers WHERE id = 100001`))
	conn := planConn(t, pool, readLists{})
	defer func() { _ = conn.Close() }()
	for _, scope := range []access.Scope{access.Lineage{1}.Subtree(), access.Lineage{1, 2}.Subtree()} {
		for _, c := range []struct {
			list      *List
			ways      ways
			order, at string
			most      float64
		}{
			{Permissions, permissionsWithin(scope), "LAST_ACCESS,-ID", "0", 140},
			{Permissions, permissionsWithin(scope), "-LAST_ACCESS,ID", "0", 140},
			{Permissions, permissionsWithin(scope), "LAST_ACCESS,-CREATED_AT", "0", 140},
			{Permissions, permissionsWithin(scope), "-CREATED_AT,ID", made, 140},
			{Permissions, permissionsWithin(scope), "CREATED_AT,-LAST_ACCESS", made, 140},
			{Customers, customersWithin(scope), "STATUS,CREATED_AT,NAME", madeOf, 200},
			{Customers, customersWithin(scope), "-STATUS,-CREATED_AT,PATH", madeOf, 200},
		} {
			const page = 21
			g := &grouping{list: c.list, ask: NewAsk(Where{}, c.order, paging.NewPage(page-1, paging.Cursor{})), ways: c.ways, args: []any{scope.From(), scope.To()}}
			if begun := g.statement(0); len(begun.keys[0].values) > 0 {
				g = g.part(begun, CustomerActive)
			}
			keys := g.statement(0).keys
			byID := keys[1].by == c.list.id
			for what, ask := range map[string]func() (string, []any){
				"begins": func() (string, []any) {
					return g.text([]sortedKey{keys[0], g.byID(keys[0].down)}, nil, page, g.ways)
				},
				"group": func() (string, []any) {
					if of := *g; c.list.ofTime(keys[0]) {
						of.ask = g.ask.and(atMoment(c.at)...)
						return of.text(keys[1:], nil, page, of.ways)
					}
					return g.text(keys[1:], nil, page, g.within(keys[0], c.at, byID))
				},
			} {
				text, args := ask()
				// Of 9,000 limbs 2,001 are counted, and the next 300 permissions glanced at, for a page of 21; of companies 2,001 of the time and as many of the branch.
				tryPlan(t, conn, 10, "listed", "/* "+what+" of "+c.order+" */ "+text, example{most: c.most}, args)
			}
			if g.unfit {
				t.Errorf("%s is in no groups", c.order)
			}
		}
	}
}

// TestUnusedUsersReadLittle: of very many users who have used nothing no more are read than the page takes, in an order that no index of them has.
func TestUnusedUsersReadLittle(t *testing.T) {
	t.Parallel()
	pool := planGrown(t, farWords, `UPDATE permissions SET last_access = NULL WHERE user_id % 3 = 0`, `UPDATE subtree_users SET unused = user_id % 3 = 0`, `VACUUM ANALYZE`)
	conn := planConn(t, pool, readLists{})
	defer func() { _ = conn.Close() }()
	for _, scope := range []access.Scope{access.Lineage{1}.Subtree(), access.Lineage{1, 2}.Subtree()} {
		users := listExample{name: "users", list: Users, ways: usersWithin(scope), args: []any{scope.From(), scope.To()}, most: usual}
		for _, order := range []string{"LAST_ACCESS,EMAIL", "LAST_ACCESS,NAME", "LAST_ACCESS,-CREATED_AT"} {
			users.run(t, conn, 10, NewAsk(Where{}, order, paging.NewPage(20, paging.Cursor{})), false)
		}
	}
}
