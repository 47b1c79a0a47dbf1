package db

import (
	"context"
	"time"

	"canopy/internal/paging"
	"canopy/internal/problem"
)

// afterID is the lower bound of a page whose cursor is one id; ids start above 0.
func afterID(p paging.Page) int64 {
	if len(p.After) == 0 {
		return 0
	}
	return p.After[0]
}

// beforeID is the upper bound of a page that runs from the newest id down.
func beforeID(p paging.Page) int64 {
	if len(p.After) == 0 {
		return 1<<63 - 1
	}
	return p.After[0]
}

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

// counts loads a count for each id; an id without rows counts 0.
func (s *Store) counts(q query, args ...any) func(context.Context, []int64) (map[int64]int, error) {
	return func(ctx context.Context, ids []int64) (map[int64]int, error) {
		var rows []struct {
			ID    int64 `db:"id"`
			Count int   `db:"count"`
		}
		err := s.list(ctx, &rows, q, append([]any{ids}, args...)...)
		found := make(map[int64]int, len(rows))
		for _, r := range rows {
			found[r.ID] = r.Count
		}
		return found, err
	}
}
