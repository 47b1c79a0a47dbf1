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
	qBlobGone       = prepare(`DELETE FROM blob_deletions WHERE id = $1`)
	qBeginBlob      = prepare(`INSERT INTO blob_deletions (key, next_attempt_at) VALUES ($1, now() + $2 * interval '1 second')`)
	qKeepBlob       = prepare(`DELETE FROM blob_deletions WHERE key = $1`)
	qLoneOriginals  = prepare(lone("documents", "file_name"))
	qLoneArchives   = prepare(lone("import_requests", "file"))
	qDropBlobs      = prepare(`INSERT INTO blob_deletions (key) SELECT unnest($1::text[]) ON CONFLICT (key) DO NOTHING`)
	qNewestOriginal = prepare(`SELECT ` + blobOf + ` FROM documents d ORDER BY d.id DESC LIMIT 1`)
)

// UploadTime is longer than any upload takes.
const UploadTime = 24 * time.Hour

// lone gives those of the keys $1 that no row of a table has, which knows them without the first $2 letters.
func lone(table, column string) string {
	return `SELECT k FROM unnest($1::text[]) k CROSS JOIN LATERAL (SELECT substr(k, $2::integer + 1)) f(name)
		WHERE NOT EXISTS (SELECT 1 FROM ` + table + ` r
			WHERE r.` + column + ` = CASE WHEN f.name ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN f.name::uuid END)`
}

// BeginBlob tells of a blob that is about to be written: it is deleted when UploadTime is over, unless KeepBlob is told that it is kept. So what a process leaves that ends
// between the two is found without a look at all that is stored, and what is in the store of others is theirs.
func (s *Store) BeginBlob(ctx context.Context, key string) error {
	return s.must(ctx, qBeginBlob, key, UploadTime.Seconds())
}

// KeepBlob tells that something of the database has a blob from this transaction on, or that there is none; ErrNoRows where it was deleted meanwhile.
func (s *Store) KeepBlob(ctx context.Context, key string) error { return s.must(ctx, qKeepBlob, key) }

// NewestOriginal is the key of the original of the newest document; ErrNoRows where there is none.
func (s *Store) NewestOriginal(ctx context.Context) (key string, err error) {
	err = s.get(ctx, &key, qNewestOriginal)
	return key, err
}

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

// LoneOriginals gives those of the keys of originals that no document has.
func (s *Store) LoneOriginals(ctx context.Context, keys []string) (lone []string, err error) {
	err = s.list(ctx, &lone, qLoneOriginals, keys, len(BlobPrefix))
	return lone, err
}

// LoneArchives gives those of the keys of archives that no import has.
func (s *Store) LoneArchives(ctx context.Context, keys []string) (lone []string, err error) {
	err = s.list(ctx, &lone, qLoneArchives, keys, len(ImportPrefix))
	return lone, err
}

// DropBlobs puts blobs up for deletion.
func (s *Store) DropBlobs(ctx context.Context, keys []string) error {
	_, err := s.exec(ctx, qDropBlobs, keys)
	return err
}
