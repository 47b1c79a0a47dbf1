package jobs

import (
	"context"
	"fmt"
	"strings"

	"canopy/db"
	"canopy/internal/mail"
	"canopy/outbox"
)

// mailOwners puts a mail to each owner of a company into the outbox, as work of a branch: see InsertMail.
func (w *Worker) mailOwners(ctx context.Context, tx *db.Store, branchID, customerID int64, kind string, write func(db.Owner) (mail.Message, error)) error {
	owners, err := tx.OwnersOf(ctx, customerID)
	if err != nil {
		return err
	}
	for _, o := range owners {
		m, err := write(o)
		if err != nil {
			return err
		}
		sealed, err := outbox.SealMail(w.Box, m)
		if err != nil {
			return err
		}
		if _, err := tx.InsertMail(ctx, branchID, o.UserID, 0, kind, sealed); err != nil {
			return err
		}
	}
	return nil
}

// link is the address of a path of the platform, which is made of what its format takes.
func (w *Worker) link(format string, args ...any) string {
	return strings.TrimRight(w.PublicURL, "/") + fmt.Sprintf(format, args...)
}
