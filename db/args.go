package db

import (
	"context"
	"math"

	"canopy/internal/paging"
)

// boundary is where a page whose cursor is one integer begins: at the cursor, or else at start.
func boundary(p paging.Page, start int64) int64 {
	if after := p.After(); len(after) > 0 {
		return after[0]
	}
	return start
}

// afterID is the lower bound of a page whose cursor is one id; ids start above 0.
func afterID(p paging.Page) int64 { return boundary(p, 0) }

// beforeID is the upper bound of a page that runs from the newest id down.
func beforeID(p paging.Page) int64 { return boundary(p, math.MaxInt64) }

// atLeastEmpty makes a missing key the empty array, which sorts before every lineage.
func atLeastEmpty(key []int64) []int64 {
	if key == nil {
		return []int64{}
	}
	return key
}

// withoutTimeout runs do without the statement timeout: for what reads much, at this process's own pace.
func (s *Store) withoutTimeout(ctx context.Context, do func(*Store) error) error {
	return s.Tx(ctx, func(tx *Store) error {
		if _, err := tx.exec(ctx, qNoTimeout); err != nil {
			return err
		}
		return do(tx)
	})
}

var qNoTimeout = prepare(`SET LOCAL statement_timeout = 0`)
