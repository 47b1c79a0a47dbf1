// Package pgvector keeps copies of the dense vectors of large contexts in a PostgreSQL with the extension pgvector, and finds those that are
// closest to a vector by its indexes (HNSW) instead of comparing all.
//
// Everything there is derived from the platform's own database: it can be lost, and is made again. All of it lies in one schema. The rows
// of vectors have a table for each number of dimensions, in partitions by context. Each statement names one context.
package pgvector

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"canopy/internal/pgconn"
)

// MostDimensions is of how many components vectors can be that an index finds.
const MostDimensions = 4000

// The versions of pgvector that will do: from this one on an index is searched on until there is enough that fits a filter.
const (
	leastMajor = 0
	leastMinor = 8
)

// partitions is among how many tables contexts are spread. An index is of one of them.
const partitions = 32

// lock keeps two processes from making the same tables at the same time.
const lock = 0x63616e6f7079

// ErrNone is the error where a context is not held, or not as it was asked for.
var ErrNone = errors.New("pgvector: the context is not held")

// Store is the database of vectors.
type Store struct {
	pool *sqlx.DB
	few  int64
}

// Open opens a pool of at most so many connections, without looking at what is behind it; 0 stands for eight for each processor, at least 16.
func Open(url string, conns int) (*Store, error) {
	if conns == 0 {
		conns = max(16, 8*runtime.GOMAXPROCS(0))
	}
	connector, err := pgconn.Planning(url)
	if err != nil {
		return nil, fmt.Errorf("CANOPY_VECTOR_URL: %w", err)
	}
	pool := sqlx.NewDb(sql.OpenDB(connector), "postgres")
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	return &Store{pool, fewRows}, nil
}

// Close closes the pool.
func (s *Store) Close() error { return s.pool.Close() }

// Server is what a database says of itself that is to keep vectors.
type Server struct {
	// Version is the server's, Installed that of the extension in this database, and Available what could be installed; empty for none.
	Version   string `db:"version"`
	Installed string `db:"installed"`
	Available string `db:"available"`
	// Standby tells a server that takes no writes.
	Standby bool `db:"standby"`
	// Create tells that the platform's user may make its schema.
	Create bool `db:"may_create"`
}

// Examine asks the database what it is.
func (s *Store) Examine(ctx context.Context) (Server, error) {
	var server Server
	err := s.pool.GetContext(ctx, &server, `
		SELECT current_setting('server_version') AS version, pg_is_in_recovery() AS standby,
			COALESCE((SELECT extversion FROM pg_extension WHERE extname = 'vector'), '') AS installed,
			COALESCE((SELECT default_version FROM pg_available_extensions WHERE name = 'vector'), '') AS available,
			has_database_privilege(current_database(), 'CREATE') OR to_regclass('canopy_vectors.contexts') IS NOT NULL AS may_create`)
	return server, err
}

// Fit tells whether a version of the extension will do.
func Fit(version string) bool {
	var major, minor int
	if n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor); n < 2 {
		return false
	}
	return major > leastMajor || minor >= leastMinor
}

// Prepare makes what the database lacks: the extension, the schema, and the tables for vectors of so many dimensions.
func (s *Store) Prepare(ctx context.Context, dimensions int) error {
	return s.create(ctx, table(dimensions), checkExtension, append(commonTables(), tablesOf(dimensions)...))
}

