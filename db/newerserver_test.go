package db

import (
	"database/sql"
	"io/fs"
	"testing"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"github.com/pressly/goose/v3"

	"canopy/internal/devstack/devtest"
)

// TestMigrationsOnANewerServer: PostgreSQL makes indexes with a search path of its own from version 17 on. PGlite is such a one, and takes all migrations, both ways; it
// has one session for all connections, so that they go without the Migrator's lock.
func TestMigrationsOnANewerServer(t *testing.T) {
	t.Parallel()
	pool := devtest.Must[*sql.DB](t)(sql.Open("postgres", devtest.VectorDatabase(t)))
	defer func() { _ = pool.Close() }()
	pool.SetMaxOpenConns(1)
	files := devtest.Must[fs.FS](t)(fs.Sub(migrationFiles, "migrations"))
	p := devtest.Must[*goose.Provider](t)(goose.NewProvider(goose.DialectPostgres, pool, files))
	devtest.Must[[]*goose.MigrationResult](t)(p.Up(t.Context()))
	devtest.Must[[]*goose.MigrationResult](t)(p.DownTo(t.Context(), 0))
}

// TestWhatMayNotBeDeleted: PostgreSQL 18 has a state of its own for a row that others still name.
func TestWhatMayNotBeDeleted(t *testing.T) {
	t.Parallel()
	for _, state := range []pqerror.Code{"23503", "23001"} {
		if err := translateState(&pq.Error{Code: state, Constraint: "permissions_role_id_fkey"}); !Violates(err, "permissions_role_id_fkey") {
			t.Errorf("%s is %v", state, err)
		}
	}
}
