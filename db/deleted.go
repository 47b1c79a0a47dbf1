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

// What is hidden keeps its row; how long it can be brought back follows from when it was deleted.
var (
	qDeletedAgents = prepare(`
		SELECT 'Agent' AS type, g.id, g.name, k.id AS owner_id, g.deleted_at AS removed_at, g.deleted_at + $3 * interval '1 second' AS erase_at
		FROM unnest($1::bigint[]) k(id) CROSS JOIN LATERAL (
			SELECT h.* FROM accounts a CROSS JOIN LATERAL (
				SELECT id, name, deleted_at FROM agents WHERE account_id = a.id AND deleted_at > now() - $3 * interval '1 second'
				ORDER BY account_id DESC, deleted_at DESC LIMIT $2) h
			WHERE a.customer_id = k.id ORDER BY h.deleted_at DESC, h.id DESC LIMIT $2) g
		ORDER BY k.id, g.deleted_at DESC, g.id DESC`)
	qDeletedDestinations = prepare(`
		SELECT 'WebhookDestination' AS type, d.id, d.name, k.id AS owner_id, d.deleted_at AS removed_at, d.deleted_at + $3 * interval '1 second' AS erase_at
		FROM unnest($1::bigint[]) k(id) CROSS JOIN LATERAL (
			SELECT id, COALESCE(NULLIF(name, ''), url) AS name, deleted_at FROM webhook_destinations
			WHERE customer_id = k.id AND deleted_at > now() - $3 * interval '1 second' AND secret <> ''
			ORDER BY customer_id DESC, deleted_at DESC LIMIT $2) d
		ORDER BY k.id, d.deleted_at DESC, d.id DESC`)
)

var (
	customerDeletedSecrets      = customerDeleted(qDeletedSecrets)
	customerDeletedAgents       = customerDeleted(qDeletedAgents, HiddenFor.Seconds())
	customerDeletedDestinations = customerDeleted(qDeletedDestinations, HiddenFor.Seconds())
)

// customerDeleted is the edge from a company to what of it can be brought back.
func customerDeleted(q query, more ...any) *edge[Customer, none, int64, []*Deleted] {
	return edgeBy((*Customer).key, func(ctx context.Context, s *Store, _ none, ids []int64) (map[int64][]*Deleted, error) {
		return deletedOf(ctx, s, q, ids, more...)
	})
}

func deletedOf(ctx context.Context, s *Store, q query, ids []int64, more ...any) (map[int64][]*Deleted, error) {
	var rows []*Deleted
	err := s.list(ctx, &rows, q, append([]any{ids, MaxDeleted}, more...)...)
	return byKey(join(rows), func(d *Deleted) int64 { return d.Owner }), err
}

// DeletedSecrets are the company's secrets that can be brought back, the one that was deleted last first; at most MaxDeleted.
func (c *Customer) DeletedSecrets(ctx context.Context, s *Store) ([]*Deleted, error) {
	return follow(ctx, s, c, customerDeletedSecrets, none{})
}

// DeletedAgents are the company's agents that can be brought back, the one that was deleted last first; at most MaxDeleted.
func (c *Customer) DeletedAgents(ctx context.Context, s *Store) ([]*Deleted, error) {
	return follow(ctx, s, c, customerDeletedAgents, none{})
}

// DeletedDestinations are the company's destinations that can be brought back, the one that was deleted last first; at most MaxDeleted.
// One without a name goes by its address.
func (c *Customer) DeletedDestinations(ctx context.Context, s *Store) ([]*Deleted, error) {
	return follow(ctx, s, c, customerDeletedDestinations, none{})
}
