package main

import (
	"fmt"
	"strings"
	"sync/atomic"

	"canopy/db"
)

// writers is how many make users of one company at the same time.
const writers = 50

// limits measures what limits cost that bound users of a company, which many make at the same time: beside the same without any,
// when users are counted nevertheless, and beside the same without counting. Who belongs to a branch is kept in all three, as
// finding needs it. Each is measured twice, in turns, as the tables grow meanwhile.
func (b *bencher) limits() ([]row, error) {
	name := fmt.Sprintf("limits: users made by %d writers of a company", writers)
	if !strings.Contains(name, b.o.only) {
		return nil, nil
	}
	pool, err := db.Connect(b.lab.postgres.URL(), db.Options{MaxConns: 1})
	if err != nil {
		return nil, err
	}
	defer func() { _ = pool.Close() }()
	const bare, counted, bound = 0, 1, 2
	prepare := [...]string{
		bare:    `ALTER TABLE subtree_users DISABLE TRIGGER subtree_users_made`,
		counted: `ALTER TABLE subtree_users ENABLE TRIGGER subtree_users_made`,
		bound:   fmt.Sprintf(`INSERT INTO customer_limits (customer_id, name, most) VALUES (%d, 'users', 10000000), (%d, 'users', 10000000)`, b.wide, b.wide+1),
	}
	var rates [3]float64
	var last result
	var made atomic.Int64
	for range 2 {
		if _, err := pool.ExecContext(b.ctx, fmt.Sprintf(`DELETE FROM customer_limits WHERE customer_id IN (%d, %d)`, b.wide, b.wide+1)); err != nil {
			return nil, err
		}
		for n, change := range prepare {
			if _, err := pool.ExecContext(b.ctx, change); err != nil {
				return nil, err
			}
			if err := b.newToken(); err != nil {
				return nil, err
			}
			last = b.measure(b.lab.platform, writers, call{method: "POST", contentType: "application/json", vary: func(int) (string, string) {
				return "/tenant/user", fmt.Sprintf(`{"customerId":%d,"email":"limited%d@example.com"}`, b.wide+1, made.Add(1))
			}})
			rates[n] += last.rate / 2
		}
	}
	against := func(beside string, reference int, wanted string) row {
		return row{
			name: name + ", beside " + beside, figure: fmt.Sprintf("%.0f/s, p99 %s", rates[bound], ms(last.p99)), reference: fmt.Sprintf("%.0f/s", rates[reference]),
			ratio: fmt.Sprintf("%.2f", rates[bound]/rates[reference]), statements: fmt.Sprintf("%.1f", last.statements), allocations: fmt.Sprintf("%.0f", last.allocations), wanted: wanted,
		}
	}
	return []row{against("no limits", counted, "≥ 0.9"), against("no counts", bare, "≥ 0.9")}, nil
}
