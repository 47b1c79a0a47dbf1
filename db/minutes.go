package db

import (
	"context"

	"github.com/lib/pq"
)

// Minutes are counts of limits by the minute, by the keys that they have in Redis.
type Minutes struct {
	Keys []string
	N    []int64
}

// minute is one of Minutes.
type minute struct {
	Key string `db:"key"`
	N   int64  `db:"n"`
}

// minutesAtOnce bounds what is told and heard in one exchange. Heard are those with the highest counts.
const minutesAtOnce = 10_000

const exchangeMinutes = `SELECT key, n FROM exchange_minutes($1, $2, $3, $4)`

var qExchangeMinutes = prepare(exchangeMinutes)

// Shares tells whether others count for the same limits: the home's cells, or a cell's home.
func (s *Store) Shares() bool { return s.cell != nil || len(s.cells.Load().Regions) > 0 }

// ExchangeMinutes tells what this place has counted of the minute at hand, and gives what all others have told, by way of the home's database; home is nil there.
func (s *Store) ExchangeMinutes(ctx context.Context, home *Home, own Minutes) (others Minutes, err error) {
	var rows []minute
	if home == nil {
		err = s.list(ctx, &rows, qExchangeMinutes, 0, pq.Array(own.Keys), pq.Array(own.N), minutesAtOnce)
	} else {
		rows, err = home.exchangeMinutes(ctx, own)
	}
	for _, r := range rows {
		others.Keys, others.N = append(others.Keys, r.Key), append(others.N, r.N)
	}
	return others, err
}

func (h *Home) exchangeMinutes(ctx context.Context, own Minutes) (rows []minute, err error) {
	ctx, cancel := context.WithTimeout(ctx, homeWait)
	defer cancel()
	err = h.pool.SelectContext(ctx, &rows, exchangeMinutes, h.cell.Number, pq.Array(own.Keys), pq.Array(own.N), minutesAtOnce)
	return rows, translate(ctx, err)
}
