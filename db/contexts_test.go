package db_test

import (
	"testing"

	"canopy/db"
	"canopy/internal/devstack/devtest"
)

// openStore opens a store on a fresh database.
func openStore(t testing.TB) *db.Store {
	t.Helper()
	s, err := db.Open(t.Context(), devtest.Database(t, db.Fingerprint(), db.Migrate), db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
