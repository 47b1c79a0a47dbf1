package db_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jmoiron/sqlx"

	"canopy/db"
	"canopy/internal/devstack/devtest"
	"canopy/internal/problem"
	"canopy/internal/quota"
)

// openBoth opens a store on a fresh database, and the database itself.
func openBoth(t *testing.T) (*db.Store, *sqlx.DB) {
	t.Helper()
	address := devtest.Database(t, db.Fingerprint(), db.Migrate)
	s, err := db.Open(t.Context(), address, db.Options{MaxConns: 30})
	devtest.Check(t, err)
	t.Cleanup(func() { _ = s.Close() })
	pool, err := db.Connect(address, db.Options{MaxConns: 30})
	devtest.Check(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	return s, pool
}

// recount counts everything anew, as it stands in the tables, and gives where that differs from what is kept.
const recount = `
	WITH counted AS (
		SELECT above.id, t.name, sum(t.n) AS n FROM (
			SELECT parent_id AS customer_id, 'customers' AS name, 1 AS n FROM customers WHERE parent_id IS NOT NULL
			UNION ALL SELECT a.customer_id, 'contexts', 1 FROM contexts x JOIN accounts a ON a.id = x.account_id WHERE x.removed_at IS NULL
			UNION ALL SELECT a.customer_id, v.name, v.n FROM documents d JOIN contexts x ON x.id = d.context_id JOIN accounts a ON a.id = x.account_id
				CROSS JOIN LATERAL (VALUES ('documents', 1), ('storageBytes', d.size), ('chunks', d.chunks)) v(name, n)
			UNION ALL SELECT a.customer_id, 'agents', 1 FROM agents g JOIN accounts a ON a.id = g.account_id WHERE g.deleted_at IS NULL
			UNION ALL SELECT customer_id, 'secrets', 1 FROM secrets
			UNION ALL SELECT customer_id, 'apiKeys', 1 FROM api_keys WHERE revoked_at IS NULL
			UNION ALL SELECT customer_id, 'destinations', 1 FROM webhook_destinations WHERE deleted_at IS NULL
			UNION ALL SELECT a.customer_id, 'concurrentRuns', 1 FROM runs r JOIN accounts a ON a.id = r.account_id WHERE r.status = 'running'
			UNION ALL SELECT a.customer_id, 'runsPerDay', 1 FROM runs r JOIN accounts a ON a.id = r.account_id
		) t JOIN customers c ON c.id = t.customer_id CROSS JOIN unnest(c.lineage) above(id) GROUP BY 1, 2
		UNION ALL
		SELECT above.id, 'users', count(DISTINCT m.user_id) FROM memberships m JOIN customers c ON c.id = m.customer_id
			CROSS JOIN unnest(c.lineage) above(id) GROUP BY 1
		UNION ALL SELECT context_id, 'size of the context', sum(size) FROM documents GROUP BY 1),
	kept AS (SELECT customer_id AS id, name, sum(n) AS n FROM usage_counts GROUP BY 1, 2 UNION ALL SELECT context_id, 'size of the context', size FROM context_sizes)
	SELECT format('%s of %s: kept %s, there are %s', COALESCE(k.name, c.name), COALESCE(k.id, c.id), COALESCE(k.n, 0), COALESCE(c.n, 0))
	FROM kept k FULL JOIN counted c ON c.id = k.id AND c.name = k.name WHERE COALESCE(k.n, 0) <> COALESCE(c.n, 0) ORDER BY 1`

func mustAgree(t *testing.T, pool *sqlx.DB) {
	t.Helper()
	var differ []string
	devtest.Check(t, pool.SelectContext(t.Context(), &differ, recount))
	for _, line := range differ {
		t.Error(line)
	}
}

// someOf picks a row of a query that has rows.
const someOf = ` ORDER BY random() LIMIT 1`

// operations are what changes what there is: each alone, and without an answer. What finds nothing to do does nothing.
var operations = []string{
	`INSERT INTO customers (parent_id, name, region_id) SELECT id, 'New', region_id FROM customers WHERE level < 4` + someOf,
	`INSERT INTO customers (parent_id, name, region_id) SELECT id, 'Several', region_id FROM customers WHERE level < 4 ORDER BY random() LIMIT 3`,
	`INSERT INTO accounts (customer_id, app_instance_id, name) SELECT c.id, i.id, 'New' FROM customers c, app_instances i` + someOf,
	`INSERT INTO users (email) SELECT gen_random_uuid() || '@example.com'`,
	`INSERT INTO memberships (customer_id, user_id, email, first_name, last_name) SELECT c.id, u.id, '', '', '' FROM customers c, users u ORDER BY random() LIMIT 3 ON CONFLICT DO NOTHING`,
	`INSERT INTO memberships (customer_id, user_id, email, first_name, last_name) SELECT c.id, (SELECT min(id) FROM users), '', '', '' FROM customers c` + someOf + ` ON CONFLICT DO NOTHING`,
	`DELETE FROM memberships WHERE (customer_id, user_id) IN (SELECT customer_id, user_id FROM memberships ORDER BY random() LIMIT 2)`,
	`DELETE FROM users WHERE id = (SELECT id FROM users WHERE id > (SELECT min(id) FROM users)` + someOf + `)`,
	`INSERT INTO contexts (account_id, name, description, caption, embedding_model) SELECT id, 'New', '', '', 'm' FROM accounts` + someOf,
	`INSERT INTO documents (context_id, file_name, original_name, display_name, name_index, format, content_type, content_hash, size, model, chunk_size, overlap)
		SELECT x.id, gen_random_uuid(), 'a', 'a', 0, 'txt', 'text/plain', 'h', 1 + floor(random() * 1000), 'm', 1, 0
		FROM (SELECT id FROM contexts ORDER BY random() LIMIT 2) x, generate_series(1, 3)`,
	`UPDATE documents SET chunks = floor(random() * 50) WHERE id IN (SELECT id FROM documents ORDER BY random() LIMIT 2)`,
	`DELETE FROM documents WHERE id = (SELECT id FROM documents` + someOf + `)`,
	`DELETE FROM contexts WHERE id = (SELECT id FROM contexts` + someOf + `)`,
	`UPDATE contexts SET removed_at = now() WHERE id = (SELECT id FROM contexts` + someOf + `)`,
	`DELETE FROM accounts WHERE id = (SELECT a.id FROM accounts a WHERE NOT EXISTS (SELECT 1 FROM agents g WHERE g.account_id = a.id)` + someOf + `)`,
	`INSERT INTO agents (account_id, name, draft) SELECT id, 'New', '{}' FROM accounts` + someOf,
	`UPDATE agents SET deleted_at = CASE WHEN deleted_at IS NULL THEN now() END WHERE id = (SELECT id FROM agents` + someOf + `)`,
	`DELETE FROM agents WHERE id = (SELECT id FROM agents g WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.agent_id = g.id)
		AND NOT EXISTS (SELECT 1 FROM agent_revisions v WHERE v.agent_id = g.id)` + someOf + `)`,
	`WITH v AS (INSERT INTO agent_revisions (agent_id, number, diagram) SELECT id, floor(random() * 1e9), '{}' FROM agents` + someOf + ` RETURNING id, agent_id)
		INSERT INTO runs (job_key, agent_id, revision_id, account_id, input) SELECT gen_random_uuid(), v.agent_id, v.id, g.account_id, '{}' FROM v JOIN agents g ON g.id = v.agent_id`,
	`UPDATE runs SET status = 'finished', finished_at = now() WHERE id = (SELECT id FROM runs WHERE status = 'running'` + someOf + `)`,
	`UPDATE runs SET due_at = now() WHERE id = (SELECT id FROM runs` + someOf + `)`,
	`INSERT INTO secrets (customer_id, name, value) SELECT id, 's' || floor(random() * 1e9), '' FROM customers` + someOf,
	`DELETE FROM secrets WHERE id = (SELECT id FROM secrets` + someOf + `)`,
	`INSERT INTO api_keys (client_id, customer_id, user_id) SELECT gen_random_uuid(), c.id, u.id FROM customers c, users u` + someOf,
	`UPDATE api_keys SET revoked_at = now() WHERE id IN (SELECT id FROM api_keys ORDER BY random() LIMIT 2)`,
	`UPDATE api_keys SET last_used_at = now()`,
	`INSERT INTO webhook_destinations (customer_id, url, secret) SELECT id, 'https://x', '' FROM customers` + someOf,
	`UPDATE webhook_destinations SET deleted_at = now() WHERE id = (SELECT id FROM webhook_destinations` + someOf + `)`,
	`DELETE FROM customers WHERE id = (SELECT c.id FROM customers c WHERE c.level > 0 AND NOT EXISTS (SELECT 1 FROM customers k WHERE k.parent_id = c.id)
		AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.customer_id = c.id)
		AND NOT EXISTS (SELECT 1 FROM webhook_destinations d WHERE d.customer_id = c.id)` + someOf + `)`,
}

// TestCountsAgree: whatever is made, changed and removed, side by side and in transactions of several steps, of
// which some end well, what is kept is what there is.
func TestCountsAgree(t *testing.T) {
	t.Parallel()
	s, pool := openBoth(t)
	tree(t, s)
	var done atomic.Int64
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 7))
			for range 120 {
				if several(t.Context(), pool, r) == nil {
					done.Add(1)
				}
			}
		})
	}
	writers.Wait()
	if done.Load() < 200 {
		t.Errorf("only %d transactions came to a good end", done.Load())
	}
	mustAgree(t, pool)
}

