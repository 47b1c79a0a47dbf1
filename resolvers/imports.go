package resolvers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/google/uuid"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/archive"
	"canopy/internal/audit"
	"canopy/internal/egress"
	"canopy/internal/models/lexical"
	"canopy/internal/problem"
	"canopy/internal/secret"
	"canopy/outbox"
)

// Import is the archive of an export that is read in.
type Import struct {
	Archive io.ReadSeeker
	// Parent is the id of the company below which it is read in; 0 is the root.
	Parent int64
	// DryRun looks at everything, and writes nothing.
	DryRun bool
	// Watch is told of each pass through the archive, and gets what is read of it.
	Watch func(pass string) io.Writer
	// For is the request that has led to it; nil in the operator's shell.
	For *db.CustomerImport
}

// The outcomes of an import.
const (
	ImportChecked = "checked" // by a dry run
	ImportDone    = "imported"
	ImportThere   = "there" // it was imported before
)

// ImportReport is what came of an import.
type ImportReport struct {
	Status string `json:"status"`
	// CustomerID is the company that was made; 0 after a dry run.
	CustomerID int64  `json:"customerId,omitempty"`
	ParentID   int64  `json:"parentId"`
	Name       string `json:"name"`
	// Made counts what was made of each kind; "people" are the users who are new to the platform.
	Made    map[string]int64 `json:"made"`
	LeftOut []db.LeftOut     `json:"leftOut"`
	// Notes tell what was made otherwise than it is in the archive, Export what the archive says of itself.
	Notes  []string `json:"notes"`
	Export []string `json:"exportLeftOut"`
}

// importing is an import under way.
type importing struct {
	*Resolver
	in     Import
	parent *db.Customer
	sum    []byte
	space  uuid.UUID
	report *ImportReport
}

// OperatorImport makes the companies of an archive, with all that they have, below a company. All but the originals of documents is one
// transaction; until these are stored, too, the new company is suspended. The same archive below the same company is the same
// import: it goes on where it has ended, and is not made twice. What is wrong with an archive is an *archive.Fault, and nothing is
// written.
func (r *Resolver) OperatorImport(ctx context.Context, in Import) (*ImportReport, error) {
	parent, err := r.operatorCustomer(ctx, in.Parent)
	if err != nil {
		return nil, err
	}
	i := &importing{Resolver: r, in: in, parent: parent, space: uuid.New()}
	if err := i.digest(ctx); err != nil {
		return nil, err
	}
	done, err := r.Store.Import(ctx, parent.ID, i.sum)
	if errors.Is(err, db.ErrNoRows) {
		done, err = i.make(ctx)
	}
	switch {
	case err != nil:
		return nil, err
	case done == nil:
		return i.report, nil
	}
	return i.goOn(ctx, done)
}

// pass begins to read the archive anew.
func (i *importing) pass(name string) (io.Reader, error) {
	_, err := i.in.Archive.Seek(0, io.SeekStart)
	return io.TeeReader(i.in.Archive, i.in.Watch(name)), err
}

// digest is what the archive is known by.
func (i *importing) digest(ctx context.Context) error {
	from, err := i.pass("digest")
	if err != nil {
		return err
	}
	sum := sha256.New()
	for err == nil && ctx.Err() == nil {
		_, err = io.CopyN(sum, from, 1<<20)
	}
	i.sum = sum.Sum(nil)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, ctx.Err())
}

// errDry ends the transaction of a dry run.
var errDry = errors.New("a dry run")

// make makes everything but originals, and gives how it was made; nil after a dry run. Where another process has just made it, that is given.
func (i *importing) make(ctx context.Context) (done *db.Import, err error) {
	err = i.changeFor(ctx, func(tx *db.Store, ch *changes) error {
		if err := tx.LockImport(ctx, i.parent.ID, i.sum); err != nil {
			return err
		}
		if done, err = tx.Import(ctx, i.parent.ID, i.sum); !errors.Is(err, db.ErrNoRows) {
			return err
		}
		if done, err = i.makeIn(ctx, tx, ch); err == nil && i.in.DryRun {
			err = errDry
		}
		return err
	})
	if errors.Is(err, errDry) {
		return nil, nil
	}
	return done, err
}

