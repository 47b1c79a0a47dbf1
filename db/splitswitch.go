package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// Switch has the home refuse changes of what moves, brings what differs yet, and compares all of it and its objects once more; only where nothing differs then the cell has it from there on.
// What is refused meanwhile is refused for as long as that takes, or until this process ends.
func (s *Split) Switch(ctx context.Context, objects func(context.Context) error) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, s.giveBack(context.WithoutCancel(ctx)))
		}
	}()
	if err := s.passed(ctx, "begun_at"); err != nil {
		return err
	}
	if err := s.from.guardSplit(ctx); err != nil { // what noted that the region is to move may have ended before it had
		return err
	}
	if err := s.wait(ctx); err != nil {
		return err
	}
	for n := 1; ; n++ {
		all, err := s.pass(ctx, SplitChecking, n)
		if err != nil {
			return err
		}
		if err := s.note(ctx, SplitChecking, "objects", n, 0); err != nil {
			return err
		}
		if err := objects(ctx); err != nil {
			return err
		}
		if differing(all) == 0 {
			break
		}
		if n == splitPasses {
			return differs(all)
		}
	}
	// No company moves from here on: the cell counts for those above it by where each is.
	if _, err := s.hold.ExecContext(ctx, `SELECT FROM (SELECT hold_places(ARRAY(SELECT id FROM customers WHERE region_id = $1))) held`, s.cell.Number); err != nil {
		return translate(ctx, err)
	}
	if err := errors.Join(s.schemas(ctx), s.directory(ctx), s.sealed(ctx)); err != nil {
		return err
	}
	if err := s.count(ctx); err != nil {
		return err
	}
	return s.switchOver(ctx)
}

// differs names what differs though it was brought.
func differs(all []Difference) error {
	for _, d := range all {
		if n := differing([]Difference{d}); n > 0 {
			return fmt.Errorf("%d rows of %s differ in the cell each time that they have been brought, as if something there changes them: nothing was switched", n, d.Table)
		}
	}
	return nil
}

// giveBack lets writers go on.
func (s *Split) giveBack(ctx context.Context) error {
	if s.hold == nil {
		return nil
	}
	hold := s.hold
	s.hold = nil
	return errors.Join(translate(ctx, ignoreDone(hold.Rollback())), s.note(ctx, SplitWaiting, "", 0, 0))
}

// soonGone has the server notice within half a minute that the machine of this process is gone, with which nothing says so: what moves is refused until then.
const soonGone = `; SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3`

// holdFor is how long the split waits for rows that others hold at that moment, in seconds.
const holdFor = 60

// wait has all wait who would change what moves. Work that is due is held as those hold it who hand it out, so that they pass it over.
func (s *Split) wait(ctx context.Context) error {
	if err := s.note(ctx, SplitChecking, "writers", 0, 0); err != nil {
		return err
	}
	var err error
	if s.holds == nil {
		if s.holds, err = s.from.pool.Connx(ctx); err != nil {
			return translate(ctx, err)
		}
	}
	if _, err := s.holds.ExecContext(ctx, alikeInText+soonGone); err != nil {
		return translate(ctx, err)
	}
	if err := aside(ctx, func() error { return s.lock(ctx) }); err != nil {
		return errors.Join(err, s.note(context.WithoutCancel(ctx), SplitWaiting, "", 0, 0))
	}
	if err := s.guarded(ctx); err != nil {
		return err
	}
	if _, err := s.hold.ExecContext(ctx, fmt.Sprintf(`SET LOCAL lock_timeout = '%ds'`, holdFor)); err != nil {
		return translate(ctx, err)
	}
	for _, w := range splitWork {
		text := fmt.Sprintf(`SELECT FROM %s x WHERE %s AND %s FOR UPDATE`, w.table, w.open, ofRegion(w.table, "x", s.cell.Number))
		if _, err := s.hold.ExecContext(ctx, text); err != nil {
			return translate(ctx, err)
		}
	}
	return nil
}

