// Package cluster runs a platform of many processes on this machine, without containers: two `serve` behind HAProxy, two
// `worker`, PostgreSQL with a streaming standby and a pooler before each of the two, a Redis Cluster, and a store with S3's API;
// and, where that is asked for, the cell of a region with as much of its own.
// It listens on loopback only, keeps nothing, and starts anew what ends by itself.
package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"canopy/internal/devstack"
)

// Options say what is run.
type Options struct {
	// Canopy is the program, HAProxy's settings are in Balancer.
	Canopy, Balancer string
	// Listen is the balancer's address; one is found where it is empty.
	Listen string
	// Region gets a cell of its own, whose balancer listens on CellListen; none where it is empty.
	Region, CellListen string
	// Synchronous has each commit wait for the standby, so that a failover loses nothing; commits wait for a standby that is away.
	Synchronous bool
	// Env are settings of the program, over those of this package.
	Env []string
	// Way gives the address by which one cell comes to another's; nil is that itself.
	Way func(address string) (string, error)
	// Log is told of starts, and of what ends by itself; nil discards that.
	Log *slog.Logger
}

// Cluster is one that runs: the home, or the cell of a region.
type Cluster struct {
	// URL is where the balancer is, Key what `canopy bootstrap` has printed: the first API key, of a company at the home.
	URL, Key string
	// Primary takes writes until FailOver, Standby follows it, and takes them from then on.
	Primary, Standby *devstack.Postgres
	// Cell is that of the region, nil where there is none.
	Cell *Cluster

	o       Options
	at      address
	dir     string
	log     *slog.Logger
	redis   *devstack.RedisCluster
	s3      *http.Server
	s3URL   string
	pooled  string
	poolers []*devstack.PgBouncer
	// shared are the settings that all cells have, comesBy is who the cell is in the home's database.
	env, shared []string
	comesBy     *url.Userinfo
	// region is the one that it is the cell of.
	region     string
	parts      []*Part
	failedOver bool

	stopWatch context.CancelFunc
	watching  sync.WaitGroup
}

// address is where a cell's own processes listen: the balancer, and each `serve` behind it. Other cells come to the balancer by way.
type address struct{ balancer, serve1, serve2, way string }

// missing names Debian's packages of the programs that are not installed.
func missing() (list []string) {
	for _, p := range []struct{ program, name string }{{"redis-server", "redis-server"}, {"pgbouncer", "pgbouncer"}, {"haproxy", "haproxy"}} {
		if find(p.program) == "" {
			list = append(list, p.name)
		}
	}
	return list
}

// find is where a program is; daemons are where PATH of a person does not lead.
func find(program string) string {
	for _, name := range []string{program, "/usr/sbin/" + program, "/opt/homebrew/bin/" + program, "/usr/local/bin/" + program} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// Start runs all of it, and gives it when a request to each balancer is answered.
func Start(ctx context.Context, o Options) (_ *Cluster, err error) {
	if list := missing(); len(list) > 0 {
		return nil, fmt.Errorf("please install %s (scripts/bootstrap.sh cluster does so)", strings.Join(list, ", "))
	}
	c, err := newCluster(o, o.Listen)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			c.Stop()
		}
	}()
	if err := c.start(ctx, c.found); err != nil {
		return nil, err
	}
	if c.Cell == nil {
		return c, nil
	}
	return c, c.Cell.start(ctx, func(ctx context.Context) error { return c.Cell.join(ctx, c) })
}

// newCluster is one that has not started, with its folder and addresses, and its cell's.
func newCluster(o Options, listen string) (*Cluster, error) {
	c := &Cluster{o: o, log: o.Log}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	var err error
	if c.at, err = addresses(listen, o.Way); err != nil {
		return nil, err
	}
	c.URL = "http://" + c.at.balancer
	if o.Region != "" {
		own := o
		own.Region = ""
		if c.Cell, err = newCluster(own, o.CellListen); err != nil {
			return nil, err
		}
	}
	if c.dir, err = os.MkdirTemp("", "canopy-cluster-"); err != nil {
		return nil, err
	}
	return c, os.Chmod(c.dir, 0o711) //nolint:gosec // PostgreSQL's account has to get to its folder
}

func addresses(listen string, way func(string) (string, error)) (a address, err error) {
	free, err := devstack.FreeAddresses(3)
	if err != nil {
		return a, err
	}
	a.balancer, a.serve1, a.serve2 = cmp.Or(listen, free[0]), free[1], free[2]
	a.way = a.balancer
	if way != nil {
		a.way, err = way(a.balancer)
	}
	return a, err
}

