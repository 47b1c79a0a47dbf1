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

// TestStatementsKeepNobodyWaiting: however many statements or transactions of one branch's callers, or of one network, are under way, and
// however long they take, there is a connection for another's.
func TestStatementsKeepNobodyWaiting(t *testing.T) {
	for name, hostile := range map[string]func(context.Context, *db.Store, *db.Customer) error{
		"reads": func(ctx context.Context, s *db.Store, c *db.Customer) error {
			_, err := s.Customer(ctx, c.Lineage.Subtree(), c.ID)
			return err
		},
		"transactions": func(ctx context.Context, s *db.Store, c *db.Customer) error {
			return s.Tx(ctx, func(tx *db.Store) error {
				_, err := tx.UpdateCustomer(ctx, c.Lineage.Subtree(), c)
				return err
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			keepsNobodyWaiting(t, func(ctx context.Context) context.Context {
				return access.WithPrincipal(ctx, &access.Principal{Lineage: access.Lineage{1, 7}})
			}, hostile)
		})
		t.Run(name+" of a network", func(t *testing.T) {
			keepsNobodyWaiting(t, func(ctx context.Context) context.Context { return access.WithTurn(ctx, "network 192.0.2.0/24") }, hostile)
		})
	}
}

func keepsNobodyWaiting(t *testing.T, as func(context.Context) context.Context, do func(context.Context, *db.Store, *db.Customer) error) {
	t.Helper()
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
	var hostile sync.WaitGroup
	for range 20 {
		hostile.Go(func() {
			devtest.Check(t, do(as(t.Context()), s, child))
		})
	}
	waiting := 0
	for waiting < 4 {
		devtest.Check(t, other.GetContext(t.Context(), &waiting, `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`))
	}
	soon, cancel := context.WithTimeout(access.WithPrincipal(t.Context(), &access.Principal{Lineage: access.Lineage{1, 8}}), 30*time.Second)
	defer cancel()
	if _, err := s.LimitsOf(soon, child.ID); err != nil {
		t.Errorf("another branch's: %v", err)
	}
	devtest.Check(t, held.Rollback())
	hostile.Wait()
}
