package devtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"canopy/internal/devstack"
)

// VectorDatabase gives the URL of an empty database of its own on a server with pgvector 0.8 or newer: that of the test run where it has that extension, as
// with Debian's package postgresql-NN-pgvector, and otherwise PGlite. Where neither can be had the test is passed over, but under CI it fails.
func VectorDatabase(t testing.TB) string {
	t.Helper()
	if c := superuser(t); c.hasVectors(t) {
		return Database(t, "nothing for vectors", func(context.Context, string) error { return nil })
	}
	_, benchmark := t.(*testing.B)
	lite, err := devstack.StartPGlite(context.Background(), !benchmark)
	if errors.Is(err, devstack.ErrNoBinaries) && os.Getenv("CI") == "" {
		t.Skipf("NOT TRIED: neither does the installed PostgreSQL have pgvector, nor can PGlite be installed: %v", err)
	}
	if err != nil {
		t.Fatalf("a PostgreSQL with pgvector for the tests: %v (scripts/bootstrap.sh tests installs what is missing)", err)
	}
	t.Cleanup(lite.Remove)
	return lite.URL()
}

// hasVectors tells whether the extension could be installed there.
func (c *cluster) hasVectors(t testing.TB) bool {
	t.Helper()
	var version string
	err := c.pool.QueryRowContext(context.Background(), `SELECT COALESCE(max(default_version), '') FROM pg_available_extensions WHERE name = 'vector'`).Scan(&version)
	if err != nil {
		t.Fatal(err)
	}
	var major, minor int
	n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor)
	return n == 2 && (major > 0 || minor >= 8)
}
