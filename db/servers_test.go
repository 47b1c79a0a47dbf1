package db_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"canopy/db"
	"canopy/internal/devstack"
	"canopy/internal/pgconn"
)

// server runs a PostgreSQL of the test's own, with the schema.
func server(t *testing.T) *devstack.Postgres {
	t.Helper()
	p, err := devstack.StartPostgres(t.Context(), devstack.PostgresOptions{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Remove)
	if err := db.Migrate(t.Context(), p.URL()); err != nil {
		t.Fatal(err)
	}
	return p
}

func pooler(t *testing.T, p *devstack.Postgres, settings map[string]string) *devstack.PgBouncer {
	t.Helper()
	b, err := devstack.StartPgBouncer(t.Context(), p, settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Remove)
	return b
}

// TestPoolers opens the store through PgBouncer, whose settings are its defaults but for those named.
func TestPoolers(t *testing.T) {
	p := server(t)
	tracks, err := devstack.PgBouncerTracks()
	if err != nil {
		t.Fatal(err)
	}
	untracked := map[string]string{"pool_mode": "transaction"}
	t.Run("sessions", func(t *testing.T) {
		b := pooler(t, p, map[string]string{"pool_mode": "session"})
		if err := db.Migrate(t.Context(), b.URL()); err != nil {
			t.Fatal(err)
		}
		works(t, b.URL())
		var limit string
		pool := connect(t, b.URL())
		if err := pool.QueryRow(`SHOW statement_timeout`).Scan(&limit); err != nil || limit != "30s" {
			t.Errorf("a statement may take %s: %v", limit, err)
		}
	})
	if tracks {
		untracked["max_prepared_statements"] = "0"
		t.Run("transactions, with statements tracked", func(t *testing.T) {
			works(t, pooler(t, p, map[string]string{"pool_mode": "transaction", "max_prepared_statements": "500"}).URL())
		})
	}
	for name, size := range map[string]string{"one connection": "1", "twenty connections": "20"} {
		t.Run("transactions over "+name, func(t *testing.T) {
			settings := map[string]string{"default_pool_size": size, "pool_mode": untracked["pool_mode"]}
			for k, v := range untracked {
				settings[k] = v
			}
			b := pooler(t, p, settings)
			refused(t, b.URL())
			defer busy(t, b.URL())()
			for range 10 {
				refused(t, b.URL())
			}
		})
	}
	t.Run("none, on a busy server", func(t *testing.T) {
		defer busy(t, p.URL())()
		for range 10 {
			works(t, p.URL())
		}
	})
}

// works opens the store and runs statements on all of its connections.
func works(t *testing.T, url string) {
	t.Helper()
	s, err := db.Open(t.Context(), url, db.Options{MaxConns: 8})
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = s.Close() }()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				_, err := s.Root(t.Context())
				if err := errors.Join(s.Tx(t.Context(), func(tx *db.Store) error { return tx.LockSigningKeys(t.Context()) }), s.Ready(t.Context())); err != nil {
					t.Error(err)
				}
				if !errors.Is(err, db.ErrNoRows) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func refused(t *testing.T, url string) {
	t.Helper()
	s, err := db.Open(t.Context(), url, db.Options{})
	if err == nil {
		_ = s.Close()
	}
	if !errors.Is(err, pgconn.ErrPooler) || strings.Contains(err.Error(), "\n") {
		t.Errorf("not refused in one line: %v", err)
	}
}

// busy has others at work, on statements that they don't prepare, and gives what ends that.
func busy(t *testing.T, url string) (end func()) {
	t.Helper()
	pool := connect(t, url)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for ctx.Err() == nil {
				if _, err := pool.ExecContext(ctx, `SELECT pg_sleep(.001)`); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	return func() {
		cancel()
		all.Wait()
	}
}

func connect(t *testing.T, url string) *sql.DB {
	t.Helper()
	pool, err := db.Connect(url, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	return pool.DB
}
