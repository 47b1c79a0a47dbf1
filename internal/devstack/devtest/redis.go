package devtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"canopy/internal/devstack"
)

// claimLife is how long a database number stays taken when its test was killed.
const claimLife = time.Hour

// Redis gives the URL of an empty Redis that no other test sees. It is a server of the test's own,
// up in some 15 ms, and not one of the numbered databases of a shared server: publish/subscribe
// takes no notice of the numbers, and messages would cross between tests. Only where
// CANOPY_TEST_REDIS_URL names a server is it a numbered database there, and a server of the test's
// own once those are used up; such runs want `go test -p 1`.
func Redis(t testing.TB) string {
	t.Helper()
	if shared := os.Getenv(RedisVariable); shared != "" {
		if u := claim(t, shared); u != "" {
			return u
		}
	}
	return RedisServer(t).URL()
}

// OwnRedis is a Redis server of one test's own, which the test may take away and bring back.
type OwnRedis struct {
	t      testing.TB
	server *devstack.Redis
}

// RedisServer gives a Redis server of the test's own. It ends with the test.
func RedisServer(t testing.TB) *OwnRedis {
	t.Helper()
	server, err := devstack.StartRedis(context.Background(), devstack.RedisOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatalf("a Redis for the test: %v", err)
	}
	r := &OwnRedis{t, server}
	t.Cleanup(r.Kill)
	return r
}

// URL is how to connect.
func (r *OwnRedis) URL() string { return r.server.URL() }

// Client gives a client, which is closed with the test.
func (r *OwnRedis) Client() *redis.Client {
	c := client(r.t, r.URL())
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

// Kill ends the server, as far as it runs, as a crash would.
func (r *OwnRedis) Kill() { r.server.Kill() }

// Start starts it again, empty, at the same address.
func (r *OwnRedis) Start() {
	r.do("start", func() error { return r.server.Start(context.Background()) })
}

// Freeze leaves the connections open and answers nothing, until Thaw.
func (r *OwnRedis) Freeze() { r.do("freeze", r.server.Freeze) }

// Thaw has it answer again.
func (r *OwnRedis) Thaw() { r.do("thaw", r.server.Thaw) }

func (r *OwnRedis) do(what string, f func() error) {
	r.t.Helper()
	if err := f(); err != nil {
		r.t.Fatalf("%s the test's Redis: %v", what, err)
	}
}

// claim takes a numbered database of a shared server, and gives its URL, or "" when all are taken.
// Database 0 keeps who has which.
func claim(t testing.TB, shared string) string {
	t.Helper()
	ctx := context.Background()
	ledger := client(t, numbered(t, shared, 0))
	defer func() { _ = ledger.Close() }()
	token := rand.Text()
	for n := 1; ; n++ {
		u := numbered(t, shared, n)
		db := client(t, u)
		if err := db.Ping(ctx).Err(); err != nil {
			_ = db.Close()
			if ledger.Ping(ctx).Err() != nil {
				t.Fatalf("%s: %v", RedisVariable, err)
			}
			return "" // the server has no database of that number
		}
		key := fmt.Sprintf("canopy:devtest:database:%d", n)
		taken, err := ledger.SetNX(ctx, key, token, claimLife).Result()
		if err == nil && taken {
			err = db.FlushDB(ctx).Err()
		}
		_ = db.Close()
		if err != nil {
			t.Fatalf("%s: %v", RedisVariable, err)
		}
		if taken {
			t.Cleanup(func() { release(t, shared, u, key) })
			return u
		}
	}
}

func release(t testing.TB, shared, u, key string) {
	db, ledger := client(t, u), client(t, numbered(t, shared, 0))
	defer func() { _, _ = db.Close(), ledger.Close() }()
	ctx := context.Background()
	if err := db.FlushDB(ctx).Err(); err != nil {
		t.Errorf("empty the test's Redis: %v", err)
	}
	if err := ledger.Del(ctx, key).Err(); err != nil {
		t.Errorf("give back the test's Redis: %v", err)
	}
}

// numbered is the URL of one database of a server.
func numbered(t testing.TB, shared string, n int) string {
	t.Helper()
	u, err := url.Parse(shared)
	if err != nil || u.Host == "" {
		t.Fatalf("%s is not a URL such as redis://host:6379", RedisVariable)
	}
	u.Path = "/" + strconv.Itoa(n)
	return u.String()
}

func client(t testing.TB, u string) *redis.Client {
	t.Helper()
	o, err := redis.ParseURL(u)
	if err != nil {
		t.Fatalf("%s: %v", RedisVariable, err)
	}
	return redis.NewClient(o)
}
