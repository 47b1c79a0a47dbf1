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

// DueDestination is a destination with something due, and what has been due there longest. BranchID is
// whose turn it takes; 0 where the destination is gone.
type DueDestination struct {
	ID       int64     `db:"id"`
	BranchID int64     `db:"branch_id"`
	Oldest   time.Time `db:"oldest"`
}

// Claimed is a delivery that a worker has taken up, with what it needs to make the attempt.
type Claimed struct {
	ID            int64     `db:"id"`
	CustomerID    int64     `db:"customer_id"`
	DestinationID int64     `db:"destination_id"`
	EventID       string    `db:"event_id"`
	Type          string    `db:"type"`
	Payload       []byte    `db:"payload"`
	Attempts      int       `db:"attempts"`
	Claim         int       `db:"claim"`
	Test          bool      `db:"test"`
	CreatedAt     time.Time `db:"created_at"`
	// URL is empty when the destination was deleted.
	URL        string `db:"url"`
	Secret     []byte `db:"secret"`
	NextSecret []byte `db:"next_secret"`
	Signing    string `db:"signing"`
}

// Outcome is what came of an attempt.
type Outcome struct {
	ID            int64
	DestinationID int64
	Claim         int
	// Status is the delivery's from now on; pending with Wait until the next attempt.
	Status     string
	Wait       time.Duration
	HTTPStatus int
	Error      string
	// Log is the attempt's log entry, JSON.
	Log []byte
}

var (
	// Branches take turns: however many destinations one has, the first of another stands among the first.
	qDueDestinations = prepare(dueWalk + `
		SELECT id, branch_id, oldest FROM due ORDER BY row_number() OVER (PARTITION BY branch_id ORDER BY oldest, id), id`)
	// A destination whose lane is full has attempts under way; one that nobody works on has not.
	qDeliveriesUntouchedFor = prepare(dueWalk + `
		SELECT COALESCE(EXTRACT(epoch FROM now() - min(due.oldest)), 0)::float8 FROM due
		WHERE NOT EXISTS (SELECT 1 FROM webhook_deliveries w WHERE w.destination_id = due.id AND w.status = 'pending'
			AND w.next_attempt_at > now() AND w.claimed_at IS NOT NULL)`)
	// Of a destination that is held, only what has its place in a day already is taken up; of one whose company is suspended,
	// nothing.
	qClaimDeliveries = prepare(`
		WITH destination AS MATERIALIZED (
			SELECT ` + held("c.lineage") + ` AS held, ` + inactive("c.lineage") + ` AS suspended FROM webhook_destinations d` + joinByID("customers", "c", "d.customer_id") + `
			WHERE d.id = $1 AND d.deleted_at IS NULL),
		whole AS (` + due(`(SELECT held OR suspended FROM destination) IS NOT TRUE ORDER BY next_attempt_at LIMIT (SELECT $2::bigint)`) + `),
		begun AS (` + due(`counted AND (SELECT held AND NOT suspended FROM destination) ORDER BY next_attempt_at LIMIT (SELECT $2::bigint)`) + `),
		due AS (SELECT * FROM whole UNION ALL SELECT * FROM begun)` + claim)
	// Deliveries whose retry is due go before others; each is named.
	qClaimAgain = prepare(`WITH due AS (` + due(`id = ANY($2::bigint[]) AND (SELECT `+inactive("c.lineage")+`
		FROM webhook_destinations d`+joinByID("customers", "c", "d.customer_id")+` WHERE d.id = (SELECT $1::bigint)) IS NOT TRUE`) + `)` + claim)
	// A company is held only while its day is as full as its limit says.
	qHoldDeliveries = prepare(`
		INSERT INTO delivery_holds AS h (customer_id, day, most)
		SELECT $1, (now() AT TIME ZONE 'UTC')::date, $2::bigint WHERE $2::bigint <= COALESCE((SELECT sum(n) FROM usage_counts
			WHERE customer_id = $1 AND name = 'deliveriesPerDay' AND day = (now() AT TIME ZONE 'UTC')::date), 0)
		ON CONFLICT (customer_id) DO UPDATE SET day = excluded.day, most = excluded.most
			WHERE (h.day, h.most) <> (excluded.day, excluded.most)`)
	qSweepHolds = prepare(`DELETE FROM delivery_holds WHERE day < (now() AT TIME ZONE 'UTC')::date - 1`)
	// Only the worker with the last claim writes; another's outcome is passed over.
	qRecordOutcomes = prepare(`
		UPDATE webhook_deliveries w SET
			status = o.status, attempts = LEAST(w.attempts + 1, ` + maxAttempts + `), claimed_at = NULL,
			next_attempt_at = now() + o.wait * interval '1 second',
			http_status = NULLIF(o.http_status, 0), error = o.error, log = w.log || o.log::jsonb,
			completed_at = CASE WHEN o.status = 'pending' THEN NULL ELSE now() END
		FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::float8[], $5::integer[], $6::text[], $7::text[])
			o (id, claim, status, wait, http_status, error, log)
		WHERE w.id = o.id AND w.claim = o.claim AND ` + unindexed("w.status = 'pending' AND w.claimed_at IS NOT NULL") + `
		RETURNING w.id`)
	qDestinationWorked = prepare(`
		UPDATE webhook_destinations SET failing_since = NULL, failures = 0
		WHERE id = ANY(ARRAY(SELECT id FROM webhook_destinations WHERE id = ANY($1) AND ` + unindexed("failing_since IS NOT NULL") + ` ORDER BY id FOR UPDATE))`)
	qDestinationFailed = prepare(`
		UPDATE webhook_destinations d SET failing_since = COALESCE(d.failing_since, now()), failures = d.failures + f.n
		FROM (SELECT t.id, f.n FROM webhook_destinations t JOIN unnest($1::bigint[], $2::integer[]) f (id, n) ON f.id = t.id
			ORDER BY t.id FOR UPDATE OF t) f
		WHERE d.id = f.id`)
	// Nothing is attempted for a destination that was deleted: what waits there ends, some at a time.
	qFailOrphans = prepare(`
		UPDATE webhook_deliveries SET status = 'failed', completed_at = now(), claimed_at = NULL, error = 'the destination was deleted'
		WHERE id = ANY(ARRAY(SELECT id FROM webhook_deliveries WHERE destination_id = $1 AND status = 'pending' LIMIT $2 FOR UPDATE SKIP LOCKED))
		AND NOT EXISTS (SELECT 1 FROM webhook_destinations d WHERE d.id = $1 AND d.deleted_at IS NULL)`)
	// What waits for a day with room is not due.
	qDeliveryBacklog = prepare(dueWalk + `
		SELECT count(*), COALESCE(EXTRACT(epoch FROM now() - min(next_attempt_at)), 0)::float8 AS lag
		FROM (SELECT w.next_attempt_at FROM due CROSS JOIN LATERAL (
				SELECT next_attempt_at FROM webhook_deliveries
				WHERE destination_id = due.id AND status = 'pending' AND next_attempt_at <= now() ORDER BY next_attempt_at LIMIT 100000) w
			WHERE NOT due.held LIMIT 100000) w`)
)

