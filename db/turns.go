package db

import (
	"context"
	"strings"
	"time"
)

// Work that the database hands out goes by turns of branches. A branch is a company right below root
// with everything under it, or root itself: accounts and companies gain it nothing. Workers
// together have a number of places, and a branch gets one more while it has fewer than are free. So one
// alone has half of them, which is what the machine is meant for; the others wait for those who have
// none, as work that was begun is not taken away again. share.Gate is the same rule in one process.

// work is a kind of work: the table of its rows, and what SQL needs to know of them.
type work struct {
	table string
	// open selects rows that are not done; indexes on the branch are bounded by it.
	open string
	// handedOut selects, of the open rows that are not due, those that a worker has.
	handedOut string
	// due is the column of when a row is to be handed out (again).
	due string
	// first is the order in which an index has a branch's rows, behind the branch. Of its first ones, window
	// for each place that is free, those of the smallest size go first: no large one waits for ever.
	first, size, window string
	// set is what else changes in a row that is handed out; count is the count of its attempts.
	set, count string
}

// leased gives the statement that hands out work: $1 is the number of places, $2 the seconds of the lease. It
// walks along the index from branch to branch and looks at no more rows of each than there are free
// places: what it costs does not grow with what waits. The n-th row that is handed out, the place-th of
// its branch, passes while place-1 < free-(n-1); rows are in the order of their places, so the first
// that does not pass is the end.
func (w work) leased() lease {
	return lease{w.table, prepare(strings.NewReplacer(
		"{table}", w.table, "{open}", w.open, "{handed out}", w.handedOut, "{due}", w.due, "{first}", w.first,
		"{size}", w.size, "{window}", w.window, "{set}", w.set, "{count}", w.count,
		"{still due}", unindexed(w.open+" AND "+w.due+" <= now()"),
	).Replace(`
		WITH RECURSIVE branches(id) AS (
			(SELECT branch_id FROM {table} WHERE {open} ORDER BY branch_id LIMIT 1)
			UNION ALL
			SELECT (SELECT w.branch_id FROM {table} w WHERE {open} AND w.branch_id > b.id ORDER BY w.branch_id LIMIT 1)
			FROM branches b WHERE b.id IS NOT NULL),
		had AS MATERIALIZED (SELECT branch_id, count(*) AS n FROM {table} WHERE {open} AND {due} > now() AND {handed out} GROUP BY branch_id),
		free AS MATERIALIZED (SELECT GREATEST($1 - COALESCE(sum(n), 0), 0)::bigint AS n FROM had),
		waiting AS (
			SELECT w.id, w.size, COALESCE(h.n, 0) + row_number() OVER (PARTITION BY b.id ORDER BY w.size, w.id) AS place
			FROM branches b LEFT JOIN had h ON h.branch_id = b.id
			CROSS JOIN LATERAL (SELECT id, {size} AS size FROM {table}
				WHERE {open} AND branch_id BETWEEN b.id AND b.id AND {due} <= now()
				ORDER BY branch_id, {first} LIMIT (SELECT {window} * n FROM free)) w),
		turns AS (SELECT id, place, row_number() OVER (ORDER BY place, size, id) AS n FROM waiting)
		UPDATE {table} SET {due} = now() + $2 * interval '1 second'{set}
		WHERE id = ANY(ARRAY(SELECT id FROM {table}
			WHERE id = ANY(ARRAY(SELECT t.id FROM turns t CROSS JOIN free f WHERE t.place - 1 < f.n - (t.n - 1))) AND {still due}
			FOR UPDATE SKIP LOCKED))
		RETURNING id, {count}`))}
}

// lease is the statement that hands out the work of a table.
type lease struct {
	table string
	query query
}

// qTakeTurns keeps others from handing out work of the same table until the transaction ends: each counts
// what the others have handed out.
var qTakeTurns = prepare(`SELECT pg_advisory_xact_lock(hashtext('canopy turns'), hashtext($1))`)

// handOut hands out work, so that workers have no more than the places together.
func handOut[T any](ctx context.Context, s *Store, l lease, places int, length time.Duration) (due []T, err error) {
	err = s.Tx(ctx, func(tx *Store) error {
		if _, err := tx.exec(ctx, qTakeTurns, l.table); err != nil {
			return err
		}
		return tx.list(ctx, &due, l.query, places, length.Seconds())
	})
	return due, err
}

var qBranchOfAccount = prepare(`SELECT branch_of(customer_id) FROM accounts WHERE id = $1`)

// BranchOfAccount gives the branch that an account belongs to; ErrNoRows when there is none.
func (s *Store) BranchOfAccount(ctx context.Context, accountID int64) (id int64, err error) {
	err = s.get(ctx, &id, qBranchOfAccount, accountID)
	return id, err
}
