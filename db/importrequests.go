package db

import (
	"context"
	"encoding/json"
	"time"

	"canopy/internal/access"
	"canopy/internal/globalid"
)

// ImportCancelled is the state of an import that was cancelled; the others are those of exports.
const ImportCancelled = "CANCELLED"

// ImportLife is how long it is told what came of an import.
const ImportLife = 7 * 24 * time.Hour

// CustomerImport is an archive that was uploaded to be read in below a company, and what came of it.
type CustomerImport struct {
	ID       int64 `db:"id"`
	ParentID int64 `db:"parent_id" audit:"parent"`
	// UserID and ClientID are who asked for it; UserID is nil when that person is gone.
	UserID   *int64 `db:"user_id"`
	ClientID string `db:"client_id"`
	// File names the archive, Archive is its SHA-256, and Size how many bytes it has.
	File    string `db:"file"`
	Archive []byte `db:"archive"`
	Size    int64  `db:"size" audit:"size"`
	DryRun  bool   `db:"dry_run" audit:"dryRun"`
	Status  string `db:"status" audit:"status"`
	// Progress is 0 to 1.
	Progress float64 `db:"progress"`
	// MadeID is the company that was made of it; nil where there is none, or no longer.
	MadeID *int64 `db:"made_id"`
	// Report tells what came of it, or was found by a dry run; Error why it was given up.
	Report *json.RawMessage `db:"report"`
	Error  *string          `db:"error"`
	// Attempts counts the claims of workers.
	Attempts  int        `db:"attempts"`
	CreatedAt time.Time  `db:"created_at"`
	ExpiresAt *time.Time `db:"expires_at"`
}

// GlobalID is the node id of the import.
func (i *CustomerImport) GlobalID() globalid.ID {
	return globalid.ID{Type: "CustomerImport", Int: i.ID}
}

// ReportJSON is the report, where there is one.
func (i *CustomerImport) ReportJSON() json.RawMessage { return rawOf(i.Report) }

// ImportPrefix is what the keys of all uploaded archives begin with.
const ImportPrefix = "imports/"

// BlobKey is the archive's key in the blob store.
func (i *CustomerImport) BlobKey() string { return ImportPrefix + i.File }

// DueImport names an import to work on, and how often that was begun.
type DueImport struct {
	ID       int64 `db:"id" json:"id"`
	Attempts int   `db:"attempts" json:"attempts"`
}

var importRequestColumns = columns[CustomerImport]("i")

var (
	qImportBacklog = backlog("import_requests", "next_attempt_at", exportOpen)
	// ImportRequestOnce refuses the same archive while it is under way.
	qInsertImportRequest = prepare(`
		INSERT INTO import_requests AS i (parent_id, user_id, client_id, file, archive, size, dry_run) VALUES ($1, $2, $3, $4, $5, $6, $7)
		RETURNING ` + importRequestColumns)
	qSameImportRequest = prepare(`
		SELECT ` + importRequestColumns + ` FROM import_requests i WHERE i.parent_id = $1 AND i.archive = $2 AND i.dry_run = $3 AND ` + unindexed("i."+exportOpen))
	qCountImportRequests = prepare(`SELECT count(*) FROM (SELECT FROM import_requests WHERE ` + exportOpen + ` LIMIT $1) w`)
	importRequest        = `
		SELECT ` + importRequestColumns + ` FROM import_requests i JOIN customers c ON c.id = i.parent_id
		WHERE i.id = $3 AND COALESCE(i.expires_at > now(), true) AND ` + withinScope
	qImportRequest          = prepare(importRequest)
	qImportRequestForUpdate = prepare(importRequest + ` FOR NO KEY UPDATE OF i`)
	qLeaseImportRequest     = work{
		table: "import_requests", open: exportOpen, handedOut: "handed_out", due: "next_attempt_at",
		first: "id", size: "id", window: "1", set: ", handed_out = true", count: "attempts",
	}.leased()
	qReleaseImportRequests = prepare(`
		UPDATE import_requests e SET next_attempt_at = now() FROM unnest($1::bigint[], $2::integer[]) d(id, attempts)
		WHERE e.id = ANY($1) AND e.id = d.id AND e.attempts = d.attempts AND ` + unindexed("e."+exportOpen))
	qClaimImportRequest = prepare(`
		UPDATE import_requests i SET status = 'RUNNING', progress = 0, attempts = i.attempts + 1, next_attempt_at = now() + $3 * interval '1 second'
		WHERE i.id = $1 AND i.attempts = $2 AND ` + unindexed("i."+exportOpen) + ` RETURNING ` + importRequestColumns)
	qRenewImportRequest = prepare(`UPDATE import_requests SET next_attempt_at = now() + $3 * interval '1 second', progress = $4 WHERE ` + heldExport)
	qLateImportRequest  = prepare(`UPDATE import_requests SET handed_out = false, next_attempt_at = now() + $3 * interval '1 second' WHERE ` + heldExport)
	qNoteMade           = prepare(`UPDATE import_requests SET made_id = $3 WHERE ` + heldExport)
	qEndImportRequest   = prepare(`
		UPDATE import_requests SET status = $3, progress = CASE $3 WHEN 'READY' THEN 1 ELSE progress END, made_id = COALESCE($4, made_id), report = $5, error = $6,
			handed_out = false, expires_at = now() + $7 * interval '1 second' WHERE ` + heldExport)
	qCancelImportRequest = prepare(`
		UPDATE import_requests i SET status = 'CANCELLED', handed_out = false, expires_at = now() + $2 * interval '1 second'
		WHERE i.id = $1 RETURNING ` + importRequestColumns)
	qForgetImportRequests = prepare(`
		DELETE FROM import_requests WHERE id = ANY (ARRAY(SELECT id FROM import_requests WHERE expires_at <= now() ORDER BY expires_at LIMIT $1))`)
)

