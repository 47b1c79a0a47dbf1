package db

import (
	"context"
	"encoding/json"
	"time"

	"canopy/internal/access"
	"canopy/internal/globalid"
)

// The states of a delivery. Of the three that end it, delivered is after a 2xx answer, failed after any
// other outcome that is not tried again, and blocked where the destination's address is forbidden.
const (
	DeliveryPending   = "pending"
	DeliveryDelivered = "delivered"
	DeliveryFailed    = "failed"
	DeliveryBlocked   = "blocked"
)

// Delivery is one event on its way to one destination, with its log.
type Delivery struct {
	ID            int64  `db:"id"`
	CustomerID    int64  `db:"customer_id"`
	DestinationID int64  `db:"destination_id" audit:"destination"`
	EventID       string `db:"event_id" audit:"eventId"`
	Type          string `db:"type" audit:"type"`
	Status        string `db:"status"`
	Attempts      int    `db:"attempts"`
	HTTPStatus    *int   `db:"http_status"`
	// Error is what went wrong last, or what a first attempt waits for.
	Error string `db:"error,joined"`
	// Test: it was sent to try the destination out, and tells of nothing that happened.
	Test        bool       `db:"test" audit:"test"`
	CreatedAt   time.Time  `db:"created_at"`
	CompletedAt *time.Time `db:"completed_at"`

	siblings
}

// GlobalID is the node id of the delivery.
func (d *Delivery) GlobalID() globalid.ID { return globalid.ID{Type: "WebhookDelivery", Int: d.ID} }

// Attempt is the log of one attempt on a delivery.
type Attempt struct {
	At         time.Time `json:"at"`
	DurationMs float64   `json:"durationMs"`
	HTTPStatus *int      `json:"httpStatus"`
	Error      string    `json:"error"`
	// Kind is what kind of failure Error is, for programs; empty where there is none, and for attempts from before it was kept.
	Kind string `json:"kind,omitempty"`
	// Response is the beginning of what the receiver answered, up to 1 KiB.
	Response string `json:"response,omitempty"`
}

// Failure is what went wrong last; nil when nothing did.
func (d *Delivery) Failure() *string { return unlessEmpty(d.Error) }

// Failure is what went wrong; nil when nothing did.
func (a *Attempt) Failure() *string { return unlessEmpty(a.Error) }

// ErrorKind is what kind of failure it is; nil where there is none, and for attempts from before it was kept.
func (a *Attempt) ErrorKind() *string { return unlessEmpty(a.Kind) }

func unlessEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Captured is what was captured of a delivery: the bytes that every attempt sends, and the
// log of the attempts so far.
type Captured struct {
	ID      int64           `db:"id"`
	Payload []byte          `db:"payload"`
	Log     json.RawMessage `db:"log"`
}

// What waits for its first attempt has been due since it was written: so its row is known by its key.
var deliveryColumns = columns[Delivery]("w") + `, CASE WHEN w.status = 'pending'
	AND ` + held("(SELECT o.lineage FROM customers o WHERE o.id = w.customer_id)") + `
	AND EXISTS (SELECT FROM webhook_due u WHERE u.destination_id = w.destination_id AND NOT u.begun AND u.next_attempt_at = w.created_at AND u.delivery_id = w.id)
	THEN 'the limit deliveriesPerDay is reached: it goes out when there is room again, from midnight, UTC, on, or when the limit is raised'
	ELSE w.error END AS error`

// pending has what is inserted into webhook_deliveries go out. It gives the ids.
func pending(insert string) string {
	return `WITH emitted AS (` + insert + ` RETURNING id, destination_id)
		INSERT INTO webhook_due (destination_id, delivery_id) SELECT destination_id, id FROM emitted RETURNING delivery_id`
}

var (
	qDelivery = prepare(`
		SELECT ` + deliveryColumns + ` FROM webhook_deliveries w JOIN customers c ON c.id = w.customer_id WHERE w.id = $3 AND ` + withinScope)
	qDeliveriesNow = prepare(`
		SELECT ` + deliveryColumns + ` FROM webhook_deliveries w JOIN customers c ON c.id = w.customer_id
		WHERE w.id = ANY($3) AND w.destination_id = $4 AND ` + withinScope + ` ORDER BY w.id`)
	qCaptured = prepare(`SELECT id, payload, log FROM webhook_deliveries WHERE id = ANY($1)`)

	qEmitTest = prepare(pending(`
		INSERT INTO webhook_deliveries (customer_id, destination_id, event_id, type, payload, test) VALUES ($1, $2, $3, $4, $5, true)`))
	qResend = prepare(pending(`
		INSERT INTO webhook_deliveries (customer_id, destination_id, event_id, type, payload, test)
		SELECT customer_id, destination_id, event_id, type, payload, test FROM webhook_deliveries WHERE id = $1`))
	// What counts of an event is its last delivery: one that was lost several times is sent again
	// once, and one that has since been delivered, or is on its way, is not.
	qRecover = prepare(pending(`
		INSERT INTO webhook_deliveries (customer_id, destination_id, event_id, type, payload, test)
		SELECT w.customer_id, w.destination_id, w.event_id, w.type, w.payload, w.test
		FROM (SELECT DISTINCT ON (event_id) id, lost FROM webhook_deliveries
			WHERE destination_id = $2 AND created_at >= $3 ORDER BY event_id, id DESC) last
		JOIN webhook_deliveries w ON w.id = last.id
		WHERE last.lost AND w.customer_id = $1 AND ($4 OR NOT ` + ofAudit("w.type") + `) ORDER BY w.id`))
	qAuditPending = prepare(`
		SELECT EXISTS (SELECT FROM webhook_due u WHERE u.destination_id = $1
			AND ` + ofAudit("(SELECT w.type FROM webhook_deliveries w WHERE w.id = u.delivery_id)") + `)`)
)