// changeFor is change, by whoever has asked for the import.
func (i *importing) changeFor(ctx context.Context, do func(tx *db.Store, ch *changes) error) error {
	return i.change(ctx, nil, func(tx *db.Store, ch *changes) error {
		if i.in.For != nil {
			ch.person, ch.client = or(i.in.For.UserID, 0), i.in.For.ClientID
		}
		return do(tx, ch)
	})
}

// makeIn reads the archive, looks at it, and writes what it has.
func (i *importing) makeIn(ctx context.Context, tx *db.Store, ch *changes) (*db.Import, error) {
	g, err := tx.NewStaging(ctx)
	if err != nil {
		return nil, err
	}
	manifest, err := i.read(ctx, g)
	if err != nil {
		return nil, err
	}
	if manifest.Originals > 0 && i.Blobs == nil {
		return nil, problem.Bad("there is no store for the %d originals of the archive: CANOPY_BLOB_URL is not set", manifest.Originals)
	}
	i.report = &ImportReport{Status: ImportChecked, ParentID: i.parent.ID, Notes: []string{}, Export: manifest.LeftOut}
	if err := i.write(ctx, tx, g, manifest); err != nil {
		return nil, err
	}
	return i.record(ctx, tx, ch, g, manifest)
}

// read puts what the archive has into the staging.
func (i *importing) read(ctx context.Context, g *db.Staging) (*archive.Manifest, error) {
	from, err := i.pass("check")
	if err != nil {
		return nil, err
	}
	return archive.Read(ctx, from, archive.Visitor{
		Kinds: importedKinds(),
		Row: func(at archive.Place, kind string, line []byte) error {
			row, err := readRow(at, kind, line)
			if err != nil {
				return err
			}
			if d, ok := row.(*importedDestination); ok {
				if e, ok := errors.AsType[*egress.Error](i.Egress.CheckSpelling(d.URL)); ok {
					return at.Faultf("url: %s", e.Message)
				}
			}
			staged := db.StagedRow{Kind: kind, At: at}
			staged.ID, staged.Owner = row.place()
			if staged.Row, err = i.staged(row); err != nil {
				return err
			}
			return g.Add(ctx, staged)
		},
		Original: func(at archive.Place, name string, size int64, r io.Reader) error {
			if size > maxContextSize {
				return at.Faultf("is longer than %d bytes", maxContextSize)
			}
			sum := sha256.New()
			if _, err := io.Copy(sum, r); err != nil {
				return err
			}
			return g.AddOriginal(ctx, db.StagedOriginal{Name: name, Size: size, Hash: hex.EncodeToString(sum.Sum(nil)), At: at})
		},
	})
}

// staged is a row as it is written: what was read of it, and for a document the name that its original gets here.
func (i *importing) staged(row importedRow) (json.RawMessage, error) {
	if d, ok := row.(*importedDocument); ok {
		return plainJSON(struct {
			*importedDocument
			NewName string `json:"newName"`
		}{d, i.fileName(d.FileName)})
	}
	return plainJSON(row)
}

// fileName is what an original of the archive is called here.
func (i *importing) fileName(name string) string { return uuid.NewSHA1(i.space, []byte(name)).String() }

// write looks at what was staged, and writes it.
func (i *importing) write(ctx context.Context, tx *db.Store, g *db.Staging, manifest *archive.Manifest) error {
	// The parent stays where it is, and is not erased.
	scope := i.parent.Lineage.Subtree()
	if err := tx.HoldPlaces(ctx, i.parent.ID); err != nil {
		return err
	}
	if err := tx.HoldParent(ctx, scope, i.parent.ID); err != nil {
		return missing(err, "company", i.parent.ID)
	}
	parent, err := tx.Customer(ctx, scope, i.parent.ID)
	if err != nil {
		return missing(err, "company", i.parent.ID)
	}
	if err := mustNotBeDeleted(ctx, tx, parent, "parent"); err != nil {
		return err
	}
	if i.report.LeftOut, err = g.Check(ctx, manifest.CustomerID, parent.Level+1); err != nil {
		return err
	}
	i.leaveOut(manifest)
	if err := g.GiveIDs(ctx); err != nil {
		return err
	}
	steps, tools, err := renumberAll(ctx, g)
	if err != nil {
		return err
	}
	models := append(lexical.Names(), i.Search.Default())
	i.report.Made, err = g.Write(ctx, db.Placed{ParentID: parent.ID, Models: models, DefaultModel: i.Search.Default()})
	if err != nil {
		return err
	}
	return i.note(ctx, g, steps, tools)
}

