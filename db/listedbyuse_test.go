package db_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
	"canopy/internal/paging"
)

// misused are the users who are told to have used something and have not, and the permissions that are told to be outdone by one that is not there.
const misused = `
	SELECT (SELECT count(*) FROM subtree_users s WHERE NOT s.unused AND NOT EXISTS (SELECT FROM permissions p JOIN accounts a ON a.id = p.account_id
			JOIN customers c ON c.id = a.customer_id WHERE p.user_id = s.user_id AND p.last_access IS NOT NULL AND s.customer_id = ANY (c.lineage)))
		+ (SELECT count(*) FROM permissions p JOIN accounts a ON a.id = p.account_id WHERE p.outdone AND p.last_access IS NOT NULL AND NOT EXISTS (
			SELECT FROM permissions l JOIN accounts o ON o.id = l.account_id WHERE l.user_id = p.user_id AND o.customer_id = a.customer_id AND (l.last_access, l.id) > (p.last_access, p.id)))`

// changesOfUse are what becomes of permissions and of who has them; $1 is any number.
var changesOfUse = []string{
	`UPDATE permissions SET last_access = now() WHERE id = (SELECT id FROM permissions OFFSET $1::bigint % (SELECT count(*) FROM permissions) LIMIT 1)`,
	`UPDATE permissions SET last_access = now() WHERE id = (SELECT id FROM permissions WHERE last_access IS NULL OFFSET $1::bigint % 50 LIMIT 1)`,
	`DELETE FROM permissions WHERE id = (SELECT id FROM permissions OFFSET $1::bigint % (SELECT count(*) FROM permissions) LIMIT 1)`,
	`DELETE FROM permissions WHERE user_id = (SELECT user_id FROM permissions OFFSET $1::bigint % (SELECT count(*) FROM permissions) LIMIT 1)`,
	`WITH m AS (DELETE FROM memberships WHERE user_id = (SELECT user_id FROM memberships OFFSET $1::bigint % (SELECT count(*) FROM memberships) LIMIT 1) RETURNING *)
		DELETE FROM permissions p USING m, accounts a WHERE p.user_id = m.user_id AND a.id = p.account_id AND a.customer_id = m.customer_id`,
	`INSERT INTO permissions (account_id, user_id, role_id) SELECT a.id, m.user_id, (SELECT min(id) FROM roles) FROM memberships m JOIN accounts a USING (customer_id)
		OFFSET $1::bigint % (SELECT count(*) FROM memberships) LIMIT 1 ON CONFLICT DO NOTHING`,
}

