package db

import (
	"context"
	"time"

	"github.com/lib/pq"
)

// TreeChange is that the status or the place of a company has changed.
type TreeChange struct {
	ID         int64 `db:"id"`
	CustomerID int64 `db:"customer_id"`
}

// treeChangesKept is how long changes of the tree can be read, and mostTreeChanges how many are read at once.
const (
	treeChangesKept = time.Hour
	mostTreeChanges = 10_000
)

var (
	qLogTreeChanges = prepare(`INSERT INTO tree_changes (customer_id) SELECT DISTINCT id FROM unnest($1::bigint[]) c(id)`)
	// What the snapshot that is given did not see, and the one that sees all of it.
	qTreeChanges = prepare(`
		SELECT pg_current_snapshot()::text AS next, COALESCE(c.id, 0) AS id, COALESCE(c.customer_id, 0) AS customer_id
		FROM (SELECT) one LEFT JOIN (
			SELECT * FROM (SELECT * FROM tree_changes WHERE changed_by >= pg_snapshot_xmin($1::text::pg_snapshot) OFFSET 0) c
			WHERE NOT pg_visible_in_snapshot(c.changed_by, $1::text::pg_snapshot) AND c.id > $2 ORDER BY c.id LIMIT $3) c ON true`)
	qForgetTreeChanges = prepare(`
		DELETE FROM tree_changes WHERE id IN (SELECT id FROM tree_changes WHERE changed_at < now() - $1 * interval '1 second' ORDER BY changed_at LIMIT $2)`)
)

// LogTreeChanges writes down, with a change, which companies it has changed the status or the place of.
func (s *Store) LogTreeChanges(ctx context.Context, companies []int64) error {
	_, err := s.exec(ctx, qLogTreeChanges, pq.Array(companies))
	return err
}

// allSeen is a snapshot that sees all transactions there will ever be.
const allSeen = "9223372036854775807:9223372036854775807:"

// TreeChanges gives the changes of the tree that were committed since a snapshot, and the snapshot up to which these are all: however late one commits that
// has begun before others, it is given the next time. Some may be given twice. Of "" it gives the snapshot alone.
func (s *Store) TreeChanges(ctx context.Context, since string, each func(TreeChange)) (next string, err error) {
	if since == "" {
		since = allSeen
	}
	for after, more := int64(0), true; more; {
		var rows []struct {
			TreeChange
			Next string
		}
		if err := s.list(ctx, &rows, qTreeChanges, since, after, mostTreeChanges); err != nil {
			return "", err
		}
		if after == 0 {
			next = rows[0].Next
		}
		for _, row := range rows {
			if after = row.ID; after > 0 {
				each(row.TreeChange)
			}
		}
		more = len(rows) == mostTreeChanges
	}
	return next, nil
}

// ForgetTreeChanges deletes changes of the tree that every process has heard of, at most so many.
func (s *Store) ForgetTreeChanges(ctx context.Context, most int) (int64, error) {
	return s.exec(ctx, qForgetTreeChanges, treeChangesKept.Seconds(), most)
}
