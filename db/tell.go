package db

import (
	"context"
	"errors"
	"strconv"
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
	ID        int64
	CreatedAt time.Time
	ActorKind string
	Wanted    bool
}

var (
	auditTypes = []string{"bigint", "bigint", "text", "text", "text", "bigint", "text", "text"}
	eventTypes = []string{"bigint", "text", "text", "bytea", "text", "boolean", "boolean"}
	// tellArgs is how many arguments telling takes.
	tellArgs = len(auditTypes) + len(eventTypes)
)

// Audit events are dated at their writing, not at the beginning of the transaction: ids and times go together. Of an
// event there is one row for each enabled destination of the company that asked for it: by one of its names, or, where
// it is for all, for all.
//
// telling are the parts of a statement that writes what is to be told, of arguments from first on. Nothing is where the condition does not hold.
func telling(first int, condition string) string {
	return `
	told AS MATERIALIZED (
		SELECT t.*, ` + limbOf("t.customer_id") + ` AS limb_id FROM ` + unnest(first, auditTypes) + ` WITH ORDINALITY t(customer_id, actor, client_id, action, object_type, object_id, details, names, n)
		WHERE ` + condition + `),
	audited AS (
		INSERT INTO audit_events (customer_id, limb_id, actor_user_id, client_id, action, object_type, object_id, details, created_at)
		SELECT customer_id, limb_id, NULLIF(actor, 0), client_id, action, object_type, object_id, details::jsonb, clock_timestamp() FROM told ORDER BY n
		RETURNING id, created_at),
	events AS MATERIALIZED (
		SELECT e.*, ` + limbOf("e.customer_id") + ` AS limb_id FROM ` + unnest(first+len(auditTypes), eventTypes) + ` WITH ORDINALITY e(customer_id, id, type, payload, names, for_all, free, n)
		WHERE ` + condition + `),
	emitted AS (
		INSERT INTO webhook_deliveries (customer_id, limb_id, destination_id, event_id, type, payload)
		SELECT d.customer_id, e.limb_id, d.id, e.id, e.type, e.payload FROM events e
		CROSS JOIN LATERAL (SELECT d.id, d.customer_id FROM webhook_destinations d
			WHERE d.customer_id = e.customer_id AND d.deleted_at IS NULL AND d.enabled
			AND (d.events && string_to_array(e.names, ' ') OR e.for_all AND d.events IS NULL) OFFSET 0) d
		ORDER BY e.n, d.id RETURNING id, customer_id, destination_id, event_id),
	due AS (
		INSERT INTO webhook_due (destination_id, begun, delivery_id)
		SELECT destination_id, event_id = ANY (ARRAY(SELECT id FROM events WHERE free)), id FROM emitted)`
}

// limbOf is the limb of a company, which is read here once for all that is written of it; a trigger does so for each row that comes without.
func limbOf(company string) string {
	return `COALESCE((SELECT w.limb_id FROM customer_words w WHERE w.customer_id = ` + company + `), 0)`
}

// makingGate is where the condition of a statement is that makes rows and tells of them at once. Where nothing can follow in its transaction, it makes
// nothing if one of its audit events is to be told itself, by an event with the id that it gets.
func makingGate(alone int, more string) string {
	audits := alone + 1
	return `gate AS MATERIALIZED (SELECT ` + more + ` AND (NOT $` + strconv.Itoa(alone) + `::boolean OR NOT EXISTS (
		SELECT FROM unnest($` + strconv.Itoa(audits) + `::bigint[], $` + strconv.Itoa(audits+len(auditTypes)-1) + `::text[]) t(customer_id, names)
		WHERE ` + wanted("t") + `)) AS open),`
}

// gated is the condition that such a statement does anything.
const gated = `(SELECT open FROM gate)`

// makingTold is the end of such a statement: each row of made, as m, with what is told of it. Rows and audit events are in the same order.
var makingTold = ` FROM ` + dueTable + `CROSS JOIN (SELECT *, row_number() OVER (ORDER BY id) AS n FROM made) m
	JOIN ` + auditedTable + `ON a.n = m.n JOIN told t ON t.n = m.n ORDER BY m.n`

