package resolvers

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/google/uuid"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/archive"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/intake"
	"canopy/internal/problem"
	"canopy/internal/rule"
)

// mostImports is how many wait or are under way at the same time: each keeps its archive until it ends.
const mostImports = 10

// ImportCustomerInput is an archive to read in, and where.
type ImportCustomerInput struct {
	ParentID globalid.ID
	DryRun   *bool
	File     intake.File
}

// ImportCustomerPayload is the import that ImportCustomer has asked for.
type ImportCustomerPayload struct{ CustomerImport *db.CustomerImport }

// ImportCustomer stores the archive of an export and has it read in below a company, for an owner of the root company.
func (m Mutation) ImportCustomer(ctx context.Context, in ImportCustomerInput) (*ImportCustomerPayload, error) {
	row, err := m.StoreArchive(ctx, in.ParentID, or(in.DryRun, false), func() (*intake.File, error) { return &in.File, nil })
	return &ImportCustomerPayload{row}, err
}

// StoreArchive reads an archive to its end into the blob store, in constant memory, to be read in by a worker. What is refused leaves
// nothing behind. The same archive below the same company is the same import while that is under way. open gives the archive, once
// it is clear that there is a place for it.
func (m Mutation) StoreArchive(ctx context.Context, parentID globalid.ID, dry bool, open func() (*intake.File, error)) (*db.CustomerImport, error) {
	c, err := m.may(ctx, rule.ImportCustomer)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(c.mayImport(), c.mayGive(access.AllFeatures)); err != nil {
		return nil, err
	}
	id, err := parentID.Of("Customer", "parentId")
	if err != nil {
		return nil, err
	}
	if m.Blobs == nil {
		return nil, problem.Bad("this platform reads no archives in: it has no store for them").With("no_document_store")
	}
	if err := takesImports(ctx, m.Store, c, id); err != nil {
		return nil, err
	}
	in, err := open()
	if err != nil {
		return nil, err
	}
	asked := db.CustomerImport{ParentID: id, UserID: &c.UserID, ClientID: c.ClientID, File: uuid.NewString(), DryRun: dry}
	if err := m.writeArchive(ctx, &asked, in.Content); err != nil {
		return nil, err
	}
	var row *db.CustomerImport
	if err = m.MayStill(ctx, rule.ImportCustomer); err == nil {
		row, err = m.addImport(ctx, c, asked)
	}
	if err != nil || row.File != asked.File {
		m.dropBlob(ctx, asked.BlobKey())
	}
	return row, err
}

// mayImport: an archive holds roles, limits, flags and people as they were elsewhere. Only who may set all of these everywhere has them
// brought in: an owner of the root company. As it gives whatever the archive's roles may, it takes all rights besides.
func (c *caller) mayImport() error {
	if c.IsRoot() && c.Owner {
		return nil
	}
	return problem.Denied("archives are the business of an owner of the root company")
}

// errAskerLost ends an import. Another attempt can't do better.
var errAskerLost = problem.Denied("who has asked for the import may not have archives read in any more")

// askerMayImport tells whether who has asked for an import might ask for it now: it is looked up anew, by its key or as a person, as the import outlives tokens
// and sessions.
func askerMayImport(ctx context.Context, s *db.Store, row *db.CustomerImport) error {
	p, err := askerOf(ctx, s, row)
	if errors.Is(err, db.ErrNoRows) || err == nil && (p.Dead || p.Suspended || p.Grants[access.Tenant] == nil) {
		return errAskerLost
	}
	if err != nil {
		return err
	}
	c := &caller{&p.Principal, p.Grants[access.Tenant]}
	if c.mayImport() != nil || c.mayGive(access.AllFeatures) != nil || !c.Features.Has(rule.ImportCustomer.Right) {
		return errAskerLost
	}
	return nil
}

// askerOf is who has asked for an import, as it may now; ErrNoRows where it is gone.
func askerOf(ctx context.Context, s *db.Store, row *db.CustomerImport) (*db.Caller, error) {
	if row.UserID == nil {
		return nil, db.ErrNoRows
	}
	if row.ClientID == "" { // a person who has signed in
		root, err := s.Root(ctx)
		if err != nil {
			return nil, err
		}
		return s.LoginCaller(ctx, db.LoginToken{UserID: *row.UserID, CustomerID: root.ID, IssuedAt: time.Now()})
	}
	key, err := s.FindExchange(ctx, row.ClientID, access.Tenant, 0)
	if err != nil {
		return nil, err
	}
	return s.KeyCaller(ctx, row.ClientID, access.Tenant, key.AccountID, "")
}

// takesImports tells whether an archive can be read in below a company.
func takesImports(ctx context.Context, s *db.Store, c *caller, id int64) error {
	parent, err := s.Customer(ctx, c.Scope(), id)
	if err != nil {
		return missing(err, "company", id)
	}
	return mustNotBeDeleted(ctx, s, parent, "parentId")
}

// writeArchive puts an archive into the blob store, and measures it on the way.
func (m Mutation) writeArchive(ctx context.Context, asked *db.CustomerImport, body io.Reader) error {
	in := &meter{r: body, hash: sha256.New(), room: room{m.MaxImport, problem.New(problem.PayloadTooLarge, "the archive is larger than %d bytes", m.MaxImport)}}
	if err := m.writeBlob(ctx, asked.BlobKey(), in); err != nil {
		return err
	}
	if in.size == 0 {
		m.dropBlob(ctx, asked.BlobKey())
		return problem.Bad("the file is empty")
	}
	asked.Size, asked.Archive = in.size, in.hash.Sum(nil)
	return nil
}

