package db

import (
	"context"
	"errors"
	"time"

	"github.com/lib/pq"
)

// The worker's side of deliveries. Nothing is out of sight before a worker really takes it up:
// the relay only tells which destinations have something due, and a worker claims as much as it
// has room for. A claim is a lease; an attempt whose lease ran out was interrupted.

// MaxAttempts bounds the attempts of a delivery. Free retries after an interruption are not counted.
const MaxAttempts = 3

// Destined is a destination with something due. BranchID is whose turn it takes; 0 where the destination is gone.
type Destined struct {
	ID       int64 `db:"id"`
	BranchID int64 `db:"branch_id"`
}

// DueDestination is a destination with something due, and when the first of it was.
type DueDestination struct {
	Destined
	Oldest time.Time `db:"oldest"`
}

// LookWidth is how many destinations with something pending a look for what is due goes past, and RetryWidth how many of those with a retry that
// nobody has taken up.
const (
	LookWidth  = 1000
	RetryWidth = 1000
)

// Look is what a look for what is due has found, on its way from destination to destination.
type Look struct {
	Due []DueDestination
	// First: it began at the first destination. More: others stand behind the last one, or somebody else was looking.
	First, More bool
}

// Wanted is for how many deliveries of a destination a worker has room.
type Wanted struct {
	DestinationID int64
	Room          int
}

// Claimed is a delivery that a worker has taken up, with what it needs to make the attempt.
type Claimed struct {
	ID            int64     `db:"id"`
	CustomerID    int64     `db:"customer_id"`
	DestinationID int64     `db:"destination_id"`
	EventID       string    `db:"event_id"`
	Type          string    `db:"type"`
	Payload       []byte    `db:"payload"`
	Test          bool      `db:"test"`
	CreatedAt     time.Time `db:"created_at"`
	Attempts      int       `db:"attempts,joined"`
	// LeasedUntil is the end of the lease. No other claim on the delivery has the same.
	LeasedUntil time.Time `db:"leased_until,joined"`
	// URL is empty when the destination was deleted.
	URL        string `db:"url,joined"`
	Secret     []byte `db:"secret,joined"`
	NextSecret []byte `db:"next_secret,joined"`
	Signing    string `db:"signing,joined"`
	// Traceparent leads to what the delivery comes from; nil where that was not told.
	Traceparent *string `db:"traceparent"`
}

// Outcome is what came of an attempt.
type Outcome struct {
	ID            int64
	DestinationID int64
	LeasedUntil   time.Time
	// Status is the delivery's from now on; pending with Wait until the next attempt.
	Status     string
	Wait       time.Duration
	HTTPStatus int
	Error      string
	// Log is the attempt's log entry, JSON.
	Log []byte
}

