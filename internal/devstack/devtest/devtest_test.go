package devtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lib/pq"

	"canopy/internal/devstack"
)

func TestMain(m *testing.M) { Main(m) }

func open(t testing.TB, url string) *sql.DB {
	t.Helper()
	connector, err := pq.NewConnector(url)
	if err != nil {
		t.Fatal(err)
	}
	return sql.OpenDB(connector)
}

// run runs a statement on a connection of its own.
func run(ctx context.Context, url, statement string) error {
	connector, err := pq.NewConnector(url)
	if err != nil {
		return err
	}
	pool := sql.OpenDB(connector)
	_, err = pool.ExecContext(ctx, statement)
	return errors.Join(err, pool.Close())
}

func fill(ctx context.Context, url string) error {
	return run(ctx, url, `CREATE TABLE things (n int); INSERT INTO things VALUES (1)`)
}

func TestDatabasesAreApart(t *testing.T) {
	var first, second string
	t.Run("in use", func(t *testing.T) {
		first, second = Database(t, "things", fill), Database(t, "things", fill)
		if first == second {
			t.Fatal("two tests share a database")
		}
		if err := run(t.Context(), first, `DELETE FROM things`); err != nil {
			t.Fatal(err)
		}
		for url, want := range map[string]int{first: 0, second: 1} {
			pool := open(t, url)
			var n int
			if err := pool.QueryRow(`SELECT count(*) FROM things`).Scan(&n); err != nil || n != want {
				t.Errorf("%d things, not %d: %v", n, want, err)
			}
			if err := pool.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	for _, url := range []string{first, second} {
		var e *pq.Error
		if err := run(t.Context(), url, `SELECT 1`); !errors.As(err, &e) || e.Code != "3D000" {
			t.Errorf("the database is still there: %v", err)
		}
	}
}

func TestTemplateIsMadeOnce(t *testing.T) {
	fingerprint := fmt.Sprint("once ", time.Now().UnixNano())
	var made atomic.Int32
	count := func(ctx context.Context, url string) error {
		made.Add(1)
		return fill(ctx, url)
	}
	t.Run("by many at once", func(t *testing.T) {
		c := superuser(t)
		var all sync.WaitGroup
		for range 6 { // as parallel test binaries would
			all.Go(func() {
				if err := c.ensureTemplate(t.Context(), templateName(fingerprint), "template0", count); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		Database(t, fingerprint, count)
		if made.Load() != 1 {
			t.Errorf("it was made %d times", made.Load())
		}
	})
	t.Run("another fingerprint has its own", func(t *testing.T) {
		Database(t, fingerprint+" changed", count)
		if made.Load() != 2 {
			t.Errorf("made %d times", made.Load())
		}
	})
	t.Run("what is made upon it begins with it", func(t *testing.T) {
		for _, more := range []string{"2", "3"} {
			pool := open(t, Template{fingerprint, count}.Upon(t, more, func(ctx context.Context, url string) error {
				return run(ctx, url, `INSERT INTO things VALUES (`+more+`)`)
			}))
			var things string
			if err := pool.QueryRow(`SELECT string_agg(n::text, ' ' ORDER BY n) FROM things`).Scan(&things); err != nil || things != "1 "+more {
				t.Errorf("%q: %v", things, err)
			}
			Check(t, pool.Close())
		}
		if made.Load() != 2 {
			t.Errorf("made %d times", made.Load())
		}
	})
}

func TestTemplateThatFailed(t *testing.T) {
	c := superuser(t)
	name := templateName(fmt.Sprint("failed ", time.Now().UnixNano()))
	broken := errors.New("broken")
	err := c.ensureTemplate(t.Context(), name, "template0", func(ctx context.Context, url string) error {
		return errors.Join(fill(ctx, url), broken)
	})
	if !errors.Is(err, broken) {
		t.Fatalf("got %v", err)
	}
	if err := c.ensureTemplate(t.Context(), name, "template0", fill); err != nil {
		t.Errorf("the next one: %v", err)
	}
	closeSoon(t)
	var leak *sql.DB
	err = c.ensureTemplate(t.Context(), name+"_leak", "template0", func(ctx context.Context, url string) error {
		leak = open(t, url)
		return leak.PingContext(ctx)
	})
	defer func() { _ = leak.Close() }()
	if err == nil || !strings.Contains(err.Error(), "open") {
		t.Errorf("a connection left open: %v", err)
	}
}

// closeSoon has a test that leaves a connection open wait little for it.
func closeSoon(t *testing.T) {
	closing = 100 * time.Millisecond
	t.Cleanup(func() { closing = patience })
}

// recorder is a test that is let fail.
type recorder struct {
	testing.TB
	cleanups []func()
	errors   []string
}

func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(format string, a ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, a...))
}

func TestConnectionLeftOpen(t *testing.T) {
	r := &recorder{TB: t}
	leak := open(t, Database(r, "things", fill)+"&application_name=leaky")
	closeSoon(t)
	defer func() { _ = leak.Close() }()
	if err := leak.Ping(); err != nil {
		t.Fatal(err)
	}
	for _, f := range r.cleanups {
		f()
	}
	if len(r.errors) != 1 || !strings.Contains(r.errors[0], "leaky") {
		t.Errorf("told: %q", r.errors)
	}
}

func TestRedis(t *testing.T) {
	check := func(t *testing.T) {
		a, b := client(t, Redis(t)), client(t, Redis(t))
		defer func() { _, _ = a.Close(), b.Close() }()
		if err := a.Set(t.Context(), "k", "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
		if n, err := b.DBSize(t.Context()).Result(); err != nil || n != 0 {
			t.Errorf("the other has %d keys: %v", n, err)
		}
	}
	t.Run("servers of their own", check)
	t.Run("databases of a shared server", func(t *testing.T) {
		shared := RedisServer(t)
		t.Setenv(RedisVariable, shared.URL())
		for range 2 { // the second finds the numbers free and the databases empty
			t.Run("use", check)
		}
	})
	t.Run("all databases taken", func(t *testing.T) {
		shared := RedisServer(t)
		ledger := client(t, shared.URL())
		defer func() { _ = ledger.Close() }()
		for n := range devstack.RedisDatabases {
			if err := ledger.Set(t.Context(), fmt.Sprintf("canopy:devtest:database:%d", n), "x", 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
		if u := claim(t, shared.URL()); u != "" {
			t.Errorf("got %s", u)
		}
	})
}

// BenchmarkDatabase measures a test's database, from copy to drop.
func BenchmarkDatabase(b *testing.B) {
	for b.Loop() {
		r := &recorder{TB: b}
		Database(r, "things", fill)
		for _, f := range r.cleanups {
			f()
		}
	}
}

// TestWaysFail: what comes along a way comes whole, waits, or breaks off.
func TestWaysFail(t *testing.T) {
	server := Must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	defer func() { _ = server.Close() }()
	go func() {
		for c, err := server.Accept(); err == nil; c, err = server.Accept() {
			go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
		}
	}()
	w, address := WayTo(t, "tcp://"+server.Addr().String())
	dial := func() net.Conn {
		c := Must[net.Conn](t)(net.Dial("tcp", strings.TrimPrefix(address, "tcp://")))
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	c := dial()
	echo := func(c net.Conn, wait time.Duration) error {
		_, _ = c.Write([]byte("x"))
		_ = c.SetReadDeadline(time.Now().Add(wait))
		_, err := io.ReadFull(c, make([]byte, 1))
		return err
	}
	Check(t, echo(c, patience))
	w.Hang()
	late := dial()
	for _, hung := range []net.Conn{c, late} {
		if err := echo(hung, 50*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("where nothing passes: %v", err)
		}
	}
	w.Mend()
	Check(t, echo(c, patience))
	w.CutAfter(0)
	if err := echo(dial(), patience); err == nil || errors.Is(err, os.ErrDeadlineExceeded) || !w.IsCut() {
		t.Errorf("where it is cut: %v", err)
	}
	w.Mend()
	Check(t, echo(dial(), patience))
}
