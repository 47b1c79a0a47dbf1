package pgconn

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/lib/pq"
)

// ErrPooler says that a pooler stands before the database that mixes up what its clients prepare.
var ErrPooler = errors.New("a pooler before the database gives its clients' transactions to connections that don't know their prepared statements: " +
	"let it pool sessions (PgBouncer: pool_mode=session), or track statements (PgBouncer 1.21 or newer: max_prepared_statements above 0), or connect past it")

// probeRounds is how often the two connections of the probe take turns. Left alone, a pooler that
// mixes them up does so in the first round; with others at work it may take some.
const probeRounds = 5

// CheckPooler finds a pooler that shares its connections between transactions without knowing of
// prepared statements: through it one client's statement reaches another's, or nobody's. It tells by
// what happens, not by what the pooler is: two connections prepare a statement each, under names
// that are the same, and run them by turns. On a server, or through a pooler that keeps them apart,
// each finds its own. The pool must have room for both. The error is ErrPooler, or what else went wrong.
func CheckPooler(ctx context.Context, pool *sql.DB) error {
	var sides [2]*sql.Conn
	for i := range sides {
		var err error
		if sides[i], err = pool.Conn(ctx); err != nil {
			return err
		}
		defer func() { _ = sides[i].Close() }()
	}
	for range probeRounds {
		if err := probe(ctx, sides); err != nil {
			return err
		}
	}
	return nil
}

// probe has each side prepare a statement, and then run it: by itself, and in a transaction.
func probe(ctx context.Context, sides [2]*sql.Conn) error {
	var prepared [2]*sql.Stmt
	for i, side := range sides {
		var err error
		if prepared[i], err = side.PrepareContext(ctx, fmt.Sprintf("SELECT %d", i)); err != nil { //nolint:sqlclosecheck // see below
			return mixedUp(err)
		}
		defer func() { _ = prepared[i].Close() }()
	}
	for i, side := range sides {
		if err := answers(ctx, prepared[i], i); err != nil {
			return err
		}
		tx, err := side.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		err = answers(ctx, tx.StmtContext(ctx, prepared[i]), i)
		if err := errors.Join(err, tx.Rollback()); err != nil {
			return err
		}
	}
	return nil
}

func answers(ctx context.Context, prepared *sql.Stmt, want int) error {
	var got int
	if err := prepared.QueryRowContext(ctx).Scan(&got); err != nil {
		return mixedUp(err)
	}
	if got != want {
		return ErrPooler
	}
	return nil
}

// mixedUp is ErrPooler where the server knows no statement of that name, or knows it already.
func mixedUp(err error) error {
	var e *pq.Error
	if errors.As(err, &e) && (e.Code == "26000" || e.Code == "42P05") { // invalid_sql_statement_name, duplicate_prepared_statement
		return fmt.Errorf("%w (%w)", ErrPooler, err)
	}
	return err
}
