package db_test

import (
	"testing"

	"github.com/jmoiron/sqlx"

	"canopy/db"
	"canopy/internal/devstack/devtest"
)

// TestWhatIsRestoredHasAnotherHistory: what a copy of vectors holds of a database says nothing of another one of the same server, into which that was restored, nor
// of the same one where its tables were.
func TestWhatIsRestoredHasAnotherHistory(t *testing.T) {
	t.Parallel()
	addresses := []string{devtest.Database(t, db.Fingerprint(), db.Migrate), devtest.Database(t, db.Fingerprint(), db.Migrate)}
	seen := map[string]bool{}
	look := func(address string) {
		t.Helper()
		s := devtest.Must[*db.Store](t)(db.Open(t.Context(), address, db.Options{}))
		t.Cleanup(func() { _ = s.Close() })
		c := devtest.Must[*db.Copied](t)(s.Copied(t.Context(), 1, "", "", 0, false))
		if seen[c.History] {
			t.Errorf("%s is known already", c.History)
		}
		seen[c.History] = true
	}
	fill := func(address, statement string) {
		t.Helper()
		pool := devtest.Must[*sqlx.DB](t)(db.Connect(address, db.Options{MaxConns: 1}))
		defer func() { _ = pool.Close() }()
		pool.MustExecContext(t.Context(), statement)
	}
	for _, address := range addresses {
		fill(address, `SET session_replication_role = replica; INSERT INTO contexts (id, account_id, name, description, caption, embedding_model) VALUES (1, 1, 'Context', '', '', 'canopy-lexical-1')`)
		look(address)
	}
	fill(addresses[0], `ALTER TABLE contexts RENAME TO lost; CREATE TABLE contexts AS TABLE lost`)
	look(addresses[0])
}
