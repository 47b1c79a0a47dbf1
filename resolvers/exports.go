package resolvers

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/problem"
	"canopy/internal/rule"
)

// archiveLinkLife is how long the link to an archive can be followed.
const archiveLinkLife = 15 * time.Minute

// errNoExport is what all links hear that lead nowhere, or no longer.
var errNoExport = problem.Missing("there is no such archive, or the link to it has expired")

// ExportCustomerInput names a company to export.
type ExportCustomerInput struct{ ID globalid.ID }

// ExportCustomerPayload is the export that ExportCustomer has asked for.
type ExportCustomerPayload struct{ CustomerExport *db.CustomerExport }

// ExportCustomer asks for the export of a company with everything below it: as the company's own owner, or from above. It holds
// what the caller may read in tenant management at this moment, and no private contexts.
func (m Mutation) ExportCustomer(ctx context.Context, in ExportCustomerInput) (*ExportCustomerPayload, error) {
	c, err := m.may(ctx, rule.ExportCustomer)
	if err != nil {
		return nil, err
	}
	id, err := in.ID.Of("Customer", "id")
	if err != nil {
		return nil, err
	}
	out := &ExportCustomerPayload{}
	return out, m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		row, err := tx.Customer(ctx, c.Scope(), id)
		if err != nil {
			return c.unreached(err, "company", id)
		}
		if err := c.mayExport(row.ID); err != nil {
			return err
		}
		if err := exportedHere(ctx, tx, row); err != nil {
			return err
		}
		if m.Blobs == nil {
			return problem.Bad("this platform makes no exports: it has no store for them").With("no_document_store")
		}
		out.CustomerExport, err = tx.InsertExport(ctx, id, c.Credential(), c.Grants[access.Tenant].Features)
		if db.Violates(err, db.ExportOnce) {
			return problem.Bad("the company %d is being exported already", id).With("export_under_way")
		}
		if err != nil {
			return err
		}
		ch.work = true
		return ch.audit(id, audit.CustomerExported, out.CustomerExport, audit.Created(out.CustomerExport))
	})
}

// exportedHere refuses an export that another cell makes, or that none can: an archive is made of what one place has, where that is.
func exportedHere(ctx context.Context, tx *db.Store, row *db.Customer) error {
	holders, err := tx.Holders(ctx, row.Lineage.Subtree())
	if err != nil || len(holders) == 0 {
		return err
	}
	if len(holders) == 1 {
		if at := holders[0].Place(); !tx.Is(at) {
			return problem.Elsewhere(at.Region, at.Address)
		}
		return nil
	}
	places := make([]string, len(holders))
	for i, h := range holders {
		places[i] = fmt.Sprintf("at the home (from the company %d on)", h.First)
		if h.Region != "" {
			places[i] = fmt.Sprintf("in the cell of the region %s (from the company %d on)", h.Region, h.First)
		}
	}
	return problem.Bad("what the company %d and those below it have is in several places, %s: export apart each of them that has none of another place below it", row.ID, strings.Join(places, ", ")).With("in_cells")
}

// mayExport: a company is exported by an owner of its own, or from above.
func (c *caller) mayExport(customerID int64) error {
	if customerID == c.CustomerID && !c.Owner {
		return problem.Denied("a company is exported by an owner of its own, or by a company above it")
	}
	return nil
}

// CustomerExport gives an export of a company that the caller may export, until it has expired.
func (q Query) CustomerExport(ctx context.Context, id globalid.ID) (*db.CustomerExport, error) {
	c, err := q.may(ctx, rule.CustomerExport)
	if err != nil {
		return nil, err
	}
	n, err := id.Of("CustomerExport", "id")
	if err != nil {
		return nil, err
	}
	row, err := q.Store.Export(ctx, c.Scope(), n)
	if err != nil {
		return nil, c.unreached(err, "export", n)
	}
	return row, c.mayExport(row.CustomerID)
}

// CustomerExportEdges resolves what an export leads to.
type CustomerExportEdges struct{ *Resolver }

// URL is a link to the archive for whoever has asked for it, and may still read all that was to be in it; nil for others, and while there is none.
func (e CustomerExportEdges) URL(ctx context.Context, obj *db.CustomerExport) (*string, error) {
	p := access.PrincipalOf(ctx)
	if p == nil || p.Credential() != obj.AskedBy || obj.Status != db.ExportReady {
		return nil, nil
	}
	if g := p.Grants[access.Tenant]; g == nil || access.ParseFeatures(obj.Rights)&^g.Features != 0 {
		return nil, nil
	}
	link := e.PublicURL.JoinPath("tenant", "export", strconv.FormatInt(obj.ID, 10), "archive")
	return e.signed(link, db.SealedExportLinks, obj.ID, archiveLinkLife), nil
}

// Archive gives a file with an archive, to be read until done is called: for who has come with a link to it.
func (r *Resolver) Archive(ctx context.Context, id int64, token string) (export *db.CustomerExport, path string, done func(), err error) {
	if !r.leads(db.SealedExportLinks, id, token) {
		return nil, "", nil, errNoExport
	}
	export, err = r.Store.Archive(ctx, id)
	if errors.Is(err, db.ErrNoRows) {
		err = errNoExport
	}
	if err != nil {
		return nil, "", nil, err
	}
	path, done, err = r.Blobs.Local(ctx, export.BlobKey())
	return export, path, done, err
}
