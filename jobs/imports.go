package jobs

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"

	"canopy/db"
	"canopy/internal/blob"
	"canopy/internal/problem"
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
			end: func(ctx context.Context, done bool, why *string) error {
				row.Status, row.Error = db.ExportReady, nil
				if !done {
					row.Status, row.Error = db.ExportFailed, cmp.Or(why, &gaveUp)
				}
				return x.store.EndImportRequest(ctx, row, db.ImportLife)
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

var gaveUp = "the platform could not read it in; the log of its workers tells why"

// refusal tells what is wrong with an archive, or that there is no room for it: no other attempt can do better.
func refusal(err error) *string {
	var p *problem.Error
	if errors.As(err, &p) && p.Status() < 500 && p.RetryAfter == 0 {
		return &p.Detail
	}
	return nil
}