// ofAudit tells whether a type is that of events of the audit log, as webhook.IsAudit does.
func ofAudit(eventType string) string { return eventType + " LIKE 'audit.%'" }

var (
	destinationDeliveries    = edgeBy((*Destination).key, pagesOf[Delivery](deliveriesOfDestination))
	destinationDeliveryCount = edgeBy((*Destination).key, countsOf(deliveriesOfDestination))
	deliveryDestination      = edgeBy(func(d *Delivery) int64 { return d.DestinationID }, destinationsByID)
	deliveryCaptured         = edgeBy(func(d *Delivery) int64 { return d.ID }, captured)
)

func captured(ctx context.Context, s *Store, _ none, ids []int64) (map[int64]*Captured, error) {
	var rows []*Captured
	err := s.list(ctx, &rows, qCaptured, ids)
	return index(rows, func(c *Captured) int64 { return c.ID }), err
}

// Delivery reads one delivery of a company within the scope.
func (s *Store) Delivery(ctx context.Context, scope access.Scope, id int64) (*Delivery, error) {
	d := &Delivery{}
	err := s.get(ctx, d, qDelivery, scope.From(), scope.To(), id)
	return d, err
}

// DeliveriesNow reads those of some deliveries that go to a destination within the scope.
func (s *Store) DeliveriesNow(ctx context.Context, scope access.Scope, destinationID int64, ids []int64) (rows []*Delivery, err error) {
	err = s.list(ctx, &rows, qDeliveriesNow, scope.From(), scope.To(), ids, destinationID)
	return join(rows), err
}

// Deliveries is a page of a destination's deliveries.
func (d *Destination) Deliveries(ctx context.Context, s *Store, a Ask) ([]*Delivery, error) {
	return follow(ctx, s, d, destinationDeliveries, scopedAsk{ask: a})
}

// DeliveryCount counts a destination's deliveries.
func (d *Destination) DeliveryCount(ctx context.Context, s *Store, a Ask) (int, error) {
	return follow(ctx, s, d, destinationDeliveryCount, scopedAsk{ask: a})
}

// Destination is the edge from a delivery to its destination; nil when that was deleted.
func (d *Delivery) Destination(ctx context.Context, s *Store, scope access.Scope) (*Destination, error) {
	return follow(ctx, s, d, deliveryDestination, scope)
}

// Captured is the edge from a delivery to its bytes and its log.
func (d *Delivery) Captured(ctx context.Context, s *Store) (*Captured, error) {
	return follow(ctx, s, d, deliveryCaptured, none{})
}

// Attempts reads the log of the attempts, oldest first.
func (c *Captured) Attempts() ([]*Attempt, error) {
	list := []*Attempt{}
	err := json.Unmarshal(c.Log, &list)
	return list, err
}

// EmitTest writes a test delivery of an event to one destination, enabled or not.
func (s *Store) EmitTest(ctx context.Context, d *Destination, e NewEvent) (id int64, err error) {
	err = s.get(ctx, &id, qEmitTest, d.CustomerID, d.ID, e.ID, e.Type, e.Payload)
	return id, err
}

// Resend writes a new delivery of a delivery's captured bytes to the same destination.
func (s *Store) Resend(ctx context.Context, deliveryID int64) (id int64, err error) {
	err = s.get(ctx, &id, qResend, deliveryID)
	return id, err
}

// Recover writes a new delivery for each event whose delivery to a destination has failed or was
// blocked since a time, with those of the audit log or without, and tells how many these are.
func (s *Store) Recover(ctx context.Context, d *Destination, since time.Time, audited bool) (int64, error) {
	return s.exec(ctx, qRecover, d.CustomerID, d.ID, since, audited)
}

// AuditPending tells whether events of the audit log are on their way to a destination.
func (s *Store) AuditPending(ctx context.Context, destinationID int64) (pending bool, err error) {
	err = s.get(ctx, &pending, qAuditPending, destinationID)
	return pending, err
}