// TestUsersByLastUse: users are found in the order of their last use within what is asked for, each once, whether pages go on forward or backward, in the whole tree, in
// branches, and in what is deep below; and however they use permissions, lose them and move, at the same time.
func TestUsersByLastUse(t *testing.T) {
	t.Parallel()
	s, pool := openBoth(t)
	root, child, _ := tree(t, s)
	companies := []int64{root.ID, child.ID}
	for i, parent := range []int{0, 1, 3, 4, 5, 6, 2} { // a chain of five below the child, and two beside it
		at := companies[parent]
		c := devtest.Must[*db.Customer](t)(s.InsertCustomer(t.Context(), db.Customer{ParentID: &at, Name: fmt.Sprint("Company ", i), RegionID: root.RegionID}))
		companies = append(companies, c.ID)
	}
	for _, text := range []string{
		`INSERT INTO applications (id, code, name, app_type, auth_url) SELECT 2, 'assistant', 'Second', app_type, auth_url FROM applications`,
		`INSERT INTO app_instances (application_id, region_id, domain) SELECT 2, region_id, 'https://second.example' FROM app_instances`,
		`INSERT INTO accounts (customer_id, app_instance_id, name) SELECT c.id, i.id, 'Account' FROM customers c CROSS JOIN app_instances i
			WHERE NOT EXISTS (SELECT FROM accounts a WHERE a.customer_id = c.id AND a.app_instance_id = i.id)`,
		`INSERT INTO users (email, first_name, last_name) SELECT 'n' || i || '@x.example', 'Number', i FROM generate_series(1, 1300) i`,
		`INSERT INTO memberships (customer_id, user_id, email, first_name, last_name)
			SELECT c.id, u.id, u.email, u.first_name, u.last_name FROM users u JOIN customers c ON c.level > 0 AND (c.id + u.id * 7) % 8 = 0 OR c.level = 6 AND u.id % 2 = 0 ON CONFLICT DO NOTHING`,
		`INSERT INTO permissions (account_id, user_id, role_id)
			SELECT a.id, m.user_id, (SELECT min(id) FROM roles) FROM memberships m JOIN accounts a USING (customer_id) WHERE (a.id + m.user_id) % 5 > 0 ON CONFLICT DO NOTHING`,
		`UPDATE permissions SET last_access = now() - (id * 7919 + user_id) % 300 * interval '1 hour' WHERE (id + user_id) % 3 > 0`, // many at the same moment
	} {
		devtest.Must[any](t)(pool.ExecContext(t.Context(), text))
	}
	usersAreInOrder(t, s, pool, companies)
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			chance := rand.New(rand.NewPCG(5, uint64(worker)))
			for i := range 60 {
				if worker == 0 && i%6 == 0 { // which gives way to all others
					from, to := companies[3+chance.IntN(len(companies)-3)], companies[chance.IntN(len(companies))]
					_ = s.Tx(t.Context(), func(tx *db.Store) error {
						if err := tx.HoldAlone(t.Context(), from, to); err != nil {
							return err
						}
						var within bool
						if err := pool.GetContext(t.Context(), &within, `SELECT $1 = ANY (lineage) FROM customers WHERE id = $2`, from, to); err != nil || within {
							return err
						}
						return tx.MoveCustomer(t.Context(), from, to)
					})
					continue
				}
				if _, err := pool.ExecContext(t.Context(), changesOfUse[chance.IntN(len(changesOfUse))], chance.IntN(10_000)); err != nil {
					if pe := (*pq.Error)(nil); !errors.As(err, &pe) || pe.Code != "40P01" { // of two who delete the same permissions one gives way
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	usersAreInOrder(t, s, pool, companies)
	devtest.Must[any](t)(pool.ExecContext(t.Context(), `DELETE FROM accounts WHERE id % 3 = 0`))
	usersAreInOrder(t, s, pool, companies)
}

func usersAreInOrder(t *testing.T, s *db.Store, pool *sqlx.DB, companies []int64) {
	t.Helper()
	var wrong int
	if devtest.Check(t, pool.GetContext(t.Context(), &wrong, misused)); wrong > 0 {
		t.Errorf("%d rows say that something was used that was not", wrong)
	}
	for _, id := range companies {
		var lineage pq.Int64Array
		devtest.Check(t, pool.GetContext(t.Context(), &lineage, `SELECT lineage FROM customers WHERE id = $1`, id))
		var want []int64
		devtest.Check(t, pool.SelectContext(t.Context(), &want, `SELECT s.user_id FROM subtree_users s WHERE s.customer_id = $1 ORDER BY COALESCE((
			SELECT max(p.last_access) FROM permissions p JOIN accounts a ON a.id = p.account_id JOIN customers c ON c.id = a.customer_id
			WHERE p.user_id = s.user_id AND s.customer_id = ANY (c.lineage)), 'epoch'), s.user_id`, id))
		reversed := slices.Clone(want)
		slices.Reverse(reversed)
		for _, backward := range []bool{false, true} {
			for _, order := range []string{"LAST_ACCESS", "-LAST_ACCESS"} {
				expected := want
				if backward != (order == "-LAST_ACCESS") {
					expected = reversed
				}
				if got := usersInPages(t, s, access.Lineage(lineage).Subtree(), order, backward); !slices.Equal(got, expected) {
					t.Errorf("below %d by %s, backward %v: %d users, want %d", id, order, backward, len(got), len(expected))
				}
			}
		}
	}
}

// usersInPages reads a list of users from one end to the other, each page behind the last one.
func usersInPages(t *testing.T, s *db.Store, scope access.Scope, order string, backward bool) (ids []int64) {
	t.Helper()
	const size = 150
	for at := (paging.Cursor{}); ; {
		page := paging.NewPage(size, at)
		page.Backward = backward
		users := devtest.Must[[]*db.User](t)(s.FindUsers(t.Context(), scope, db.NewAsk(db.Where{}, order, page)))
		for _, u := range users[:min(size, len(users))] {
			ids = append(ids, u.ID)
		}
		if len(users) <= size {
			return ids
		}
		at = paging.Cursor{Order: order, Keys: users[size-1].FoundAt()}
	}
}
