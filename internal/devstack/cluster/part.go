package cluster

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"time"

	"canopy/internal/devstack"
)

// lookEvery is how often each part is looked at.
const lookEvery = 200 * time.Millisecond

// server is what can be started anew when it has ended.
type server interface {
	Start(ctx context.Context) error
	Running() bool
	PID() int
}

// Part is one process of the cluster, or one server with its processes.
type Part struct {
	Name, Address string
	server
	mu      sync.Mutex // held while it is started anew
	retired bool
}

// retire leaves it alone from now on.
func (p *Part) retire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.retired = true
}

// Parts are all of them.
func (c *Cluster) Parts() []*Part { return c.parts }

func (c *Cluster) add(name, address string, s server) {
	c.parts = append(c.parts, &Part{Name: name, Address: address, server: s})
}

// servedParts adds the servers, which run already.
func (c *Cluster) servedParts() {
	host := func(at string) string {
		u, _ := url.Parse(at) // it was made by devstack
		return u.Host
	}
	c.add("postgres1", host(c.Primary.URL()), c.Primary)
	c.add("postgres2", host(c.Standby.URL()), c.Standby)
	for i, p := range c.poolers {
		c.add(fmt.Sprint("pgbouncer", i+1), host(p.URL()), p)
	}
	for i, r := range c.redis.All() {
		c.add(fmt.Sprint("redis", i+1), host(r.URL()), r)
	}
}

// watch starts anew what ends by itself, until stopWatch.
func (c *Cluster) watch() {
	ctx, cancel := context.WithCancel(context.Background())
	c.stopWatch = cancel
	for _, p := range c.parts {
		c.watching.Go(func() {
			tick := time.NewTicker(lookEvery)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
					c.revive(ctx, p)
				}
			}
		})
	}
}

func (c *Cluster) revive(ctx context.Context, p *Part) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.retired || p.Running() {
		return
	}
	c.log.WarnContext(ctx, "it has ended and is started anew", "part", p.Name)
	if err := p.Start(ctx); err != nil && ctx.Err() == nil {
		c.log.ErrorContext(ctx, "it does not start; that is tried again", "part", p.Name, "error", err)
	}
}

var _ = []server{(*devstack.Postgres)(nil), (*devstack.Redis)(nil), (*devstack.PgBouncer)(nil), (*devstack.Companion)(nil)}