// ImportRequestOnce is the unique index by which an archive is read in below a company once at a time.
const ImportRequestOnce = "import_requests_once"

// InsertImportRequest asks for an import. ImportRequestOnce: the same is under way.
func (s *Store) InsertImportRequest(ctx context.Context, i CustomerImport) (*CustomerImport, error) {
	row := &CustomerImport{}
	err := s.get(ctx, row, qInsertImportRequest, i.ParentID, i.UserID, i.ClientID, i.File, i.Archive, i.Size, i.DryRun)
	return row, err
}

// SameImportRequest reads the import of the same archive below the same company that is under way; ErrNoRows: there is none.
func (s *Store) SameImportRequest(ctx context.Context, i CustomerImport) (*CustomerImport, error) {
	row := &CustomerImport{}
	err := s.get(ctx, row, qSameImportRequest, i.ParentID, i.Archive, i.DryRun)
	return row, err
}

// CountImportRequests counts the imports that are under way, up to most.
func (s *Store) CountImportRequests(ctx context.Context, most int) (n int, err error) {
	err = s.get(ctx, &n, qCountImportRequests, most)
	return n, err
}

// ImportRequest reads an import below a company within the scope that has not expired.
func (s *Store) ImportRequest(ctx context.Context, scope access.Scope, id int64) (*CustomerImport, error) {
	i := &CustomerImport{}
	err := s.get(ctx, i, qImportRequest, scope.From(), scope.To(), id)
	return i, err
}

// ImportRequestForUpdate is ImportRequest, and holds the row until the transaction ends.
func (s *Store) ImportRequestForUpdate(ctx context.Context, scope access.Scope, id int64) (*CustomerImport, error) {
	i := &CustomerImport{}
	err := s.get(ctx, i, qImportRequestForUpdate, scope.From(), scope.To(), id)
	return i, err
}

// LeaseImportRequests hands out imports by turns of branches, for the lease.
func (s *Store) LeaseImportRequests(ctx context.Context, places int, lease time.Duration) ([]DueImport, error) {
	return handOut[DueImport](ctx, s, qLeaseImportRequest, places, lease)
}

// ReleaseImportRequests ends the lease of imports that could not be handed on: they are due again.
func (s *Store) ReleaseImportRequests(ctx context.Context, due []DueImport) error {
	return release(ctx, s, qReleaseImportRequests, due, func(d DueImport) (int64, int) { return d.ID, d.Attempts })
}

// ClaimImportRequest begins the next attempt on an import; ErrNoRows when it has ended, or is claimed by another.
func (s *Store) ClaimImportRequest(ctx context.Context, due DueImport, lease time.Duration) (*CustomerImport, error) {
	i := &CustomerImport{}
	err := s.get(ctx, i, qClaimImportRequest, due.ID, due.Attempts, lease.Seconds())
	return i, err
}

// RenewImportRequest keeps the lease up and tells the progress; ErrNoRows when the import is another claim's, was cancelled, or is gone.
func (s *Store) RenewImportRequest(ctx context.Context, i *CustomerImport, lease time.Duration, progress float64) error {
	return s.must(ctx, qRenewImportRequest, i.ID, i.Attempts, lease.Seconds(), progress)
}

// DelayImportRequest has an attempt that has failed be followed by another.
func (s *Store) DelayImportRequest(ctx context.Context, i *CustomerImport, wait time.Duration) error {
	return s.must(ctx, qLateImportRequest, i.ID, i.Attempts, wait.Seconds())
}

// NoteMade writes down which company was made of an import, in the transaction that makes it; ErrNoRows as for RenewImportRequest.
func (s *Store) NoteMade(ctx context.Context, i *CustomerImport, customerID int64) error {
	return s.must(ctx, qNoteMade, i.ID, i.Attempts, customerID)
}

// EndImportRequest ends an import, as ready or failed, with what it tells then, to be kept for so long.
func (s *Store) EndImportRequest(ctx context.Context, i *CustomerImport, keep time.Duration) error {
	return s.must(ctx, qEndImportRequest, i.ID, i.Attempts, i.Status, i.MadeID, rawArg(i.Report), i.Error, keep.Seconds())
}

// CancelImportRequest cancels an import that is held, to be kept for so long.
func (s *Store) CancelImportRequest(ctx context.Context, id int64, keep time.Duration) (*CustomerImport, error) {
	i := &CustomerImport{}
	err := s.get(ctx, i, qCancelImportRequest, id, keep.Seconds())
	return i, err
}

// ForgetImportRequests deletes up to limit imports that have expired, and tells how many.
func (s *Store) ForgetImportRequests(ctx context.Context, limit int) (int64, error) {
	return s.exec(ctx, qForgetImportRequests, limit)
}

// ImportBacklog tells of the imports that wait, counting no further than 100,000.
func (s *Store) ImportBacklog(ctx context.Context) (b Backlog, err error) {
	err = s.get(ctx, &b, qImportBacklog)
	return b, err
}