// ErrMoreToTell says that nothing was made, as what is told of it can't be told by the same statement.
var ErrMoreToTell = errors.New("more is to be told")

// toldColumns are those of told: of the audit events a that were written, of what they tell t, and of the destinations e with something to deliver.
var toldColumns = ` a.id AS told_id, a.created_at AS told_at, ` + actorKind("NULLIF(t.actor, 0)", "t.client_id", "t.action") + ` AS actor_kind, ` + wanted("t") + ` AS wanted, e.destinations, e.branches `

var (
	dueTable = `(SELECT array_agg(d.id) AS destinations, array_agg(` + branchOfLineage("c.lineage") + `) AS branches
		FROM (SELECT DISTINCT destination_id AS id, customer_id FROM emitted) d` + joinByID("customers", "c", "d.customer_id") + `) e `
	auditedTable = `(SELECT *, row_number() OVER (ORDER BY id) AS n FROM audited) a `
)

// wanting is the condition that a destination asks for an audit event of a company by one of its names, an array. With OFFSET 0 it is asked for each
// company, and not once for all destinations.
func wanting(customer, names string) string {
	return `EXISTS (SELECT FROM webhook_destinations d
		WHERE d.customer_id = ` + customer + ` AND d.deleted_at IS NULL AND d.enabled AND d.events && ` + names + ` OFFSET 0)`
}

// wanted is wanting for a row of what is told.
func wanted(t string) string { return wanting(t+".customer_id", "string_to_array("+t+".names, ' ')") }

var qTell = prepare(`WITH ` + telling(1, "true") + `
	SELECT` + toldColumns + `FROM ` + dueTable + `LEFT JOIN ` + auditedTable + `ON true LEFT JOIN told t ON t.n = a.n
	ORDER BY a.n`)

// told is what a row of a statement that tells has of it.
type told struct {
	ID           *int64        `db:"told_id"`
	At           *time.Time    `db:"told_at"`
	ActorKind    string        `db:"actor_kind"`
	Wanted       bool          `db:"wanted"`
	Destinations pq.Int64Array `db:"destinations"`
	Branches     pq.Int64Array `db:"branches"`
}

func (t *told) due() (list []Destined) {
	for i, id := range t.Destinations {
		list = append(list, Destined{ID: id, BranchID: t.Branches[i]})
	}
	return list
}

func (t *told) audit() WrittenAudit {
	return WrittenAudit{ID: *t.ID, CreatedAt: *t.At, ActorKind: t.ActorKind, Wanted: t.Wanted}
}

// Tell writes audit events down, and one delivery of each event for each destination that wants it. It gives the audit
// events in their order, and the destinations with something to deliver.
func (s *Store) Tell(ctx context.Context, audits []NewAudit, events []NewEvent) (written []WrittenAudit, due []Destined, err error) {
	var rows []told
	if err := s.list(ctx, &rows, qTell, tellArrays(audits, events)...); err != nil {
		return nil, nil, err
	}
	for _, r := range rows {
		if r.ID != nil {
			written = append(written, r.audit())
		}
	}
	return written, rows[0].due(), nil
}

// toldWith is what was told with rows that were made. None were made where there are none: alone, as more is to be told, and otherwise as they can't be.
func toldWith[T any](rows []T, alone bool, of func(*T) *told) (written []WrittenAudit, due []Destined, err error) {
	switch {
	case len(rows) > 0:
	case alone:
		return nil, nil, ErrMoreToTell
	default:
		return nil, nil, ErrNoRows
	}
	for i := range rows {
		written = append(written, of(&rows[i]).audit())
	}
	return written, of(&rows[0]).due(), nil
}

func tellArrays(audits []NewAudit, events []NewEvent) []any {
	return append(auditArrays(audits), eventArrays(events)...)
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
