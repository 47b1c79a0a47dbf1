package db

import (
	"context"
	"time"
)

// SealingKey stands for a key of CANOPY_SECRET_KEY that something in the database may be sealed with. ID is
// a part of its hash; the key itself is not in the database.
type SealingKey struct {
	ID        string    `db:"id"`
	CreatedAt time.Time `db:"created_at"`
	// UsedAt is when a process was last seen that seals with it; nil: none was.
	UsedAt *time.Time `db:"used_at"`
	// Idle is for how long none was seen, in seconds.
	Idle float64 `db:"idle"`
}

var (
	qSealingKeys = prepare(`
		SELECT id, created_at, used_at, COALESCE(EXTRACT(epoch FROM now() - used_at), 'infinity')::float8 AS idle
		FROM sealing_keys ORDER BY created_at, id`)
	qUseSealingKey = prepare(`
		INSERT INTO sealing_keys (id, used_at) VALUES ($1, now()) ON CONFLICT (id) DO UPDATE SET used_at = now()`)
	qKeepSealingKeys = prepare(`INSERT INTO sealing_keys (id) SELECT unnest($1::text[]) ON CONFLICT (id) DO NOTHING`)
	qDropSealingKey  = prepare(`DELETE FROM sealing_keys WHERE id = $1 AND used_at IS NOT DISTINCT FROM $2`)
)

// SealingKeys lists the keys that something may be sealed with, in the order in which they came.
func (s *Store) SealingKeys(ctx context.Context) (rows []SealingKey, err error) {
	err = s.list(ctx, &rows, qSealingKeys)
	return rows, err
}

// UseSealingKey writes down that a process seals with a key.
func (s *Store) UseSealingKey(ctx context.Context, id string) error {
	_, err := s.exec(ctx, qUseSealingKey, id)
	return err
}

// KeepSealingKeys writes down that keys are needed, whether or not a process seals with them.
func (s *Store) KeepSealingKeys(ctx context.Context, ids []string) error {
	_, err := s.exec(ctx, qKeepSealingKeys, ids)
	return err
}

// DropSealingKey forgets a key that nothing is sealed with any more; false when a process was seen meanwhile
// that seals with it.
func (s *Store) DropSealingKey(ctx context.Context, k SealingKey) (bool, error) {
	n, err := s.exec(ctx, qDropSealingKey, k.ID, k.UsedAt)
	return n == 1, err
}
