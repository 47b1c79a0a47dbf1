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
	// owner, where there is one, is the column of what a row belongs to, and lineage selects where the owner's company stands, {owner} being the
	// owner: the work of companies that are suspended waits. stopped is what else changes in a row that begins to wait.
	owner, lineage, stopped string
}

// leased gives the statement that hands out work: $1 is the number of places, $2 the seconds of the lease. It
// walks along the index from branch to branch and looks at no more rows of each than there are free
// places: what it costs does not grow with what waits. The n-th row that is handed out, the place-th of
// its branch, passes while place-1 < free-(n-1); rows are in the order of their places, so the first
// that does not pass is the end.
func (w work) leased() lease {
	return lease{w.table, prepare(w.fill(`
		WITH RECURSIVE branches(id) AS (
			(SELECT branch_id FROM {table} WHERE {open} ORDER BY branch_id LIMIT 1)
			UNION ALL
			SELECT (SELECT w.branch_id FROM {table} w WHERE {open} AND w.branch_id > b.id ORDER BY w.branch_id LIMIT 1)
			FROM branches b WHERE b.id IS NOT NULL),
		had AS MATERIALIZED (SELECT branch_id, count(*) AS n FROM {table} WHERE {open} AND {due} > now() AND {due} < 'infinity' AND {handed out} GROUP BY branch_id),
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
			WHERE id = ANY(ARRAY(SELECT t.id FROM turns t CROSS JOIN free f WHERE t.place - 1 < f.n - (t.n - 1))) AND {still due}{goes on}
			FOR UPDATE SKIP LOCKED))
		RETURNING id, {count}`))}
}

// fill puts the words of a kind of work into the text of a statement.
func (w work) fill(text string) string {
	return strings.NewReplacer(
		"{table}", w.table, "{open}", w.open, "{handed out}", w.handedOut, "{due}", w.due, "{first}", w.first,
		"{size}", w.size, "{window}", w.window, "{set}", w.set, "{count}", w.count, "{owner}", w.owner, "{stopped}", w.stopped,
		"{still due}", unindexed(w.open+" AND "+w.due+" <= now()"), "{goes on}", w.goesOn(),
	).Replace(text)
}

// goesOn keeps the work of suspended companies from being handed out before it is set aside.
func (w work) goesOn() string {
	if w.owner == "" {
		return ""
	}
	return " AND " + unindexed("NOT "+inactive(w.lineageOf(w.table+"."+w.owner)))
}

// lineageOf selects where the company of an owner stands.
func (w work) lineageOf(owner string) string {
	return strings.ReplaceAll(w.lineage, "{owner}", owner)
}

// setAside gives the statement that has the work of suspended companies wait: it is due at no time, so that it stands in
// nobody's way. Of each branch that has such companies it looks at the first rows, of which $1 are more than are handed out
// at one go.
func (w work) setAside() query {
	return prepare(w.fill(`
		WITH branches AS MATERIALIZED (SELECT DISTINCT lineage[2] AS id FROM customers WHERE status <> 'ACTIVE')
		UPDATE {table} SET {due} = 'infinity'{stopped}
		WHERE id = ANY(ARRAY(SELECT id FROM {table}
			WHERE id = ANY(ARRAY(SELECT w.id FROM branches b CROSS JOIN LATERAL (SELECT id, {owner} AS owner FROM {table}
					WHERE {open} AND branch_id BETWEEN b.id AND b.id AND {due} <= now()
					ORDER BY branch_id, {first} LIMIT $1) w WHERE ` + inactive(w.lineageOf("w.owner")) + `)) AND {still due}
			FOR UPDATE SKIP LOCKED))`))
}

// takeBack gives the statement by which up to $1 rows that have waited for their companies are due again. It walks from owner to
// owner, however much each has waiting.
func (w work) takeBack() query {
	return prepare(w.fill(`
		WITH RECURSIVE owners(id) AS (
			(SELECT {owner} FROM {table} WHERE {open} AND {due} = 'infinity' ORDER BY {owner} LIMIT 1)
			UNION ALL
			SELECT (SELECT w.{owner} FROM {table} w WHERE {open} AND w.{due} = 'infinity' AND w.{owner} > o.id ORDER BY w.{owner} LIMIT 1)
			FROM owners o WHERE o.id IS NOT NULL)
		UPDATE {table} SET {due} = now()
		WHERE id = ANY(ARRAY(SELECT id FROM {table}
			WHERE id = ANY(ARRAY(SELECT w.id FROM owners o CROSS JOIN LATERAL (SELECT id FROM {table}
				WHERE {open} AND {due} = 'infinity' AND {owner} BETWEEN o.id AND o.id ORDER BY {owner} LIMIT $1) w
				WHERE o.id IS NOT NULL AND NOT ` + inactive(w.lineageOf("o.id")) + ` LIMIT $1)) AND ` + unindexed("{due} = 'infinity'") + `
			FOR UPDATE SKIP LOCKED))`))
}

// suspension is how the work of a table waits for companies that are suspended.
type suspension struct{ setAside, takeBack query }

// suspensionBatch is how many rows of a branch are set aside, and of all are taken back, at one go.
const suspensionBatch = 1000

// sort has the work of companies that are suspended wait, and takes that of the others back.
func (s suspension) sort(ctx context.Context, store *Store) error {
	for _, q := range []query{s.setAside, s.takeBack} {
		if _, err := store.exec(ctx, q, suspensionBatch); err != nil {
			return err
		}
	}
	return nil
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
