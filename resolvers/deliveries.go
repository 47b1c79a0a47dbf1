package resolvers

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/rule"
	"canopy/internal/webhook"
	"canopy/outbox"
)

var deliveryStates = []string{db.DeliveryPending, db.DeliveryDelivered, db.DeliveryFailed, db.DeliveryBlocked}

// WebhookDeliveryFilter bounds a list of deliveries; nil leaves it open.
type WebhookDeliveryFilter struct {
	IDs                        []globalid.ID `of:"WebhookDelivery"`
	DestinationID              *globalid.ID  `of:"WebhookDestination"`
	Type, Status               *string
	CreatedSince, CreatedUntil *time.Time
	CustomerID                 *globalid.ID `of:"Customer" reach:"company"`
	Or                         []*WebhookDeliveryFilter
}

func (f *WebhookDeliveryFilter) complete(v *check, at string) {
	if f.Type != nil {
		v.eventType(at+"type", *f.Type)
	}
	v.oneOf(at+"status", f.Status, deliveryStates)
}

// Deliveries are which of the deliveries are asked for: of the caller's own company, unless a destination or a company
// within reach is named.
type Deliveries struct {
	DestinationID *globalid.ID
	Type, Status  *string
	Since         *time.Time
	CustomerID    *globalid.ID
	Subtree       bool
}

// WebhookDeliveries is a page of the deliveries of the caller's company, or of another within reach, or to one
// destination within reach, newest first unless asked for otherwise.
func (q Query) WebhookDeliveries(ctx context.Context, destinationID *globalid.ID, typ, status *string, since *time.Time,
	customerID *globalid.ID, subtree *bool, filter *WebhookDeliveryFilter, orderBy []*Order, first *int, after *string, last *int, before *string,
) (*WebhookDeliveryConnection, error) {
	c, err := q.may(ctx, rule.WebhookDeliveries)
	if err != nil {
		return nil, err
	}
	all, also, err := q.deliveriesOf(ctx, c, Deliveries{
		DestinationID: destinationID, Type: typ, Status: status, Since: since, CustomerID: customerID, Subtree: or(subtree, false),
	})
	if err != nil {
		return nil, err
	}
	return connected(ctx, q.Resolver, c, asked{list: db.Deliveries, filter: filter, order: orderBy, args: page(first, after, last, before), also: also}, all.rows, all.counted)
}

// deliveriesOf checks which deliveries are asked for: those of a scope that fit the terms.
func (r *Resolver) deliveriesOf(ctx context.Context, c *caller, in Deliveries) (*spreadPage[*db.Delivery], []db.Term, error) {
	also := WebhookDeliveryFilter{Type: in.Type, Status: in.Status, CreatedSince: in.Since}
	where, err := r.where(ctx, c, &also, "")
	if err != nil {
		return nil, nil, err
	}
	if in.DestinationID == nil {
		scope, terms, err := r.partHere(ctx, c, in.CustomerID, in.Subtree, "customerId")
		return spreadDeliveries.in(r, scope), append(where.Terms, terms...), err
	}
	d, err := r.destination(ctx, c, *in.DestinationID, "destinationId")
	if err != nil {
		return nil, nil, err
	}
	scope, terms := c.Scope(), []db.Term(nil)
	if in.CustomerID != nil {
		scope, terms, err = r.part(ctx, c, in.CustomerID, in.Subtree, "customerId")
	}
	all := spreadDeliveries.in(r, scope)
	all.alone = true // what a destination was sent is where that is, whoever's company is asked for
	return all, slices.Concat(where.Terms, []db.Term{idTerm("destinationId", d.ID)}, terms), err
}

// ListWebhookDeliveries is WebhookDeliveries for lists of any length.
func (q Query) ListWebhookDeliveries(ctx context.Context, in Deliveries, filter *WebhookDeliveryFilter, l Listing, each func(*db.Delivery, paging.Cursor) error) error {
	c, err := q.may(ctx, rule.WebhookDeliveries)
	if err != nil {
		return err
	}
	all, also, err := q.deliveriesOf(ctx, c, in)
	if err != nil {
		return err
	}
	return listAll(ctx, q.Resolver, c, asked{list: db.Deliveries, filter: filter, also: also}, l, all.rows, each)
}

// WebhookDelivery gives a delivery of a company within reach.
func (q Query) WebhookDelivery(ctx context.Context, id globalid.ID) (*db.Delivery, error) {
	c, err := q.may(ctx, rule.WebhookDelivery)
	if err != nil {
		return nil, err
	}
	return q.delivery(ctx, c, id)
}

// CapturedDelivery is a delivery with its bytes, nil where the caller may not see them, and the attempts so far.
type CapturedDelivery struct {
	*db.Delivery
	Payload  []byte
	Attempts []*db.Attempt
}

