package main

import (
	"fmt"
	"strings"
	"sync/atomic"

	"canopy/db"
)

// writers is how many make users of one company at the same time.
const writers = 50

// limits measures what it costs that the users of a company are counted and held against limits. The reference is the
// same without either. Each is measured twice, in turns, as the tables grow meanwhile.
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
	if _, err := pool.ExecContext(b.ctx, `INSERT INTO customer_limits (customer_id, name, most) VALUES ($1, 'users', 10000000), ($2, 'users', 10000000)`, b.wide, b.wide+1); err != nil {
		return nil, err
	}
	var rates [2]float64
	var last result
	var made atomic.Int64
	for n, counts := range []string{"DISABLE", "ENABLE", "DISABLE", "ENABLE"} {
		if _, err := pool.ExecContext(b.ctx, `ALTER TABLE memberships `+counts+` TRIGGER memberships_made`); err != nil {
			return nil, err
		}
		if err := b.newToken(); err != nil {
			return nil, err
		}
		last = b.measure(b.lab.platform, writers, call{method: "POST", contentType: "application/json", vary: func(int) (string, string) {
			return "/tenant/user", fmt.Sprintf(`{"customerId":%d,"email":"limited%d@example.com"}`, b.wide+1, made.Add(1))
		}})
		rates[n%2] += last.rate / 2
	}
	return []row{{
		name: name, figure: fmt.Sprintf("%.0f/s, p99 %s", rates[1], ms(last.p99)), reference: fmt.Sprintf("%.0f/s", rates[0]),
		ratio: fmt.Sprintf("%.2f", rates[1]/rates[0]), statements: fmt.Sprintf("%.1f", last.statements), allocations: fmt.Sprintf("%.0f", last.allocations), wanted: "≥ 0.9",
	}}, nil
}