// create makes tables by statements where one of them is not there, once first, where it is given, has looked whether they can be.
func (s *Store) create(ctx context.Context, table string, first func(context.Context, *sqlx.Tx) error, statements []string) error {
	there := func(q sqlx.QueryerContext) (is bool, err error) {
		err = sqlx.GetContext(ctx, q, &is, `SELECT to_regclass($1) IS NOT NULL`, table)
		return is, err
	}
	if is, err := there(s.pool); err != nil || is {
		return err
	}
	return s.transact(ctx, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, lock); err != nil {
			return err
		}
		if is, err := there(tx); err != nil || is { // another process was first
			return err
		}
		if first != nil {
			if err := first(ctx, tx); err != nil {
				return err
			}
		}
		for _, statement := range statements {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkExtension makes the extension where it is not there, and tells whether it fits.
func checkExtension(ctx context.Context, tx *sqlx.Tx) error {
	var version string
	err := tx.GetContext(ctx, &version, `SELECT extversion FROM pg_extension WHERE extname = 'vector'`)
	if errors.Is(err, sql.ErrNoRows) {
		if _, err = tx.ExecContext(ctx, `CREATE EXTENSION vector`); err == nil {
			err = tx.GetContext(ctx, &version, `SELECT extversion FROM pg_extension WHERE extname = 'vector'`)
		}
	}
	if err != nil {
		return fmt.Errorf("the extension vector: %w", err)
	}
	if !Fit(version) {
		return fmt.Errorf("the extension vector is of version %s: %d.%d or newer is needed", version, leastMajor, leastMinor)
	}
	return nil
}

// table is the name of that of vectors of so many dimensions.
func table(dimensions int) string { return fmt.Sprintf("canopy_vectors.chunks_%d", dimensions) }

// commonTables are those that do not depend on dimensions. A context's version is 0 until all of it is there; turn and busy_until are of who
// brings it up to date. A document is whole once all of its rows are there.
func commonTables() []string {
	return []string{
		`CREATE SCHEMA IF NOT EXISTS canopy_vectors`,
		`CREATE TABLE IF NOT EXISTS canopy_vectors.contexts (
			context_id bigint PRIMARY KEY,
			model      text        NOT NULL,
			dimensions integer     NOT NULL,
			history    text        NOT NULL DEFAULT '',
			version    bigint      NOT NULL DEFAULT 0,
			chunks     bigint      NOT NULL DEFAULT 0,
			wanted     bigint      NOT NULL DEFAULT 0,
			checked_at timestamptz NOT NULL DEFAULT '-infinity',
			turn       bigint      NOT NULL DEFAULT 0,
			busy_until timestamptz NOT NULL DEFAULT '-infinity')`,
		`CREATE TABLE IF NOT EXISTS canopy_vectors.documents (
			context_id  bigint  NOT NULL REFERENCES canopy_vectors.contexts ON DELETE CASCADE,
			document_id bigint  NOT NULL,
			revision    bigint  NOT NULL,
			stamp       bigint  NOT NULL,
			chunks      integer NOT NULL DEFAULT 0,
			whole       boolean NOT NULL DEFAULT false,
			PRIMARY KEY (context_id, document_id))`,
	}
}

// tablesOf are those of vectors. draw is a number without meaning, in whose order the first rows of a context are a sample of it.
func tablesOf(dimensions int) []string {
	name := table(dimensions)
	list := []string{
		fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %s (
			context_id  bigint  NOT NULL,
			chunk_id    bigint  NOT NULL,
			document_id bigint  NOT NULL,
			draw        integer NOT NULL,
			embedding   halfvec(%d) NOT NULL,
			PRIMARY KEY (context_id, chunk_id)) PARTITION BY HASH (context_id)`, name, dimensions),
	}
	for i := range partitions {
		list = append(list, fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %s_%d PARTITION OF %s FOR VALUES WITH (MODULUS %d, REMAINDER %d)`, name, i, name, partitions, i))
	}
	return append(
		list,
		// What is told to lie in tables that were lost is there no more.
		fmt.Sprintf(`DELETE FROM canopy_vectors.documents d USING canopy_vectors.contexts c WHERE c.context_id = d.context_id AND c.dimensions = %d`, dimensions),
		fmt.Sprintf(`UPDATE canopy_vectors.contexts SET version = 0, chunks = 0 WHERE dimensions = %d`, dimensions),
		fmt.Sprintf(`CREATE INDEX ON %s (context_id, document_id)`, name),
		fmt.Sprintf(`CREATE INDEX ON %s (context_id, draw)`, name),
		fmt.Sprintf(`CREATE INDEX ON %s USING hnsw (embedding halfvec_ip_ops) WITH (m = 16, ef_construction = 100)`, name),
	)
}

// transact does something in a transaction.
func (s *Store) transact(ctx context.Context, do func(*sqlx.Tx) error) error {
	tx, err := s.pool.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Away tells of an error that says that the database does not answer, or is about to stop; an error of one statement says nothing of the next.
func Away(err error) bool {
	var told *pq.Error
	if errors.As(err, &told) {
		return strings.HasPrefix(string(told.Code), "08") || strings.HasPrefix(string(told.Code), "57P") || told.Code == "53300"
	}
	var network net.Error
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.As(err, &network) && !errors.Is(err, context.DeadlineExceeded)
}

// missing tells of an error that says that a table, or the schema, is not there.
func missing(err error) bool {
	var told *pq.Error
	return errors.As(err, &told) && (told.Code == "42P01" || told.Code == "3F000")
}
