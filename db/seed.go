package db

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"
)

// Seed is a synthetic tree, for load tests: each company has Fanout children, level by level,
// until there are enough of them.
type Seed struct {
	Customers, Fanout int
	// Staffed is how many of the first companies get accounts, Users users each, and permissions.
	Staffed, Users int
	// Alone says that nobody else uses the platform: it is locked until all is made, in one transaction, and indexes are made after the rows.
	Alone    bool
	Progress func(done int)
}

// The sizes of what is made in one transaction, unless all is: also a busy server makes so many within an answer's time.
const (
	seedBatch  = 5_000 // companies
	usersBatch = 5_000
)

// seededTables are those that a seed writes much to.
var seededTables = []string{"customers", "limbs", "customer_words", "accounts", "users", "memberships", "member_names", "subtree_users", "invitations", "permissions"}

// seeding is a tree that is being made.
type seeding struct {
	Seed
	// top is the company above all, first the first below it, and firstUser the first user: the others' ids follow.
	top, first, firstUser int64
	regionID              int64
	// in runs a part in a transaction.
	in func(ctx context.Context, part func(*sqlx.Tx) error) error
}

// SeedTree makes the tree below a new company of its own under the root, whose id it gives. Its connections wait for as long as it takes.
func SeedTree(ctx context.Context, url string, seed Seed) (top int64, err error) {
	s, err := Open(ctx, url, Options{MaxConns: 2, patient: true})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	root, err := s.Root(ctx)
	if err != nil {
		return 0, err
	}
	made, err := s.InsertCustomer(ctx, Customer{
		ParentID: &root.ID, Name: "Synthetic", RegionID: root.RegionID, CanAddCustomers: true, DescendantsCanAdd: true,
	})
	if err != nil {
		return 0, err
	}
	tree := seeding{Seed: seed, top: made.ID, regionID: root.RegionID, in: s.seedPart}
	tree.Staffed = min(seed.Staffed, seed.Customers)
	if tree.first, err = s.reserveIDs(ctx, "customers", seed.Customers); err != nil {
		return 0, err
	}
	if tree.firstUser, err = s.reserveIDs(ctx, "users", max(1, tree.Staffed*seed.Users)); err != nil {
		return 0, err
	}
	looked := "ANALYZE "
	if seed.Alone {
		looked, err = "VACUUM ANALYZE ", s.seedPart(ctx, func(tx *sqlx.Tx) error { return tree.alone(ctx, tx) })
	} else {
		err = tree.make(ctx)
	}
	if err != nil {
		return 0, err
	}
	_, err = s.pool.ExecContext(ctx, looked+strings.Join(seededTables, ", "))
	return made.ID, translate(ctx, err)
}

// seedPart is a transaction of its own.
func (s *Store) seedPart(ctx context.Context, part func(*sqlx.Tx) error) error {
	tx, err := s.pool.BeginTxx(ctx, nil)
	if err != nil {
		return translate(ctx, err)
	}
	defer func() { _ = tx.Rollback() }()
	// What is planned for a tree that is still small must not read all of a large one.
	if _, err := tx.ExecContext(ctx, `SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`); err != nil {
		return translate(ctx, err)
	}
	if err := part(tx); err != nil {
		return translate(ctx, err)
	}
	return translate(ctx, tx.Commit())
}

