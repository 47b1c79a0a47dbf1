package outbox

import (
	"context"

	"canopy/db"
	"canopy/internal/webhook"
)

// HearHome writes in a cell what its destinations hear of some events of the home's log, at most so many, and gives how many those were.
func HearHome(ctx context.Context, s *db.Store, home *db.Home, most int) (told Told, n int, err error) {
	n, err = s.HearHome(ctx, home, most, func(tx *db.Store, events []db.AuditEvent) error {
		audits := make([]db.NewAudit, len(events))
		for i, e := range events {
			audits[i] = named(e)
		}
		wanted, err := tx.WantedAudits(ctx, audits)
		if err != nil {
			return err
		}
		var record Record
		for _, w := range wanted {
			if err := record.tellOf(events[w.N], w.Belongs, events[w.N].CreatedAt); err != nil {
				return err
			}
		}
		told, err = record.Write(ctx, tx)
		return err
	})
	if err != nil {
		return Told{}, 0, err
	}
	return told, n, nil
}

// named is an audit event with the names by which destinations ask for it.
func named(e db.AuditEvent) db.NewAudit {
	names, _ := webhook.NamesOf(webhook.AuditType(e.Action))
	return db.NewAudit{AuditEvent: e, Names: names}
}
