package db

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// Fingerprint is the text of all migrations: databases of the same fingerprint have the same schema.
func Fingerprint() string {
	var b strings.Builder
	_ = fs.WalkDir(migrationFiles, "migrations", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, _ := migrationFiles.ReadFile(path)
			b.Write(text)
		}
		return err
	})
	return b.String()
}

// schemaVersion is the version that this program needs: that of its last migration.
func schemaVersion() int64 {
	entries, _ := migrationFiles.ReadDir("migrations")
	versions := make([]int64, len(entries))
	for i, e := range entries {
		number, _, _ := strings.Cut(e.Name(), "_")
		versions[i], _ = strconv.ParseInt(number, 10, 64)
	}
	return slices.Max(versions)
}

// checkSchema tells whether the database has the schema that this program knows, or a newer one that serves it.
func checkSchema(ctx context.Context, pool *sqlx.DB) error {
	there, err := currentSchema(ctx, pool)
	if err != nil {
		return err
	}
	return there.runs(schemaVersion())
}

// schema is what a database has.
type schema struct {
	// Version is its own, Serves the oldest whose programs it serves.
	Version int64 `db:"version"`
	Serves  int64 `db:"serves"`
}

// runs tells whether programs that know a version run on the schema.
func (s schema) runs(known int64) error {
	switch {
	case s.Version < known:
		return fmt.Errorf("schema version: the database is at %d, this program needs %d: run `canopy migrate up`", s.Version, known)
	case s.Serves > known:
		return fmt.Errorf("schema version: the database is at %d, newer than this program's %d: run a newer canopy", s.Version, known)
	}
	return nil
}

func currentSchema(ctx context.Context, pool *sqlx.DB) (s schema, err error) {
	err = getInto(ctx, pool, &s, qServed)
	if pe := new(pq.Error); errors.As(err, &pe) && pe.Code == "42P01" { // undefined_table
		return schema{}, nil
	}
	return s, translate(ctx, err)
}

// Migrator moves a database between versions of the schema, one process at a time.
type Migrator struct {
	*goose.Provider
	pool *sqlx.DB
}

// NewMigrator opens the database behind url for migrations. Like Open it refuses a pooler that would
// mix their statements up.
func NewMigrator(ctx context.Context, url string) (*Migrator, error) {
	pool, err := connectThrough(ctx, url, Options{MaxConns: 2, patient: true})
	if err != nil {
		return nil, err
	}
	files, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		return nil, closing(pool, err)
	}
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, closing(pool, err)
	}
	p, err := goose.NewProvider(goose.DialectPostgres, pool.DB, files, goose.WithSessionLocker(locker))
	if err != nil {
		return nil, closing(pool, err)
	}
	return &Migrator{Provider: p, pool: pool}, nil
}

// A migration waits for a table that others use for a moment, as all who come later wait behind it. Then it steps back, so that they go
// on, and tries again after a pause. It waits less than PostgreSQL does before it looks for deadlocks (deadlock_timeout, 1 s), so that who holds what it
// waits for, and waits for what it holds, is not ended for it.
const (
	lockWait  = 700 * time.Millisecond
	lockPause = 500 * time.Millisecond
	lockTries = 250
)

// Up applies all migrations that are left, and tells which it has applied, also beside an error.
func (m *Migrator) Up(ctx context.Context) (done []*goose.MigrationResult, err error) {
	there, err := currentSchema(ctx, m.pool)
	if err != nil {
		return nil, err
	}
	if err := m.cellsFirst(ctx, there); err != nil {
		return nil, err
	}
	if err := m.prepare(ctx, there); err != nil {
		return nil, err
	}
	err = aside(ctx, func() error {
		more, err := m.Provider.Up(ctx)
		if partial := new(goose.PartialError); errors.As(err, &partial) {
			more = partial.Applied
		}
		done = append(done, more...)
		return err
	})
	if err == nil && there.Version <= schemaVersion() {
		if err = m.mark(ctx, schemaVersion()); err == nil {
			err = m.settle(ctx)
		}
	}
	return done, err
}

// settle does what follows from the schema where there are cells, for new tables, too: which ids are made here, and what of the directory is replicated.
func (m *Migrator) settle(ctx context.Context) error {
	cell, err := cellOf(ctx, m.pool)
	if err != nil {
		return err
	}
	if cell == nil {
		return m.republish(ctx)
	}
	if err := m.bindIDs(ctx, cell); err != nil {
		return err
	}
	if err := m.fit(ctx); err != nil {
		return err
	}
	if err := m.holdOff(ctx, cell); err != nil {
		return err
	}
	return m.refresh(ctx)
}

// prepare says, before anything is applied, who may go on meanwhile.
func (m *Migrator) prepare(ctx context.Context, there schema) error {
	switch {
	case there.Version == 0 || there.Version >= schemaVersion():
		return nil
	case there.runs(servedFrom(schemaVersion())) == nil:
		return m.mark(ctx, schemaVersion())
	}
	return m.unmark(ctx)
}

// Down takes the latest migration back.
func (m *Migrator) Down(ctx context.Context) (done *goose.MigrationResult, err error) {
	there, err := currentSchema(ctx, m.pool)
	if err != nil {
		return nil, err
	}
	if there.Version > schemaVersion() {
		return nil, fmt.Errorf("the database is at the version %d, which this program does not know: take it back by the program that brought it there", there.Version)
	}
	if there.Version > 0 {
		if err := m.mayGoBack(ctx, there); err != nil {
			return nil, err
		}
		if err := m.unmark(ctx); err != nil {
			return nil, err
		}
	}
	err = aside(ctx, func() error { done, err = m.Provider.Down(ctx); return err })
	if now, lookErr := currentSchema(ctx, m.pool); lookErr == nil && now.Version > 0 {
		err = errors.Join(err, m.mark(ctx, now.Version))
	}
	return done, err
}

// mayGoBack refuses to take back, where a log has months, what can't be with partitions.
func (m *Migrator) mayGoBack(ctx context.Context, there schema) error {
	if there.Version >= monthsFrom {
		return nil
	}
	for _, l := range Logs() {
		if is, err := l.inMonths(ctx, m.pool); err != nil {
			return err
		} else if is {
			return fmt.Errorf("the log of %s has months, and its indexes can't be taken back: the schema goes back to the version %d, and no further", l.Name, there.Version)
		}
	}
	return nil
}

// aside tries a migration until nobody has what it locks.
func aside(ctx context.Context, migrate func() error) error {
	for try := 1; ; try++ {
		err := migrate()
		if !errors.Is(translate(ctx, err), ErrBusy) || try == lockTries {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockPause):
		}
	}
}

// Close closes the migrator's connections.
func (m *Migrator) Close() error { return m.pool.Close() }

// Migrate brings the database behind url to the newest schema.
func Migrate(ctx context.Context, url string) error {
	m, err := NewMigrator(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	_, err = m.Up(ctx)
	return err
}
