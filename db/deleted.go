package db

import (
	"context"
	"time"

	"canopy/internal/globalid"
)

// MaxDeleted is how many deleted things of a kind that can be brought back are shown at once: the ones that were deleted last.
const MaxDeleted = 200

// Deleted is something that was deleted and can be brought back.
type Deleted struct {
	// Type is that of its global id, which it comes back with.
	Type string `db:"type"`
	ID   int64  `db:"id"`
	Name string `db:"name"`
	// Owner is what it hangs from.
	Owner           int64     `db:"owner_id"`
	DeletedAt       time.Time `db:"removed_at"`
	RestorableUntil time.Time `db:"erase_at"`

	siblings
}

// GlobalID is what it had, and will have, as a node.
func (d *Deleted) GlobalID() globalid.ID { return globalid.ID{Type: d.Type, Int: d.ID} }

var qDeletedSecrets = prepare(`
	SELECT 'Secret' AS type, s.id, s.name, s.customer_id AS owner_id, s.removed_at, s.erase_at
	FROM unnest($1::bigint[]) k(id) CROSS JOIN LATERAL (
		SELECT * FROM removed_secrets WHERE customer_id = k.id AND ` + unindexed("erase_at > now()") + ` ORDER BY customer_id DESC, removed_at DESC LIMIT $2) s
	ORDER BY s.customer_id, s.removed_at DESC, s.id DESC`)

var customerDeletedSecrets = edgeBy((*Customer).key, func(ctx context.Context, s *Store, _ none, ids []int64) (map[int64][]*Deleted, error) {
	return deletedOf(ctx, s, qDeletedSecrets, ids)
})

func deletedOf(ctx context.Context, s *Store, q query, ids []int64) (map[int64][]*Deleted, error) {
	var rows []*Deleted
	err := s.list(ctx, &rows, q, ids, MaxDeleted)
	return byKey(join(rows), func(d *Deleted) int64 { return d.Owner }), err
}

// DeletedSecrets are the company's secrets that can be brought back, the one that was deleted last first; at most MaxDeleted.
func (c *Customer) DeletedSecrets(ctx context.Context, s *Store) ([]*Deleted, error) {
	return follow(ctx, s, c, customerDeletedSecrets, none{})
}