// dueWalk begins a statement on the destinations with something due. It walks from destination to
// destination along the index of what is pending: its cost is that of the destinations with
// something pending, however much that is. Of those that are held only what has been attempted before is due, and of those
// of suspended companies nothing.
var dueWalk = `
	WITH RECURSIVE walk AS (
		(SELECT destination_id, next_attempt_at FROM webhook_deliveries WHERE status = 'pending'
			ORDER BY destination_id, next_attempt_at LIMIT 1)
		UNION ALL
		SELECT n.destination_id, n.next_attempt_at FROM walk w CROSS JOIN LATERAL (
			SELECT d.destination_id, d.next_attempt_at FROM webhook_deliveries d
			WHERE d.status = 'pending' AND d.destination_id > w.destination_id
			ORDER BY d.destination_id, d.next_attempt_at LIMIT 1) n),
	first AS (
		SELECT w.destination_id AS id, COALESCE(c.lineage[LEAST(2, cardinality(c.lineage))], 0) AS branch_id,
			w.next_attempt_at AS oldest, CASE WHEN d.deleted_at IS NULL THEN c.lineage END AS lineage
		FROM walk w` + leftByID("webhook_destinations", "d", "w.destination_id") + leftByID("customers", "c", "d.customer_id") + `
		WHERE w.next_attempt_at <= now() AND NOT ` + inactive("c.lineage") + `),
	holders AS MATERIALIZED (SELECT h.customer_id FROM delivery_holds h WHERE ` + holds + `),
	held AS (SELECT DISTINCT f.id FROM first f CROSS JOIN unnest(f.lineage) above(id) JOIN holders h ON h.customer_id = above.id),
	due AS (
		SELECT id, branch_id, oldest, false AS held FROM first WHERE id NOT IN (SELECT id FROM held)
		UNION ALL
		SELECT f.id, f.branch_id, b.oldest, true FROM first f JOIN held USING (id) CROSS JOIN LATERAL (
			SELECT next_attempt_at AS oldest FROM webhook_deliveries w WHERE w.destination_id = f.id AND w.status = 'pending'
				AND w.counted AND w.next_attempt_at <= now() ORDER BY w.next_attempt_at LIMIT 1) b)
	`

