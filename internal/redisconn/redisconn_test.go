package redisconn

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"canopy/internal/devstack/devtest"
)

func TestMain(m *testing.M) { devtest.Main(m) }

func TestParse(t *testing.T) {
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	for _, c := range []struct {
		name, url string
		want      asynq.RedisConnOpt
	}{
		{"letters that have to be escaped", "redis://:%2F%3F%23%40@a", asynq.RedisClientOpt{Addr: "a:6379", Password: "/?#@"}},
		{"host only", "redis://cache", asynq.RedisClientOpt{Addr: "cache:6379"}},
		{"everything", "redis://me:p%40ss@cache:7000/3", asynq.RedisClientOpt{Addr: "cache:7000", Username: "me", Password: "p@ss", DB: 3}},
		{"password only", "redis://:p@[::1]:7000/", asynq.RedisClientOpt{Addr: "[::1]:7000", Password: "p"}},
		{"TLS", "rediss://cache", asynq.RedisClientOpt{Addr: "cache:6379", TLSConfig: secure}},
		{"cluster", "redis-cluster://me:p@a:1,b,[::1]:3?tls=true", Cluster{
			Addrs: []string{"a:1", "b:6379", "[::1]:3"}, Username: "me", Password: "p", TLSConfig: secure,
		}},
		{"cluster's database 0", "redis-cluster://a:1/0", Cluster{Addrs: []string{"a:1"}}},
		{"sentinels", "redis-sentinel://:p@a,b:2/4?master=main&sentinel_username=s&sentinel_password=q", asynq.RedisFailoverClientOpt{
			MasterName: "main", SentinelAddrs: []string{"a:26379", "b:2"}, DB: 4, Password: "p",
			SentinelUsername: "s", SentinelPassword: "q",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse(c.url)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %#v %v\nwant %#v", got, err, c.want)
			}
		})
	}
}

func TestParseFaults(t *testing.T) {
	for _, c := range []struct{ name, url, says string }{
		{"empty", "", "must begin with"},
		{"another scheme", "http://hunter2@a", "must begin with"},
		{"no host", "redis://", "host"},
		{"an empty host in the list", "redis-cluster://a,,b", "host"},
		{"several hosts", "redis://a,b", "several hosts"},
		{"port 0", "redis://a:0", "port"},
		{"a port too high", "redis://a:65536", "port"},
		{"a port of letters", "redis://a:hunter", "host"},
		{"a name for a database", "redis://a/main", "database"},
		{"a negative database", "redis://a/-1", "database"},
		{"a cluster's database", "redis-cluster://a/1", "database 0"},
		{"no master", "redis-sentinel://a", "master"},
		{"a parameter that does nothing", "redis://a?db=3", "parameter"},
		{"a parameter twice", "redis-sentinel://a?master=x&master=y", "twice"},
		{"tls of another kind", "redis-cluster://a?tls=maybe", "tls"},
		{"a broken escape", "redis://:hunter2%zz@a", "not a URL"},
		{"an open password", "redis://:hunter2/x@a", "host"},
		{"a fragment", "redis://a#x", "not a URL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse(c.url)
			if !errors.Is(err, ErrURL) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
			if _, clientErr := Client(c.url); !errors.Is(clientErr, ErrURL) {
				t.Errorf("Client gives %v", clientErr)
			}
		})
	}
}

func TestNoPasswordInErrors(t *testing.T) {
	for _, url := range []string{"redis://:hunter2%zz@a", "redis://u:hunter2@a:b", "http://:hunter2@a", "redis://u:hunter2@a/x", "redis-cluster://:hunter2@a,", "redis://:hunter2/x@a", "redis://:x/hunter2@a", "redis://:x?hunter2@a", "redis://:x#hunter2@a"} {
		if _, err := Parse(url); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s gives %v", url, err)
		}
	}
}

func TestClient(t *testing.T) {
	c, err := Client(devtest.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := c.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Error(err)
	}
	for url, want := range map[string]redis.UniversalClient{
		"redis-cluster://127.0.0.1:1":           &redis.ClusterClient{},
		"redis-sentinel://127.0.0.1:1?master=m": &redis.Client{},
		"rediss://127.0.0.1:1":                  &redis.Client{},
	} {
		c, err := Client(url)
		if err != nil || reflect.TypeOf(c) != reflect.TypeOf(want) {
			t.Errorf("%s gives %T %v", url, c, err)
			continue
		}
		_ = c.Close()
	}
}

func TestLogTo(t *testing.T) {
	var written bytes.Buffer
	LogTo(slog.New(slog.NewJSONHandler(&written, nil)))
	c, err := Client("redis://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	if c.Ping(t.Context()).Err() == nil {
		t.Fatal("there is a Redis at port 1")
	}
	_ = c.Close()
	LogTo(slog.New(slog.DiscardHandler))
	var line struct{ Level, Msg string }
	if err := json.NewDecoder(&written).Decode(&line); err != nil || line.Level != "WARN" || !strings.Contains(line.Msg, "connection refused") {
		t.Errorf("%+v %v", line, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"redis://u:p@h:1/2", "redis-cluster://a,b:2?tls=1", "redis-sentinel://[::1]/3?master=m", "rediss://%41"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := parseAddress(s)
		if err != nil {
			return
		}
		if len(a.hosts) == 0 || a.database < 0 || a.scheme == schemeSentinel && a.master == "" {
			t.Errorf("%q gives %+v", s, a)
		}
		for _, h := range a.hosts {
			if again, err := hostPort(h, "x"); err != nil || again != h {
				t.Errorf("%q gives host %q: %v", s, h, err)
			}
		}
	})
}
