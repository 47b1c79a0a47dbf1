package db

import (
	"context"
	"database/sql"

	"github.com/lib/pq"
)

// Each cell counts what it has itself. So that a limit holds for the sum, a cell and its home tell each other now and then what they have counted, each of the companies that span cells, and
// in turn of the region's own, so that what they use is known on both sides.

// countsAtOnce is of how many companies is told in one question, and ownAtOnce how many companies of the directory are looked through for those of the region each time.
const (
	countsAtOnce = 5000
	ownAtOnce    = 2000
)

// count is what is counted of a company in a cell; that of the home is 0.
type count struct {
	CustomerID int64  `db:"customer_id"`
	Name       string `db:"name"`
	Cell       int64  `db:"cell"`
	N          int64  `db:"n"`
	// Day is that of a count which begins anew each day.
	Day sql.NullString `db:"day"`
	// Age is how long ago it was so, in seconds.
	Age float64 `db:"age"`
}

// counts are told as columns.
type counts struct {
	companies, cells, n []int64
	names               []string
	days                []sql.NullString
	ages                []float64
}

func countColumns(rows []count) *counts {
	c := &counts{companies: []int64{}, cells: []int64{}, n: []int64{}, names: []string{}, days: []sql.NullString{}, ages: []float64{}}
	for _, r := range rows {
		c.companies, c.cells, c.n = append(c.companies, r.CustomerID), append(c.cells, r.Cell), append(c.n, r.N)
		c.names, c.days, c.ages = append(c.names, r.Name), append(c.days, r.Day), append(c.ages, r.Age)
	}
	return c
}

var (
	qCountsHere = prepare(`
		SELECT customer_id, name, day::text, sum(n)::bigint AS n FROM usage_counts
		WHERE customer_id = ANY ($1::bigint[]) AND (day IS NULL OR day = (now() AT TIME ZONE 'UTC')::date) GROUP BY customer_id, name, day HAVING sum(n) <> 0`)
	qKeepCounts = prepare(`SELECT FROM (SELECT keep_counts($1, NULL, $2, $3, $4, $5, $6, $7)) kept`)
	qOwnInTurn  = prepare(`
		SELECT COALESCE(max(id), 0) AS last, count(*) AS n, COALESCE(array_agg(id) FILTER (WHERE region_id = $2), '{}') AS own
		FROM (SELECT id, region_id FROM customers WHERE id > $1 ORDER BY id LIMIT $3) c`)
)

// spanning are companies that several cells count for, in the order of their ids.
func (h *Home) spanning(ctx context.Context, behind int64) (ids []int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, homeWait)
	defer cancel()
	err = h.pool.SelectContext(ctx, &ids, `SELECT * FROM spanning_behind($1, $2)`, behind, countsAtOnce)
	return ids, translate(ctx, err)
}

// exchange tells the home what the cell has counted of companies, and gives what all others have.
func (h *Home) exchange(ctx context.Context, asked []int64, own *counts) (rows []count, err error) {
	ctx, cancel := context.WithTimeout(ctx, homeWait)
	defer cancel()
	err = h.pool.SelectContext(ctx, &rows, `SELECT customer_id, name, cell, n, day::text, age FROM exchange_counts($1, $2, $3, $4, $5, $6)`,
		h.cell.Number, pq.Array(asked), pq.Array(own.companies), pq.Array(own.names), pq.Array(own.days), pq.Array(own.n))
	return rows, translate(ctx, err)
}

// ExchangeCounts tells the home what the cell has counted of all companies that span cells, and keeps what others have of these. So it does with some of the region's companies, those behind
// an id, and gives the id behind which the next are; 0 is from the beginning.
func (s *Store) ExchangeCounts(ctx context.Context, home *Home, behind int64) (next int64, err error) {
	var turn struct {
		Last int64         `db:"last"`
		N    int64         `db:"n"`
		Own  pq.Int64Array `db:"own"`
	}
	if err := s.get(ctx, &turn, qOwnInTurn, behind, s.cell.Number, ownAtOnce); err != nil {
		return behind, err
	}
	asked, last := []int64(turn.Own), int64(0)
	for more := true; more; {
		spanning, err := home.spanning(ctx, last)
		if err != nil {
			return behind, err
		}
		if more = len(spanning) == countsAtOnce; len(spanning) > 0 {
			last = spanning[len(spanning)-1]
		}
		if asked = append(asked, spanning...); len(asked) == 0 {
			break
		}
		if err := s.exchangeOf(ctx, home, asked); err != nil {
			return behind, err
		}
		asked = nil
	}
	if turn.N < ownAtOnce {
		return 0, nil
	}
	return turn.Last, nil
}

func (s *Store) exchangeOf(ctx context.Context, home *Home, asked []int64) error {
	var here []count
	if err := s.list(ctx, &here, qCountsHere, asked); err != nil {
		return err
	}
	there, err := home.exchange(ctx, asked, countColumns(here))
	if err != nil {
		return err
	}
	c := countColumns(there)
	_, err = s.exec(ctx, qKeepCounts, pq.Array(asked), pq.Array(c.cells), pq.Array(c.companies), pq.Array(c.names), pq.Array(c.days), pq.Array(c.n), pq.Array(c.ages))
	return err
}
