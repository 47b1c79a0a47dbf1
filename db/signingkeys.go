package db

import (
	"context"
	"time"
)

// SigningKey is a key that access tokens are signed with.
type SigningKey struct {
	KID         string     `db:"kid"`
	PrivateKey  []byte     `db:"private_key"`
	ActivatesAt time.Time  `db:"activates_at"`
	RetiresAt   *time.Time `db:"retires_at"`
	CreatedAt   time.Time  `db:"created_at"`
}

var (
	qSigningKeys = prepare(`
		SELECT kid, private_key, activates_at, retires_at, created_at FROM signing_keys
		WHERE retires_at IS NULL OR retires_at > now() ORDER BY activates_at, kid`)
	qLockSigningKeys  = prepare(`SELECT pg_advisory_xact_lock(hashtext('canopy signing keys'))`)
	qInsertSigningKey = prepare(`INSERT INTO signing_keys (kid, private_key, activates_at) VALUES ($1, $2, $3)`)
	qRetireOthers     = prepare(`UPDATE signing_keys SET retires_at = $2 WHERE kid <> $1 AND retires_at IS NULL`)
	qDropSigningKey   = prepare(`DELETE FROM signing_keys WHERE kid = $1`)
	qDropRetired      = prepare(`DELETE FROM signing_keys WHERE retires_at <= now()`)
)

// SigningKeys lists the keys that are published, the one that became or becomes active last at
// the end.
func (s *Store) SigningKeys(ctx context.Context) (rows []SigningKey, err error) {
	err = s.list(ctx, &rows, qSigningKeys)
	return rows, err
}

// LockSigningKeys lets one process at a time change the set of keys, until the transaction ends.
func (s *Store) LockSigningKeys(ctx context.Context) error {
	_, err := s.exec(ctx, qLockSigningKeys)
	return err
}

// InsertSigningKey adds a key and lets the others retire at the given time.
func (s *Store) InsertSigningKey(ctx context.Context, k SigningKey, othersRetire time.Time) error {
	if _, err := s.exec(ctx, qDropRetired); err != nil {
		return err
	}
	if _, err := s.exec(ctx, qInsertSigningKey, k.KID, k.PrivateKey, k.ActivatesAt); err != nil {
		return err
	}
	_, err := s.exec(ctx, qRetireOthers, k.KID, othersRetire)
	return err
}

// DropSigningKey ends a key at once: no token that it has signed is good any more.
func (s *Store) DropSigningKey(ctx context.Context, kid string) error {
	return s.must(ctx, qDropSigningKey, kid)
}
