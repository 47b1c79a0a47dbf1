package pgvector

import (
	"context"
	"errors"
	"testing"

	"github.com/jmoiron/sqlx"

	"canopy/internal/devstack/devtest"
)

// TestSearchesLeaveConnectionsAsTheyWere: a connection that a search has used, whose transaction is of another kind, is as good for others as before.
func TestSearchesLeaveConnectionsAsTheyWere(t *testing.T) {
	t.Parallel()
	url := devtest.Database(t, "nothing for searches", func(context.Context, string) error { return nil })
	store := devtest.Must[*Store](t)(Open(url, 1))
	t.Cleanup(func() { _ = store.Close() })
	search, cancel := context.WithCancel(t.Context())
	if _, err := store.Search(search, Ask{State: State{Context: 1, Dimensions: 3}}); !errors.Is(err, ErrNone) {
		t.Fatal(err)
	}
	cancel()
	var first, now int
	devtest.Check(t, store.pool.GetContext(t.Context(), &first, `SELECT pg_backend_pid()`))
	for range 5 {
		devtest.Check(t, store.transact(t.Context(), func(tx *sqlx.Tx) error { return tx.GetContext(t.Context(), &now, `SELECT pg_backend_pid()`) }))
		if now != first {
			t.Fatal("the connection was given up")
		}
	}
}
