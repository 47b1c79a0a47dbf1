package db

import (
	"context"
	"time"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/globalid"
)

// The states of an export.
const (
	ExportPending = "PENDING"
	ExportRunning = "RUNNING"
	ExportReady   = "READY"
	ExportFailed  = "FAILED"
)

// CustomerExport is the export of a company, with all below it, into an archive.
type CustomerExport struct {
	ID         int64 `db:"id"`
	CustomerID int64 `db:"customer_id" audit:"customer"`
	// AskedBy is the credential that asked for it.
	AskedBy string `db:"asked_by"`
	// Rights are what it may read in tenant management.
	Rights pq.StringArray `db:"rights"`
	// File names the archive.
	File     string  `db:"file"`
	Status   string  `db:"status"`
	Progress float64 `db:"progress"`
	// Attempts counts the claims of workers.
	Attempts  int        `db:"attempts"`
	CreatedAt time.Time  `db:"created_at"`
	ExpiresAt *time.Time `db:"expires_at"`
}

// GlobalID is the node id of the export.
func (e *CustomerExport) GlobalID() globalid.ID {
	return globalid.ID{Type: "CustomerExport", Int: e.ID}
}

// ExportPrefix is what the keys of all archives begin with.
const ExportPrefix = "exports/"

// BlobKey is the archive's key in the blob store.
func (e *CustomerExport) BlobKey() string { return ExportPrefix + e.File }

// DueExport names an export to work on, and how often that was begun.
type DueExport struct {
	ID       int64 `db:"id" json:"id"`
	Attempts int   `db:"attempts" json:"attempts"`
}

var exportColumns = columns[CustomerExport]("e")

const (
	exportOpen = `status IN ('PENDING', 'RUNNING')`
	heldExport = `id = $1 AND attempts = $2 AND status = 'RUNNING'`
)

var (
	qExportBacklog = backlog("customer_exports", "next_attempt_at", exportOpen)
	qDropExport    = prepare(`DELETE FROM customer_exports WHERE customer_id = $1 AND status IN ('READY', 'FAILED')`)
	// ExportOnce refuses a second one.
	qInsertExport = prepare(`
		INSERT INTO customer_exports AS e (customer_id, asked_by, rights) VALUES ($1, $2, $3) RETURNING ` + exportColumns)
	qExport = prepare(`
		SELECT ` + exportColumns + ` FROM customer_exports e JOIN customers c ON c.id = e.customer_id
		WHERE e.id = $3 AND COALESCE(e.expires_at > now(), true) AND ` + withinScope)
	// A link to an archive leads nowhere once who has asked for it, a person or a key, has not the rights at the company, or above it, that it was asked for with, or nobody acts for that one while it is suspended.
	qArchive = prepare(`
		SELECT ` + exportColumns + ` FROM customer_exports e` + joinByID("customers", "c", "e.customer_id") + `
		CROSS JOIN LATERAL (SELECT CASE split_part(e.asked_by, ':', 1) WHEN 'user' THEN split_part(e.asked_by, ':', 2)::bigint ELSE (
			SELECT k.user_id FROM api_keys k WHERE k.id = split_part(e.asked_by, ':', 2)::bigint AND k.revoked_at IS NULL AND COALESCE(k.expires_at > now(), true)
			AND COALESCE(k.features @> e.rights, true)) END AS user_id OFFSET 0) asker
		WHERE e.id = $1 AND e.status = 'READY' AND e.expires_at > now() AND EXISTS (
			SELECT FROM accounts a` + permissionOf("asker.user_id") + instanceOf + joinByID("applications", "app", "i.application_id") + joinByID("roles", "r", "p.role_id") + `
			WHERE a.customer_id = ANY (c.lineage) AND app.code = 'tenant' AND NOT a.disabled AND NOT p.disabled
			AND r.features @> e.rights AND (r.is_owner OR a.customer_id <> e.customer_id)
			AND NOT ` + inactive("(SELECT v.lineage FROM customers v WHERE v.id = a.customer_id)::bigint[]") + `)`)
	qLeaseExport = work{
		table: "customer_exports", open: exportOpen, handedOut: "handed_out", due: "next_attempt_at",
		first: "id", size: "id", window: "1", set: ", handed_out = true", count: "attempts",
	}.leased()
	qReleaseExports = prepare(`
		UPDATE customer_exports e SET next_attempt_at = now() FROM unnest($1::bigint[], $2::integer[]) d(id, attempts)
		WHERE e.id = ANY($1) AND e.id = d.id AND e.attempts = d.attempts AND ` + unindexed("e."+exportOpen))
	qClaimExport = prepare(`
		UPDATE customer_exports e SET status = 'RUNNING', progress = 0, attempts = e.attempts + 1, next_attempt_at = now() + $3 * interval '1 second'
		WHERE e.id = $1 AND e.attempts = $2 AND ` + unindexed("e."+exportOpen) + ` RETURNING ` + exportColumns)
	qRenewExport = prepare(`UPDATE customer_exports SET next_attempt_at = now() + $3 * interval '1 second', progress = $4 WHERE ` + heldExport)
	qLateExport  = prepare(`UPDATE customer_exports SET handed_out = false, next_attempt_at = now() + $3 * interval '1 second' WHERE ` + heldExport)
	qEndExport   = prepare(`
		UPDATE customer_exports SET status = $3, progress = CASE $3 WHEN 'READY' THEN 1 ELSE progress END, handed_out = false, expires_at = now() + $4 * interval '1 second' WHERE ` + heldExport)
	qForgetExports = prepare(`
		DELETE FROM customer_exports WHERE id = ANY (ARRAY(SELECT id FROM customer_exports WHERE expires_at <= now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED))`)
)