// start starts the servers, fills the database, and starts the platform's own processes.
func (c *Cluster) start(ctx context.Context, fill func(context.Context) error) error {
	for _, step := range []func(context.Context) error{c.servers, c.poolersAndBucket, fill, c.programs} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// servers starts PostgreSQL with its standby, and Redis.
func (c *Cluster) servers(ctx context.Context) error {
	start, ctx := errgroup.WithContext(ctx)
	start.Go(func() (err error) {
		c.redis, err = devstack.StartRedisCluster(ctx, filepath.Join(c.dir, "redis"), true, c.log)
		return err
	})
	start.Go(func() (err error) {
		settings := map[string]string{"hot_standby_feedback": "on", "wal_keep_size": "1GB", "wal_retrieve_retry_interval": "500ms", "wal_level": "logical"}
		c.Primary, err = devstack.StartPostgres(ctx, devstack.PostgresOptions{Dir: filepath.Join(c.dir, "postgres1"), Durable: true, Log: c.log, Settings: settings})
		if err == nil {
			c.Standby, err = c.Primary.StartStandby(ctx, filepath.Join(c.dir, "postgres2"))
		}
		if err == nil && c.o.Synchronous {
			// By its name, as PostgreSQL gives it: '*' may as well be the cell that follows, and the standby lack what was committed.
			err = execute(ctx, c.Primary.URL(), "ALTER SYSTEM SET synchronous_standby_names = 'walreceiver'", "SELECT pg_reload_conf()")
		}
		return err
	})
	return start.Wait()
}

// poolersAndBucket starts a pooler before each PostgreSQL, and the store of documents.
func (c *Cluster) poolersAndBucket(ctx context.Context) error {
	settings := map[string]string{"pool_mode": "session", "default_pool_size": "80", "max_client_conn": "1000", "server_login_retry": "1"}
	tracks, err := devstack.PgBouncerTracks()
	if err != nil {
		return err
	}
	if tracks {
		settings["pool_mode"], settings["max_prepared_statements"] = "transaction", "500"
	} else {
		c.log.WarnContext(ctx, "this PgBouncer is older than 1.21 and can't track prepared statements: it pools whole sessions")
	}
	for _, server := range []*devstack.Postgres{c.Primary, c.Standby} {
		pooler, err := devstack.StartPgBouncer(ctx, server, settings)
		if err != nil {
			return err
		}
		c.poolers = append(c.poolers, pooler)
	}
	c.pooled, err = together(c.poolers[0].URL(), c.poolers[1].URL())
	return errors.Join(err, c.store())
}

// together is the URL of two servers with the same user and password.
func together(first, second string) (string, error) {
	a, err := url.Parse(first)
	if err != nil {
		return "", err
	}
	b, err := url.Parse(second)
	if err != nil {
		return "", err
	}
	return strings.Replace(first, a.Host, a.Host+","+b.Host, 1), nil
}

// programs starts the platform's own processes and the balancer.
func (c *Cluster) programs(ctx context.Context) error {
	for i, address := range []string{c.at.serve1, c.at.serve2} {
		c.add(fmt.Sprint("serve", i+1), address, c.canopy(fmt.Sprint("serve", i+1), []string{"CANOPY_LISTEN=" + address}, "serve"))
		c.add(fmt.Sprint("worker", i+1), "", c.canopy(fmt.Sprint("worker", i+1), nil, "worker"))
	}
	c.add("balancer", c.at.balancer, &devstack.Companion{
		Path: find("haproxy"), Args: []string{"-db", "-f", c.o.Balancer}, Log: filepath.Join(c.dir, "balancer.log"),
		Env: []string{"LISTEN=" + c.at.balancer, "SERVE_1=" + c.at.serve1, "SERVE_2=" + c.at.serve2},
	})
	for _, p := range c.parts {
		if err := p.Start(ctx); err != nil {
			return err
		}
	}
	c.servedParts()
	c.watch() // also for what finds its address taken for a moment
	return c.ready(ctx)
}

// canopy is a call of the program.
func (c *Cluster) canopy(name string, env []string, args ...string) *devstack.Companion {
	return &devstack.Companion{Path: c.o.Canopy, Args: args, Env: append(append([]string{}, c.env...), env...), Log: filepath.Join(c.dir, name+".log")}
}

// readyWithin is for how long a request to the balancer is tried: on a machine with much else to do all begin slowly.
const readyWithin = 3 * time.Minute

// ready waits until a request to the balancer is answered.
func (c *Cluster) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+"/readyz", nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the balancer at %s finds nobody who is ready: %w%s", c.URL, ctx.Err(), c.said())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// FailOver kills the primary for good, with its pooler, and promotes the standby, which takes writes when it returns. What had not
// reached the standby is lost. A pooler whose
// server is gone has whoever connects wait for it, where one that is gone itself is passed over at once.
func (c *Cluster) FailOver(ctx context.Context) error {
	for _, p := range c.parts {
		if p.server == c.Primary || p.server == c.poolers[0] {
			if err := p.Down(); err != nil {
				return err
			}
		}
	}
	c.Primary.Kill() // which waits for its end
	c.poolers[0].Remove()
	if err := c.Standby.Promote(ctx); err != nil {
		return err
	}
	c.failedOver = true
	return c.poolers[1].Restart(ctx)
}

// Leader is who takes writes.
func (c *Cluster) Leader() *devstack.Postgres {
	if c.failedOver {
		return c.Standby
	}
	return c.Primary
}

// Upgrade migrates the database by another program, which each process is from its next start on.
func (c *Cluster) Upgrade(ctx context.Context, program string) error {
	c.o.Canopy = program
	if _, err := c.canopy("migrate", c.past(), "migrate", "up").Run(ctx); err != nil {
		return err
	}
	for _, p := range c.parts {
		if own, ok := p.server.(*devstack.Companion); ok && p.Name != "balancer" {
			own.Become(program)
		}
	}
	return nil
}

// Stop ends all of it, in the order in which nothing is missed: what is under way is finished. It leaves nothing.
func (c *Cluster) Stop() {
	if c.Cell != nil {
		c.Cell.Stop()
	}
	if c.stopWatch != nil {
		c.stopWatch()
		c.watching.Wait()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var ending sync.WaitGroup
	for _, p := range c.parts {
		if own, ok := p.server.(*devstack.Companion); ok {
			ending.Go(func() { own.Stop(ctx) })
		}
	}
	ending.Wait()
	for _, p := range c.poolers {
		p.Remove()
	}
	if c.s3 != nil {
		_ = c.s3.Close()
	}
	if c.redis != nil {
		c.redis.Kill()
	}
	for _, p := range []*devstack.Postgres{c.Standby, c.Primary} {
		if p != nil {
			p.Remove()
		}
	}
	if err := os.RemoveAll(c.dir); err != nil {
		c.log.Warn("something is left behind", "folder", c.dir, "error", err)
	}
}
