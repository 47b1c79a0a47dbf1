package db

import (
	"testing"

	"github.com/jmoiron/sqlx"

	"canopy/internal/devstack/devtest"
)

// ownPool is of connections to a database of the test's own.
func ownPool(t *testing.T, o Options) *sqlx.DB {
	t.Helper()
	pool := devtest.Must[*sqlx.DB](t)(Connect(devtest.Database(t, Fingerprint(), Migrate), o))
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}
