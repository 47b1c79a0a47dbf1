package db

import (
	"context"
	"math"
	"time"

	"canopy/internal/paging"
	"canopy/internal/problem"
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

// noLimit makes the limit 0 the NULL that LIMIT takes for all rows.
func noLimit(limit int) *int {
	if limit == 0 {
		return nil
	}
	return &limit
}

// streamWait is how long a list waits for a place among those that are being streamed.
const streamWait = time.Second

// untimed runs do without the statement timeout, for lists that are streamed to a client at the
// client's own pace. Only so many are at once: each holds a connection. A list with a limit is read
// at one go, as everything else is.
func (s *Store) untimed(ctx context.Context, limit int, do func(*Store) error) error {
	if limit > 0 {
		return do(s)
	}
	if s.tx == nil {
		wait := time.NewTimer(streamWait)
		defer wait.Stop()
		select {
		case s.streams <- struct{}{}:
			defer func() { <-s.streams }()
		case <-wait.C:
			return &problem.Error{
				Code: problem.Unavailable, RetryAfter: 5 * streamWait,
				Detail: "too many whole lists are being read at the moment: try again, or ask for pages with limit",
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.withoutTimeout(ctx, do)
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
