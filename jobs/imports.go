package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/blob"
	"canopy/internal/bus"
	"canopy/internal/problem"
	"canopy/outbox"
)

// importRenew is how often the progress of an import is told.
const importRenew = time.Second

// ReadArchive carries out an import, from its archive, and writes into the row what came of it. watch is told of each pass through the
// archive, and gets what is read of it. A *problem.Error that is the caller's fault is final; everything else is tried again.
type ReadArchive func(ctx context.Context, row *db.CustomerImport, from io.ReadSeeker, watch func(pass string) io.Writer) error

// importer reads archives in.
type importer struct {
	store *db.Store
	blobs blob.Store
	bus   *bus.Bus
	read  ReadArchive
	log   *slog.Logger
	// stop is closed when the worker stops: work under way is handed back at once.
	stop <-chan struct{}
}

// ProcessTask makes one attempt on an import. One that was interrupted begins anew, and finds what was committed before.
func (x *importer) ProcessTask(ctx context.Context, t *asynq.Task) error {
	return attempt(ctx, t, x.stop, x.log, func(ctx context.Context, due db.DueImport) (*archiving, error) {
		row, err := x.store.ClaimImportRequest(ctx, due, archiveLease)
		if err != nil {
			return nil, err
		}
		done := &passes{size: row.Size, most: 3}
		if row.DryRun {
			done.most = 2
		}
		return &archiving{
			what: "import", deed: "read an archive in", id: row.ID, attempts: row.Attempts, every: importRenew, final: refusal,
			renew: func(ctx context.Context) error {
				return x.store.RenewImportRequest(ctx, row, archiveLease, done.share())
			},
			work:  func(ctx context.Context) error { return x.readIn(ctx, row, done) },
			delay: func(ctx context.Context, wait time.Duration) error { return x.store.DelayImportRequest(ctx, row, wait) },
			end: func(ctx context.Context, done bool, refused *string) error {
				if done {
					row.Status, row.Error = db.ExportReady, nil
					return x.store.EndImportRequest(ctx, row, db.ImportLife)
				}
				return x.fail(ctx, row, cmp.Or(refused, gaveUp(row)))
			},
		}, nil
	})
}

// readIn reads the archive where it is stored.
func (x *importer) readIn(ctx context.Context, row *db.CustomerImport, done *passes) error {
	path, release, err := x.blobs.Local(ctx, row.BlobKey())
	if err != nil {
		return err
	}
	defer release()
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	return x.read(ctx, row, file, func(string) io.Writer { return done })
}

// passes counts what is read of an archive that is read several times.
type passes struct {
	size, most int64
	read       atomic.Int64
}

func (p *passes) Write(b []byte) (int, error) {
	p.read.Add(int64(len(b)))
	return len(b), nil
}

// share is the part that is done.
func (p *passes) share() float64 { return min(.999, float64(p.read.Load())/float64(p.most*p.size)) }

// fail ends an import that nobody goes on with, and says so in the log of the company below which it was asked for.
func (x *importer) fail(ctx context.Context, row *db.CustomerImport, why *string) error {
	before := *row
	row.Status, row.Error = db.ExportFailed, why
	var told outbox.Told
	err := x.store.Tx(ctx, func(tx *db.Store) error {
		if err := tx.EndImportRequest(ctx, row, db.ImportLife); err != nil {
			return err
		}
		var record outbox.Record
		err := record.Audit(db.AuditEvent{
			CustomerID: row.ParentID, Action: string(audit.ImportFailed), ObjectType: row.GlobalID().Type, ObjectID: row.ID,
		}, audit.Between(&before, row).With("error", *why))
		if err != nil {
			return err
		}
		told, err = record.Write(ctx, tx)
		return err
	})
	if err == nil {
		told.Announce(ctx, x.bus)
	}
	return err
}

// gaveUp tells why the platform goes on no more with an import that is not at fault itself, what there is of it, and what can be done.
func gaveUp(row *db.CustomerImport) *string {
	why := fmt.Sprintf("attempt %d to read it in has failed", row.Attempts)
	if row.Attempts > archiveClaims {
		why = fmt.Sprintf("its workers ended %d times before it was read in", archiveClaims)
	}
	left := "It has made nothing: send the archive again to begin anew."
	if row.MadeID != nil {
		left = fmt.Sprintf("The company %d is made, and suspended, as not all of its documents' originals are stored: send the same archive again to go on, or delete the company.", *row.MadeID)
	}
	told := why + ", as the log of the workers tells. " + left
	return &told
}

// refusal tells what is wrong with an archive, or that there is no room for it: no other attempt can do better.
func refusal(err error) *string {
	var p *problem.Error
	if errors.As(err, &p) && p.Status() < 500 && p.RetryAfter == 0 {
		return &p.Detail
	}
	return nil
}