// addImport adds the row, or finds that of the same import.
func (m Mutation) addImport(ctx context.Context, c *caller, asked db.CustomerImport) (row *db.CustomerImport, err error) {
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		if err := takesImports(ctx, tx, c, asked.ParentID); err != nil {
			return err
		}
		if row, err = tx.SameImportRequest(ctx, asked); !errors.Is(err, db.ErrNoRows) {
			return err
		}
		n, err := tx.CountImportRequests(ctx, mostImports)
		if err != nil {
			return err
		}
		if n >= mostImports {
			return problem.Bad("%d imports are under way already: wait until one has ended", n).With("imports_under_way")
		}
		if row, err = tx.InsertImportRequest(ctx, asked); err != nil {
			return err
		}
		if err := keepBlob(ctx, tx, asked.BlobKey()); err != nil {
			return err
		}
		ch.work = true
		return ch.audit(row.ParentID, audit.ImportAsked, row, audit.Created(row))
	})
	if db.Violates(err, db.ImportRequestOnce) {
		return m.Store.SameImportRequest(ctx, asked) // that of a request at the same time
	}
	return row, err
}

// CustomerImport tells how far an import is, until it is forgotten.
func (q Query) CustomerImport(ctx context.Context, id globalid.ID) (*db.CustomerImport, error) {
	c, err := q.may(ctx, rule.CustomerImport)
	if err != nil {
		return nil, err
	}
	if err := c.mayImport(); err != nil {
		return nil, err
	}
	n, err := id.Of("CustomerImport", "id")
	if err != nil {
		return nil, err
	}
	row, err := q.Store.ImportRequest(ctx, c.Scope(), n)
	return row, missing(err, "import", n)
}

// CancelCustomerImportInput names an import to cancel.
type CancelCustomerImportInput struct{ ID globalid.ID }

// CancelCustomerImportPayload is the import that CancelCustomerImport has cancelled.
type CancelCustomerImportPayload struct{ CustomerImport *db.CustomerImport }

// CancelCustomerImport cancels an import while nothing was made of it.
func (m Mutation) CancelCustomerImport(ctx context.Context, in CancelCustomerImportInput) (*CancelCustomerImportPayload, error) {
	c, err := m.may(ctx, rule.CancelCustomerImport)
	if err != nil {
		return nil, err
	}
	if err := c.mayImport(); err != nil {
		return nil, err
	}
	id, err := in.ID.Of("CustomerImport", "id")
	if err != nil {
		return nil, err
	}
	out := &CancelCustomerImportPayload{}
	return out, m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		before, err := tx.ImportRequestForUpdate(ctx, c.Scope(), id)
		switch {
		case err != nil:
			return missing(err, "import", id)
		case before.ExpiresAt != nil:
			return problem.Bad("the import has ended already: it is %s", before.Status)
		case before.MadeID != nil:
			return problem.Bad("the company %d is made already: deleteCustomer ends it", *before.MadeID).With("import_made")
		}
		if out.CustomerImport, err = tx.CancelImportRequest(ctx, id, db.ImportLife); err != nil {
			return err
		}
		return ch.audit(before.ParentID, audit.ImportCancelled, before, audit.Between(before, out.CustomerImport))
	})
}

// CustomerImportEdges resolves what an import leads to.
type CustomerImportEdges struct{ *Resolver }

// Parent is the company below which the archive is read in.
func (e CustomerImportEdges) Parent(ctx context.Context, obj *db.CustomerImport) (*db.Customer, error) {
	return e.Store.Customer(ctx, access.PrincipalOf(ctx).Scope(), obj.ParentID)
}

// Customer is the company that was made of it; nil where there is none.
func (e CustomerImportEdges) Customer(ctx context.Context, obj *db.CustomerImport) (*db.Customer, error) {
	if obj.MadeID == nil {
		return nil, nil
	}
	row, err := e.Store.Customer(ctx, access.PrincipalOf(ctx).Scope(), *obj.MadeID)
	if errors.Is(err, db.ErrNoRows) {
		return nil, nil
	}
	return row, err
}

// ReadArchive carries out an import that was asked for, from its archive, and writes into the row what came of it: what the operator's shell
// does, by who asked for it. An error that is a *problem.Error of the archive's, or of what the platform has no room for, is final. Where the company is made
// already, the rest of it is stored whatever has become of who asked: it would stay half made.
func (r *Resolver) ReadArchive(ctx context.Context, row *db.CustomerImport, from io.ReadSeeker, watch func(pass string) io.Writer) error {
	if row.MadeID == nil {
		if err := askerMayImport(ctx, r.Store, row); err != nil {
			return err
		}
	}
	report, err := r.OperatorImport(ctx, Import{Archive: from, Parent: row.ParentID, DryRun: row.DryRun, Watch: watch, For: row})
	if f, ok := errors.AsType[*archive.Fault](err); ok {
		return problem.Bad("%s", f.Error())
	}
	if err != nil {
		return err
	}
	if report.CustomerID != 0 {
		row.MadeID = &report.CustomerID
	}
	told, err := json.Marshal(report)
	raw := json.RawMessage(told)
	row.Report = &raw
	return err
}