// several does up to three operations in a transaction, which comes to nothing once in a while. What others have taken
// away meanwhile makes it fail, too.
func several(ctx context.Context, pool *sqlx.DB, r *rand.Rand) error {
	tx, err := pool.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for range 1 + r.IntN(3) {
		if _, err := tx.ExecContext(ctx, operations[r.IntN(len(operations))]); err != nil {
			return err
		}
	}
	if r.IntN(5) == 0 {
		return errors.New("given up")
	}
	return tx.Commit()
}

// TestNeverOverALimit: however many write at the same time, and however far the limit is, it is reached and never passed.
func TestNeverOverALimit(t *testing.T) {
	t.Parallel()
	// Those who write into the large one pass side by side first, and one by one when nine tenths are full.
	for most, before := range map[int64]int64{0: 0, 37: 0, 4000: 3400} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			s, pool := openBoth(t)
			root, child, _ := tree(t, s)
			devtest.Must[sql.Result](t)(pool.ExecContext(t.Context(), `INSERT INTO secrets (customer_id, name, value) SELECT $1, 'b' || n, '' FROM generate_series(1, $2) n`, child.ID, before))
			devtest.Check(t, s.SetLimit(t.Context(), child.ID, quota.Secrets, &most))
			below := devtest.Must[*db.Customer](t)(s.InsertCustomer(t.Context(), db.Customer{ParentID: &child.ID, Name: "Below", RegionID: root.RegionID}))
			var made, refused atomic.Int64
			var writers sync.WaitGroup
			for w := range 25 {
				writers.Go(func() {
					for i := range (most-before)/25 + 10 {
						err := s.Tx(t.Context(), func(tx *db.Store) error {
							_, err := tx.InsertSecret(t.Context(), []int64{child.ID, below.ID}[i%2], fmt.Sprintf("s%d_%d", w, i))
							return err
						})
						var r *db.LimitReached
						switch {
						case err == nil:
							made.Add(1)
						case errors.As(err, &r):
							refused.Add(1)
							if p := problem.From(err); r.CustomerID != child.ID || r.Max != most || r.Used != most || p.Code != problem.Forbidden || p.Reason != "limit_reached" {
								t.Errorf("%+v, %+v", r, p)
							}
						default:
							t.Error(err)
						}
					}
				})
			}
			writers.Wait()
			if made.Load() != most-before || refused.Load() == 0 {
				t.Errorf("%d were made and %d refused, the limit is %d", made.Load(), refused.Load(), most)
			}
			mustAgree(t, pool)
			var notices int
			devtest.Check(t, pool.GetContext(t.Context(), &notices, `SELECT count(*) FROM limit_notices WHERE customer_id = $1 AND level = 100`, child.ID))
			if notices != 1 {
				t.Errorf("%d notices", notices)
			}
		})
	}
}

