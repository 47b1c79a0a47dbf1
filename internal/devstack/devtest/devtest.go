// Package devtest gives tests a real PostgreSQL database and a real Redis of their own.
package devtest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/redis/go-redis/v9"

	"canopy/internal/devstack"
)

// The servers of a whole test run, where something started them: superuser URLs.
const (
	DatabaseVariable = "CANOPY_TEST_DATABASE_URL"
	RedisVariable    = "CANOPY_TEST_REDIS_URL"
)

var own struct {
	sync.Mutex
	dir      string
	postgres *devstack.Postgres
	redis    *devstack.Redis
}

// Main runs a package's tests and stops the servers that they started.
func Main(m *testing.M) {
	code := m.Run()
	own.Lock()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	if own.postgres != nil {
		own.postgres.Remove()
	}
	if own.redis != nil {
		_ = own.redis.Stop(ctx)
	}
	cancel()
	if own.dir != "" {
		_ = os.RemoveAll(own.dir)
	}
	os.Exit(code)
}

func folder(t testing.TB) string {
	if own.dir == "" {
		dir, err := os.MkdirTemp("", "canopy-test-")
		if err != nil {
			t.Fatal(err)
		}
		own.dir = dir
	}
	return own.dir
}

// Server gives the superuser's URL of the run's PostgreSQL, starting one if need be.
func Server(t testing.TB) string {
	t.Helper()
	if u := os.Getenv(DatabaseVariable); u != "" {
		return u
	}
	own.Lock()
	defer own.Unlock()
	if own.postgres == nil {
		p, err := devstack.StartPostgres(context.Background(), devstack.PostgresOptions{Dir: folder(t) + "/pg", Log: slog.Default()})
		if err != nil {
			t.Fatal(err)
		}
		own.postgres = p
	}
	return own.postgres.URL()
}

var databases atomic.Int64

// Database gives a fresh database: a copy of a template that fill has made once for all test
// processes with the same fingerprint. It is dropped when the test ends.
func Database(t testing.TB, fingerprint string, fill func(ctx context.Context, url string) error) string {
	t.Helper()
	server := Server(t)
	sum := sha256.Sum256([]byte(fingerprint))
	template := "template_" + hex.EncodeToString(sum[:8])
	if err := ensureTemplate(context.Background(), server, template, fill); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), databases.Add(1))
	must(t, server, "CREATE DATABASE "+pq.QuoteIdentifier(name)+" TEMPLATE "+pq.QuoteIdentifier(template))
	t.Cleanup(func() {
		if n := connections(t, server, name); n > 0 && !t.Failed() {
			t.Errorf("%d connections to the database were left open", n)
		}
		must(t, server, "DROP DATABASE "+pq.QuoteIdentifier(name)+" WITH (FORCE)")
	})
	return on(server, name)
}

// connections counts who is still on a database, with a moment's patience for those who are
// leaving.
func connections(t testing.TB, server, name string) (n int) {
	c := open(t, server)
	defer func() { _ = c.Close() }()
	for range 40 {
		if err := c.QueryRow(`SELECT count(*) FROM pg_stat_activity WHERE datname = $1`, name).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	return n
}

// ensureTemplate makes the template, one process at a time. A half-made one has another name, so
// it is never taken for the whole.
func ensureTemplate(ctx context.Context, server, template string, fill func(ctx context.Context, url string) error) error {
	c, err := sql.Open("postgres", server)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	c.SetMaxOpenConns(1)
	if _, err := c.ExecContext(ctx, `SELECT pg_advisory_lock(hashtext($1))`, template); err != nil {
		return err
	}
	var there bool
	if err := c.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)`, template).Scan(&there); err != nil || there {
		return err
	}
	making := template + "_making"
	for _, step := range []func() error{
		func() error {
			_, err := c.ExecContext(ctx, "DROP DATABASE IF EXISTS "+pq.QuoteIdentifier(making)+" WITH (FORCE)")
			return err
		},
		func() error { _, err := c.ExecContext(ctx, "CREATE DATABASE "+pq.QuoteIdentifier(making)); return err },
		func() error { return fill(ctx, on(server, making)) },
		func() error {
			_, err := c.ExecContext(ctx, "ALTER DATABASE "+pq.QuoteIdentifier(making)+" RENAME TO "+pq.QuoteIdentifier(template))
			return err
		},
	} {
		if err := step(); err != nil {
			return fmt.Errorf("make the template database: %w", err)
		}
	}
	return nil
}

func on(server, database string) string {
	u, err := url.Parse(server)
	if err != nil {
		panic(err)
	}
	u.Path = "/" + database
	return u.String()
}

func open(t testing.TB, server string) *sql.DB {
	c, err := sql.Open("postgres", server)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func must(t testing.TB, server, statement string) {
	c := open(t, server)
	defer func() { _ = c.Close() }()
	if _, err := c.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

// Redis gives a database of the run's Redis that no other test uses, emptied before and after.
func Redis(t testing.TB) string {
	t.Helper()
	server := os.Getenv(RedisVariable)
	if server == "" {
		own.Lock()
		if own.redis == nil {
			r, err := devstack.StartRedis(context.Background(), devstack.RedisOptions{Dir: folder(t) + "/redis", Log: slog.Default()})
			if err != nil {
				own.Unlock()
				t.Fatal(err)
			}
			own.redis = r
		}
		server = own.redis.URL()
		own.Unlock()
	}
	// Database 0 counts who has which; the others are the tests'.
	base := strings.TrimSuffix(server, "/0")
	opt, err := redis.ParseURL(server)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(opt)
	defer func() { _ = c.Close() }()
	n, err := c.Incr(t.Context(), "canopy:test:databases").Result()
	if err != nil {
		t.Fatal(err)
	}
	u := fmt.Sprintf("%s/%d", base, 1+(n-1)%500)
	flush(t, u)
	t.Cleanup(func() { flush(t, u) })
	return u
}

func flush(t testing.TB, u string) {
	opt, err := redis.ParseURL(u)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(opt)
	defer func() { _ = c.Close() }()
	if err := c.FlushDB(context.Background()).Err(); err != nil {
		t.Fatal(err)
	}
}
