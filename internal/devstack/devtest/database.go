package devtest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"
)

// closing is how long the server may take to notice that a connection was closed.
const closing = 2 * time.Second

// Database gives a fresh database: a copy of a template that fill made, once for every test binary
// with the same fingerprint that shares the server. The fingerprint stands for all that fill does.
// When the test ends the database is dropped, and a connection that is still open fails the test:
// what the test opened later is closed before.
func Database(t testing.TB, fingerprint string, fill func(ctx context.Context, url string) error) string {
	t.Helper()
	c := connect(t, superuserURL(t))
	template := templateName(fingerprint)
	if err := c.ensureTemplate(context.Background(), template, fill); err != nil {
		t.Fatalf("the template database: %v", err)
	}
	name := "canopy_test_" + strconv.Itoa(os.Getpid()) + "_" + strings.ToLower(rand.Text()[:12])
	if err := c.exec(context.Background(), "CREATE DATABASE %s TEMPLATE %s", name, template); err != nil {
		t.Fatalf("a database for the test: %v", err)
	}
	t.Cleanup(func() {
		if left := c.connections(name); left != "" {
			t.Errorf("connections to the test's database are still open: %s", left)
		}
		if err := c.exec(context.Background(), "DROP DATABASE %s WITH (FORCE)", name); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return c.on(name)
}

func templateName(fingerprint string) string {
	sum := sha256.Sum256([]byte(fingerprint))
	return "canopy_template_" + hex.EncodeToString(sum[:8])
}

// cluster is the superuser's way to the server. Each use is a connection of its own, so that none
// is held while tests run.
type cluster struct {
	url       *url.URL
	connector *pq.Connector
}

func connect(t testing.TB, raw string) *cluster {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		t.Fatalf("%s is not a URL such as postgres://user:password@host:5432/name", DatabaseVariable)
	}
	connector, err := pq.NewConnector(raw)
	if err != nil {
		t.Fatalf("%s: %v", DatabaseVariable, err)
	}
	return &cluster{u, connector}
}

// on is the URL of another database of the server.
func (c *cluster) on(database string) string {
	u := *c.url
	u.Path = "/" + database
	return u.String()
}

// exec runs a statement about databases, whose names stand for each %s.
func (c *cluster) exec(ctx context.Context, statement string, names ...string) error {
	pool := sql.OpenDB(c.connector)
	defer func() { _ = pool.Close() }()
	return execOn(ctx, pool, statement, names...)
}

type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

func execOn(ctx context.Context, e execer, statement string, names ...string) error {
	quoted := make([]any, len(names))
	for i, name := range names {
		quoted[i] = pq.QuoteIdentifier(name)
	}
	_, err := e.ExecContext(ctx, fmt.Sprintf(statement, quoted...))
	return err
}

// ensureTemplate makes the template unless it is there, one process at a time. Until it is whole
// it has another name, so that one that was interrupted is never copied.
func (c *cluster) ensureTemplate(ctx context.Context, template string, fill func(ctx context.Context, url string) error) (err error) {
	pool := sql.OpenDB(c.connector)
	defer func() { _ = pool.Close() }()
	session, err := pool.Conn(ctx) // the lock is the session's, and goes with it
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	there, err := exists(ctx, session, template)
	if err != nil || there {
		return err
	}
	if _, err := session.ExecContext(ctx, `SELECT pg_advisory_lock(hashtextextended($1, 0))`, template); err != nil {
		return err
	}
	if there, err = exists(ctx, session, template); err != nil || there {
		return err // another process made it while we waited
	}
	unfinished := template + "_unfinished"
	if err := execOn(ctx, session, "DROP DATABASE IF EXISTS %s WITH (FORCE)", unfinished); err != nil {
		return err
	}
	if err := execOn(ctx, session, "CREATE DATABASE %s TEMPLATE template0", unfinished); err != nil {
		return err
	}
	if err := fill(ctx, c.on(unfinished)); err != nil {
		return err
	}
	if left := c.connections(unfinished); left != "" {
		return fmt.Errorf("whoever filled it left connections open: %s", left)
	}
	return execOn(ctx, session, "ALTER DATABASE %s RENAME TO %s", unfinished, template)
}

func exists(ctx context.Context, session *sql.Conn, name string) (there bool, err error) {
	err = session.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&there)
	return there, err
}

// connections tells who is connected to a database, "" for nobody. It waits a little for those
// that are closing: the server hears of it later than the client.
func (c *cluster) connections(name string) string {
	pool := sql.OpenDB(c.connector)
	defer func() { _ = pool.Close() }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for begun := time.Now(); ; <-tick.C {
		var left sql.NullString
		err := pool.QueryRow(`SELECT string_agg(format('%s (%s): %s', application_name, state, left(query, 200)), '; ')
			FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'`, name).Scan(&left)
		if err != nil {
			return err.Error()
		}
		if left.String == "" || time.Since(begun) > closing {
			return left.String
		}
	}
}
