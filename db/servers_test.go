package db_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/devstack"
	"canopy/internal/devstack/devtest"
	"canopy/internal/pgconn"
	"canopy/internal/problem"
)

// server runs a PostgreSQL of the test's own, with the schema.
func server(t *testing.T) *devstack.Postgres {
	t.Helper()
	return devtest.Server(t, devstack.PostgresOptions{}, "schema", db.Migrate)
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
	t.Parallel()
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

// write writes a row, and reads it back.
func write(ctx context.Context, s *db.Store) error {
	key := db.SigningKey{KID: rand.Text(), PrivateKey: []byte{1}, ActivatesAt: time.Now()}
	if err := s.InsertSigningKey(ctx, key, time.Now()); err != nil {
		return err
	}
	return s.Tx(ctx, func(tx *db.Store) error {
		key.KID = rand.Text()
		return tx.InsertSigningKey(ctx, key, time.Now())
	})
}

// open opens a store, which is closed with the test.
func open(t testing.TB, url string) *db.Store {
	t.Helper()
	s, err := db.Open(t.Context(), url, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// readOnly has a server refuse writes by its settings, also on connections that stand.
func readOnly(t *testing.T, p *devstack.Postgres, on bool) {
	t.Helper()
	pool := connect(t, p.URL())
	for _, statement := range []string{fmt.Sprintf(`ALTER SYSTEM SET default_transaction_read_only = %t`, on), `SELECT pg_reload_conf()`} {
		if _, err := pool.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	p := server(t)
	standby := devtest.Standby(t, p)
	refuses := func(t *testing.T, s *db.Store) {
		t.Helper()
		key := db.SigningKey{KID: rand.Text(), PrivateKey: []byte{1}, ActivatesAt: time.Now()}
		for name, err := range map[string]error{
			"a statement":   s.InsertSigningKey(t.Context(), key, time.Now()),
			"a transaction": s.Tx(t.Context(), func(tx *db.Store) error { return tx.InsertSigningKey(t.Context(), key, time.Now()) }),
			"a lock":        s.Tx(t.Context(), func(tx *db.Store) error { _, err := tx.CustomerForUpdate(t.Context(), access.Scope{}, 1); return err }),
		} {
			shown := problem.From(err)
			if !errors.Is(err, db.ErrAway) || !errors.Is(err, db.ErrReadOnly) || shown.Status() != 503 || shown.RetryAfter <= 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := s.Ready(t.Context()); !errors.Is(err, db.ErrReadOnly) {
			t.Errorf("ready: %v", err)
		}
		if _, err := s.SigningKeys(t.Context()); err != nil {
			t.Errorf("a read: %v", err)
		}
		if err := s.Tx(t.Context(), func(tx *db.Store) error { return tx.LockSigningKeys(t.Context()) }); err != nil {
			t.Errorf("a transaction that reads: %v", err)
		}
	}
	takes := func(t *testing.T, s *db.Store) {
		t.Helper()
		devtest.Eventually(t, "it takes writes", func() bool { return s.Ready(t.Context()) == nil && write(t.Context(), s) == nil })
	}
	t.Run("by settings", func(t *testing.T) {
		s := open(t, p.URL())
		takes(t, s)
		readOnly(t, p, true)
		devtest.Eventually(t, "it is read-only", func() bool { return s.Ready(t.Context()) != nil })
		refuses(t, s)
		readOnly(t, p, false)
		takes(t, s)
	})
	t.Run("a standby", func(t *testing.T) {
		s := open(t, standby.URL())
		refuses(t, s)
		if err := standby.Promote(t.Context()); err != nil {
			t.Fatal(err)
		}
		takes(t, s)
	})
}

// TestFailover names two servers, of which one takes writes at a time.
func TestFailover(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*testing.T, *devstack.Postgres){
		"the primary dies": func(_ *testing.T, p *devstack.Postgres) {
			p.Kill()
		},
		// Its connections live on, and must be given up.
		"the primary takes no more writes": func(t *testing.T, p *devstack.Postgres) { readOnly(t, p, true) },
	} {
		t.Run(name, func(t *testing.T) {
			p := server(t)
			standby := devtest.Standby(t, p)
			first, second := host(t, p.URL()), host(t, standby.URL())
			both := open(t, strings.Replace(standby.URL(), second, second+","+first, 1))
			if err := write(t.Context(), both); err != nil {
				t.Fatalf("the primary is not found: %v", err)
			}
			begun := time.Now()
			leave(t, p)
			devtest.Eventually(t, "writes are refused", func() bool { return errors.Is(write(t.Context(), both), db.ErrAway) })
			if err := both.Ready(t.Context()); err == nil {
				t.Error("it is ready with nobody to write to")
			}
			if err := standby.Promote(t.Context()); err != nil {
				t.Fatal(err)
			}
			devtest.Eventually(t, "the new primary takes writes", func() bool {
				err := write(t.Context(), both)
				if err != nil && !errors.Is(err, db.ErrAway) {
					t.Fatal(err)
				}
				return err == nil && both.Ready(t.Context()) == nil
			})
			t.Logf("took %v", time.Since(begun))
		})
	}
}

func host(t *testing.T, raw string) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}
