package jobs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/mail"
	"canopy/internal/share"
	"canopy/outbox"
)

// upkeepEvery is the pace of the upkeep. Each of its steps may run anywhere, at any time, twice.
const upkeepEvery = 10 * time.Minute

// settled is for how long a worker has to have worked until it changes logs over to months: by then an upgrade is over, and no process is of a release that does not know of months.
const settled = time.Hour

func (w *Worker) upkeep(ctx context.Context) {
	tick := time.NewTicker(upkeepEvery)
	defer tick.Stop()
	began := time.Now()
	for {
		for name, step := range w.steps(time.Since(began)) {
			if err := share.Guard(func() error { return step(ctx) }); err != nil && ctx.Err() == nil {
				w.Log.WarnContext(ctx, "upkeep failed; it is tried again", "step", name, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// steps are what the upkeep does, of a worker that has worked for a time.
func (w *Worker) steps(worked time.Duration) map[string]func(context.Context) error {
	steps := map[string]func(context.Context) error{
		"forget old answers":             func(ctx context.Context) error { return forgetBatches(ctx, w.Store.ForgetKept) },
		"forget old exports":             func(ctx context.Context) error { return forgetBatches(ctx, w.Store.ForgetExports) },
		"forget old changes of the tree": func(ctx context.Context) error { return forgetBatches(ctx, w.Store.ForgetTreeChanges) },
		"forget old mails":               w.Store.SweepMails,
		"forget old limit notices":       w.Store.SweepLimitNotices,
		"forget old holds":               w.Store.SweepDeliveryHolds,
		"forget old webhook secrets":     func(ctx context.Context) error { return forgetBatches(ctx, w.Store.ForgetDestinationSecrets) },
		"forget removed secrets":         func(ctx context.Context) error { return forgetBatches(ctx, w.Store.EraseSecrets) },
		"make months of logs ahead":      func(ctx context.Context) error { return w.Store.Months().Ahead(ctx) },
		"forget old deliveries":          w.forgetDeliveries,
		"forget old runs":                w.forgetRuns,
		"forget old audit events":        w.forgetAuditEvents,
		"forget old queries":             w.forgetQueries,
		"disable failing destinations":   w.disableFailing,
		"pack vectors":                   w.packVectors,
	}
	if w.Store.Cell() == nil {
		maps.Copy(steps, w.homeSteps())
	}
	if w.MonthsFrom > 0 && worked >= settled {
		steps["change large logs over to months"] = w.changeLogsOver
	}
	if w.Documents != nil {
		steps["clear unfinished files"] = func(ctx context.Context) error {
			return w.Documents.Blobs.Sweep(ctx, time.Now().Add(-db.UploadTime))
		}
	}
	return steps
}

// homeSteps are what the upkeep does to the directory, and to what only the home has.
func (w *Worker) homeSteps() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"rotate signing keys":        func(ctx context.Context) error { return rotateByAge(ctx, w.Store, w.Box) },
		"forget old links":           w.Store.SweepLinks,
		"forget old address changes": w.Store.SweepEmailChanges,
		"forget old invitations":     func(ctx context.Context) error { return forgetBatches(ctx, w.Store.ForgetInvitations) },
		"forget old sessions":        func(ctx context.Context) error { return forgetBatches(ctx, w.Store.ForgetSessions) },
		"forget old imports":         func(ctx context.Context) error { return forgetBatches(ctx, w.Store.ForgetImportRequests) },
		"forget old networks":        w.Store.SweepNetworks,
		"forget used states":         func(ctx context.Context) error { return forgetBatches(ctx, w.Store.ForgetStates) },
		"forget former members":      w.forgetFormerMembers,
		"look after domains":         w.CheckDomains,
	}
}

// A destination is disabled by the platform after three days in which at least 20 deliveries have
// failed and none has got through.
const (
	failingFor      = 72 * time.Hour
	failingAtLeast  = 20
	kindDestination = "destination"
)

// How many rows are looked at, and at most deleted, in one transaction. A run takes its steps along.
const (
	deliveryBatch = 5000
	runBatch      = 500
	auditBatch    = 2000
	forgetBatch   = 2000
)

// disableFailing disables destinations where nothing has got through for too long, and tells the
// owners of their companies by mail.
func (w *Worker) disableFailing(ctx context.Context) error {
	var told outbox.Told
	err := w.Store.Tx(ctx, func(tx *db.Store) error {
		var record outbox.Record
		failing, err := tx.FailingDestinations(ctx, failingFor, failingAtLeast)
		if err != nil {
			return err
		}
		for _, d := range failing {
			if err := tx.AutoDisable(ctx, d.ID); err != nil {
				return err
			}
			now := *d
			now.Enabled = false
			err := record.Audit(db.AuditEvent{
				CustomerID: d.CustomerID, Action: string(audit.DestinationDisabled), ObjectType: d.GlobalID().Type, ObjectID: d.ID,
			}, audit.Between(d, &now))
			if err != nil {
				return err
			}
			if err := w.mailDisabled(ctx, tx, d); err != nil {
				return err
			}
		}
		told, err = record.Write(ctx, tx)
		return err
	})
	if err != nil || len(told.Audits) == 0 {
		return err
	}
	told.Announce(ctx, w.Bus)
	outbox.Wake(ctx, w.Bus)
	return nil
}

func (w *Worker) mailDisabled(ctx context.Context, tx *db.Store, d *db.Destination) error {
	return w.mailOwners(ctx, tx, 0, d.CustomerID, kindDestination, func(o db.Owner) (mail.Message, error) {
		return mail.DestinationDisabled(mail.DisabledData{
			To: o.Email, Customer: o.Customer, URL: d.URL,
			Reason: fmt.Sprintf("For %d days every delivery has failed, at least %d of them.", int(failingFor.Hours()/24), failingAtLeast),
			Link:   w.link("/v1/outbound-webhooks/deliveries?destinationId=%d", d.ID),
		})
	})
}

// Retention is how long what has ended is kept in each log; 0 stands for ever.
type Retention map[*db.Log]time.Duration

// forgetDeliveries, forgetRuns and forgetAuditEvents drop the months that are older than the retention, where the log has any, and delete what else is, batch by batch: the rows
// lie in the order of their ids, so nothing is searched for.
func (w *Worker) forgetDeliveries(ctx context.Context) error {
	return w.forgetLog(ctx, db.DeliveryLog, w.Store.ForgetDeliveries, deliveryBatch)
}

func (w *Worker) forgetRuns(ctx context.Context) error {
	return w.forgetLog(ctx, db.RunLog, w.Store.ForgetRuns, runBatch)
}

func (w *Worker) forgetAuditEvents(ctx context.Context) error {
	return w.forgetLog(ctx, db.AuditLog, w.Store.ForgetAuditEvents, auditBatch)
}

func (w *Worker) forgetLog(ctx context.Context, l *db.Log, batch forgetting, limit int) error {
	keep := w.Retention[l]
	if keep <= 0 {
		return nil
	}
	rest, err := w.Store.Months().Drop(ctx, l, keep)
	for _, ids := range rest {
		err = errors.Join(err, forgetAmong(ctx, ids, batch, keep, limit))
	}
	return err
}

// inMonths are the logs that months pay for.
func (r Retention) inMonths() (logs []*db.Log) {
	for l, keep := range r {
		if db.MonthsPay(keep) {
			logs = append(logs, l)
		}
	}
	return logs
}

func (w *Worker) changeLogsOver(ctx context.Context) error {
	changed, err := w.Store.Months().ChangeOver(ctx, int64(w.MonthsFrom), w.Retention.inMonths()...)
	for _, name := range changed {
		w.Log.InfoContext(ctx, "a log has become large: it has months from now on, which are dropped once they are over", "log", name)
	}
	return err
}

// forgetFormerMembers deletes those of whom no event tells any more.
func (w *Worker) forgetFormerMembers(ctx context.Context) error {
	return forget(ctx, w.Store.ForgetFormerMembers, w.Retention[db.AuditLog], auditBatch)
}

// queriesKept is how long what was asked of contexts is kept.
const queriesKept = 30 * 24 * time.Hour

func (w *Worker) forgetQueries(ctx context.Context) error {
	return forget(ctx, w.Store.ForgetQueries, queriesKept, forgetBatch)
}

// forgetBatches deletes batch by batch, until there is nothing left to delete.
func forgetBatches(ctx context.Context, batch func(ctx context.Context, limit int) (int64, error)) error {
	for {
		if n, err := batch(ctx, forgetBatch); err != nil || n < forgetBatch {
			return err
		}
	}
}

// forgetting deletes rows from behind an id on, in a batch, and gives the id to go on from; 0 when there is nothing left.
type forgetting func(ctx context.Context, keep time.Duration, after int64, limit int) (last int64, err error)

func forget(ctx context.Context, batch forgetting, keep time.Duration, limit int) error {
	if keep <= 0 {
		return nil
	}
	return forgetAmong(ctx, db.IDs{}, batch, keep, limit)
}

// forgetAmong does that among some ids. The last batch may go beyond them: what it finds there is as old.
func forgetAmong(ctx context.Context, ids db.IDs, batch forgetting, keep time.Duration, limit int) error {
	for after := ids.After; ids.Last == 0 || after < ids.Last; {
		last, err := batch(ctx, keep, after, limit)
		if err != nil || last == 0 {
			return err
		}
		after = last
	}
	return nil
}