// CapturedDelivery gives a delivery of a company within reach with its bytes and its log.
func (q Query) CapturedDelivery(ctx context.Context, id globalid.ID) (*CapturedDelivery, error) {
	c, err := q.may(ctx, rule.WebhookDelivery)
	if err != nil {
		return nil, err
	}
	d, err := q.delivery(ctx, c, id)
	if err != nil {
		return nil, err
	}
	captured, err := d.Captured(ctx, q.Store)
	if err == nil && captured == nil {
		err = missing(db.ErrNoRows, "delivery", d.ID)
	}
	if err != nil {
		return nil, err
	}
	out := &CapturedDelivery{Delivery: d}
	if maySee(ctx, d) {
		out.Payload = captured.Payload
	}
	out.Attempts, err = attempts(ctx, d, captured)
	return out, err
}

// attempts are the attempts so far on a delivery. A receiver may answer with what it was sent: its answers are for those who may see that.
func attempts(ctx context.Context, d *db.Delivery, captured *db.Captured) ([]*db.Attempt, error) {
	list, err := captured.Attempts()
	if !maySee(ctx, d) {
		for _, a := range list {
			a.Response = ""
		}
	}
	return list, err
}

// maySee tells whether the caller may see what a delivery carries. Events of the audit log are for those who
// may read the log.
func maySee(ctx context.Context, d *db.Delivery) bool {
	g := access.PrincipalOf(ctx).Grants[access.Tenant]
	return !webhook.IsAudit(d.Type) || g != nil && g.Features.Has(access.AuditRead)
}

func (r *Resolver) delivery(ctx context.Context, c *caller, id globalid.ID) (*db.Delivery, error) {
	n, err := id.Of("WebhookDelivery", "id")
	if err != nil {
		return nil, err
	}
	d, err := r.Store.Delivery(ctx, c.Scope(), n)
	return d, missing(err, "delivery", n)
}

// TestWebhookDestinationInput is a destination to try out, with a type of event.
type TestWebhookDestinationInput struct {
	ID   globalid.ID
	Type string
}

// TestWebhookDestinationPayload is the delivery that TestWebhookDestination began.
type TestWebhookDestinationPayload struct{ Delivery *db.Delivery }

// TestWebhookDestination sends the catalog's example of an event to a destination, whatever it has
// subscribed; it is logged like any delivery, and marked as a test there and on its way.
func (m Mutation) TestWebhookDestination(ctx context.Context, in TestWebhookDestinationInput) (*TestWebhookDestinationPayload, error) {
	c, err := m.may(ctx, rule.TestWebhookDestination)
	if err != nil {
		return nil, err
	}
	d, err := m.destination(ctx, c, in.ID, "id")
	if err != nil {
		return nil, err
	}
	e, err := webhook.Example(time.Now(), in.Type)
	if errors.Is(err, webhook.ErrUnknownType) {
		return nil, errTestType
	}
	if err != nil {
		return nil, err
	}
	out := &TestWebhookDestinationPayload{}
	out.Delivery, err = m.send(ctx, c, audit.DestinationTested, d, func(tx *db.Store) (int64, error) {
		return tx.EmitTest(ctx, d, db.NewEvent{ID: e.ID, Type: e.Type, Payload: e.Payload})
	})
	return out, err
}

// ResendWebhookDeliveryInput is a delivery to send again.
type ResendWebhookDeliveryInput struct{ ID globalid.ID }

// ResendWebhookDeliveryPayload is the new delivery.
type ResendWebhookDeliveryPayload struct{ Delivery *db.Delivery }

// ResendWebhookDelivery sends the captured bytes of a delivery to the same destination once more,
// as a new delivery with a fresh signature.
func (m Mutation) ResendWebhookDelivery(ctx context.Context, in ResendWebhookDeliveryInput) (*ResendWebhookDeliveryPayload, error) {
	c, err := m.may(ctx, rule.ResendWebhookDelivery)
	if err != nil {
		return nil, err
	}
	old, err := m.delivery(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	d, err := m.Store.Destination(ctx, c.Scope(), old.DestinationID)
	if err != nil {
		return nil, missing(err, "destination", old.DestinationID)
	}
	out := &ResendWebhookDeliveryPayload{}
	out.Delivery, err = m.send(ctx, c, audit.DeliveryResent, d, func(tx *db.Store) (int64, error) {
		if webhook.IsAudit(old.Type) {
			if err := maySubscribeAudit(ctx, tx, c); err != nil {
				return 0, err
			}
		}
		id, err := tx.Resend(ctx, old.ID)
		return id, missing(err, "delivery", old.ID)
	})
	return out, err
}

// send writes one delivery to a destination, and gives it.
func (m Mutation) send(ctx context.Context, c *caller, action audit.Action, d *db.Destination, write func(*db.Store) (int64, error)) (row *db.Delivery, err error) {
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		id, err := write(tx)
		if err != nil {
			return err
		}
		ch.due = true
		if row, err = tx.Delivery(ctx, c.Scope(), id); err != nil {
			return err
		}
		return ch.audit(d.CustomerID, action, row, audit.Created(row))
	})
	return row, err
}