var (
	// Workers share the way: each goes on where the last one stopped, and two never look at the same time. Where all is passed in one look,
	// nothing is written. Beside it leads a way past those alone that have a retry that nobody has taken up, with a place of its own: most of the
	// time it is past all of them in one look. A destination is one step of either, however much waits there, so that none stands before
	// others, those of suspended companies included.
	qPassDestinations = prepare(`
		WITH RECURSIVE place AS MATERIALIZED (
			SELECT behind, retries_behind FROM delivery_look WHERE pg_try_advisory_xact_lock(hashtext('canopy deliveries'))),
		walk AS (
			SELECT d.destination_id, 1 AS n FROM place p CROSS JOIN LATERAL (
				SELECT destination_id FROM webhook_due WHERE destination_id > p.behind ORDER BY destination_id LIMIT 1) d
			UNION ALL
			SELECT d.destination_id, w.n + 1 FROM walk w CROSS JOIN LATERAL (
				SELECT destination_id FROM webhook_due WHERE destination_id > w.destination_id ORDER BY destination_id LIMIT 1) d
			WHERE w.n < $1),
		retries AS (
			SELECT d.destination_id, d.next_attempt_at, 1 AS n FROM place p` + nextRetry("p.retries_behind") + `
			UNION ALL
			SELECT d.destination_id, d.next_attempt_at, r.n + 1 FROM retries r` + nextRetry("r.destination_id") + ` WHERE r.n < $2),
		passed AS MATERIALIZED (SELECT
			(SELECT CASE WHEN count(*) = $1 THEN max(destination_id) ELSE 0 END FROM walk) AS last,
			(SELECT CASE WHEN count(*) = $2 THEN max(destination_id) ELSE 0 END FROM retries) AS retries_last),
		moved AS (UPDATE delivery_look l SET behind = w.last, retries_behind = w.retries_last
			FROM passed w CROSS JOIN place p WHERE (l.behind, l.retries_behind) <> (w.last, w.retries_last))
		SELECT ARRAY(SELECT destination_id FROM walk UNION SELECT destination_id FROM retries WHERE next_attempt_at <= now()) AS ids,
			COALESCE(p.behind = 0, false) AS first, p.behind IS NULL OR w.last > 0 AS more FROM passed w LEFT JOIN place p ON true`)
	// Branches take turns: however many destinations one has, the first of another stands among the first.
	qDueDestinations = prepare(`
		WITH walk AS (SELECT destination_id FROM unnest($1::bigint[]) w(destination_id)),` + dueOfWalk + `
		SELECT id, branch_id, oldest FROM due ORDER BY row_number() OVER (PARTITION BY branch_id ORDER BY oldest, id), id`)
	// What was begun goes before others. Of a destination that is held nothing else is taken up, and of one whose company is
	// suspended nothing at all. A lease that ran out means that its attempt was interrupted; the first few of these are free. What
	// is attempted for the first time is counted, unless its destination is gone; where that is too much, nothing is taken up. Rows are
	// changed at the places where they were locked: a join would be planned for a tenth of all that waits.
	qClaimDeliveries = prepare(`
		WITH wanted AS MATERIALIZED (
			SELECT a.id, a.room, a.fresh, d.customer_id, ` + held("c.lineage") + ` AS held, ` + inactive("c.lineage") + ` AS suspended,
				COALESCE(d.url, '') AS url, COALESCE(d.signing, '') AS signing,
				COALESCE(CASE WHEN d.next_at <= now() THEN d.next_secret ELSE d.secret END, '') AS secret,
				CASE WHEN d.next_at > now() THEN d.next_secret END AS next_secret
			FROM unnest($1::bigint[], $2::integer[], $3::integer[]) a(id, room, fresh)
			LEFT JOIN LATERAL (SELECT * FROM webhook_destinations WHERE id = a.id AND deleted_at IS NULL OFFSET 0) d ON true` + leftByID("customers", "c", "d.customer_id") + `),
		again AS MATERIALIZED (SELECT r.* FROM wanted a` + firstDue("begun", "a.room") + `WHERE NOT a.suspended),
		fresh AS MATERIALIZED (SELECT r.* FROM wanted a` + firstDue("NOT begun", "LEAST(a.fresh, a.room - (SELECT count(*) FROM again WHERE destination_id = a.id))") + `
			WHERE NOT a.held AND NOT a.suspended),
		found AS (SELECT * FROM again UNION ALL SELECT * FROM fresh),
		taken AS (
			UPDATE webhook_due SET begun = true, claimed_at = now(), next_attempt_at = now() + $4 * interval '1 second',
				interruptions = interruptions + CASE WHEN claimed_at IS NULL THEN 0 ELSE 1 END
			WHERE ctid = ANY (ARRAY(SELECT place FROM found))
			RETURNING destination_id, delivery_id, next_attempt_at AS leased_until),
		leased AS MATERIALIZED (
			SELECT h.*, r.claimed_at AS left_at, CASE WHEN r.claimed_at IS NULL OR r.interruptions < ` + maxInterruptions + ` THEN 0 ELSE 1 END AS spent
			FROM taken h JOIN found r USING (delivery_id)),
		interrupted AS (
			UPDATE webhook_deliveries w SET attempts = w.attempts + l.spent, log = w.log || jsonb_build_array(jsonb_build_object(
				'at', to_char(l.left_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
				'durationMs', 0, 'httpStatus', NULL, 'error', 'interrupted', 'kind', 'INTERRUPTED'))
			FROM leased l WHERE w.id = l.delivery_id AND w.id = ANY (ARRAY(SELECT delivery_id FROM leased WHERE left_at IS NOT NULL))),
		counts AS MATERIALIZED (
			SELECT count_from('deliveriesPerDay', (now() AT TIME ZONE 'UTC')::date, array_agg(n.customer_id), array_agg(n.n))
			FROM (SELECT a.customer_id, count(*) AS n FROM fresh r JOIN wanted a ON a.id = r.destination_id WHERE a.url <> '' GROUP BY a.customer_id) n
			HAVING count(*) > 0)
		SELECT ` + columns[Claimed]("w") + `, w.attempts + l.spent AS attempts, l.leased_until, a.url, a.signing, a.secret, a.next_secret
		FROM leased l JOIN wanted a ON a.id = l.destination_id` + joinByID("webhook_deliveries", "w", "l.delivery_id") + `
		CROSS JOIN (SELECT count(*) FROM counts) c`)
	// A company is held only while its day is as full as its limit says.
	qHoldDeliveries = prepare(`
		INSERT INTO delivery_holds AS h (customer_id, day, most)
		SELECT $1, (now() AT TIME ZONE 'UTC')::date, $2::bigint WHERE $2::bigint <= ` + usedOf("$1", "'deliveriesPerDay'") + `
		ON CONFLICT (customer_id) DO UPDATE SET day = excluded.day, most = excluded.most
			WHERE (h.day, h.most) <> (excluded.day, excluded.most)`)
	qSweepHolds = prepare(`DELETE FROM delivery_holds WHERE day < (now() AT TIME ZONE 'UTC')::date - 1`)
	// Only the worker with the last claim writes; another's outcome is passed over. What somebody else holds is not waited for, as others' outcomes would
	// wait, too, but told: a region that moves into a cell holds its own for long, and the claim of another worker, until it ends, what it looked at and was taken up meanwhile. Destinations are
	// told what came of their deliveries in order of their ids, so that no two workers wait for each other: one that had a success works, whatever else failed.
	qRecordOutcomes = prepare(`
		WITH o AS MATERIALIZED (
			SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::text[], $5::float8[], $6::integer[], $7::text[], $8::text[])
				o (id, destination_id, leased_until, status, wait, http_status, error, log)),
		held AS MATERIALIZED (
			SELECT o.*, w.place FROM o CROSS JOIN LATERAL (SELECT ctid AS place` + claimOf + ` FOR UPDATE SKIP LOCKED) w),
		ended AS (
			DELETE FROM webhook_due WHERE ctid = ANY (ARRAY(SELECT place FROM held WHERE status <> 'pending')) RETURNING delivery_id),
		late AS (
			UPDATE webhook_due w SET claimed_at = NULL, next_attempt_at = now() + h.wait * interval '1 second'
			FROM held h WHERE w.ctid = ANY (ARRAY(SELECT place FROM held WHERE status = 'pending')) AND h.id = w.delivery_id RETURNING w.delivery_id),
		written AS (
			UPDATE webhook_deliveries w SET
				status = o.status, lost = o.status IN ('failed', 'blocked'), attempts = LEAST(w.attempts + 1, ` + maxAttempts + `),
				http_status = NULLIF(o.http_status, 0), error = o.error, log = w.log || o.log::jsonb,
				completed_at = CASE WHEN o.status = 'pending' THEN NULL ELSE now() END
			FROM (SELECT delivery_id FROM ended UNION ALL SELECT delivery_id FROM late) l JOIN held o ON o.id = l.delivery_id
			WHERE w.id = l.delivery_id
			RETURNING w.id, w.destination_id, w.status),
		news AS (
			SELECT destination_id AS id, bool_or(status = 'delivered') AS works, count(*) FILTER (WHERE status <> 'pending') AS lost
			FROM written GROUP BY destination_id),
		changed AS MATERIALIZED (
			SELECT d.id, n.works, n.lost FROM webhook_destinations d JOIN news n ON n.id = d.id
			WHERE CASE WHEN n.works THEN d.failing_since IS NOT NULL ELSE n.lost > 0 END ORDER BY d.id FOR UPDATE OF d),
		told AS (
			UPDATE webhook_destinations d SET failing_since = CASE WHEN NOT n.works THEN COALESCE(d.failing_since, now()) END,
				failures = CASE WHEN n.works THEN 0 ELSE d.failures + n.lost END
			FROM changed n WHERE d.id = n.id)
		SELECT id, true AS written FROM written
		UNION ALL
		SELECT o.id, false FROM o CROSS JOIN LATERAL (SELECT` + claimOf + ` LIMIT 1) w WHERE o.id NOT IN (SELECT id FROM held)`)
	// Nothing is attempted for a destination that was deleted: what waits there ends, some at a time.
	qFailOrphans = prepare(`
		WITH ended AS (
			DELETE FROM webhook_due w USING (SELECT begun, next_attempt_at, delivery_id FROM webhook_due WHERE destination_id = $1 LIMIT $2 FOR UPDATE SKIP LOCKED) r
			WHERE w.destination_id = $1 AND (w.begun, w.next_attempt_at, w.delivery_id) = (r.begun, r.next_attempt_at, r.delivery_id)
				AND NOT EXISTS (SELECT FROM webhook_destinations d WHERE d.id = $1 AND d.deleted_at IS NULL)
			RETURNING w.delivery_id)
		UPDATE webhook_deliveries SET status = 'failed', lost = true, completed_at = now(), error = 'the destination was deleted'
		WHERE id = ANY(ARRAY(SELECT delivery_id FROM ended))`)
	// What waits for a day with room is not due.
	qDeliveryBacklog = prepare(`WITH RECURSIVE ` + walkBehind("walk", "0") + dueOfWalk + `
		SELECT count(*), COALESCE(EXTRACT(epoch FROM now() - min(next_attempt_at)), 0)::float8 AS lag
		FROM (SELECT w.next_attempt_at FROM due CROSS JOIN LATERAL (
				(SELECT next_attempt_at FROM webhook_due WHERE destination_id = due.id AND begun AND next_attempt_at <= now() ORDER BY next_attempt_at LIMIT 100000)
				UNION ALL
				(SELECT next_attempt_at FROM webhook_due WHERE destination_id = due.id AND NOT begun AND next_attempt_at <= now() ORDER BY next_attempt_at LIMIT 100000)) w
			WHERE NOT due.held LIMIT 100000) w`)
)

