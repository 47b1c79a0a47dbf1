package db

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

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

// checkSchema tells whether the database has exactly the schema that this program knows.
func checkSchema(ctx context.Context, pool *sqlx.DB) error {
	version, err := currentVersion(ctx, pool)
	switch {
	case err != nil:
		return err
	case version < schemaVersion():
		return fmt.Errorf("schema version: the database is at %d, this program needs %d: run `canopy migrate up`", version, schemaVersion())
	case version > schemaVersion():
		return fmt.Errorf("schema version: the database is at %d, newer than this program's %d: run a newer canopy", version, schemaVersion())
	}
	return nil
}

func currentVersion(ctx context.Context, pool *sqlx.DB) (version int64, err error) {
	err = pool.GetContext(ctx, &version, `SELECT version_id FROM goose_db_version WHERE is_applied ORDER BY id DESC LIMIT 1`)
	var pe *pq.Error
	if errors.As(err, &pe) && pe.Code == "42P01" || errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return version, translate(ctx, err)
}

// Migrator moves a database between versions of the schema, one process at a time.
type Migrator struct {
	*goose.Provider
	pool *sqlx.DB
}

// NewMigrator opens the database behind url for migrations. Like Open it refuses a pooler that would
// mix their statements up.
func NewMigrator(ctx context.Context, url string) (*Migrator, error) {
	pool, err := connectThrough(ctx, url, Options{MaxConns: 2})
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
