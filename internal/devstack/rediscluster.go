package devstack

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// RedisCluster is a private Redis Cluster.
type RedisCluster struct {
	// URL is how to connect to it.
	URL string
	// Masters have a third of the slots each, and Replicas follow them, one each.
	Masters, Replicas []*Redis
}

// clusterMasters is the fewest masters with which a cluster can tell which of them is gone.
const clusterMasters = 3

// StartRedisCluster runs three masters, and a replica of each where that is asked for, with what they keep in folders of dir.
func StartRedisCluster(ctx context.Context, dir string, replicas bool, log *slog.Logger) (_ *RedisCluster, err error) {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	a, _ := serverAccount() // without one Redis runs as whoever we are
	if dir, err = prepareFolder(dir, a); err != nil {
		return nil, fmt.Errorf("private Redis Cluster: %w", err)
	}
	c := &RedisCluster{}
	defer func() {
		if err != nil {
			c.Kill()
		}
	}()
	b := &clusterBuilder{cluster: c, dir: dir, password: rand.Text(), log: log}
	if err := b.build(ctx, replicas); err != nil {
		return nil, fmt.Errorf("private Redis Cluster: %w", err)
	}
	c.URL = (&url.URL{Scheme: "redis-cluster", User: url.UserPassword("", b.password), Host: strings.Join(b.hosts[:clusterMasters], ",")}).String()
	return c, nil
}

// All are its nodes, the masters first.
func (c *RedisCluster) All() []*Redis { return append(append([]*Redis{}, c.Masters...), c.Replicas...) }

// Kill ends all of them.
func (c *RedisCluster) Kill() {
	for _, r := range c.All() {
		r.Kill()
	}
}

type clusterBuilder struct {
	cluster       *RedisCluster
	dir, password string
	log           *slog.Logger
	hosts, buses  []string
}

func (b *clusterBuilder) build(ctx context.Context, replicas bool) error {
	c := b.cluster
	for n := range clusterMasters {
		node, err := b.start(ctx)
		if err != nil {
			return err
		}
		c.Masters = append(c.Masters, node)
		const slots = 16384
		_, err = node.ask(ctx, "CLUSTER", "ADDSLOTSRANGE", n*slots/clusterMasters, (n+1)*slots/clusterMasters-1)
		_, epoch := node.ask(ctx, "CLUSTER", "SET-CONFIG-EPOCH", n+1)
		if err := errors.Join(err, epoch); err != nil {
			return err
		}
	}
	for range clusterMasters {
		if replicas {
			node, err := b.start(ctx)
			if err != nil {
				return err
			}
			c.Replicas = append(c.Replicas, node)
		}
	}
	for n := range c.All()[1:] {
		host, port, _ := net.SplitHostPort(b.hosts[n+1])
		if _, err := c.Masters[0].ask(ctx, "CLUSTER", "MEET", host, port, b.buses[n+1]); err != nil {
			return err
		}
	}
	return errors.Join(c.settled(ctx, 0), b.follow(ctx))
}

// start runs one node. It knows its fellows from the file nodes.conf, which it keeps when it is started anew.
func (b *clusterBuilder) start(ctx context.Context) (node *Redis, err error) {
	dir, bus := filepath.Join(b.dir, strconv.Itoa(len(b.hosts)+1)), ""
	if err := os.MkdirAll(filepath.Join(dir, "bus"), 0o700); err != nil {
		return nil, err
	}
	err = onPort(ctx, filepath.Join(dir, "bus"), func(port int) (err error) {
		bus = strconv.Itoa(port)
		node, err = StartRedis(ctx, RedisOptions{
			Dir: dir, Log: b.log, Password: b.password,
			Settings: []string{"cluster-enabled yes", "cluster-port " + bus, "cluster-node-timeout 2000", "masterauth " + b.password},
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(node.URL())
	if err != nil {
		return nil, err
	}
	b.hosts, b.buses = append(b.hosts, u.Host), append(b.buses, bus)
	return node, nil
}

// follow has each replica follow its master.
func (b *clusterBuilder) follow(ctx context.Context) error {
	c := b.cluster
	for n, replica := range c.Replicas {
		master, err := c.Masters[n].ask(ctx, "CLUSTER", "MYID")
		if err == nil {
			_, err = replica.ask(ctx, "CLUSTER", "REPLICATE", master)
		}
		if err != nil {
			return err
		}
	}
	for _, replica := range c.Replicas {
		if !poll(ctx, func() bool {
			said, _ := replica.ask(ctx, "INFO", "replication")
			return strings.Contains(said, "master_link_status:up")
		}) {
			return fmt.Errorf("a replica does not follow its master: %w", ctx.Err())
		}
	}
	return c.settled(ctx, len(c.Replicas))
}

// settled waits until all nodes know each other, that so many of them are replicas, and that all slots are served.
func (c *RedisCluster) settled(ctx context.Context, replicas int) error {
	all := c.All()
	for _, node := range all {
		if !poll(ctx, func() bool {
			state, _ := node.ask(ctx, "CLUSTER", "INFO")
			nodes, _ := node.ask(ctx, "CLUSTER", "NODES")
			return strings.Contains(state, "cluster_state:ok") && strings.Count(nodes, "\n") == len(all) && !strings.Contains(nodes, "handshake") &&
				strings.Count(nodes, "slave") == replicas
		}) {
			return fmt.Errorf("the nodes do not find each other: %w", ctx.Err())
		}
	}
	return nil
}

// Leads tells whether it answers, and is a master.
func (r *Redis) Leads(ctx context.Context) bool {
	said, err := r.ask(ctx, "INFO", "replication")
	return err == nil && strings.Contains(said, "role:master")
}

// ask asks the server, and gives what it says.
func (r *Redis) ask(ctx context.Context, args ...any) (string, error) {
	o, err := redis.ParseURL(r.URL())
	if err != nil {
		return "", err
	}
	client := redis.NewClient(o)
	defer func() { _ = client.Close() }()
	return client.Do(ctx, args...).Text()
}
