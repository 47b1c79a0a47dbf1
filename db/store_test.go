package db_test

import (
	"database/sql"
	"testing"

	"canopy/db"
	"canopy/internal/devstack/devtest"
)

// TestEveryStatementFits has PostgreSQL prepare each statement, which a connection of the store does when it first
// runs it.
func TestEveryStatementFits(t *testing.T) {
	pool := devtest.Must[*sql.DB](t)(sql.Open("postgres", devtest.Database(t, db.Fingerprint(), db.Migrate)))
	t.Cleanup(func() { _ = pool.Close() })
	for _, text := range db.Statements {
		if err := prepares(t, pool, text); err != nil {
			t.Errorf("%v: %s", err, text)
		}
	}
}

func prepares(t *testing.T, pool *sql.DB, text string) error {
	st, err := pool.PrepareContext(t.Context(), text)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	return nil
}