// walkBehind walks from destination to destination along the key of what is due, past 5,000 of them.
func walkBehind(name, behind string) string {
	return name + ` AS (
		(SELECT destination_id, 1 AS n FROM webhook_due WHERE destination_id > ` + behind + ` ORDER BY destination_id LIMIT 1)
		UNION ALL
		SELECT n.destination_id, w.n + 1 FROM ` + name + ` w CROSS JOIN LATERAL (
			SELECT d.destination_id FROM webhook_due d WHERE d.destination_id > w.destination_id ORDER BY d.destination_id LIMIT 1) n
		WHERE w.n < ` + walkMost + `),`
}

// dueOfWalk tells which destinations of a walk have something due, however much is pending there. Of those that are held only what was begun is
// due, and of those of suspended companies nothing.
var dueOfWalk = `
	first AS (
		SELECT w.destination_id AS id, ` + branchOfLineage("c.lineage") + ` AS branch_id,
			b.at AS begun, f.at AS fresh, CASE WHEN d.deleted_at IS NULL THEN c.lineage END AS lineage
		FROM walk w` + leftDue("begun", "b") + leftDue("NOT begun", "f") + leftByID("webhook_destinations", "d", "w.destination_id") + leftByID("customers", "c", "d.customer_id") + `
		WHERE LEAST(b.at, f.at) <= now() AND NOT ` + inactive("c.lineage") + `),
	holders AS MATERIALIZED (SELECT h.customer_id FROM delivery_holds h WHERE ` + holds + `),
	held AS (SELECT DISTINCT f.id FROM first f CROSS JOIN unnest(f.lineage) above(id) JOIN holders h ON h.customer_id = above.id),
	due AS (
		SELECT id, branch_id, LEAST(begun, fresh) AS oldest, false AS held FROM first WHERE id NOT IN (SELECT id FROM held)
		UNION ALL
		SELECT id, branch_id, begun, true FROM first JOIN held USING (id) WHERE begun <= now())
	`