// ExportOnce is the unique index by which a company has one export at a time.
const ExportOnce = "customer_exports_once"

// InsertExport asks for an export of a company; one that has ended gives way to it. ExportOnce: another is under way.
func (s *Store) InsertExport(ctx context.Context, customerID int64, askedBy string, rights access.Features) (*CustomerExport, error) {
	if _, err := s.exec(ctx, qDropExport, customerID); err != nil {
		return nil, err
	}
	e := &CustomerExport{}
	err := s.get(ctx, e, qInsertExport, customerID, askedBy, pq.StringArray(rights.Names()))
	return e, err
}

// Export reads an export of a company within the scope that has not expired.
func (s *Store) Export(ctx context.Context, scope access.Scope, id int64) (*CustomerExport, error) {
	e := &CustomerExport{}
	err := s.get(ctx, e, qExport, scope.From(), scope.To(), id)
	return e, err
}

// Archive reads an export that is ready and has not expired, for who has come with a link to it, as long as its asker could be given that.
func (s *Store) Archive(ctx context.Context, id int64) (*CustomerExport, error) {
	e := &CustomerExport{}
	err := s.get(ctx, e, qArchive, id)
	return e, err
}

// LeaseExports hands out exports by turns of branches, for the lease.
func (s *Store) LeaseExports(ctx context.Context, places int, lease time.Duration) ([]DueExport, error) {
	return handOut[DueExport](ctx, s, qLeaseExport, places, lease)
}

// ReleaseExports ends the lease of exports that could not be handed on: they are due again.
func (s *Store) ReleaseExports(ctx context.Context, due []DueExport) error {
	return release(ctx, s, qReleaseExports, due, func(d DueExport) (int64, int) { return d.ID, d.Attempts })
}

// ClaimExport begins the next attempt on an export; ErrNoRows when it has ended, or is claimed by another.
func (s *Store) ClaimExport(ctx context.Context, due DueExport, lease time.Duration) (*CustomerExport, error) {
	e := &CustomerExport{}
	err := s.get(ctx, e, qClaimExport, due.ID, due.Attempts, lease.Seconds())
	return e, err
}

// RenewExport keeps the lease up and tells the progress, 0 to 1; ErrNoRows when the export is another claim's, or gone.
func (s *Store) RenewExport(ctx context.Context, e *CustomerExport, lease time.Duration, progress float64) error {
	return s.must(ctx, qRenewExport, e.ID, e.Attempts, lease.Seconds(), progress)
}

// DelayExport has an attempt that has failed be followed by another.
func (s *Store) DelayExport(ctx context.Context, e *CustomerExport, wait time.Duration) error {
	return s.must(ctx, qLateExport, e.ID, e.Attempts, wait.Seconds())
}

// EndExport ends an export, as ready or failed, to be kept for so long.
func (s *Store) EndExport(ctx context.Context, e *CustomerExport, status string, keep time.Duration) error {
	return s.must(ctx, qEndExport, e.ID, e.Attempts, status, keep.Seconds())
}

// ForgetExports deletes up to limit exports that have expired, with their archives, and tells how many.
func (s *Store) ForgetExports(ctx context.Context, limit int) (int64, error) {
	return s.exec(ctx, qForgetExports, limit)
}

// ExportBacklog tells of the exports that wait, counting no further than 100,000.
func (s *Store) ExportBacklog(ctx context.Context) (b Backlog, err error) {
	err = s.get(ctx, &b, qExportBacklog)
	return b, err
}
