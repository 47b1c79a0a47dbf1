package jobs

import (
	"context"
	"slices"
	"time"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/outbox"
)

// The DNS of a proven domain is asked again every day. A claim whose record is missing for three days holds no longer: the domain may be
// somebody else's by now.
const (
	domainsEvery   = 24 * time.Hour
	domainsPatient = 72 * time.Hour
	domainsBatch   = 100
)

// CheckDomains looks whether companies still have the domains that they have proven.
func (w *Worker) CheckDomains(ctx context.Context) error {
	due, err := w.Store.DueClaims(ctx, domainsEvery, domainsBatch)
	for _, d := range due {
		if err := w.checkDomain(ctx, d); err != nil {
			return err
		}
	}
	return err
}

func (w *Worker) checkDomain(ctx context.Context, d *db.DomainClaim) error {
	tokens, err := w.DNS.Proofs(ctx, d.Domain)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil: // nobody knows, so nothing is lost
		return w.Store.LookedAtClaim(ctx, d.ID, false)
	case slices.Contains(tokens, d.Token):
		return w.Store.ProveClaim(ctx, d.ID)
	case d.MissingSince == nil || time.Since(*d.MissingSince) < domainsPatient:
		return w.Store.LookedAtClaim(ctx, d.ID, true)
	}
	var told outbox.Told
	err = w.Store.Tx(ctx, func(tx *db.Store) error {
		if err := tx.LoseClaim(ctx, d.ID); err != nil {
			return err
		}
		var record outbox.Record
		e := db.AuditEvent{CustomerID: d.CustomerID, Action: string(audit.CustomerDomainLost), ObjectType: "Customer", ObjectID: d.CustomerID}
		if err := record.Audit(e, audit.None().With("domain", d.Domain)); err != nil {
			return err
		}
		told, err = record.Write(ctx, tx)
		return err
	})
	if err == nil {
		told.Announce(ctx, w.Bus)
	}
	return err
}
