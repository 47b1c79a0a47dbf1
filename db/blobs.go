package db

import (
	"context"
	"time"
)

// DueBlob is an original to delete from the blob store.
type DueBlob struct {
	ID       int64  `db:"id" json:"id"`
	Attempts int    `db:"attempts" json:"attempts"`
	Key      string `db:"key" json:"-"`
}

var (
	qLeaseBlobs = prepare(`
		UPDATE blob_deletions SET next_attempt_at = now() + $2 * interval '1 second'
		WHERE id = ANY (ARRAY(SELECT id FROM blob_deletions WHERE next_attempt_at <= now() ORDER BY next_attempt_at LIMIT $1 FOR UPDATE SKIP LOCKED))
		RETURNING id, attempts, key`)
	qReleaseBlobs = prepare(`UPDATE blob_deletions SET next_attempt_at = now() WHERE id = ANY($1)`)
	qClaimBlob    = prepare(`
		UPDATE blob_deletions SET attempts = attempts + 1, next_attempt_at = now() + $3 * interval '1 second'
		WHERE id = $1 AND attempts = $2 RETURNING id, attempts, key`)
	qBlobGone = prepare(`DELETE FROM blob_deletions WHERE id = $1`)
	qDropKeys = prepare(`
		INSERT INTO blob_deletions (key) SELECT k FROM unnest($1::text[]) k CROSS JOIN LATERAL (SELECT substr(k, $2::integer + 1)) f(name)
		WHERE NOT EXISTS (SELECT 1 FROM documents d
			WHERE d.file_name = CASE WHEN f.name ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN f.name::uuid END)
		ON CONFLICT (key) DO NOTHING`)
	qDropArchives = prepare(`
		INSERT INTO blob_deletions (key) SELECT k FROM unnest($1::text[]) k CROSS JOIN LATERAL (SELECT substr(k, $2::integer + 1)) f(name)
		WHERE NOT EXISTS (SELECT 1 FROM import_requests i
			WHERE i.file = CASE WHEN f.name ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN f.name::uuid END)
		ON CONFLICT (key) DO NOTHING`)
)

// LeaseBlobs takes up to limit due deletions out of sight for the lease.
func (s *Store) LeaseBlobs(ctx context.Context, limit int, lease time.Duration) (due []DueBlob, err error) {
	err = s.list(ctx, &due, qLeaseBlobs, limit, lease.Seconds())
	return due, err
}

// ReleaseBlobs ends the lease of deletions that could not be handed on: they are due again. One that
// is made twice does no harm.
func (s *Store) ReleaseBlobs(ctx context.Context, due []DueBlob) error {
	ids := make([]int64, len(due))
	for i, d := range due {
		ids[i] = d.ID
	}
	_, err := s.exec(ctx, qReleaseBlobs, ids)
	return err
}

// ClaimBlob begins the next attempt on a deletion, and has it tried again after the wait; ErrNoRows
// when it is done or claimed by another.
func (s *Store) ClaimBlob(ctx context.Context, due DueBlob, wait time.Duration) (*DueBlob, error) {
	b := &DueBlob{}
	err := s.get(ctx, b, qClaimBlob, due.ID, due.Attempts, wait.Seconds())
	return b, err
}

// BlobGone ends a deletion.
func (s *Store) BlobGone(ctx context.Context, id int64) error {
	_, err := s.exec(ctx, qBlobGone, id)
	return err
}

// DropOrphans puts those of the keys up for deletion that no document has; it tells how many.
func (s *Store) DropOrphans(ctx context.Context, keys []string) (int64, error) {
	return s.exec(ctx, qDropKeys, keys, len(BlobPrefix))
}

// DropArchives puts those of the keys up for deletion that are the archive of no import; it tells how many.
func (s *Store) DropArchives(ctx context.Context, keys []string) (int64, error) {
	return s.exec(ctx, qDropArchives, keys, len(ImportPrefix))
}
