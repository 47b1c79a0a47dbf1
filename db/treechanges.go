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

// treeChangesKept is how long changes of the tree can be read, and mostTreeChanges how many at once: the latest.
const (
	treeChangesKept = time.Hour
	mostTreeChanges = 10_000
)

var (
	qLogTreeChanges = prepare(`INSERT INTO tree_changes (customer_id) SELECT DISTINCT id FROM unnest($1::bigint[]) c(id)`)
	// Of the transactions that are not over at this moment none is older than the one that is given as next.
	qTreeChanges = prepare(`
		SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS next, COALESCE(c.id, 0) AS id, COALESCE(c.customer_id, 0) AS customer_id
		FROM (SELECT) one LEFT JOIN (
			SELECT * FROM (SELECT * FROM tree_changes WHERE changed_by >= $1::text::xid8 OFFSET 0) c ORDER BY c.id DESC LIMIT $2) c ON true`)
	qForgetTreeChanges = prepare(`
		DELETE FROM tree_changes WHERE id IN (SELECT id FROM tree_changes WHERE changed_at < now() - $1 * interval '1 second' ORDER BY changed_at LIMIT $2)`)
)

// LogTreeChanges writes down, with a change, which companies it has changed the status or the place of.
func (s *Store) LogTreeChanges(ctx context.Context, companies []int64) error {
	_, err := s.exec(ctx, qLogTreeChanges, pq.Array(companies))
	return err
}

// noTransaction is later than all transactions.
const noTransaction = "18446744073709551615"

// TreeChanges are the changes of the tree that were made by the transaction since and later ones, and where to go on: what is committed from
// now on is there then, beside some that were given before. Of "" it gives no more than that.
func (s *Store) TreeChanges(ctx context.Context, since string) (changes []TreeChange, next string, err error) {
	if since == "" {
		since = noTransaction
	}
	var rows []struct {
		TreeChange
		Next string
	}
	if err := s.list(ctx, &rows, qTreeChanges, since, mostTreeChanges); err != nil {
		return nil, "", err
	}
	for _, row := range rows {
		next = row.Next
		if row.ID > 0 {
			changes = append(changes, row.TreeChange)
		}
	}
	return changes, next, nil
}

// ForgetTreeChanges deletes changes of the tree that every process has heard of, at most so many.
func (s *Store) ForgetTreeChanges(ctx context.Context, most int) (int64, error) {
	return s.exec(ctx, qForgetTreeChanges, treeChangesKept.Seconds(), most)
}
