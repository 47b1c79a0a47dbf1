package resolvers

import (
	"context"
	"errors"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/audit"
	"canopy/internal/share"
	"canopy/internal/webhook"
	"canopy/outbox"
)

// making is a row that a caller makes, with what is to be told of it. The row is as it will be, and is what PostgreSQL made of it in the end.
type making[Row any] struct {
	ch   *changes
	row  *Row
	tell func(*changes, *Row) error
}

// kind is how rows of a kind are made, by two statements for all of a list: the first one gives them their ids and tells whether a destination asks
// for their audit events by one of some names, and the second one makes them and tells of them, for any caller of the same reach.
type kind[Row any] struct {
	action audit.Action
	begin  func(ctx context.Context, s *db.Store, names []string, list []*Row) (wanted bool, err error)
	write  func(ctx context.Context, tx *db.Store, alone bool, list []*Row, audits []db.NewAudit, events []db.NewEvent) ([]db.WrittenAudit, []db.Destined, error)
}

// makings are the rows of a kind that are made together: those that callers of one reach make for one owner, as agents for an account or runs
// for an agent, while others are made for it. They would wait for the same rows, and for the same places to write.
type makings[Row any] struct {
	share.Batches[owned, *making[Row]]
}

// Together is what is made or read together, of each kind. The zero value is ready.
type Together struct {
	agents makings[db.NewAgent]
	runs   makings[db.Run]
	selves share.Together[selfAsked, self]
}

func (t *Together) ofAgents() *makings[db.NewAgent] {
	if t == nil {
		return nil
	}
	return &t.agents
}

func (t *Together) ofRuns() *makings[db.Run] {
	if t == nil {
		return nil
	}
	return &t.runs
}

type owned struct {
	reach access.Scope
	owner int64
}

// makeTogether is change for a row of which many may be made at the same time. All that are made together are one transaction, with what is told
// of them; one that can't be made fails by itself. What is done under an idempotency key is made by itself, as all is where with is nil.
func makeTogether[Row any](ctx context.Context, r *Resolver, with *makings[Row], owner int64, k kind[Row], m *making[Row]) error {
	list := []*making[Row]{m}
	if _, claimed := ctx.Value(claimKey{}).(*Claim); claimed {
		b, err := k.all(ctx, r, list)
		if err != nil {
			return err
		}
		return r.change(ctx, m.ch.caller, func(tx *db.Store, ch *changes) (err error) {
			ch.work = m.ch.work
			ch.told, err = b.write(ctx, tx, false)
			return err
		})
	}
	if with == nil {
		return makeAll(ctx, r, k, list)
	}
	return with.Do(db.Alone(ctx), owned{m.ch.caller.Scope(), owner}, m, share.Work[*making[Row]]{
		Refused: db.Refused,
		Do:      func(ctx context.Context, list []*making[Row]) error { return makeAll(ctx, r, k, list) },
	})
}

// makeAll makes rows in one transaction, and tells of them after it. It is one statement, unless an audit event is to be told itself.
func makeAll[Row any](ctx context.Context, r *Resolver, k kind[Row], list []*making[Row]) error {
	b, err := k.all(ctx, r, list)
	if err != nil {
		return err
	}
	ch := &changes{work: list[0].ch.work}
	write := func(alone bool) func(*db.Store) error {
		return func(tx *db.Store) (err error) {
			ch.told, err = b.write(ctx, tx, alone)
			return err
		}
	}
	err = db.ErrMoreToTell
	if !b.wanted {
		err = r.Store.AtOnce(ctx, write(true))
	}
	if errors.Is(err, db.ErrMoreToTell) {
		err = r.Store.Tx(ctx, write(false))
	}
	if err == nil {
		r.announce(ctx, ch)
	}
	return err
}

// begun are rows that are about to be made, with what is to be told of them.
type begun[Row any] struct {
	kind[Row]
	rows   []*Row
	record outbox.Record
	wanted bool
}

// all begins to make rows.
func (k kind[Row]) all(ctx context.Context, r *Resolver, list []*making[Row]) (*begun[Row], error) {
	b := &begun[Row]{kind: k}
	for _, m := range list {
		b.rows = append(b.rows, m.row)
	}
	names, _ := webhook.NamesOf(webhook.AuditType(string(k.action)))
	var err error
	if b.wanted, err = k.begin(ctx, r.Store, names, b.rows); err != nil {
		return nil, err
	}
	for _, m := range list {
		m.ch.record = outbox.Record{}
		if err := m.tell(m.ch, m.row); err != nil {
			return nil, err
		}
		b.record.Add(&m.ch.record)
	}
	return b, nil
}

// write makes the rows, with what is told of them. alone says that nothing follows in the transaction.
func (b *begun[Row]) write(ctx context.Context, tx *db.Store, alone bool) (outbox.Told, error) {
	return b.record.WriteBy(ctx, tx, func(ctx context.Context, audits []db.NewAudit, events []db.NewEvent) ([]db.WrittenAudit, []db.Destined, error) {
		return b.kind.write(ctx, tx, alone, b.rows, audits, events)
	})
}
