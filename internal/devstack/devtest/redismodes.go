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

// clusterMasters is the fewest masters with which a cluster can tell which of them is gone.
const clusterMasters = 3

// StartRedisCluster runs three masters, and a replica of each where that is asked for.
func StartRedisCluster(t testing.TB, replicas bool) *RedisCluster {
	t.Helper()
	password, c := rand.Text(), &RedisCluster{}
	var buses, hosts []string
	start := func() *OwnRedis {
		bus := Must[string](t)(devstack.FreeAddress())
		_, port, _ := net.SplitHostPort(bus)
		node := redisWith(t, devstack.RedisOptions{Password: password, Settings: []string{"cluster-enabled yes", "cluster-port " + port, "cluster-node-timeout 2000", "masterauth " + password}})
		buses, hosts = append(buses, port), append(hosts, node.address())
		return node
	}
	for n := range clusterMasters {
		node := start()
		c.Masters = append(c.Masters, node)
		const slots = 16384
		node.command("CLUSTER", "ADDSLOTSRANGE", n*slots/clusterMasters, (n+1)*slots/clusterMasters-1)
		node.command("CLUSTER", "SET-CONFIG-EPOCH", n+1)
	}
	for range c.Masters {
		if replicas {
			c.Replicas = append(c.Replicas, start())
		}
	}
	all := append(append([]*OwnRedis{}, c.Masters...), c.Replicas...)
	for n := range all[1:] {
		host, port, _ := net.SplitHostPort(hosts[n+1])
		all[0].command("CLUSTER", "MEET", host, port, buses[n+1])
	}
	settle(all, 0)
	for n, replica := range c.Replicas {
		replica.command("CLUSTER", "REPLICATE", c.Masters[n].command("CLUSTER", "MYID"))
	}
	for _, replica := range c.Replicas {
		Eventually(t, "a replica follows its master", func() bool { return strings.Contains(replica.said("INFO", "replication"), "master_link_status:up") })
	}
	settle(all, len(c.Replicas))
	c.URL = (&url.URL{Scheme: "redis-cluster", User: url.UserPassword("", password), Host: strings.Join(hosts[:clusterMasters], ",")}).String()
	return c
}

// settle waits until all nodes know each other, that so many of them are replicas, and that all slots are served.
func settle(all []*OwnRedis, replicas int) {
	for _, node := range all {
		Eventually(node.t, "the cluster is one", func() bool {
			state, nodes := node.said("CLUSTER", "INFO"), node.said("CLUSTER", "NODES")
			return strings.Contains(state, "cluster_state:ok") && strings.Count(nodes, "\n") == len(all) && !strings.Contains(nodes, "handshake") &&
				strings.Count(nodes, "slave") == replicas
		})
	}
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

// command asks the server, and gives what it says.
func (r *OwnRedis) command(args ...any) string {
	r.t.Helper()
	c := client(r.t, r.URL())
	defer func() { _ = c.Close() }()
	return Must[string](r.t)(c.Do(context.Background(), args...).Text())
}

// said is what the server says; "" where it can't be asked.
func (r *OwnRedis) said(args ...any) string {
	c := client(r.t, r.URL())
	defer func() { _ = c.Close() }()
	text, _ := c.Do(context.Background(), args...).Text()
	return text
}