// alone makes the whole tree in one transaction, with the indexes after the rows.
func (t seeding) alone(ctx context.Context, tx *sqlx.Tx) error {
	t.in = func(_ context.Context, part func(*sqlx.Tx) error) error { return part(tx) }
	indexes, err := setAside(ctx, tx, seededTables...)
	if err != nil {
		return err
	}
	if err := t.make(ctx); err != nil {
		return err
	}
	for _, text := range append([]string{`SET LOCAL maintenance_work_mem = '512MB'`}, indexes...) {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// make makes companies, and then their staff.
func (t seeding) make(ctx context.Context) error {
	for from := 0; from < t.Customers; from += seedBatch {
		to := min(from+seedBatch, t.Customers)
		if err := t.in(ctx, func(tx *sqlx.Tx) error { return t.copyCompanies(ctx, tx, from, to) }); err != nil {
			return err
		}
		t.Progress(to)
	}
	// Among so many new companies that PostgreSQL does not know of, it would read all for those of one batch.
	if err := t.in(ctx, func(tx *sqlx.Tx) error { _, err := tx.ExecContext(ctx, `ANALYZE customers`); return err }); err != nil {
		return err
	}
	each := max(1, usersBatch/max(1, t.Users))
	for from := 0; from < t.Staffed; from += each {
		if err := t.in(ctx, func(tx *sqlx.Tx) error { return t.staff(ctx, tx, from, min(each, t.Staffed-from)) }); err != nil {
			return err
		}
	}
	return nil
}

// copyCompanies makes companies by COPY. Company n, counted from 0, hangs below company n/Fanout-1; the first ones below the top.
func (t seeding) copyCompanies(ctx context.Context, tx *sqlx.Tx, from, to int) error {
	st, err := tx.PrepareContext(ctx, `COPY customers (id, parent_id, name, region_id, can_add_customers, descendants_can_add) FROM STDIN`)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	for n := from; n < to; n++ {
		parent := t.top
		if n >= t.Fanout {
			parent = t.first + int64(n/t.Fanout) - 1
		}
		if _, err := st.ExecContext(ctx, t.first+int64(n), parent, fmt.Sprintf("Company %07d", n), t.regionID, true, true); err != nil {
			return err
		}
	}
	_, err = st.ExecContext(ctx) // ends it
	return err
}

// staff gives so many companies, from one on, accounts, users and permissions.
func (t seeding) staff(ctx context.Context, tx *sqlx.Tx, from, companies int) error {
	values := strings.NewReplacer(
		":first", fmt.Sprint(t.first+int64(from)), ":end", fmt.Sprint(t.first+int64(from+companies)), ":region", fmt.Sprint(t.regionID),
		":users", fmt.Sprint(t.Users), ":user1", fmt.Sprint(t.firstUser+int64(from*t.Users)))
	for _, text := range staffing {
		if _, err := tx.ExecContext(ctx, values.Replace(text)); err != nil {
			return err
		}
	}
	return nil
}

// staffing are the statements that give the companies from :first until before :end, which have nobody yet, accounts in :region, :users users
// each, whose ids begin with :user1, and permissions: of one of these, nineteen of twenty people have made use. What triggers write for each person
// that comes to a company is written for all at once, in a tenth of the time; a test compares.
var staffing = []string{
	`SELECT hold_places(ARRAY(SELECT id FROM customers WHERE id >= :first AND id < :end))`,
	`INSERT INTO accounts (customer_id, app_instance_id, name)
		SELECT c.id, i.id, c.name FROM customers c CROSS JOIN app_instances i WHERE c.id >= :first AND c.id < :end AND i.region_id = :region`,
	`INSERT INTO users (id, email, first_name, last_name)
		SELECT :user1 + (c.id - :first) * :users + u - 1, 'user' || u || '.company' || c.id || '@seed.example', 'User ' || u, 'Company ' || c.id
		FROM customers c CROSS JOIN generate_series(1, :users) u WHERE c.id >= :first AND c.id < :end ORDER BY 1 ON CONFLICT DO NOTHING`,
	`ALTER TABLE memberships DISABLE TRIGGER USER`,
	`ALTER TABLE subtree_users DISABLE TRIGGER USER`,
	`ALTER TABLE permissions DISABLE TRIGGER USER`,
	`INSERT INTO memberships (customer_id, user_id, email, first_name, last_name, lineage)
		SELECT c.id, u.id, u.email, u.first_name, u.last_name, c.lineage FROM users u JOIN customers c ON c.id = :first + (u.id - :user1) / :users
		WHERE u.id >= :user1 AND u.id < :user1 + (:end - :first) * :users`,
	`INSERT INTO subtree_users (customer_id, user_id, email, name, created_at, accepted, has_password, unused)
		SELECT above.id, m.user_id, m.email, btrim(m.first_name || ' ' || m.last_name), m.created_at, false, false, m.user_id % 20 = 0
		FROM memberships m CROSS JOIN unnest(m.lineage) above(id) WHERE m.customer_id >= :first AND m.customer_id < :end ORDER BY 1, 2`,
	`SELECT count_at(array_agg('users'::text), array_agg(NULL::date), array_agg(above.id), array_agg(m.n)) FROM (
			SELECT lineage, count(*) AS n FROM memberships WHERE customer_id >= :first AND customer_id < :end GROUP BY lineage) m CROSS JOIN unnest(m.lineage) above(id)`,
	`INSERT INTO member_names (customer_id, user_id, limb_id, said, named, emailed, created_at)
		SELECT m.customer_id, o.id, c.limb_id, member_said(m, o), v.named, v.emailed, v.created_at
		FROM (SELECT id, limb_of(lineage) AS limb_id FROM customers WHERE id >= :first AND id < :end OFFSET 0) c
		JOIN memberships m ON m.customer_id = c.id JOIN users o ON o.id = m.user_id CROSS JOIN LATERAL member_seen(m, o) v`,
	`INSERT INTO invitations (customer_id, user_id, email, created_by)
		SELECT customer_id, user_id, email, created_by FROM memberships WHERE customer_id >= :first AND customer_id < :end`,
	`INSERT INTO permissions (account_id, user_id, role_id, limb_id, application_id, last_access)
		SELECT a.id, m.user_id, r.id, a.limb_id, i.application_id, CASE WHEN i.application_id = (SELECT min(id) FROM applications) AND m.user_id % 20 > 0 THEN now() - m.user_id * 7919 % 100003 * interval '1 minute' END
		FROM memberships m JOIN accounts a ON a.customer_id = m.customer_id
		JOIN app_instances i ON i.id = a.app_instance_id
		JOIN roles r ON r.application_id = i.application_id AND r.customer_id IS NULL AND r.name = 'Member'
		WHERE m.customer_id >= :first AND m.customer_id < :end ORDER BY m.user_id, a.id`,
	`ALTER TABLE memberships ENABLE TRIGGER USER`,
	`ALTER TABLE subtree_users ENABLE TRIGGER USER`,
	`ALTER TABLE permissions ENABLE TRIGGER USER`,
}

// reserveIDs takes a run of ids from a table's sequence and gives the first.
func (s *Store) reserveIDs(ctx context.Context, table string, n int) (first int64, err error) {
	err = getInto(ctx, s.pool, &first, `
		WITH seq AS (SELECT pg_get_serial_sequence($1, 'id') AS name),
		taken AS (SELECT nextval(name) AS at FROM seq)
		SELECT taken.at FROM taken, seq WHERE setval(seq.name, taken.at + $2) > 0`, table, n)
	return first, translate(ctx, err)
}