// nextRetry joins the next destination behind one, that has a retry which nobody has taken up, and when the first of these is due.
func nextRetry(behind string) string {
	return ` CROSS JOIN LATERAL (SELECT destination_id, next_attempt_at FROM webhook_due WHERE begun AND claimed_at IS NULL AND destination_id > ` + behind + `
		ORDER BY destination_id, next_attempt_at LIMIT 1) d`
}

// branchOfLineage is the branch of a company, by its lineage; 0 where there is none.
func branchOfLineage(lineage string) string {
	return "COALESCE(" + lineage + "[LEAST(2, cardinality(" + lineage + "))], 0)"
}

// leftDue joins, to a destination of the walk, when the first of its deliveries that are begun, or not begun, is due.
func leftDue(which, alias string) string {
	return ` LEFT JOIN LATERAL (SELECT next_attempt_at AS at FROM webhook_due WHERE destination_id = w.destination_id AND ` + which + `
		ORDER BY next_attempt_at LIMIT 1) ` + alias + ` ON true`
}

// firstDue joins, to a wanted destination a, those of its deliveries that have been due longest, which nobody else takes up at the moment.
func firstDue(which, limit string) string {
	return ` CROSS JOIN LATERAL (SELECT *, ctid AS place FROM webhook_due WHERE destination_id = a.id AND ` + which + ` AND next_attempt_at <= now()
			ORDER BY next_attempt_at LIMIT ` + limit + ` FOR UPDATE SKIP LOCKED) r `
}