// leaveOut adds the kinds that are never made.
func (i *importing) leaveOut(manifest *archive.Manifest) {
	for _, kind := range slices.Sorted(maps.Keys(notImported)) {
		if n := manifest.Rows[kind]; n > 0 {
			i.report.LeftOut = append(i.report.LeftOut, db.LeftOut{Kind: kind, Count: n, Why: notImported[kind]})
		}
	}
}

// note tells what is otherwise than in the archive.
func (i *importing) note(ctx context.Context, g *db.Staging, steps, tools int64) error {
	say := func(n int64, text string) {
		if n > 0 {
			i.report.Notes = append(i.report.Notes, fmt.Sprintf(text, n))
		}
	}
	other, err := g.Otherwise(ctx, append(lexical.Names(), i.Search.Default()), i.report.Made)
	if err != nil {
		return err
	}
	say(i.report.Made["users"], "%d memberships wait for the people to accept them: nobody was written to")
	say(i.report.Made["webhookDestinations"], "%d webhook destinations are disabled, with new signing secrets that nobody has seen: rotate these, then enable them")
	say(other.Models, "%d contexts have an embedding model that this platform lacks, and get "+i.Search.Default())
	say(steps, "%d steps of diagrams search contexts that are not in the archive, and will fail")
	say(tools, "%d tools run agents that are not in the archive, and will fail")
	say(other.Deleted, "%d companies were deleted, and are suspended here")
	say(other.Twice, "%d rows give a person a company or an account for the second time, and are left out")
	return nil
}

