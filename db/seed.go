package db

import (
	"context"
	"fmt"
	"strings"
)

// Seed is a synthetic tree, for load tests: each company has Fanout children, level by level,
// until there are enough of them.
type Seed struct {
	Customers, Fanout int
	// Staffed is how many of the first companies get accounts, Users users each, and permissions.
	Staffed, Users int
	Progress       func(done int)
}

// seedBatch is how many companies are made in one transaction: also a busy server makes so many within an answer's time.
const seedBatch = 5_000

// SeedTree makes the tree below a new company of its own under the root, whose id it gives.
func (s *Store) SeedTree(ctx context.Context, seed Seed) (top int64, err error) {
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
	first, err := s.reserveIDs(ctx, "customers", seed.Customers)
	if err != nil {
		return 0, err
	}
	// Company n, counted from 0, hangs below company n/Fanout-1; the first ones below the top.
	parent := func(n int) int64 {
		if n < seed.Fanout {
			return made.ID
		}
		return first + int64(n/seed.Fanout) - 1
	}
	for from := 0; from < seed.Customers; from += seedBatch {
		to := min(from+seedBatch, seed.Customers)
		err := s.copyIn(ctx, "customers", []string{"id", "parent_id", "name", "region_id", "can_add_customers", "descendants_can_add"}, func(add func(...any) error) error {
			for n := from; n < to; n++ {
				if err := add(first+int64(n), parent(n), fmt.Sprintf("Company %07d", n), root.RegionID, true, true); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
		seed.Progress(to)
	}
	// Among so many new companies that PostgreSQL does not know of, it would read all for those of one batch.
	if _, err := s.pool.ExecContext(ctx, `ANALYZE customers`); err != nil {
		return 0, translate(ctx, err)
	}
	if err := s.seedStaff(ctx, seed, first, root.RegionID); err != nil {
		return 0, err
	}
	_, err = s.pool.ExecContext(ctx, `ANALYZE customers, limbs, accounts, users, memberships, member_names, subtree_users, permissions`)
	return made.ID, translate(ctx, err)
}

// seedStaff gives the first companies accounts, users and permissions.
func (s *Store) seedStaff(ctx context.Context, seed Seed, firstCustomer, regionID int64) error {
	staffed, each := min(seed.Staffed, seed.Customers), max(1, usersBatch/max(1, seed.Users))
	firstUser, err := s.reserveIDs(ctx, "users", max(1, staffed*seed.Users))
	for from := 0; from < staffed && err == nil; from += each {
		err = s.seedStaffOf(ctx, firstCustomer+int64(from), min(each, staffed-from), regionID, seed.Users, firstUser+int64(from*seed.Users))
	}
	return err
}

// usersBatch is how many users are made in one statement.
const usersBatch = 500

// seedStaffOf gives so many companies, from the first on, accounts, permissions, and users of the ids from firstUser on.
func (s *Store) seedStaffOf(ctx context.Context, first int64, companies int, regionID int64, users int, firstUser int64) error {
	tx, err := s.pool.BeginTxx(ctx, nil)
	if err != nil {
		return translate(ctx, err)
	}
	defer func() { _ = tx.Rollback() }()
	for _, step := range []string{
		`INSERT INTO accounts (customer_id, app_instance_id, name)
		 SELECT c.id, i.id, c.name FROM customers c CROSS JOIN app_instances i
		 WHERE c.id >= $1 AND c.id < $1 + $2 AND i.region_id = $3 AND $4::bigint + $5 >= 0`,
		`INSERT INTO users (id, email, first_name, last_name)
		 SELECT $5 + (c.id - $1) * $4::integer + u - 1, 'user' || u || '.company' || c.id || '@seed.example', 'User ' || u, 'Company ' || c.id
		 FROM customers c CROSS JOIN generate_series(1, $4) u WHERE c.id >= $1 AND c.id < $1 + $2 AND $3 > 0
		 ON CONFLICT DO NOTHING`,
		`INSERT INTO memberships (customer_id, user_id, email, first_name, last_name)
		 SELECT $1 + (u.id - $5) / $4::bigint, u.id, u.email, u.first_name, u.last_name FROM users u
		 WHERE u.id >= $5 AND u.id < $5 + $2::bigint * $4::bigint AND $3 > 0 ON CONFLICT DO NOTHING`,
		`INSERT INTO permissions (account_id, user_id, role_id)
		 SELECT a.id, m.user_id, r.id FROM memberships m JOIN accounts a ON a.customer_id = m.customer_id
		 JOIN app_instances i ON i.id = a.app_instance_id
		 JOIN roles r ON r.application_id = i.application_id AND r.customer_id IS NULL AND r.name = 'Member'
		 WHERE m.customer_id >= $1 AND m.customer_id < $1 + $2 AND $3 > 0 AND $4::bigint + $5 >= 0 ON CONFLICT DO NOTHING`,
	} {
		if _, err := tx.ExecContext(ctx, step, first, companies, regionID, users, firstUser); err != nil {
			return translate(ctx, err)
		}
	}
	return translate(ctx, tx.Commit())
}

// reserveIDs takes a run of ids from a table's sequence and gives the first.
func (s *Store) reserveIDs(ctx context.Context, table string, n int) (first int64, err error) {
	err = s.pool.GetContext(ctx, &first, `
		WITH seq AS (SELECT pg_get_serial_sequence($1, 'id') AS name),
		taken AS (SELECT nextval(name) AS at FROM seq)
		SELECT taken.at FROM taken, seq WHERE setval(seq.name, taken.at + $2) > 0`, table, n)
	return first, translate(ctx, err)
}

// copyIn fills a table by COPY, in one transaction.
func (s *Store) copyIn(ctx context.Context, table string, columns []string, fill func(add func(...any) error) error) error {
	tx, err := s.pool.BeginTxx(ctx, nil)
	if err != nil {
		return translate(ctx, err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, `SET LOCAL statement_timeout = 0`); err != nil {
		return translate(ctx, err)
	}
	st, err := tx.PrepareContext(ctx, "COPY "+table+" ("+strings.Join(columns, ", ")+") FROM STDIN")
	if err != nil {
		return translate(ctx, err)
	}
	if err := fill(func(row ...any) error { _, err := st.ExecContext(ctx, row...); return err }); err != nil {
		return translate(ctx, err)
	}
	if _, err := st.ExecContext(ctx); err != nil {
		return translate(ctx, err)
	}
	if err := st.Close(); err != nil {
		return translate(ctx, err)
	}
	return translate(ctx, tx.Commit())
}
