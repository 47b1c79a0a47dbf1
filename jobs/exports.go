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
	"canopy/internal/access"
	"canopy/internal/archive"
	"canopy/internal/blob"
	"canopy/internal/share"
)

const (
	// exportRenew is how often the progress of an export is told.
	exportRenew = 5 * time.Second
	// exportLife is how long an archive is kept, and it is told that there is none.
	exportLife = 7 * 24 * time.Hour
)

// exporter writes the archives of companies.
type exporter struct {
	store *db.Store
	blobs blob.Store
	log   *slog.Logger
	// stop is closed when the worker stops: work under way is handed back at once.
	stop <-chan struct{}
}

// ProcessTask makes one attempt on an export. An attempt begins anew: the archive appears whole, or not at all.
func (x *exporter) ProcessTask(ctx context.Context, t *asynq.Task) error {
	return attempt(ctx, t, x.stop, x.log, func(ctx context.Context, due db.DueExport) (*archiving, error) {
		row, err := x.store.ClaimExport(ctx, due, archiveLease)
		if err != nil {
			return nil, err
		}
		e := &export{exporter: x, row: row}
		return &archiving{
			what: "export", deed: "export a company", id: row.ID, attempts: row.Attempts, every: exportRenew, work: e.write,
			renew: func(ctx context.Context) error {
				return x.store.RenewExport(ctx, row, archiveLease, float64(e.progress.Load())/1000)
			},
			delay: func(ctx context.Context, wait time.Duration) error { return x.store.DelayExport(ctx, row, wait) },
			end: func(ctx context.Context, done bool, _ *string) error {
				status := db.ExportFailed
				if done {
					status = db.ExportReady
				}
				return x.store.EndExport(ctx, row, status, exportLife)
			},
		}, nil
	})
}

// export is one attempt.
type export struct {
	*exporter
	row *db.CustomerExport
	// progress is in thousandths.
	progress atomic.Int64
	rights   access.Features
	out      *archive.Writer
	hidden   int64
	missing  int64
}

// write writes the archive into the blob store as it is made.
func (e *export) write(ctx context.Context) error {
	e.rights = access.ParseFeatures(e.row.Rights)
	from, to := io.Pipe()
	made := make(chan struct{})
	go func() {
		defer close(made)
		_ = to.CloseWithError(share.Guard(func() error { return e.make(ctx, to) })) // which never fails, by its documentation
	}()
	err := e.blobs.Write(ctx, e.row.BlobKey(), from)
	_ = from.CloseWithError(errLost) // so that what is made ends
	<-made
	return err
}

// make makes the archive.
func (e *export) make(ctx context.Context, to io.Writer) error {
	ctx = db.ReadingMuch(ctx)
	e.out = archive.NewWriter(to, e.row.CustomerID, e.row.CreatedAt.UTC())
	done := int64(0)
	err := e.store.Below(ctx, e.row.CustomerID, func(c *db.Customer, of int64) error {
		if e.store.Elsewhere(c.RegionID) { // it was made, or has moved, since the export was asked for
			return fmt.Errorf("another cell has what the company %d has", c.ID)
		}
		if err := e.company(ctx, c.ID); err != nil {
			return err
		}
		done++
		e.progress.Store(min(999, done*1000/max(1, of)))
		return nil
	})
	if err != nil {
		return err
	}
	e.out.Manifest.LeftOut = append(e.out.Manifest.LeftOut, e.leftOut()...)
	return e.out.Close()
}

// company writes what there is of one company, unless that has been moved away. Where it is moved meanwhile the archive may have what others have written there since:
// the attempt ends, so that nobody gets that, and the next one leaves the company out.
func (e *export) company(ctx context.Context, id int64) error {
	is, err := e.store.IsBelow(ctx, id, e.row.CustomerID)
	if err != nil || !is {
		return err
	}
	hidden, err := e.store.HiddenContexts(ctx, id)
	if err != nil {
		return err
	}
	e.hidden += hidden
	if err := e.kinds(ctx, db.ExportKinds, id); err != nil {
		return err
	}
	if is, err = e.store.IsBelow(ctx, id, e.row.CustomerID); err == nil && !is {
		err = fmt.Errorf("the company %d was moved away while it was exported", id)
	}
	return err
}

// kinds writes the rows that belong to something, each with what belongs to it.
func (e *export) kinds(ctx context.Context, kinds []db.ExportKind, owner int64) error {
	for _, k := range kinds {
		if e.store.Lacks(k) {
			continue
		}
		err := e.store.EachExported(ctx, k, owner, func(r *db.Exported) error {
			if !e.rights.Has(k.Right) {
				return e.kinds(ctx, k.Below, r.ID) // of which there may be a right
			}
			if err := e.out.Row(k.Name, r.Row); err != nil {
				return err
			}
			if k.Originals {
				return e.original(ctx, r)
			}
			return e.kinds(ctx, k.Below, r.ID)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// original writes what a document was uploaded as. One that is missing is told at the end.
func (e *export) original(ctx context.Context, r *db.Exported) error {
	var document struct{ FileName string }
	if err := json.Unmarshal(r.Row, &document); err != nil {
		return err
	}
	path, done, err := e.blobs.Local(ctx, db.BlobPrefix+document.FileName)
	if errors.Is(err, blob.ErrNotFound) {
		e.missing++
		return nil
	}
	if err != nil {
		return err
	}
	defer done()
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return e.out.Original(document.FileName, info.Size(), file)
}

// leftOut tells what is not in the archive.
func (e *export) leftOut() []string {
	list := []string{
		"passwords, two-factor secrets, passkeys and sessions of users; secrets of API keys; signing secrets of webhook destinations; values of agents' secrets; " +
			"client secrets of identity providers, and who is who at them; SCIM tokens",
		"chunks and vectors, which are made anew of the originals",
	}
	if e.store.Cell() != nil {
		list = append(list, "what the home of the platform has: billing records, and the log of changes to companies, people, roles, permissions and keys")
	}
	if e.hidden > 0 {
		list = append(list, fmt.Sprintf("%d private contexts with their documents, which are their creators': those that are shared are here", e.hidden))
	}
	if e.missing > 0 {
		list = append(list, fmt.Sprintf("%d originals, which the document store does not have", e.missing))
	}
	for _, name := range (access.AllFeatures &^ e.rights).Names() {
		list = append(list, "what takes the right "+name+", which who has asked lacks")
	}
	return list
}