// holds selects, of delivery_holds h, those that are in force: they are of this day, and of the limit that there is.
const holds = `h.day = (now() AT TIME ZONE 'UTC')::date AND h.most = limit_of(h.customer_id, 'deliveriesPerDay')`

// held tells whether one of some companies, an array of ids, has no room for deliveries today.
func held(companies string) string {
	return `EXISTS (SELECT 1 FROM delivery_holds h WHERE h.customer_id = ANY (` + companies + `::bigint[]) AND ` + holds + `)`
}

// due selects deliveries to take up: pending ones that are due, and that nobody else takes up at the moment. What is
// given as $1, and as a LIMIT, stands in a subselect: the plan does not depend on it then, and is made once and not for each claim.
func due(which string) string {
	return `SELECT id, counted FROM webhook_deliveries
			WHERE destination_id = (SELECT $1::bigint) AND status = 'pending' AND next_attempt_at <= now() AND ` + which + ` FOR UPDATE SKIP LOCKED`
}

// claim ends a statement that takes up what is due, for $3 seconds. A lease that ran out means that its attempt was
// interrupted; the first few of these are free. What is attempted for the first time is counted, unless its destination is
// gone; where that is too much, nothing is taken up. The bounds of the ids tell the planner that they are few: it reads rows by
// their ids then, also under a plan that was made while the table was empty.
var claim = `,
	claimed AS (
		UPDATE webhook_deliveries w SET
			claim = w.claim + 1, claimed_at = now(), next_attempt_at = now() + $3 * interval '1 second', counted = true,
			interruptions = w.interruptions + CASE WHEN w.claimed_at IS NULL THEN 0 ELSE 1 END,
			attempts = w.attempts + CASE WHEN w.claimed_at IS NULL OR w.interruptions < ` + maxInterruptions + ` THEN 0 ELSE 1 END,
			log = CASE WHEN w.claimed_at IS NULL THEN w.log ELSE w.log || jsonb_build_array(jsonb_build_object(
				'at', to_char(w.claimed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
				'durationMs', 0, 'httpStatus', NULL, 'error', 'interrupted')) END
		FROM unnest(ARRAY(SELECT id FROM due)) u(id) LEFT JOIN webhook_destinations d ON d.id = $1 AND ` + unindexed("d.deleted_at IS NULL") + `
		WHERE w.id = u.id AND u.id BETWEEN 0 AND 9223372036854775807
		RETURNING w.id, w.customer_id, w.destination_id, w.event_id, w.type, w.payload, w.attempts, w.claim, w.test, w.created_at,
			COALESCE(d.url, '') AS url, COALESCE(d.signing, '') AS signing,
			COALESCE(CASE WHEN d.next_at <= now() THEN d.next_secret ELSE d.secret END, '') AS secret,
			CASE WHEN d.next_at > now() THEN d.next_secret END AS next_secret),
	counts AS MATERIALIZED (
		SELECT count_from('deliveriesPerDay', (now() AT TIME ZONE 'UTC')::date, ARRAY[customer_id], ARRAY[count(*)])
		FROM claimed JOIN due USING (id) WHERE NOT due.counted AND url <> '' GROUP BY customer_id)
	SELECT ` + columns[Claimed]("w") + ` FROM claimed w CROSS JOIN (SELECT count(*) FROM counts) c`

// The bounds as SQL text.
const (
	maxAttempts      = "3"
	maxInterruptions = "3"
)

// DueDestinations lists the destinations with something due, by turns of branches.
func (s *Store) DueDestinations(ctx context.Context) (rows []DueDestination, err error) {
	err = s.list(ctx, &rows, qDueDestinations)
	return rows, err
}

// DeliveriesUntouchedFor tells for how long something has been due that nobody works on.
func (s *Store) DeliveriesUntouchedFor(ctx context.Context) (time.Duration, error) {
	return s.seconds(ctx, qDeliveriesUntouchedFor)
}