// record seals what is sealed to ids, and writes down what was imported, each company in its own log.
func (i *importing) record(ctx context.Context, tx *db.Store, ch *changes, g *db.Staging, manifest *archive.Manifest) (*db.Import, error) {
	err := g.Each(ctx, "webhookDestinations", func(_, id int64, _ json.RawMessage) error {
		return tx.SetSigningSecret(ctx, id, db.SealedSigningSecrets.Seal(i.Box, id, []byte(secret.NewSigningSecret())))
	})
	if err != nil {
		return nil, err
	}
	given, err := g.NewIDs(ctx, "customers", []int64{manifest.CustomerID})
	if err != nil {
		return nil, err
	}
	done := &db.Import{CustomerID: given[manifest.CustomerID], ParentID: i.parent.ID, Archive: i.sum, Space: i.space.String()}
	err = g.Customers(ctx, func(page []*db.Customer) error {
		var log outbox.Record
		for _, c := range page {
			if c.ID == done.CustomerID {
				i.report.Name = c.Name
				if err := ch.audit(c.ID, audit.CustomerImported, c, audit.Created(c).With("archive", hex.EncodeToString(i.sum))); err != nil {
					return err
				}
				continue
			}
			if err := log.Audit(ch.event(c.ID, audit.CustomerImported, c), audit.Created(c)); err != nil {
				return err
			}
		}
		_, err := log.Write(ctx, tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if done.ActiveThen, err = g.Active(ctx, manifest.CustomerID); err != nil {
		return nil, err
	}
	if done.Report, err = json.Marshal(i.report); err != nil {
		return nil, err
	}
	if err := i.stillWanted(ctx, tx); err != nil {
		return nil, err
	}
	if err := tx.InsertImport(ctx, done); err != nil || i.in.For == nil {
		return done, err
	}
	// What was cancelled meanwhile, or is another worker's by now, is not committed.
	return done, tx.NoteMade(ctx, i.in.For, done.CustomerID)
}

// stillWanted looks once more, before what took long is committed. The parent could be changed meanwhile, as it is only kept in its place: below one that was
// deleted nothing is made. One that is suspended takes archives as before, and what is made is suspended with it. Who has asked must still be one who may.
func (i *importing) stillWanted(ctx context.Context, tx *db.Store) error {
	parent, err := tx.Customer(ctx, i.parent.Lineage.Subtree(), i.parent.ID)
	if err != nil {
		return missing(err, "company", i.parent.ID)
	}
	if err := mustNotBeDeleted(ctx, tx, parent, "parent"); err != nil || i.in.For == nil {
		return err
	}
	return askerMayImport(ctx, tx, i.in.For) // on this connection: there may be no other
}

// goOn ends what was made, here or by a command that was interrupted: it stores the originals that are not there yet, and has the
// company go on.
func (i *importing) goOn(ctx context.Context, done *db.Import) (*ImportReport, error) {
	report := &ImportReport{}
	if err := json.Unmarshal(done.Report, report); err != nil {
		return nil, err
	}
	report.CustomerID, report.Status = done.CustomerID, ImportDone
	scope, _, err := i.operator(ctx)
	if err != nil {
		return nil, err
	}
	row, err := i.Store.Customer(ctx, scope, done.CustomerID)
	if err != nil {
		return nil, missing(err, "company", done.CustomerID)
	}
	switch status, err := row.EffectiveStatus(ctx, i.Store); {
	case err != nil:
		return nil, err
	case status == db.CustomerDeleted:
		return nil, problem.Bad("the archive was read in as the company %d, which is deleted: restore it, or read the archive in once it is erased", row.ID)
	}
	if done.DoneAt != nil || i.in.DryRun {
		report.Status = ImportThere
		return report, nil
	}
	if err := i.noteMade(ctx, done); err != nil {
		return nil, err
	}
	if report.Made["documents"] > 0 {
		if err := i.originals(ctx, scope, done); err != nil {
			return nil, err
		}
	}
	return report, i.end(ctx, done)
}

// noteMade has the request know the company, also one that an earlier request has made: whatever ends it then tells what is left.
func (i *importing) noteMade(ctx context.Context, done *db.Import) error {
	if i.in.For == nil {
		return nil
	}
	i.in.For.MadeID = &done.CustomerID
	return i.Store.NoteMade(ctx, i.in.For, done.CustomerID)
}

// end has the company go on, unless it was suspended in the archive.
func (i *importing) end(ctx context.Context, done *db.Import) error {
	return i.changeFor(ctx, func(tx *db.Store, ch *changes) error {
		scope, _, err := i.operator(ctx)
		if err != nil {
			return err
		}
		before, err := tx.CustomerForUpdate(ctx, scope, done.CustomerID)
		if err != nil {
			return missing(err, "company", done.CustomerID)
		}
		if err := tx.EndImport(ctx, done.CustomerID); errors.Is(err, db.ErrNoRows) {
			return nil // another has ended it
		} else if err != nil {
			return err
		}
		if !done.ActiveThen || before.Status != db.CustomerSuspended {
			return nil
		}
		if err := tx.SuspendCustomer(ctx, scope, done.CustomerID, false); err != nil {
			return err
		}
		ch.companies, ch.work, ch.due = append(ch.companies, done.CustomerID), true, true
		return ch.audit(done.CustomerID, audit.CustomerResumed, before, audit.None().Value("status", before.Status, db.CustomerActive))
	})
}

// originalsAtOnce is how many originals are stored until it is written down how far it is.
const originalsAtOnce = 16

// originals stores the originals that are not there yet, in the archive's order.
func (i *importing) originals(ctx context.Context, scope access.Scope, done *db.Import) (err error) {
	if i.space, err = uuid.Parse(done.Space); err != nil {
		return err
	}
	if i.Blobs == nil {
		return problem.Bad("there is no store for the originals of the archive: CANOPY_BLOB_URL is not set")
	}
	from, err := i.pass("originals")
	if err != nil {
		return err
	}
	n := int64(0)
	_, err = archive.Read(ctx, from, archive.Visitor{
		Kinds: noRows(),
		Original: func(at archive.Place, name string, _ int64, r io.Reader) error {
			if n++; n <= done.Originals {
				return nil
			}
			if err := i.original(ctx, scope, at, name, r); err != nil {
				return err
			}
			if n%originalsAtOnce > 0 {
				return nil
			}
			return i.Store.NoteOriginals(ctx, done.CustomerID, n)
		},
	})
	return err
}

// original stores the original of a document, unless that is gone, or was left out.
func (i *importing) original(ctx context.Context, scope access.Scope, at archive.Place, name string, r io.Reader) error {
	d, err := i.Store.ImportedDocument(ctx, scope, i.fileName(name))
	if errors.Is(err, db.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	sum := sha256.New()
	if err := i.Blobs.Write(ctx, d.BlobKey(), io.TeeReader(r, sum)); err != nil {
		return problem.Away("the document store", err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != d.ContentHash {
		return at.Faultf("the archive has changed while it was read")
	}
	return nil
}

// noRows are the kinds of an archive for whom reads originals alone.
func noRows() map[string]bool {
	kinds := importedKinds()
	for kind := range kinds {
		kinds[kind] = false
	}
	return kinds
}