// TestLimitsAboveOneAnother: writers near the limits of a company and of one above it wait for each other in one order
// only, so that all of them come to an end.
func TestLimitsAboveOneAnother(t *testing.T) {
	t.Parallel()
	s, pool := openBoth(t)
	root, child, _ := tree(t, s)
	below := devtest.Must[*db.Customer](t)(s.InsertCustomer(t.Context(), db.Customer{ParentID: &child.ID, Name: "Below", RegionID: root.RegionID}))
	most := int64(120)
	for _, c := range []*db.Customer{root, child, below} {
		devtest.Check(t, s.SetLimit(t.Context(), c.ID, quota.Secrets, &most))
	}
	devtest.Must[sql.Result](t)(pool.ExecContext(t.Context(), `INSERT INTO secrets (customer_id, name, value) SELECT $1, 'b' || n, '' FROM generate_series(1, 110) n`, below.ID))
	var writers sync.WaitGroup
	for w := range 20 {
		writers.Go(func() {
			for i := range 20 {
				// Now and then the company above counts by itself, so that its slots are others than those of the one below.
				of := []int64{below.ID, child.ID, below.ID}[i%3]
				row, err := s.InsertSecret(t.Context(), of, fmt.Sprintf("s%d_%d", w, i))
				var r *db.LimitReached
				if err != nil && !errors.As(err, &r) {
					t.Error(err)
				}
				if err == nil {
					devtest.Must[sql.Result](t)(pool.ExecContext(t.Context(), `DELETE FROM secrets WHERE id = $1`, row.ID))
				}
			}
		})
	}
	writers.Wait()
	mustAgree(t, pool)
}

// TestCountsAtMidnight: what a transaction counts that began the day before takes nothing from the new day.
func TestCountsAtMidnight(t *testing.T) {
	s, pool := openBoth(t)
	_, child, _ := tree(t, s)
	for _, day := range []string{"2030-01-01", "2030-01-02", "2030-01-01", "2030-01-02"} {
		devtest.Must[sql.Result](t)(pool.ExecContext(t.Context(), `SELECT count_from('mailsPerDay', $2::date, ARRAY[$1::bigint], ARRAY[3::bigint])`, child.ID, day))
	}
	var n int64
	devtest.Check(t, pool.GetContext(t.Context(), &n, `SELECT sum(n) FROM usage_counts WHERE customer_id = $1 AND day = '2030-01-02'`, child.ID))
	if n != 6 {
		t.Errorf("%d are counted of the new day, of 6", n)
	}
}
