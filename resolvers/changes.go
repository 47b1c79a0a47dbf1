package resolvers

import (
	"context"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/outbox"
)

// changes collects what is to be told once a transaction has been committed.
type changes struct {
	caller *caller
	// person is who acts without a token: by a password, or by a link, or who has asked for what is done now; client is the
	// key that it was asked for with, if it was one.
	person int64
	client string
	tx     *db.Store
	record outbox.Record
	told   outbox.Told
	mail   bool
	// work: there are other outbox rows than mails; documents have changed, by context and id.
	work      bool
	documents [][2]int64
	// due: there is something to deliver that no event of the change tells of.
	due bool
	// callers are the users who may have lost something: what they have open is looked at again.
	callers []int64
	// companies are those whose status has changed, or whose place: what is open there and below is looked at again.
	companies []int64
	// told are the messages for those who follow an object.
	messages []message
}

// change runs do in one transaction and tells of it after the commit. What a caller changes under an idempotency key is
// bound to its claim.
func (r *Resolver) change(ctx context.Context, c *caller, do func(tx *db.Store, ch *changes) error) error {
	ch := &changes{caller: c}
	err := r.Store.Tx(ctx, func(tx *db.Store) (err error) {
		ch.tx = tx
		if c != nil {
			if err := markClaim(ctx, tx); err != nil {
				return err
			}
		}
		if err := do(tx, ch); err != nil {
			return err
		}
		if len(ch.companies) > 0 {
			if err := tx.LogTreeChanges(ctx, ch.companies); err != nil {
				return err
			}
		}
		told, err := ch.record.Write(ctx, tx)
		ch.told.Add(told)
		return err
	})
	if err != nil {
		return err
	}
	if c != nil {
		noteChange(ctx)
	}
	r.announce(ctx, ch)
	return nil
}

// same tells whether a change leaves a row, which is held, as it is. Then nothing is written, and nobody is told: whoever has seen the row has seen it as it
// is.
func same[T any](row, next *T) bool { return audit.Between(row, next).Empty() }

// actor is the user who makes the change; 0 for the platform itself.
func (ch *changes) actor() int64 {
	if ch.caller == nil {
		return ch.person
	}
	return ch.caller.UserID
}

// announce tells of a committed change: listeners of its events, and the relay of its outbox
// rows. Both may miss it; the rows are there.
func (r *Resolver) announce(ctx context.Context, ch *changes) {
	ch.told.Announce(ctx, r.Bus)
	for _, d := range ch.documents {
		outbox.TellDocument(ctx, r.Bus, d[0], d[1])
	}
	for _, id := range ch.callers {
		r.Bus.Publish(ctx, outbox.CallerTopic(id), nil)
	}
	for _, id := range ch.companies {
		outbox.TellTree(ctx, r.Bus, id)
	}
	for _, m := range ch.messages {
		r.Bus.Publish(ctx, m.topic, m.payload)
	}
	if ch.mail || ch.work {
		outbox.Wake(ctx, r.Bus)
	}
	if ch.due {
		outbox.WakeDeliveries(ctx, r.Bus, nil)
	}
}
