package jobs

import (
	"context"
	"time"

	"canopy/db"
	"canopy/internal/mail"
	"canopy/internal/share"
	"canopy/internal/webhook"
	"canopy/outbox"
)

const (
	// noticeBatch is how many notices are told in one transaction.
	noticeBatch = 20
	kindLimit   = "limit"
)

// tellLimits tells of limits that are reached, or nearly, until ctx ends.
func (w *Worker) tellLimits(ctx context.Context) {
	tick := time.NewTicker(relayEvery)
	defer tick.Stop()
	for {
		told, err := share.Guarded(func() (int, error) { return w.tellSomeLimits(ctx) })
		if err != nil && ctx.Err() == nil {
			w.Log.WarnContext(ctx, "what is reached of limits was not told; it is tried again", "error", err)
		}
		if err == nil && told == noticeBatch {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// tellSomeLimits tells the owners of companies by mail, and those destinations that asked for it by name.
func (w *Worker) tellSomeLimits(ctx context.Context) (told int, err error) {
	var written outbox.Told
	err = w.Store.Tx(ctx, func(tx *db.Store) error {
		notices, err := tx.DueLimitNotices(ctx, noticeBatch)
		if err != nil {
			return err
		}
		told = len(notices)
		var record outbox.Record
		for _, n := range notices {
			if err := w.mailLimit(ctx, tx, n); err != nil {
				return err
			}
			if err := record.Emit(n.CustomerID, webhook.NewLimit(n.Reached(), webhook.Limited{
				CustomerID: n.CustomerID, Limit: string(n.Name), Used: n.Used, Max: n.Max,
			})); err != nil {
				return err
			}
			if err := tx.LimitTold(ctx, n); err != nil {
				return err
			}
		}
		written, err = record.Write(ctx, tx)
		return err
	})
	if err == nil && told > 0 {
		written.Announce(ctx, w.Bus)
		outbox.Wake(ctx, w.Bus)
	}
	return told, err
}

func (w *Worker) mailLimit(ctx context.Context, tx *db.Store, n *db.LimitNotice) error {
	return w.mailOwners(ctx, tx, n.BranchID, n.CustomerID, kindLimit, func(o db.Owner) (mail.Message, error) {
		return mail.Limit(mail.LimitData{
			To: o.Email, Customer: o.Customer, Name: string(n.Name), Used: n.Used, Max: n.Max, Reached: n.Reached(),
			Link: w.link("/tenant/usage/%d", n.CustomerID),
		})
	})
}
