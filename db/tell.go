package db

import (
	"context"
	"strings"
	"time"

	"github.com/lib/pq"
)

// What a change has to tell: its audit events, and the deliveries of its events, in one statement however many
// there are.

// NewAudit is an audit event to write down. Names are those by which webhook destinations ask for it.
type NewAudit struct {
	AuditEvent
	Names []string
}

// NewEvent is an event of a company to deliver.
type NewEvent struct {
	CustomerID int64
	ID, Type   string
	Payload    []byte
	// Names are those by which destinations ask for it; All: it is for those, too, that asked for all.
	Names []string
	All   bool
	// Free: it takes no place in a day of deliveries, and waits for none.
	Free bool
}

// WrittenAudit is what was made of an audit event by writing it down. Wanted: there is a destination of the company
// that asked for it by name.
type WrittenAudit struct {
	ID        int64     `db:"id"`
	CreatedAt time.Time `db:"created_at"`
	Wanted    bool      `db:"wanted"`
}

// Audit events are dated at their writing, not at the beginning of the transaction: ids and times go together. Of an
// event there is one row for each enabled destination of the company that asked for it: by one of its names, or, where
// it is for all, for all.
var qTell = prepare(`
	WITH told AS MATERIALIZED (
		SELECT t.* FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[])
			WITH ORDINALITY t(customer_id, actor, client_id, action, object_type, object_id, details, names, n)),
	audited AS (
		INSERT INTO audit_events (customer_id, actor_user_id, client_id, action, object_type, object_id, details, created_at)
		SELECT customer_id, NULLIF(actor, 0), client_id, action, object_type, object_id, details::jsonb, clock_timestamp() FROM told ORDER BY n
		RETURNING id, created_at),
	events AS MATERIALIZED (
		SELECT e.* FROM unnest($9::bigint[], $10::text[], $11::text[], $12::bytea[], $13::text[], $14::boolean[], $15::boolean[])
			WITH ORDINALITY e(customer_id, id, type, payload, names, for_all, free, n)),
	emitted AS (
		INSERT INTO webhook_deliveries (customer_id, destination_id, event_id, type, payload)
		SELECT d.customer_id, d.id, e.id, e.type, e.payload FROM events e
		CROSS JOIN LATERAL (SELECT d.id, d.customer_id FROM webhook_destinations d
			WHERE d.customer_id = e.customer_id AND d.deleted_at IS NULL AND d.enabled
			AND (d.events && string_to_array(e.names, ' ') OR e.for_all AND d.events IS NULL) OFFSET 0) d
		ORDER BY e.n, d.id RETURNING id, customer_id, destination_id, event_id),
	due AS (
		INSERT INTO webhook_due (destination_id, begun, delivery_id)
		SELECT destination_id, event_id = ANY (ARRAY(SELECT id FROM events WHERE free)), id FROM emitted)
	SELECT a.id, a.created_at, EXISTS (SELECT FROM webhook_destinations d
			WHERE d.customer_id = t.customer_id AND d.deleted_at IS NULL AND d.enabled AND d.events && string_to_array(t.names, ' ')) AS wanted,
		e.destinations, e.branches
	FROM (SELECT array_agg(d.id) AS destinations, array_agg(` + branchOfLineage("c.lineage") + `) AS branches
		FROM (SELECT DISTINCT destination_id AS id, customer_id FROM emitted) d` + joinByID("customers", "c", "d.customer_id") + `) e
	LEFT JOIN (SELECT *, row_number() OVER (ORDER BY id) AS n FROM audited) a ON true
	LEFT JOIN told t ON t.n = a.n
	ORDER BY a.n`)

// Tell writes audit events down, and one delivery of each event for each destination that wants it. It gives the audit
// events in their order, and the destinations with something to deliver.
func (s *Store) Tell(ctx context.Context, audits []NewAudit, events []NewEvent) (written []WrittenAudit, due []Destined, err error) {
	var rows []struct {
		ID           *int64        `db:"id"`
		CreatedAt    *time.Time    `db:"created_at"`
		Wanted       bool          `db:"wanted"`
		Destinations pq.Int64Array `db:"destinations"`
		Branches     pq.Int64Array `db:"branches"`
	}
	if err := s.list(ctx, &rows, qTell, append(auditArrays(audits), eventArrays(events)...)...); err != nil {
		return nil, nil, err
	}
	for i, id := range rows[0].Destinations {
		due = append(due, Destined{ID: id, BranchID: rows[0].Branches[i]})
	}
	for _, r := range rows {
		if r.ID != nil {
			written = append(written, WrittenAudit{ID: *r.ID, CreatedAt: *r.CreatedAt, Wanted: r.Wanted})
		}
	}
	return written, due, nil
}

func auditArrays(list []NewAudit) []any {
	var customers, actors, objects pq.Int64Array
	var clients, actions, types, details, names pq.StringArray
	for _, a := range list {
		customers, actors, objects = append(customers, a.CustomerID), append(actors, orZero(a.ActorUserID)), append(objects, a.ObjectID)
		clients, actions, types = append(clients, a.ClientID), append(actions, a.Action), append(types, a.ObjectType)
		details, names = append(details, string(a.Details)), append(names, strings.Join(a.Names, " "))
	}
	return []any{customers, actors, clients, actions, types, objects, details, names}
}

func eventArrays(list []NewEvent) []any {
	var customers pq.Int64Array
	var ids, types, names pq.StringArray
	var payloads pq.ByteaArray
	var all, free pq.BoolArray
	for _, e := range list {
		customers, ids, types = append(customers, e.CustomerID), append(ids, e.ID), append(types, e.Type)
		payloads, names = append(payloads, e.Payload), append(names, strings.Join(e.Names, " "))
		all, free = append(all, e.All), append(free, e.Free)
	}
	return []any{customers, ids, types, payloads, names, all, free}
}
