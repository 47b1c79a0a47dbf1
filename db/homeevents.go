package db

import (
	"context"
	"errors"
	"time"

	"github.com/lib/pq"
)

// What the home writes in the log of companies of a cell's region waits there for the cell, whose destinations hear of it. The cell asks: one that is away keeps no other waiting, and goes on where
// it was. It keeps the ids of what it has heard of until the home has been told, so that whatever ends in between is neither lost nor heard of twice.

var (
	qHearsAlone = prepare(`SELECT pg_try_advisory_xact_lock(hashtext('canopy events of the home'))`)
	qHeard      = prepare(`SELECT event_id FROM heard_events`)
	qForgetTold = prepare(`DELETE FROM heard_events WHERE event_id = ANY ($1::bigint[])`)
	qNoteHeard  = prepare(`INSERT INTO heard_events (event_id) SELECT * FROM unnest($1::bigint[])`)
	qWantedHere = prepare(`
		SELECT t.n - 1 AS n, t.actor <> 0 AND ` + belongs("t.customer_id", "t.actor") + ` AS belongs
		FROM ` + unnest(1, []string{"bigint", "bigint", "text"}) + ` WITH ORDINALITY t(customer_id, actor, names, n) WHERE ` + wanted("t") + ` ORDER BY t.n`)

	qEventsBacklog = backlog("events_for_cells", "created_at", "true")
)

// EventsBacklog tells of the events of the home's log that cells have yet to hear of, counting no further than 100,000.
func (s *Store) EventsBacklog(ctx context.Context) (b Backlog, err error) {
	err = s.get(ctx, &b, qEventsBacklog)
	return b, err
}

// handedOver is an audit event of the home, and how far its pulse was then.
type handedOver struct {
	AuditEvent
	Pulse int64 `db:"pulse"`
}

const handOverEvents = `
	SELECT id, customer_id, actor_user_id, client_id, action, object_type, object_id, details, created_at, audit_actor_kind(actor_user_id, client_id, action) AS actor_kind, pulse
	FROM hand_over_events($1, $2, $3)`

// handOver tells the home which of its events the cell has heard of, and gets some of the others.
func (h *Home) handOver(ctx context.Context, heard []int64, most int) (events []handedOver, err error) {
	ctx, cancel := context.WithTimeout(ctx, homeWait)
	defer cancel()
	err = h.pool.SelectContext(ctx, &events, handOverEvents, h.cell.Number, pq.Array(heard), most)
	return events, translate(ctx, err)
}

// HearHome has tell write, in its transaction, what follows in the cell from some events of the home's log, at most so many, and gives how many those were: 0 where there are none, or another
// process hears of them. Each is told of once, whatever ends at which moment.
func (s *Store) HearHome(ctx context.Context, home *Home, most int, tell func(tx *Store, events []AuditEvent) error) (n int, err error) {
	err = s.Tx(ctx, func(tx *Store) error {
		var alone bool
		if err := tx.get(ctx, &alone, qHearsAlone); err != nil || !alone {
			return err
		}
		heard := []int64{}
		if err := tx.list(ctx, &heard, qHeard); err != nil {
			return err
		}
		over, err := home.handOver(ctx, heard, most)
		if err != nil {
			return err
		}
		if len(heard) > 0 {
			if _, err := tx.exec(ctx, qForgetTold, heard); err != nil {
				return err
			}
		}
		if n = len(over); n == 0 {
			return nil
		}
		if err := tx.reach(ctx, over[0].Pulse); err != nil {
			return err
		}
		events, ids := make([]AuditEvent, n), make([]int64, n)
		for i, e := range over {
			events[i], ids[i] = e.AuditEvent, e.ID
		}
		if _, err := tx.exec(ctx, qNoteHeard, ids); err != nil {
			return err
		}
		return tell(tx, events)
	})
	return n, err
}

var errLateReplica = errors.New("the replica has not come as far as what the home hands over")

// reachEvery is how often it is looked whether the replica has what is waited for.
const reachEvery = 10 * time.Millisecond

// reach waits until the replica is as far as the home's pulse, for as long as the home itself is waited for.
func (s *Store) reach(ctx context.Context, pulse int64) error {
	ctx, cancel := context.WithTimeout(ctx, homeWait)
	defer cancel()
	for {
		if there, err := s.Pulse(ctx); err != nil || there >= pulse {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(errLateReplica, ctx.Err())
		case <-time.After(reachEvery):
		}
	}
}

// WantedAudit is an audit event that a destination of its company has asked for by name, by its place in a list. Belongs: the actor belongs to the company, or to one below it, or has belonged to it.
type WantedAudit struct {
	N       int  `db:"n"`
	Belongs bool `db:"belongs"`
}

// WantedAudits are those of audit events that are written elsewhere.
func (s *Store) WantedAudits(ctx context.Context, audits []NewAudit) (list []WantedAudit, err error) {
	all := auditArrays(audits)
	err = s.list(ctx, &list, qWantedHere, all[0], all[1], all[len(all)-1])
	return list, err
}
