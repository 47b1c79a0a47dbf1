package devstack

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"
)

// startTest starts a server for one test, in a folder that the server's account may enter.
func startTest(t *testing.T, o PostgresOptions) *Postgres {
	t.Helper()
	if o.Dir == "" {
		o.Dir = testFolder(t)
	}
	p, err := StartPostgres(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Remove)
	return p
}

// testFolder is a folder whose parents everybody may enter; t.TempDir's are closed.
func testFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", temporaryPrefix) //nolint:usetesting // as said
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func query[T any](t *testing.T, url, statement string) T {
	t.Helper()
	connector, err := pq.NewConnector(url)
	if err != nil {
		t.Fatal(err)
	}
	pool := sql.OpenDB(connector)
	defer func() { _ = pool.Close() }()
	var answer T
	if err := pool.QueryRowContext(t.Context(), statement).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return answer
}

func TestPostgresLife(t *testing.T) {
	p := startTest(t, PostgresOptions{Durable: true, Settings: map[string]string{"max_connections": "17"}})
	url, dir := p.URL(), p.options.Dir

	t.Run("the cluster is as asked", func(t *testing.T) {
		for setting, want := range map[string]string{
			"listen_addresses": "127.0.0.1", "server_encoding": "UTF8", "TimeZone": "UTC", "fsync": "on",
			"max_connections": "17", "unix_socket_directories": "",
		} {
			if got := query[string](t, url, "SHOW "+setting); got != want {
				t.Errorf("%s is %q, not %q", setting, got, want)
			}
		}
		if got := query[string](t, url, "SELECT upper('äé') || current_database()"); got != "ÄÉcanopy" && got != "äécanopy" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("the password is needed and kept to us", func(t *testing.T) {
		if err := ping(t.Context(), strings.Replace(url, p.password, "wrong", 1), ""); !refused(err) {
			t.Errorf("a wrong password gives %v", err)
		}
		info, err := os.Stat(filepath.Join(dir, "password"))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the password file: %v %v", info.Mode(), err)
		}
	})
	t.Run("a second start elsewhere is refused", func(t *testing.T) {
		_, err := StartPostgres(t.Context(), PostgresOptions{Dir: dir})
		if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
			t.Errorf("got %v", err)
		}
	})
	query[int](t, url, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (42); SELECT n FROM kept")
	for _, way := range []struct {
		name string
		stop func()
	}{
		{"Stop", func() { p.Stop(context.Background()) }},
		{"Stop in haste", func() {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			p.Stop(ctx)
		}},
		{"Kill", p.Kill},
	} {
		t.Run("data and address stay after "+way.name, func(t *testing.T) {
			way.stop()
			if err := ping(t.Context(), url, ""); err == nil {
				t.Fatal("the server still answers")
			}
			way.stop() // once more changes nothing
			begun := time.Now()
			if err := p.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Logf("started again in %v", time.Since(begun))
			if p.URL() != url || query[int](t, url, "SELECT n FROM kept") != 42 {
				t.Errorf("the server is another: %s, before %s", p.URL(), url)
			}
		})
	}
	t.Run("Restart", func(t *testing.T) {
		before := query[string](t, url, "SELECT pg_postmaster_start_time()::text")
		if err := p.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if query[string](t, url, "SELECT pg_postmaster_start_time()::text") == before {
			t.Error("it is the same server")
		}
	})
	t.Run("a new owner finds everything", func(t *testing.T) {
		p.Stop(t.Context())
		q, err := StartPostgres(t.Context(), PostgresOptions{Dir: dir, Durable: true})
		if err != nil {
			t.Fatal(err)
		}
		if q.URL() != url || query[int](t, url, "SELECT n FROM kept") != 42 {
			t.Errorf("another server: %s", q.URL())
		}
		q.Stop(t.Context())
	})
}

func TestPostgresWithoutDurability(t *testing.T) {
	p := startTest(t, PostgresOptions{})
	for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		if got := query[string](t, p.URL(), "SHOW "+setting); got != "off" {
			t.Errorf("%s is %s", setting, got)
		}
	}
}

