package devtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"

	"canopy/internal/devstack"
)

// RedisCluster is a Redis Cluster of one test's own.
type RedisCluster struct {
	// URL is how to connect to it.
	URL string
	// Masters have a third of the slots each, and Replicas follow them, one each.
	Masters, Replicas []*OwnRedis
}

// StartRedisCluster runs three masters, and a replica of each where that is asked for.
func StartRedisCluster(t testing.TB, replicas bool) *RedisCluster {
	t.Helper()
	dir := Must[string](t)(os.MkdirTemp("", "canopy-test-")) //nolint:usetesting // other accounts don't get to a folder of the test's
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	own := Must[*devstack.RedisCluster](t)(devstack.StartRedisCluster(context.Background(), dir, replicas, nil))
	t.Cleanup(own.Kill)
	c := &RedisCluster{URL: own.URL}
	for _, node := range own.Masters {
		c.Masters = append(c.Masters, &OwnRedis{t, node})
	}
	for _, node := range own.Replicas {
		c.Replicas = append(c.Replicas, &OwnRedis{t, node})
	}
	return c
}

// Sentinels are a master, its replica and three sentinels of one test's own.
type Sentinels struct {
	// URL is how to connect to the master that they name.
	URL             string
	Master, Replica *OwnRedis
	Watching        []*OwnRedis
}

// SentinelMaster is what StartSentinels calls the master.
const SentinelMaster = "main"

// StartSentinels runs them. Within some seconds of the master's end the replica is the master.
func StartSentinels(t testing.TB) *Sentinels {
	t.Helper()
	password, secret, s := rand.Text(), rand.Text(), &Sentinels{}
	s.Master = redisWith(t, devstack.RedisOptions{Password: password, Settings: []string{"masterauth " + password}})
	host, port, _ := net.SplitHostPort(s.Master.address())
	s.Replica = redisWith(t, devstack.RedisOptions{Password: password, Settings: []string{"masterauth " + password, "replicaof " + host + " " + port}})
	Eventually(t, "the replica follows", func() bool { return strings.Contains(s.Replica.said("INFO", "replication"), "master_link_status:up") })
	var hosts []string
	for range 3 {
		watching := redisWith(t, devstack.RedisOptions{Password: secret, Sentinel: true, Settings: []string{
			fmt.Sprintf("sentinel monitor %s %s %s 2", SentinelMaster, host, port), "sentinel auth-pass " + SentinelMaster + " " + password, "sentinel sentinel-pass " + secret,
			"sentinel down-after-milliseconds " + SentinelMaster + " 1000", "sentinel failover-timeout " + SentinelMaster + " 5000",
		}})
		s.Watching, hosts = append(s.Watching, watching), append(hosts, watching.address())
	}
	for _, watching := range s.Watching {
		Eventually(t, "the sentinels know each other and the replica", func() bool {
			said := watching.said("INFO", "sentinel")
			return strings.Contains(said, "status=ok") && strings.Contains(said, "slaves=1,sentinels=3")
		})
	}
	query := url.Values{"master": {SentinelMaster}, "sentinel_password": {secret}}
	s.URL = (&url.URL{Scheme: "redis-sentinel", User: url.UserPassword("", password), Host: strings.Join(hosts, ","), Path: "/0", RawQuery: query.Encode()}).String()
	return s
}

// redisWith gives a Redis server of the test's own, with settings of its own.
func redisWith(t testing.TB, o devstack.RedisOptions) *OwnRedis {
	t.Helper()
	o.Dir = Must[string](t)(os.MkdirTemp("", "canopy-test-")) //nolint:usetesting // other accounts don't get to a folder of the test's
	t.Cleanup(func() { _ = os.RemoveAll(o.Dir) })
	r := &OwnRedis{t, Must[*devstack.Redis](t)(devstack.StartRedis(context.Background(), o))}
	t.Cleanup(r.Kill)
	return r
}

// address is the server's host and port.
func (r *OwnRedis) address() string {
	u := Must[*url.URL](r.t)(url.Parse(r.URL()))
	return u.Host
}

// said is what the server says; "" where it can't be asked.
func (r *OwnRedis) said(args ...any) string {
	c := client(r.t, r.URL())
	defer func() { _ = c.Close() }()
	text, _ := c.Do(context.Background(), args...).Text()
	return text
}