// lock begins the transaction that has the lock of all writers for itself. While it waits for one who has written, others are refused, and with them work of other regions that is written along:
// so it steps back from one who takes long.
func (s *Split) lock(ctx context.Context) (err error) {
	if s.hold, err = s.holds.BeginTxx(ctx, nil); err != nil {
		return translate(ctx, err)
	}
	if _, err = s.hold.ExecContext(ctx, fmt.Sprintf(`SET LOCAL lock_timeout = %d`, lockWait.Milliseconds())); err == nil {
		_, err = s.hold.ExecContext(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('canopy split ' || $1::bigint, 0))`, s.cell.Number)
	}
	if err != nil {
		hold := s.hold
		s.hold = nil
		return errors.Join(translate(ctx, err), ignoreDone(hold.Rollback()))
	}
	return nil
}

// guarded refuses to go on where somebody may write who does not ask for the lock, as the row of splits or one of the triggers is gone, and keeps both there until the end.
func (s *Split) guarded(ctx context.Context) error {
	tables := splitTables()
	if _, err := s.hold.ExecContext(ctx, `LOCK TABLE `+strings.Join(tables, ", ")+` IN ACCESS SHARE MODE`); err != nil {
		return translate(ctx, err)
	}
	var all bool
	err := s.hold.GetContext(ctx, &all, `
		SELECT count(*) = cardinality($2::text[]) FROM pg_trigger WHERE tgname = 'refused_in_split' AND tgenabled = 'O' AND tgrelid = ANY ($2::text[]::regclass[])
			AND COALESCE((SELECT true FROM splits WHERE region_id = $1 AND switched_at IS NULL FOR KEY SHARE), false)`, s.cell.Number, pq.Array(tables))
	if err == nil && !all {
		err = fmt.Errorf("the region %s is no longer to move, or another process takes that back", s.cell.Region)
	}
	return translate(ctx, err)
}

// splitWork is what processes of the home look through for something to do, in the order in which it goes when the cell has it: it is theirs no more from that moment on. What goes is said by gone,
// where not all that is held does.
var splitWork = []struct{ table, open, gone string }{
	{"webhook_due", "true", "true"},
	{"webhook_deliveries", "x.status = 'pending'", "x.status = 'pending'"},
	{"webhook_destinations", "(x.failing_since IS NOT NULL OR x.deleted_at IS NOT NULL)", ""},
	{"runs", "x.status = 'running'", "x.status = 'running'"},
	{"documents", "x.status IN ('pending', 'processing')", "x.status IN ('pending', 'processing')"},
	{"context_reprocessings", "true", "true"},
	{"context_deferrals", "true", "true"},
	{"contexts", "(x.removed_at IS NOT NULL OR x.id IN (SELECT context_id FROM context_reprocessings) OR x.id IN (SELECT context_id FROM context_deferrals))", ""},
	{"customer_exports", "true", "true"},
	{"removed_secrets", "true", ""},
	// They stay for their time, as what was done for them at the home is not done again there either. Who is at work under one is refused, and does not wait.
	{"idempotency_keys", "x.leased_until < now()", ""},
}

// splitRests are changes of rows that stay until they are erased, by which processes of the home look through none of them for something to do: it would be refused each time, and that of others with it.
var splitRests = []struct{ table, where, set string }{
	{"contexts", "x.removed_at IS NOT NULL", "erase_at = now() + interval '10 years'"},
	{"removed_secrets", "true", "erase_at = now() + interval '10 years'"},
	{"webhook_destinations", "(x.failing_since IS NOT NULL OR x.deleted_at IS NOT NULL)", "failing_since = NULL, secret = '', next_secret = NULL, next_at = NULL"},
	// What is done at the home is for those of the cell alone to hear.
	{"webhook_destinations", "x.enabled AND x.events IS NOT NULL", "enabled = false"},
}

// directory waits until the cell has what the home has done until now: what moves refers to it.
func (s *Split) directory(ctx context.Context) error {
	var at string
	if err := s.from.pool.GetContext(ctx, &at, `SELECT pg_current_wal_insert_lsn()`); err != nil {
		return translate(ctx, err)
	}
	return waitFor(ctx, errors.New("the cell does not follow the home: `canopy region status` there says why"), func() (has bool, err error) {
		err = getInto(ctx, s.home, &has, `SELECT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1 AND confirmed_flush_lsn >= $2::pg_lsn)`, slotOf(s.cell.Number), at)
		return has, err
	})
}

// sealed has the cell know which keys its secrets may be sealed with: a process that lacks one does not start.
func (s *Split) sealed(ctx context.Context) error {
	var keys []string
	if err := s.from.pool.SelectContext(ctx, &keys, `SELECT id FROM sealing_keys`); err != nil {
		return translate(ctx, err)
	}
	_, err := s.to.pool.ExecContext(ctx, statements[qKeepSealingKeys], pq.Array(keys))
	return translate(ctx, err)
}

// splitCounted are the names of what is counted where companies have what they have. What is counted of a day is today's.
var splitCounted = []string{"contexts", "documents", "storageBytes", "chunks", "agents", "secrets", "destinations", "runsPerDay", "concurrentRuns", "deliveriesPerDay", "embeddingTokensPerDay"}

// qSplitCounts is what companies of a region have, added up for themselves and all above: what is counted of a company is its own and that of those below it, and its own is what is left
// without these. Of a day, what a company has done before it moved is counted where it was: it is nobody's own.
const qSplitCounts = `
	CREATE TEMP TABLE split_counts ON COMMIT DROP AS
	WITH counted AS MATERIALIZED (
		SELECT customer_id, name, day, sum(n) AS n FROM usage_counts
		WHERE name = ANY ($2) AND (day IS NULL OR day = (now() AT TIME ZONE 'UTC')::date) GROUP BY customer_id, name, day),
	below AS (SELECT c.parent_id, u.name, u.day, sum(u.n) AS n FROM counted u JOIN customers c ON c.id = u.customer_id GROUP BY c.parent_id, u.name, u.day)
	SELECT above.id AS customer_id, u.name, u.day, sum(u.n - COALESCE(b.n, 0))::bigint AS n
	FROM counted u JOIN customers c ON c.id = u.customer_id AND c.region_id = $1
	LEFT JOIN below b ON b.parent_id = u.customer_id AND b.name = u.name AND b.day IS NOT DISTINCT FROM u.day
	CROSS JOIN unnest(c.lineage) above(id)
	WHERE u.n > COALESCE(b.n, 0) GROUP BY above.id, u.name, u.day`

// count has the cell count what moves, in the companies and in those above them. The home counts it until it is switched.
func (s *Split) count(ctx context.Context) error {
	if _, err := s.hold.ExecContext(ctx, qSplitCounts, s.cell.Number, pq.Array(splitCounted)); err != nil {
		return translate(ctx, err)
	}
	rows := []count{}
	if err := s.hold.SelectContext(ctx, &rows, `SELECT customer_id, name, day::text, n FROM split_counts`); err != nil {
		return translate(ctx, err)
	}
	return s.change(ctx, func(tx *sqlx.Tx) error {
		for _, text := range []string{
			`SET LOCAL session_replication_role = replica`, `DELETE FROM usage_counts`, `DELETE FROM idempotency_bytes`, `
			INSERT INTO idempotency_bytes (owner, slot, bytes)
			SELECT o.owner, hashtext(k.id) & 7, sum(k.bytes) FROM idempotency_keys k CROSS JOIN LATERAL (VALUES (k.caller), ('branch:' || k.branch_id)) o(owner) GROUP BY 1, 2`,
		} {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		for some := range slices.Chunk(rows, countsAtOnce) {
			c := countColumns(some)
			if _, err := tx.ExecContext(ctx, `
				INSERT INTO usage_counts (customer_id, name, slot, n, day)
				SELECT t.id, t.name, nextval('usage_counts_slot_seq'), t.n, t.day FROM unnest($1::bigint[], $2::text[], $3::date[], $4::bigint[]) t(id, name, day, n)`,
				pq.Array(c.companies), pq.Array(c.names), pq.Array(c.days), pq.Array(c.n)); err != nil {
				return err
			}
		}
		return nil
	})
}

// qSplitIDs notes the ids of a table that move: from one that does not to the next, whatever is missing between them.
const qSplitIDs = `
	INSERT INTO moved_ids (kind, first, last, region_id)
	SELECT '%[1]s', min(id), max(id), %[2]d FROM (
		SELECT id, moves, count(*) FILTER (WHERE NOT moves) OVER (ORDER BY id, moves) AS part FROM (
			SELECT x.id, (%[3]s) IS TRUE AS moves FROM %[1]s x
			UNION ALL SELECT m.first, false FROM moved_ids m WHERE m.kind = '%[1]s' UNION ALL SELECT m.last, false FROM moved_ids m WHERE m.kind = '%[1]s') a) b
	WHERE moves GROUP BY part`

// switchOver has the cell have it, in one transaction of the home: whoever asks from then on is led there, and nobody works on it here.
func (s *Split) switchOver(ctx context.Context) error {
	number := s.cell.Number
	if n, err := execIn(ctx, s.hold, `UPDATE splits SET switched_at = now() WHERE region_id = $1 AND switched_at IS NULL`, number); err != nil || n == 0 {
		return errors.Join(err, fmt.Errorf("what companies of %s have is no longer to move", s.cell.Region))
	}
	texts := []string{
		`SET LOCAL canopy.moved = 'on'`,
		fmt.Sprintf(`INSERT INTO cells (region_id, address, schema_version, seen_at) SELECT region_id, address, %d, now() FROM splits WHERE region_id = %d`, schemaVersion(), number),
		fmt.Sprintf(`UPDATE splits SET phase = 'erasing', at = '', rows = 0, told_at = now(),
			last_event = (SELECT COALESCE(max(x.id), 0) FROM audit_events x WHERE %s) WHERE region_id = %d`, ofRegion("audit_events", "x", number), number),
		fmt.Sprintf(`INSERT INTO moved_runs (job_key, region_id) SELECT x.job_key, %d FROM runs x WHERE %s`, number, ofRegion("runs", "x", number)),
		`SELECT FROM (SELECT count_at(array_agg(name), array_agg(day), array_agg(customer_id), array_agg(-n)) FROM split_counts) counted`,
		fmt.Sprintf(`
			INSERT INTO counts_elsewhere AS e (customer_id, name, cell, n, day, as_of) SELECT customer_id, name, %d, n, day, now() FROM split_counts
			ON CONFLICT (customer_id, name, cell) DO UPDATE SET n = excluded.n, day = excluded.day, as_of = excluded.as_of`, number),
		`SELECT FROM (SELECT note_spanning()) noted`,
	}
	for _, t := range s.tables {
		if len(t.key) == 1 && t.key[0].name == "id" && t.key[0].number && t.name != "chunks" { // which are found by their documents
			texts = append(texts, fmt.Sprintf(qSplitIDs, t.name, number, ofRegion(t.name, "x", number)))
		}
	}
	texts = append(texts, fmt.Sprintf(`INSERT INTO blob_deletions (key)
		SELECT `+blobOf+` FROM documents d WHERE d.status IN ('pending', 'processing') AND %s
		UNION ALL SELECT '%s' || e.file FROM customer_exports e WHERE %s ON CONFLICT (key) DO NOTHING`,
		ofRegion("documents", "d", number), ExportPrefix, ofRegion("customer_exports", "e", number)))
	for _, w := range splitWork {
		if w.gone != "" {
			texts = append(texts, fmt.Sprintf(`DELETE FROM %s x WHERE %s AND %s`, w.table, w.gone, ofRegion(w.table, "x", number)))
		}
	}
	for _, r := range splitRests {
		texts = append(texts, fmt.Sprintf(`UPDATE %s x SET %s WHERE %s AND %s`, r.table, r.set, r.where, ofRegion(r.table, "x", number)))
	}
	for _, text := range texts {
		if _, err := s.hold.ExecContext(ctx, text); err != nil {
			return translate(ctx, fmt.Errorf("%.60s: %w", text, err))
		}
	}
	hold := s.hold
	s.hold = nil
	return translate(ctx, hold.Commit())
}