func TestPostgresAfterTrouble(t *testing.T) {
	p := startTest(t, PostgresOptions{})
	dir := p.options.Dir
	stop := func() { p.Stop(context.Background()) }
	startAgain := func(t *testing.T) {
		t.Helper()
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		query[int](t, p.URL(), "SELECT 1")
	}
	t.Run("the number of a dead postmaster belongs to another process now", func(t *testing.T) {
		stop()
		writeFile(t, filepath.Join(p.data(), "postmaster.pid"), strconv.Itoa(os.Getpid())+"\n"+p.data()+"\n")
		startAgain(t)
	})
	t.Run("a postmaster.pid that was cut short", func(t *testing.T) {
		stop()
		writeFile(t, filepath.Join(p.data(), "postmaster.pid"), "")
		startAgain(t)
	})
	t.Run("the port was taken", func(t *testing.T) {
		stop()
		before := p.port
		r, err := startStandIn(before, "secret")
		if err != nil {
			t.Fatal(err)
		}
		defer r.stop(t.Context(), 0, 0)
		startAgain(t)
		if p.port == before {
			t.Error("the port is the same")
		}
	})
	t.Run("an interrupted initdb is not taken for a cluster", func(t *testing.T) {
		writeFile(t, filepath.Join(p.place, "data.new"), "not even a folder")
		if err := createCluster(t.Context(), p.place, p.binaries, p.account, "x", false); err == nil {
			t.Error("the cluster that was there is replaced")
		}
		_ = os.RemoveAll(filepath.Join(p.place, "data.new"))
	})
	t.Run("the server can't start", func(t *testing.T) {
		stop()
		p.options.Settings = map[string]string{"no_such_setting": "1"}
		err := p.Start(t.Context())
		if err == nil || !strings.Contains(err.Error(), "no_such_setting") {
			t.Errorf("got %v", err)
		}
		p.options.Settings = nil
		startAgain(t)
	})
	t.Run("the password is gone", func(t *testing.T) {
		stop()
		kept := filepath.Join(dir, "password")
		if err := os.Rename(kept, kept+".away"); err != nil {
			t.Fatal(err)
		}
		if err := p.Start(t.Context()); err == nil || !strings.Contains(err.Error(), kept) {
			t.Errorf("got %v", err)
		}
		writeFile(t, kept, "another\n")
		if err := p.Start(t.Context()); !refused(err) {
			t.Errorf("got %v", err)
		}
		if err := os.Rename(kept+".away", kept); err != nil {
			t.Fatal(err)
		}
		startAgain(t)
	})
	t.Run("the start is called off", func(t *testing.T) {
		stop()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.Start(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		startAgain(t)
	})
}

// TestPostgresWhereTheAccountCantGo needs root: only then the server is somebody else's.
func TestPostgresWhereTheAccountCantGo(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	closed := testFolder(t) // mode 0700
	dir := filepath.Join(closed, "postgres")
	p := startTest(t, PostgresOptions{Dir: dir})
	url, place := p.URL(), p.place
	if strings.HasPrefix(place, closed) {
		t.Fatalf("the data is in %s", place)
	}
	query[int](t, url, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (1); SELECT n FROM kept")
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.place != place || query[int](t, url, "SELECT n FROM kept") != 1 {
		t.Errorf("the second start is in %s, the first in %s", p.place, place)
	}
	t.Run("a folder of the same name starts anew", func(t *testing.T) {
		p.Stop(t.Context())
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		q := startTest(t, PostgresOptions{Dir: dir})
		if q.place != place || query[int](t, q.URL(), "SELECT count(*) FROM pg_tables WHERE tablename = 'kept'") != 0 {
			t.Errorf("the data of the folder before is in %s", q.place)
		}
		q.Remove()
		if _, err := os.Stat(place); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("Remove left %s: %v", place, err)
		}
	})
}

func TestFindBinaries(t *testing.T) {
	a, err := serverAccount()
	if err != nil {
		t.Fatal(err)
	}
	b, err := findBinaries(t.Context(), a, 0)
	if err != nil || b.major < oldestMajor {
		t.Fatalf("%+v %v", b, err)
	}
	if same, err := findBinaries(t.Context(), a, b.major); err != nil || same != b {
		t.Errorf("%+v %v", same, err)
	}
	if _, err := findBinaries(t.Context(), a, 9); !errors.Is(err, ErrNoBinaries) || !strings.Contains(err.Error(), "version 9") {
		t.Errorf("data of another version: %v", err)
	}
}

func TestRemoveAbandoned(t *testing.T) {
	base := t.TempDir()
	future := time.Now().Add(time.Minute)
	make := func(name string) string {
		dir := filepath.Join(base, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	held, left, other := make(temporaryPrefix+"held"), make(temporaryPrefix+"left"), make("other")
	lock, err := takeLock(filepath.Join(held, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	removeAbandoned(base, time.Now().Add(-time.Minute))
	if _, err := os.Stat(left); err != nil {
		t.Errorf("a young folder is gone: %v", err)
	}
	removeAbandoned(base, future)
	for dir, want := range map[string]bool{held: true, left: false, other: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

func TestTailOfALog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	if got := tail(log); got != "no log" {
		t.Errorf("got %q", got)
	}
	writeFile(t, log, strings.Repeat("x", tailBytes)+"\na\nb\nc\nd\ne\n")
	if got := tail(log); got != "a | b | c | d | e" {
		t.Errorf("got %q", got)
	}
	writeFile(t, log, strings.Repeat("x", keepLog+1))
	f, err := openLog(log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("the large log is kept: %v %v", info.Size(), err)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func testLog(t *testing.T) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }
