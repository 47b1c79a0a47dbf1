package db

import (
	"context"

	"canopy/internal/access"
)

var (
	qHideSecret = prepare(`
		WITH gone AS (DELETE FROM secrets WHERE id = $1 RETURNING *)
		INSERT INTO removed_secrets (id, customer_id, name, value, created_at, updated_at, row_version, erase_at)
		SELECT id, customer_id, name, value, created_at, updated_at, row_version, now() + $2 * interval '1 second' FROM gone`)
	qRemovedSecretForUpdate = prepare(`
		SELECT s.id, s.customer_id, s.name, s.value FROM removed_secrets s JOIN customers c ON c.id = s.customer_id
		WHERE s.id = $3 AND ` + unindexed("s.erase_at > now()") + ` AND ` + withinScope + ` FOR UPDATE OF s`)
	// Another name is a change of it.
	qRestoreSecret = prepare(`
		WITH back AS (DELETE FROM removed_secrets WHERE id = $1 RETURNING *)
		INSERT INTO secrets AS s (id, customer_id, name, value, created_at, updated_at, row_version)
		SELECT id, customer_id, $2, $3, created_at, updated_at, row_version + (name <> $2)::integer FROM back
		RETURNING ` + secretColumns)
	qEraseSecrets = prepare(`
		DELETE FROM removed_secrets WHERE id = ANY (ARRAY(SELECT id FROM removed_secrets WHERE erase_at <= now() ORDER BY erase_at LIMIT $1 FOR UPDATE SKIP LOCKED))`)
	qRemovedSecretCount = prepare(`SELECT count(*) FROM removed_secrets WHERE customer_id = $1`)
)

// RemovedSecret is a secret that can be brought back, with its sealed value.
type RemovedSecret struct {
	ID         int64  `db:"id"`
	CustomerID int64  `db:"customer_id"`
	Name       string `db:"name"`
	Value      []byte `db:"value"`
}

// HideSecret takes a secret away from everybody, where RestoreSecret can bring it back within HiddenFor; EraseSecrets takes it away then.
func (s *Store) HideSecret(ctx context.Context, id int64) error {
	return s.must(ctx, qHideSecret, id, HiddenFor.Seconds())
}

// RemovedSecretForUpdate reads a secret of a company within the scope that can be brought back, and holds its row; ErrNoRows where there is none.
func (s *Store) RemovedSecretForUpdate(ctx context.Context, scope access.Scope, id int64) (*RemovedSecret, error) {
	x := &RemovedSecret{}
	err := s.get(ctx, x, qRemovedSecretForUpdate, scope.From(), scope.To(), id)
	return x, err
}

// RestoreSecret brings a removed secret back under a name, with its value sealed anew.
func (s *Store) RestoreSecret(ctx context.Context, id int64, name string, sealed []byte) (*Secret, error) {
	x := &Secret{}
	err := s.get(ctx, x, qRestoreSecret, id, name, sealed)
	return x, err
}

// RemovedSecretCount counts a company's secrets that were removed and are not erased yet.
func (s *Store) RemovedSecretCount(ctx context.Context, customerID int64) (n int, err error) {
	err = s.get(ctx, &n, qRemovedSecretCount, customerID)
	return n, err
}

// EraseSecrets erases so many secrets that can't be brought back any more, and gives of how many.
func (s *Store) EraseSecrets(ctx context.Context, limit int) (int64, error) {
	return s.exec(ctx, qEraseSecrets, limit)
}
