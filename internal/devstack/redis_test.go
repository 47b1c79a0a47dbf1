package devstack

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func dialRedis(t *testing.T, url string) *redis.Client {
	t.Helper()
	o, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	o.MaxRetries = -1
	c := redis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func startRedis(t *testing.T) *Redis {
	t.Helper()
	r, err := StartRedis(t.Context(), RedisOptions{Dir: t.TempDir(), Log: testLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Kill)
	return r
}

func TestRedisLife(t *testing.T) {
	for _, kind := range []string{"installed", "stand-in"} {
		t.Run(kind, func(t *testing.T) {
			if kind == "stand-in" {
				t.Setenv("PATH", t.TempDir())
			} else if _, err := exec.LookPath("redis-server"); err != nil {
				t.Skip("redis-server is not installed")
			}
			begun := time.Now()
			r := startRedis(t)
			t.Logf("started in %v", time.Since(begun))
			url := r.URL()
			c := dialRedis(t, url)
			if err := c.Set(t.Context(), "k", "v", 0).Err(); err != nil {
				t.Fatal(err)
			}
			t.Run("the password is needed", func(t *testing.T) {
				without := dialRedis(t, strings.Replace(url, r.password, "wrong", 1))
				if err := without.Ping(t.Context()).Err(); err == nil {
					t.Error("a wrong password does")
				}
			})
			t.Run("time passes", func(t *testing.T) {
				if err := c.Set(t.Context(), "short", "v", time.Second).Err(); err != nil {
					t.Fatal(err)
				}
				if !poll(t.Context(), func() bool { return c.Exists(t.Context(), "short").Val() == 0 }) {
					t.Error("it does not expire")
				}
			})
			for name, again := range map[string]func() error{
				"Kill": func() error { r.Kill(); return r.Start(t.Context()) },
				"Stop": func() error {
					r.Stop(t.Context())
					r.Stop(t.Context())
					return r.Start(t.Context())
				},
			} {
				t.Run("empty at the same address after "+name, func(t *testing.T) {
					if err := dialRedis(t, url).Set(t.Context(), "k", "v", 0).Err(); err != nil {
						t.Fatal(err)
					}
					if err := again(); err != nil {
						t.Fatal(err)
					}
					fresh := dialRedis(t, url)
					if n, err := fresh.DBSize(t.Context()).Result(); err != nil || n != 0 || r.URL() != url {
						t.Errorf("%d keys at %s, before %s: %v", n, r.URL(), url, err)
					}
				})
			}
		})
	}
}

func TestRedisPortTaken(t *testing.T) {
	r := startRedis(t)
	r.Stop(t.Context())
	before := r.port
	s, err := startStandIn(before, "other")
	if err != nil {
		t.Fatal(err)
	}
	defer s.stop(t.Context(), 0, 0)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.port == before {
		t.Error("the port is the same")
	}
	if err := dialRedis(t, r.URL()).Ping(t.Context()).Err(); err != nil {
		t.Error(err)
	}
}