// claimOf selects the row of webhook_due by which the claim behind an outcome o stands.
const claimOf = ` FROM webhook_due WHERE destination_id = o.destination_id AND begun AND next_attempt_at = o.leased_until
	AND delivery_id = o.id AND claimed_at IS NOT NULL`

// holds selects, of delivery_holds h, those that are in force: they are of this day, and of the limit that there is.
const holds = `h.day = (now() AT TIME ZONE 'UTC')::date AND h.most = limit_of(h.customer_id, 'deliveriesPerDay')`

// held tells whether one of some companies, an array of ids, has no room for deliveries today.
func held(companies string) string {
	return `EXISTS (SELECT 1 FROM delivery_holds h WHERE h.customer_id = ANY (` + companies + `::bigint[]) AND ` + holds + `)`
}

// The bounds as SQL text.
const (
	maxAttempts      = "3"
	maxInterruptions = "3"
	walkMost         = "5000"
)

// LookForDue looks at the next destinations with something pending, at most LookWidth of them, and at the next with a retry that nobody has taken
// up, at most RetryWidth, and finds those with something due, by turns of branches. What it costs does not grow with how many there are.
func (s *Store) LookForDue(ctx context.Context) (Look, error) {
	var way struct {
		IDs   pq.Int64Array `db:"ids"`
		First bool          `db:"first"`
		More  bool          `db:"more"`
	}
	if err := s.get(ctx, &way, qPassDestinations, LookWidth, RetryWidth); err != nil {
		return Look{}, err
	}
	look := Look{First: way.First, More: way.More}
	if len(way.IDs) == 0 {
		return look, nil
	}
	return look, s.list(ctx, &look.Due, qDueDestinations, way.IDs)
}

// seconds reads a time that a statement gives in seconds.
func (s *Store) seconds(ctx context.Context, q query, args ...any) (time.Duration, error) {
	var n float64
	err := s.get(ctx, &n, q, args...)
	return time.Duration(n * float64(time.Second)), err
}

