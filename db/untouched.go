package db

import (
	"context"
	"sync"
	"time"
)

// UntouchedDeliveries tells for how long deliveries have been due that nobody works on. Each time it is asked it looks at the next 5,000 destinations with something
// pending, and at the one that it found last: so it goes past all of them, however many there are, and what it has found it tells until somebody works on that.
type UntouchedDeliveries struct {
	Store *Store

	mu sync.Mutex
	// behind is where the next look begins; found is the destination that waits longest of those that were seen, 0 for none.
	behind, found int64
}

// A destination whose lane is full has attempts under way; one that nobody works on has not.
var qDeliveriesUntouched = prepare(`
	WITH RECURSIVE ` + walkBehind("passed", "$1") + `
	walk AS (SELECT destination_id FROM passed UNION SELECT $2::bigint),` + dueOfWalk + `,
	untouched AS (
		SELECT due.id, due.oldest FROM due
		WHERE NOT EXISTS (SELECT FROM webhook_due w WHERE w.destination_id = due.id AND w.begun AND w.next_attempt_at > now() AND w.claimed_at IS NOT NULL)
		ORDER BY due.oldest, due.id LIMIT 1)
	SELECT p.behind, COALESCE(u.id, 0) AS found, COALESCE(EXTRACT(epoch FROM now() - u.oldest), 0)::float8 AS lag
	FROM (SELECT CASE WHEN count(*) = ` + walkMost + ` THEN max(destination_id) ELSE 0 END AS behind FROM passed) p LEFT JOIN untouched u ON true`)

// For looks on, and tells for how long what waits longest of all that it knows of has been due.
func (u *UntouchedDeliveries) For(ctx context.Context) (time.Duration, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	var seen struct {
		Behind int64   `db:"behind"`
		Found  int64   `db:"found"`
		Lag    float64 `db:"lag"`
	}
	if err := u.Store.get(ctx, &seen, qDeliveriesUntouched, u.behind, u.found); err != nil {
		return 0, err
	}
	u.behind, u.found = seen.Behind, seen.Found
	return time.Duration(seen.Lag * float64(time.Second)), nil
}
