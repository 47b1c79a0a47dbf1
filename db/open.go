package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"canopy/internal/pgconn"
	"canopy/internal/share"
)

// Options shape the connection pool.
type Options struct {
	// MaxConns bounds the pool; 0 stands for eight for each processor, at least 16.
	MaxConns int
	// patient is for work that takes as long as it takes, and waits for locks no longer than lockWait.
	patient bool
	// silence is how long the server may say nothing while it is asked; 0 stands for longer than any statement may take.
	silence time.Duration
}

// Connect opens a pool without looking at what is behind it.
func Connect(url string, o Options) (*sqlx.DB, error) {
	connector, err := o.connector(url)
	if err != nil {
		return nil, fmt.Errorf("DATABASE_URL: %w", err)
	}
	pool := sqlx.NewDb(sql.OpenDB(connector), "postgres")
	o.bound(pool)
	return pool, nil
}

func (o Options) connector(url string) (*pgconn.Connector, error) {
	if o.patient {
		return pgconn.Patient(url, lockWait)
	}
	if o.silence > 0 {
		return pgconn.Within(url, o.silence, statements...)
	}
	return pgconn.New(url, statements...)
}

func (o Options) bound(pool *sqlx.DB) {
	if o.MaxConns == 0 {
		o.MaxConns = max(16, 8*runtime.GOMAXPROCS(0))
	}
	pool.SetMaxOpenConns(o.MaxConns)
	pool.SetMaxIdleConns(o.MaxConns)
	pool.SetConnMaxIdleTime(5 * time.Minute)
}

// connectThrough is Connect where no pooler on the way mixes prepared statements up: pgconn.ErrPooler.
func connectThrough(ctx context.Context, url string, o Options) (*sqlx.DB, error) {
	pool, err := Connect(url, Options{patient: o.patient}) // the check takes two connections, whatever the bound
	if err != nil {
		return nil, err
	}
	if err := checkPooler(ctx, pool); err != nil {
		return nil, closing(pool, err)
	}
	o.bound(pool)
	return pool, nil
}

// Open connects to a database of the schema that this program knows. It refuses a pooler that would mix
// prepared statements up: pgconn.ErrPooler.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	pool, err := connectThrough(ctx, url, o)
	if err != nil {
		return nil, err
	}
	if err := checkSchema(ctx, pool); err != nil {
		return nil, closing(pool, err)
	}
	cell, err := cellOf(ctx, pool)
	if err != nil {
		return nil, closing(pool, err)
	}
	s := &Store{
		pool: pool, url: url, cell: cell, cells: new(atomic.Pointer[cellsKnown]), executed: new(atomic.Int64),
		// Half of the connections are for everything but whole lists.
		pages:   share.NewGate[int64](max(2, pool.Stats().MaxOpenConnections/2)),
		reads:   share.NewGate[int64](max(2, pool.Stats().MaxOpenConnections)),
		writes:  share.NewGate[int64](max(2, pool.Stats().MaxOpenConnections)),
		callers: &lookups[keyToken]{}, logins: &lookups[LoginToken]{}, branches: &branches{}, placings: &share.Batches[placings, *placing]{},
	}
	if err := s.LookForCells(ctx); err != nil {
		return nil, closing(pool, err)
	}
	return s, nil
}

// Ready tells whether the database answers with the schema that this program knows, and takes
// writes: ErrReadOnly where it doesn't.
func (s *Store) Ready(ctx context.Context) error {
	if err := checkSchema(ctx, s.pool); err != nil {
		return err
	}
	var readOnly bool
	// So it is on a standby, too.
	if err := getInto(ctx, s.pool, &readOnly, `SELECT current_setting('transaction_read_only')::boolean`); err != nil {
		return translate(ctx, err)
	}
	if readOnly {
		return ErrReadOnly
	}
	return nil
}

// checkPooler is the first to use a pool: where it can't connect it is the setting that is wrong, for all that
// can be told.
func checkPooler(ctx context.Context, pool *sqlx.DB) error {
	switch err := pgconn.CheckPooler(ctx, pool.DB); {
	case errors.Is(err, pgconn.ErrPooler), errors.Is(err, pgconn.ErrConnect):
		return fmt.Errorf("DATABASE_URL: %w", err)
	default:
		return translate(ctx, err)
	}
}

func closing(pool *sqlx.DB, err error) error {
	_ = pool.Close()
	return err
}