// RecoverWebhookDeliveriesInput is a destination that is to get what it has lost since a time.
type RecoverWebhookDeliveriesInput struct {
	ID    globalid.ID
	Since time.Time
}

// RecoverWebhookDeliveriesPayload tells how many deliveries RecoverWebhookDeliveries began.
type RecoverWebhookDeliveriesPayload struct{ Count int64 }

// RecoverWebhookDeliveries sends every event whose delivery to a destination has failed or was
// blocked since a time once more; those of the audit log for who may have them delivered.
func (m Mutation) RecoverWebhookDeliveries(ctx context.Context, in RecoverWebhookDeliveriesInput) (*RecoverWebhookDeliveriesPayload, error) {
	c, err := m.may(ctx, rule.RecoverWebhookDeliveries)
	if err != nil {
		return nil, err
	}
	d, err := m.destination(ctx, c, in.ID, "id")
	if err != nil {
		return nil, err
	}
	var v check
	v.lostSince("since", in.Since)
	if err := v.err(); err != nil {
		return nil, err
	}
	out := &RecoverWebhookDeliveriesPayload{}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		// Two recoveries at once must not send everything twice.
		if _, err := tx.DestinationForUpdate(ctx, c.Scope(), d.ID); err != nil {
			return missing(err, "destination", d.ID)
		}
		audited := maySubscribeAudit(ctx, tx, c) == nil
		if out.Count, err = tx.Recover(ctx, d, in.Since, audited); err != nil {
			return err
		}
		ch.due = ch.due || out.Count > 0
		return ch.audit(d.CustomerID, audit.DestinationRecovered, d, audit.None().With("since", in.Since).With("count", out.Count))
	})
	return out, err
}

// WebhookDeliveryUpdated gives the deliveries to a destination as they move on.
func (s Subscription) WebhookDeliveryUpdated(ctx context.Context, destinationID globalid.ID) (<-chan *db.Delivery, error) {
	if _, err := s.may(ctx, rule.WebhookDeliveryUpdated); err != nil {
		return nil, err
	}
	id, err := destinationID.Of("WebhookDestination", "destinationId")
	if err != nil {
		return nil, err
	}
	return follow(ctx, s.Resolver, feed[db.Delivery]{topic: outbox.DeliveriesTopic(id), load: func(ctx context.Context, message []byte) ([]*db.Delivery, error) {
		c, err := s.may(ctx, rule.WebhookDeliveryUpdated)
		if err != nil {
			return nil, err
		}
		if message == nil {
			_, err := s.destination(ctx, c, destinationID, "destinationId")
			return nil, err
		}
		return s.Store.DeliveriesNow(ctx, c.Scope(), id, parseIDs(string(message)))
	}})
}

func parseIDs(list string) []int64 {
	var ids []int64
	for part := range strings.SplitSeq(list, ",") {
		if id, err := strconv.ParseInt(part, 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// WebhookDeliveryEdges resolves the edges of a delivery.
type WebhookDeliveryEdges struct{ *Resolver }

// Destination is where the event goes; nil when it was deleted.
func (e WebhookDeliveryEdges) Destination(ctx context.Context, obj *db.Delivery) (*db.Destination, error) {
	c, err := e.may(ctx, rule.WebhookDeliveryDestination)
	if err != nil {
		return nil, err
	}
	return obj.Destination(ctx, e.Store, c.Scope())
}

// Payload are the bytes that every attempt sends; empty where the caller may not see them.
func (e WebhookDeliveryEdges) Payload(ctx context.Context, obj *db.Delivery) (string, error) {
	if !maySee(ctx, obj) {
		return "", nil
	}
	captured, err := obj.Captured(ctx, e.Store)
	if err != nil || captured == nil {
		return "", err
	}
	return string(captured.Payload), nil
}

// AttemptLog are the attempts so far, oldest first.
func (e WebhookDeliveryEdges) AttemptLog(ctx context.Context, obj *db.Delivery) ([]*db.Attempt, error) {
	captured, err := obj.Captured(ctx, e.Store)
	if err != nil || captured == nil {
		return []*db.Attempt{}, err
	}
	return attempts(ctx, obj, captured)
}