// seconds reads a time that a statement gives in seconds.
func (s *Store) seconds(ctx context.Context, q query, args ...any) (time.Duration, error) {
	var n float64
	err := s.get(ctx, &n, q, args...)
	return time.Duration(n * float64(time.Second)), err
}

// ClaimDeliveries takes up to limit due deliveries of a destination up, oldest first, for the lease: as many as the limits
// of its company have room for. Where there is none the company is held, and what is due waits.
func (s *Store) ClaimDeliveries(ctx context.Context, destinationID int64, limit int, lease time.Duration) ([]*Claimed, error) {
	for {
		var rows []*Claimed
		err := s.list(ctx, &rows, qClaimDeliveries, destinationID, limit, lease.Seconds())
		var full *LimitReached
		if !errors.As(err, &full) {
			return rows, err
		}
		// There was room for fewer than were counted, so each try is for fewer.
		if limit = int(full.Room()); limit == 0 {
			s.noteReached(ctx, err)
			_, err := s.exec(ctx, qHoldDeliveries, full.CustomerID, full.Max)
			return nil, err
		}
	}
}

// SweepDeliveryHolds forgets on which days that are over the deliveries of companies were held.
func (s *Store) SweepDeliveryHolds(ctx context.Context) error {
	_, err := s.exec(ctx, qSweepHolds)
	return err
}

// ClaimAgain takes those of some deliveries of a destination up that are due.
func (s *Store) ClaimAgain(ctx context.Context, destinationID int64, ids []int64, lease time.Duration) (rows []*Claimed, err error) {
	err = s.list(ctx, &rows, qClaimAgain, destinationID, ids, lease.Seconds())
	return rows, err
}

// RecordOutcomes writes what came of attempts, all in one transaction, and gives the ids of the
// deliveries whose claim was still the last one.
func (s *Store) RecordOutcomes(ctx context.Context, list []Outcome) (written []int64, err error) {
	a := outcomeArrays(list)
	err = s.Tx(ctx, func(tx *Store) error {
		if err := tx.list(ctx, &written, qRecordOutcomes, a.ids, a.claims, a.statuses, a.waits, a.https, a.errors, a.logs); err != nil {
			return err
		}
		worked, failed, counts := tally(list, written)
		if len(worked) > 0 {
			if _, err := tx.exec(ctx, qDestinationWorked, worked); err != nil {
				return err
			}
		}
		if len(failed) == 0 {
			return nil
		}
		_, err := tx.exec(ctx, qDestinationFailed, failed, counts)
		return err
	})
	return written, err
}

type outcomeColumns struct {
	ids, claims, https     pq.Int64Array
	statuses, errors, logs pq.StringArray
	waits                  pq.Float64Array
}

func outcomeArrays(list []Outcome) (a outcomeColumns) {
	for _, o := range list {
		a.ids, a.claims, a.https = append(a.ids, o.ID), append(a.claims, int64(o.Claim)), append(a.https, int64(o.HTTPStatus))
		a.statuses, a.errors, a.logs = append(a.statuses, o.Status), append(a.errors, o.Error), append(a.logs, string(o.Log))
		a.waits = append(a.waits, o.Wait.Seconds())
	}
	return a
}

// tally tells which destinations of the outcomes that were written had a success, and how many
// failures the others had.
func tally(list []Outcome, written []int64) (worked, failed, counts pq.Int64Array) {
	kept := make(map[int64]bool, len(written))
	for _, id := range written {
		kept[id] = true
	}
	fails, good := map[int64]int64{}, map[int64]bool{}
	for _, o := range list {
		switch {
		case !kept[o.ID]:
		case o.Status == DeliveryDelivered:
			good[o.DestinationID] = true
		case o.Status != DeliveryPending:
			fails[o.DestinationID]++
		}
	}
	for id := range good {
		worked = append(worked, id)
		delete(fails, id)
	}
	for id, n := range fails {
		failed, counts = append(failed, id), append(counts, n)
	}
	return worked, failed, counts
}

// FailOrphans ends up to limit pending deliveries of a destination that was deleted.
func (s *Store) FailOrphans(ctx context.Context, destinationID int64, limit int) (int64, error) {
	return s.exec(ctx, qFailOrphans, destinationID, limit)
}

// DeliveryBacklog tells of the deliveries that are due, counting no further than 100,000.
func (s *Store) DeliveryBacklog(ctx context.Context) (b Backlog, err error) {
	err = s.get(ctx, &b, qDeliveryBacklog)
	return b, err
}
