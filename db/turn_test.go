package db_test

import (
	"context"
	"database/sql"
	"sync"
	"testing"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
)

// TestReadsKeepNobodyWaiting: however many statements of one branch's callers are under way, and however long they take,
// there is a connection for another's.
func TestReadsKeepNobodyWaiting(t *testing.T) {
	address := devtest.Database(t, db.Fingerprint(), db.Migrate)
	s, err := db.Open(t.Context(), address, db.Options{MaxConns: 8})
	devtest.Check(t, err)
	t.Cleanup(func() { _ = s.Close() })
	other, err := db.Connect(address, db.Options{MaxConns: 2})
	devtest.Check(t, err)
	t.Cleanup(func() { _ = other.Close() })
	_, child, _ := tree(t, s)
	held, err := other.BeginTxx(t.Context(), nil)
	devtest.Check(t, err)
	devtest.Must[sql.Result](t)(held.ExecContext(t.Context(), `LOCK TABLE customers`))
	of := func(ctx context.Context, branch int64) context.Context {
		return access.WithPrincipal(ctx, &access.Principal{Lineage: access.Lineage{1, branch}})
	}
	var hostile sync.WaitGroup
	for range 20 {
		hostile.Go(func() {
			_, err := s.Customer(of(t.Context(), 7), child.Lineage.Subtree(), child.ID)
			devtest.Check(t, err)
		})
	}
	waiting := 0
	for waiting < 4 {
		devtest.Check(t, other.GetContext(t.Context(), &waiting, `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`))
	}
	soon, cancel := context.WithTimeout(of(t.Context(), 8), 30*time.Second)
	defer cancel()
	if _, err := s.LimitsOf(soon, child.ID); err != nil {
		t.Errorf("another branch's: %v", err)
	}
	devtest.Check(t, held.Rollback())
	hostile.Wait()
}
