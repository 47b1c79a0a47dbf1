package resolvers

import (
	"context"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/share"
	"canopy/outbox"
)

// making is a row that a caller makes, with what is to be told of it once it is there.
type making[New, Row any] struct {
	ch   *changes
	row  New
	made *Row
	tell func(*changes, *Row) error
}

// makings are the rows of a kind that are made together: those that callers of one reach make for one owner, as agents for an account or runs
// for an agent, while others are made for it. They would wait for the same rows, and for the same places to write.
type makings[New, Row any] struct {
	share.Batches[owned, *making[New, Row]]
}

// Together is what is made together, of each kind. The zero value is ready.
type Together struct {
	agents makings[db.NewAgent, db.Agent]
	runs   makings[db.Run, db.Run]
}

func (t *Together) ofAgents() *makings[db.NewAgent, db.Agent] {
	if t == nil {
		return nil
	}
	return &t.agents
}

func (t *Together) ofRuns() *makings[db.Run, db.Run] {
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
// of them; one that can't be made fails by itself. What is done under an idempotency key is made by itself, as all is where with is nil. insert makes
// all rows of a list, or none, for any caller of the same reach.
func makeTogether[New, Row any](ctx context.Context, r *Resolver, with *makings[New, Row], owner int64, m *making[New, Row],
	insert func(context.Context, *db.Store, []New) ([]*Row, error),
) error {
	if _, claimed := ctx.Value(claimKey{}).(*Claim); claimed || with == nil {
		return r.change(ctx, m.ch.caller, func(tx *db.Store, ch *changes) error {
			ch.work, m.ch = m.ch.work, ch
			return makeAll(ctx, tx, []*making[New, Row]{m}, insert)
		})
	}
	return with.Do(ctx, owned{m.ch.caller.Scope(), owner}, m, share.Work[*making[New, Row]]{
		Refused: db.Refused,
		Do: func(ctx context.Context, list []*making[New, Row]) error {
			all := &changes{work: m.ch.work}
			err := r.Store.Tx(ctx, func(tx *db.Store) (err error) {
				if err := makeAll(ctx, tx, list, insert); err != nil {
					return err
				}
				for _, m := range list {
					all.record.Add(&m.ch.record)
				}
				all.told, err = all.record.Write(ctx, tx)
				return err
			})
			if err == nil {
				r.announce(ctx, all)
			}
			return err
		},
	})
}

// makeAll makes rows, and collects what is to be told of each.
func makeAll[New, Row any](ctx context.Context, tx *db.Store, list []*making[New, Row], insert func(context.Context, *db.Store, []New) ([]*Row, error)) error {
	rows := make([]New, len(list))
	for i, m := range list {
		rows[i] = m.row
	}
	made, err := insert(ctx, tx, rows)
	if err != nil {
		return err
	}
	for i, m := range list {
		m.ch.record, m.made = outbox.Record{}, made[i]
		if err := m.tell(m.ch, m.made); err != nil {
			return err
		}
	}
	return nil
}