// ClaimDeliveries takes up what is due to destinations, for the lease: what was begun first, then what has been due longest, and as much as
// the limits of their companies have room for. Where there is none the company is held, and what is due waits.
func (s *Store) ClaimDeliveries(ctx context.Context, wanted []Wanted, lease time.Duration) ([]*Claimed, error) {
	rows, err := s.claimAtOnce(ctx, wanted, func(w Wanted) int { return w.Room }, lease)
	var full *LimitReached
	if !errors.As(err, &full) {
		return rows, err
	}
	// No destination is kept from its own by the limit of another.
	for _, w := range wanted {
		more, err := s.claimFitting(ctx, w, lease)
		if rows = append(rows, more...); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// claimFitting takes up what is due to a destination, as much as there is room for.
func (s *Store) claimFitting(ctx context.Context, w Wanted, lease time.Duration) ([]*Claimed, error) {
	for fresh := w.Room; ; {
		rows, err := s.claimAtOnce(ctx, []Wanted{w}, func(Wanted) int { return fresh }, lease)
		var full *LimitReached
		if !errors.As(err, &full) {
			return rows, err
		}
		// There was room for fewer than were counted, so each try is for fewer.
		if fresh = int(full.Room()); fresh > 0 {
			continue
		}
		// What was begun needs no room.
		s.noteReached(ctx, err)
		if _, err := s.exec(ctx, qHoldDeliveries, full.CustomerID, full.Max); err != nil {
			return nil, err
		}
	}
}

// claimAtOnce takes up what is due to destinations, of which so many may be attempted for the first time, or nothing: limits are looked at
// behind the last row.
func (s *Store) claimAtOnce(ctx context.Context, wanted []Wanted, fresh func(Wanted) int, lease time.Duration) (rows []*Claimed, err error) {
	var ids, rooms, freshes pq.Int64Array
	for _, w := range wanted {
		ids, rooms, freshes = append(ids, w.DestinationID), append(rooms, int64(w.Room)), append(freshes, int64(fresh(w)))
	}
	if err := s.list(ctx, &rows, qClaimDeliveries, ids, rooms, freshes, lease.Seconds()); err != nil {
		return nil, err
	}
	return rows, nil
}

// SweepDeliveryHolds forgets on which days that are over the deliveries of companies were held.
func (s *Store) SweepDeliveryHolds(ctx context.Context) error {
	_, err := s.exec(ctx, qSweepHolds)
	return err
}

// RecordOutcomes writes what came of attempts, all in one statement. It gives the deliveries whose claim was still the last one, each with whether its outcome was
// written: false where somebody else holds the delivery at the moment.
func (s *Store) RecordOutcomes(ctx context.Context, list []Outcome) (map[int64]bool, error) {
	var ids, destinations, https pq.Int64Array
	var leases, statuses, errors, logs pq.StringArray
	var waits pq.Float64Array
	for _, o := range list {
		ids, destinations, https = append(ids, o.ID), append(destinations, o.DestinationID), append(https, int64(o.HTTPStatus))
		leases = append(leases, o.LeasedUntil.Format(time.RFC3339Nano))
		statuses, errors, logs = append(statuses, o.Status), append(errors, o.Error), append(logs, string(o.Log))
		waits = append(waits, o.Wait.Seconds())
	}
	var rows []struct {
		ID      int64 `db:"id"`
		Written bool  `db:"written"`
	}
	err := s.list(ctx, &rows, qRecordOutcomes, ids, destinations, leases, statuses, waits, https, errors, logs)
	written := make(map[int64]bool, len(rows))
	for _, r := range rows {
		written[r.ID] = r.Written
	}
	return written, err
}

// FailOrphans ends up to limit pending deliveries of a destination that was deleted.
func (s *Store) FailOrphans(ctx context.Context, destinationID int64, limit int) (int64, error) {
	return s.exec(ctx, qFailOrphans, destinationID, limit)
}

// DeliveryBacklog tells of the deliveries that are due to the 5,000 destinations that have the lowest ids of those with something pending, counting no
// further than 100,000.
func (s *Store) DeliveryBacklog(ctx context.Context) (b Backlog, err error) {
	err = s.get(ctx, &b, qDeliveryBacklog)
	return b, err
}
