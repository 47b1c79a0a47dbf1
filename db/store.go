// Package db holds the platform's only truth: the schema, its rows, and all SQL. Every statement
// that reads or writes what belongs to companies takes the caller's scope, so that a check forgotten above
// finds no rows rather than all of them.
package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"reflect"
	"sync/atomic"

	"github.com/jmoiron/sqlx"

	"canopy/internal/access"
	"canopy/internal/pgconn"
	"canopy/internal/share"
	"canopy/internal/telemetry"
)

// query is a statement of this package. A connection prepares it when it first runs it, so that a hot one is parsed
// and planned once.
type query int

var statements []string

func prepare(text string) query {
	statements = append(statements, text)
	return query(len(statements) - 1)
}

// Store runs the package's statements, on the pool or, inside Tx, in one transaction; tx is what runs them there.
type Store struct {
	pool *sqlx.DB
	// url is that of the database, for what takes longer than a connection of the pool may.
	url      string
	tx       runner
	executed *atomic.Int64
	// pages has a place for each page of a whole list that is being read, by branch.
	pages *share.Gate[int64]
	// reads has a place for each statement that is run by itself for a caller, and writes for each transaction, by access.TurnOf. They are
	// apart, as a transaction may wait for a statement beside it.
	reads, writes *share.Gate[int64]
	// callers and logins look up who has come with a token; a transaction has none, and asks for itself.
	callers *lookups[keyToken]
	logins  *lookups[LoginToken]
	// branches are those of callers' companies.
	branches *branches
	// placings are companies that are read together, by the scope of those who ask and by what they ask; a transaction reads for itself.
	placings *share.Batches[placings, *placing]
	// cell is the one that the database is; nil for the home.
	cell *Cell
	// cells is what is known of the regions that have one.
	cells *atomic.Pointer[cellsKnown]
	// replicas answer what is read in the contexts of Reading; nil where there are none.
	replicas *replicas
}

// Close closes the pools.
func (s *Store) Close() error { return errors.Join(s.replicas.end(), s.pool.Close()) }

// Executed counts the statements that were run since the store was opened, BEGIN and COMMIT among them.
func (s *Store) Executed() int64 { return s.executed.Load() }

// Tx runs do in one transaction: committed when it returns nil, rolled back otherwise. Inside a
// transaction it joins the one that is open. It waits for the caller's turn: those that wait for one row would
// otherwise have all connections.
func (s *Store) Tx(ctx context.Context, do func(*Store) error) error {
	if s.tx != nil {
		return do(s)
	}
	leave, err := enter(ctx, s.writes)
	if err != nil {
		return err
	}
	defer leave()
	tx, err := s.pool.BeginTxx(ctx, nil)
	if err != nil {
		return translate(ctx, err)
	}
	s.executed.Add(2)
	defer func() { _ = tx.Rollback() }()
	within := s.within(tx)
	if err := within.setTrace(ctx); err != nil {
		return err
	}
	if err := do(within); err != nil {
		return err
	}
	span := traceText(ctx, "COMMIT")
	err = translate(ctx, tx.Commit())
	span.end(err)
	s.noteReached(ctx, err)
	return err
}

// AtOnce is Tx for what one statement does, which is a transaction by itself: it takes neither BEGIN nor COMMIT. As with a commit, what it
// was to write may be there when the connection was lost meanwhile, and it is not tried again.
func (s *Store) AtOnce(ctx context.Context, do func(*Store) error) error {
	if s.tx != nil || telemetry.Above(ctx).Tells() { // a trace is a setting of the transaction
		return s.Tx(ctx, do)
	}
	leave, err := enter(ctx, s.writes)
	if err != nil {
		return err
	}
	defer leave()
	conn, err := s.pool.Connx(ctx)
	if err != nil {
		return translate(ctx, err)
	}
	defer func() { _ = conn.Close() }()
	err = do(s.within(conn))
	s.noteReached(ctx, err)
	return err
}

// within is the store in a transaction.
func (s *Store) within(tx runner) *Store {
	return &Store{pool: s.pool, tx: tx, executed: s.executed, pages: s.pages, branches: s.branches, cell: s.cell, cells: s.cells}
}

// runner is the pool, a transaction on one of its connections, or the connection of a statement that is one.
type runner interface {
	sqlx.ExecerContext
	queryer
}

// run gives what runs the next statement, which is counted.
func (s *Store) run() runner {
	s.executed.Add(1)
	if s.tx != nil {
		return s.tx
	}
	return s.pool
}

// turn waits for a place for one statement, by access.TurnOf: whoever asks for many at the same time would
// otherwise have all connections, and others behind them. It is over with the statement, so that nobody who has a place
// waits for another.
func (s *Store) turn(ctx context.Context) (leave func(), err error) {
	if s.tx != nil {
		return func() {}, nil
	}
	return enter(ctx, s.reads)
}

// enter takes a place for the caller. What the platform does for itself waits for connections alone.
func enter(ctx context.Context, gate *share.Gate[int64]) (leave func(), err error) {
	turn := access.TurnOf(ctx)
	if turn == 0 {
		return func() {}, nil
	}
	if err := gate.Enter(ctx, turn); err != nil {
		return nil, err
	}
	return func() { gate.Leave(turn) }, nil
}

