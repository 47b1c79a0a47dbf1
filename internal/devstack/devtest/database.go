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
	"sync"
	"testing"
	"time"

	"github.com/lib/pq"
)

// closing is how long the server may take to notice that a connection was closed: on a busy machine, seconds.
var closing = patience

// Database gives a fresh database: a copy of a template that fill made, once for every test binary
// with the same fingerprint that shares the server. The fingerprint stands for all that fill does.
// When the test ends the database is dropped, and a connection that is still open fails the test:
// what the test opened later is closed before.
func Database(t testing.TB, fingerprint string, fill func(ctx context.Context, url string) error) string {
	t.Helper()
	return database(t, Template{fingerprint, fill})
}

// Template is what fill makes, by its fingerprint.
type Template struct {
	Fingerprint string
	Fill        func(ctx context.Context, url string) error
}

// Upon is Database for what is filled into a copy of another template, which is not made anew for each that begins with it.
func (base Template) Upon(t testing.TB, fingerprint string, fill func(ctx context.Context, url string) error) string {
	t.Helper()
	return database(t, base, Template{base.Fingerprint + "; " + fingerprint, fill})
}

// database copies the last of some templates, of which each begins with the one before.
func database(t testing.TB, templates ...Template) string {
	t.Helper()
	c, template := superuser(t), "template0"
	for _, next := range templates {
		base := template
		template = templateName(next.Fingerprint)
		if err := c.ensureTemplate(context.Background(), template, base, next.Fill); err != nil {
			t.Fatalf("the template database: %v", err)
		}
	}
	name := "canopy_test_" + strconv.Itoa(os.Getpid()) + "_" + strings.ToLower(rand.Text()[:12])
	if err := c.copy(context.Background(), name, template); err != nil {
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

// cluster is the superuser's way to the server. What is asked of it takes moments, so that few connections
// serve all tests of a process.
type cluster struct {
	url  *url.URL
	pool *sql.DB
}

// clusters are those that this process has been to, by their URLs.
var clusters struct {
	sync.Mutex
	of map[string]*cluster
}

// superuser is the way to the run's PostgreSQL, which is started if need be.
func superuser(t testing.TB) *cluster {
	t.Helper()
	raw := superuserURL(t)
	clusters.Lock()
	defer clusters.Unlock()
	if c := clusters.of[raw]; c != nil {
		return c
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		t.Fatalf("%s is not a URL such as postgres://user:password@host:5432/name", DatabaseVariable)
	}
	connector, err := pq.NewConnector(raw)
	if err != nil {
		t.Fatalf("%s: %v", DatabaseVariable, err)
	}
	if clusters.of == nil {
		clusters.of = map[string]*cluster{}
	}
	c := &cluster{u, sql.OpenDB(connector)}
	clusters.of[raw] = c
	return c
}

// disconnect closes the ways to all servers.
func disconnect() {
	clusters.Lock()
	defer clusters.Unlock()
	for _, c := range clusters.of {
		_ = c.pool.Close()
	}
	clusters.of = nil
}

// on is the URL of another database of the server.
func (c *cluster) on(database string) string {
	u := *c.url
	u.Path = "/" + database
	return u.String()
}

// exec runs a statement about databases, whose names stand for each %s.
func (c *cluster) exec(ctx context.Context, statement string, names ...string) error {
	return execOn(ctx, c.pool, statement, names...)
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

// copy makes a database from a template. Copying the files is a third of the work of copying through the log, which
// is what PostgreSQL does by itself from version 15 on.
func (c *cluster) copy(ctx context.Context, name, template string) error {
	var version int
	if err := c.pool.QueryRowContext(ctx, `SELECT current_setting('server_version_num')::int`).Scan(&version); err != nil {
		return err
	}
	statement := "CREATE DATABASE %s TEMPLATE %s"
	if version >= 150000 {
		statement += " STRATEGY file_copy"
	}
	return c.exec(ctx, statement, name, template)
}

// ensureTemplate makes the template of a base unless it is there, one process at a time. Until it is whole
// it has another name, so that one that was interrupted is never copied.
func (c *cluster) ensureTemplate(ctx context.Context, template, base string, fill func(ctx context.Context, url string) error) (err error) {
	there, err := exists(ctx, c.pool, template)
	if err != nil || there {
		return err
	}
	session, err := c.pool.Conn(ctx) // the lock is the session's
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	if _, err := session.ExecContext(ctx, `SELECT pg_advisory_lock(hashtextextended($1, 0))`, template); err != nil {
		return err
	}
	defer func() {
		_, unlocked := session.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock(hashtextextended($1, 0))`, template)
		err = errors.Join(err, unlocked)
	}()
	if there, err = exists(ctx, session, template); err != nil || there {
		return err // another process made it while we waited
	}
	unfinished := template + "_unfinished"
	if err := execOn(ctx, session, "DROP DATABASE IF EXISTS %s WITH (FORCE)", unfinished); err != nil {
		return err
	}
	if err := c.copy(ctx, unfinished, base); err != nil {
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

type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func exists(ctx context.Context, q queryer, name string) (there bool, err error) {
	err = q.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&there)
	return there, err
}

// connections tells who is connected to a database, "" for nobody. It waits a little for those
// that are closing: the server hears of it later than the client.
func (c *cluster) connections(name string) string {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for begun := time.Now(); ; <-tick.C {
		var left sql.NullString
		err := c.pool.QueryRow(`SELECT string_agg(format('%s (%s): %s', application_name, state, left(query, 200)), '; ')
			FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'`, name).Scan(&left)
		if err != nil {
			return err.Error()
		}
		if left.String == "" || time.Since(begun) > closing {
			return left.String
		}
	}
}
