package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

const (
	importLease    = 30 * time.Second
	importRenew    = time.Second
	importTimeout  = 24 * time.Hour
	importWait     = time.Minute
	importAttempts = 5
	// importPlaces are how many imports a worker works on at the same time: a branch alone has one.
	importPlaces = 2
)

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
	var due db.DueImport
	if err := json.Unmarshal(t.Payload(), &due); err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	row, err := x.store.ClaimImportRequest(ctx, due, importLease)
	if errors.Is(err, db.ErrNoRows) {
		return sayNothingToDo(t)
	}
	if err != nil {
		return err
	}
	done := &passes{size: row.Size, most: 3}
	if row.DryRun {
		done.most = 2
	}
	l := lease[time.Time]{every: importRenew, stop: x.stop, renew: func(ctx context.Context) error {
		return x.store.RenewImportRequest(ctx, row, importLease, done.share())
	}}
	err = l.hold(ctx, func(ctx context.Context) error { return x.readIn(ctx, row, done) })
	if err := x.record(context.WithoutCancel(ctx), row, err); err != nil && !errors.Is(err, db.ErrNoRows) {
		return err
	}
	say(t, "The import has ended.")
	return nil
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

// record writes down what came of the attempt.
func (x *importer) record(ctx context.Context, row *db.CustomerImport, err error) error {
	var p *problem.Error
	switch {
	case err == nil:
		row.Status = db.ExportReady
		return x.store.EndImportRequest(ctx, row, db.ImportLife)
	case errors.Is(err, errLost), errors.Is(err, db.ErrNoRows):
		return nil
	case errors.Is(err, errStopped):
		return x.store.DelayImportRequest(ctx, row, 0)
	case errors.As(err, &p) && p.Status() < 500 && p.RetryAfter == 0:
		return x.fail(ctx, row, p.Detail)
	}
	x.log.WarnContext(ctx, "an attempt to read an archive in has failed", "import", row.ID, "error", err)
	if row.Attempts >= importAttempts {
		return x.fail(ctx, row, "the platform could not read it in; the log of its workers tells why")
	}
	return x.store.DelayImportRequest(ctx, row, importWait)
}

// fail gives an import up.
func (x *importer) fail(ctx context.Context, row *db.CustomerImport, why string) error {
	row.Status, row.Error = db.ExportFailed, &why
	return x.store.EndImportRequest(ctx, row, db.ImportLife)
}