// get reads one row into dst; ErrNoRows when there is none.
func (s *Store) get(ctx context.Context, dst any, q query, args ...any) error {
	if s.forgets() {
		if n, known := madeIn(q, args); known {
			if err := s.hasMoved(ctx, n); err != nil {
				return err
			}
		}
	}
	err := s.getHere(ctx, dst, q, args)
	if err == ErrNoRows { //nolint:errorlint // it comes as it is
		return s.notHere(ctx, q, args)
	}
	return err
}

// getHere gives its place back before it is looked where else the row may be: whoever has one waits for no other.
func (s *Store) getHere(ctx context.Context, dst any, q query, args []any) error {
	if err := s.here(q); err != nil {
		return err
	}
	leave, err := s.turn(ctx)
	if err != nil {
		return err
	}
	defer leave()
	span := trace(ctx, q)
	err = translate(ctx, getInto(ctx, s.run(), dst, s.text(q), args...))
	span.end(err)
	return err
}

// list reads all rows into dst, a pointer to a slice.
func (s *Store) list(ctx context.Context, dst any, q query, args ...any) error {
	if err := s.here(q); err != nil {
		return err
	}
	span := trace(ctx, q)
	err := s.read(ctx, onlyRead()[q], dst, func(ctx context.Context, from runner) error {
		return selectInto(ctx, from, dst, s.text(q), args...)
	})
	span.end(err)
	return err
}

// composed reads all rows of a statement that was put together for what is asked into dst, a pointer to a slice.
func (s *Store) composed(ctx context.Context, dst any, text string, args ...any) error {
	text, err := s.hereText(text)
	if err != nil {
		return err
	}
	span := traceText(ctx, text)
	err = s.read(pgconn.Composed(ctx), true, dst, func(ctx context.Context, from runner) error { return selectInto(ctx, from, dst, text, args...) })
	span.end(err)
	return err
}

// exec runs a statement and tells how many rows it touched.
func (s *Store) exec(ctx context.Context, q query, args ...any) (n int64, err error) {
	if err := s.here(q); err != nil {
		return 0, err
	}
	leave, err := s.turn(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	span := trace(ctx, q)
	defer func() { span.end(err) }()
	res, err := s.run().ExecContext(ctx, s.text(q), args...)
	if err != nil {
		return 0, translate(ctx, err)
	}
	n, err = res.RowsAffected()
	return n, translate(ctx, err)
}

// must runs a statement that has to touch a row; ErrNoRows when it touched none.
func (s *Store) must(ctx context.Context, q query, args ...any) error {
	n, err := s.exec(ctx, q, args...)
	if err == nil && n == 0 {
		return s.notHere(ctx, q, args)
	}
	return err
}

// stream reads rows one by one, so that a list of any length needs no memory of its own. The
// error of each ends it.
func stream[T any](ctx context.Context, s *Store, each func(*T) error, q query, args ...any) error {
	var into *scan
	return s.eachRow(ctx, func(rows *sql.Rows) (err error) {
		if into == nil {
			if into, err = newScan(reflect.TypeFor[T](), rows); err != nil {
				return unread{err}
			}
		}
		row := new(T)
		if err := into.row(rows, reflect.ValueOf(row).UnsafePointer()); err != nil {
			return unread{err}
		}
		return each(row)
	}, q, args...)
}

// eachRow gives the rows of a statement as they come.
func (s *Store) eachRow(ctx context.Context, each func(*sql.Rows) error, q query, args ...any) error {
	if err := s.here(q); err != nil {
		return err
	}
	span := trace(ctx, q)
	w := walk{each: each, text: s.text(q), args: args}
	done, err := s.atReplica(ctx, onlyRead()[q], w.fresh, w.over)
	if !done {
		err = translate(ctx, w.over(ctx, s.run()))
	}
	span.end(err)
	return cmp.Or(w.ended, err)
}

// eachUnhurried is eachRow without the statement timeout.
func (s *Store) eachUnhurried(ctx context.Context, each func(*sql.Rows) error, q query, args ...any) error {
	if err := s.here(q); err != nil {
		return err
	}
	w := walk{each: each, text: s.text(q), args: args}
	done, err := s.atReplica(ctx, onlyRead()[q], w.fresh, func(ctx context.Context, from runner) error {
		return unhurried(ctx, from.(*sqlx.Conn), w.over)
	})
	if !done {
		err = s.withoutTimeout(ctx, func(tx *Store) error { return translate(ctx, w.over(ctx, tx.run())) })
	}
	return cmp.Or(w.ended, err)
}

// unhurried does something in a transaction of a connection without the statement timeout.
func unhurried(ctx context.Context, conn *sqlx.Conn, do func(context.Context, runner) error) error {
	tx, err := conn.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, statements[qNoTimeout]); err != nil {
		return err
	}
	return do(ctx, tx)
}

// unread says that a row could not be read, as where its replica was left out meanwhile: the statement failed, and who takes its rows has not ended it.
type unread struct{ error }

// walk gives the rows of a statement to each, whose error, ended, ends it.
type walk struct {
	each  func(*sql.Rows) error
	text  string
	args  []any
	begun bool
	ended error
}

// fresh tells that no row was given yet.
func (w *walk) fresh() bool { return !w.begun }

func (w *walk) over(ctx context.Context, from runner) error {
	rows, err := from.QueryContext(ctx, w.text, w.args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		err := w.each(rows)
		if lost, is := errors.AsType[unread](err); is {
			return lost.error
		}
		w.begun = true
		if w.ended = err; err != nil {
			return nil
		}
	}
	return rows.Err()
}
