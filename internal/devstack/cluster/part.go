package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
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
	mu sync.Mutex // held while it is started anew
	// left: it is not started anew.
	left bool
}

// retire leaves it alone from now on.
func (p *Part) retire() { p.leave(true) }

func (p *Part) leave(alone bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = alone
}

// Kill ends it as nothing can be caught that ends it.
func (p *Part) Kill() error { return p.signal(os.Kill) }

// End tells it to end once what is under way is finished.
func (p *Part) End() error { return p.signal(syscall.SIGTERM) }

func (p *Part) signal(s os.Signal) error {
	process, err := os.FindProcess(p.PID())
	if err == nil {
		err = process.Signal(s)
	}
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// Down kills it, and keeps it from being started anew until Up.
func (p *Part) Down() error {
	p.retire()
	return p.Kill()
}

// Up lets it be started anew.
func (p *Part) Up() { p.leave(false) }

// Parts are all of them.
func (c *Cluster) Parts() []*Part { return c.parts }

// Part is the one of a name.
func (c *Cluster) Part(name string) *Part {
	return c.parts[slices.IndexFunc(c.parts, func(p *Part) bool { return p.Name == name })]
}

// RedisMaster is the address of one of the masters that Redis has at the time.
func (c *Cluster) RedisMaster(ctx context.Context) (string, error) {
	for _, r := range c.redis.All() {
		if r.Leads(ctx) {
			return host(r.URL()), nil
		}
	}
	return "", errors.New("no Redis answers that is a master")
}

// host is that of a URL, which devstack has made.
func host(at string) string {
	u, _ := url.Parse(at)
	return u.Host
}

// Logs is the folder with what the programs say.
func (c *Cluster) Logs() string { return c.dir }

// saidBytes is how much of what a program has said last is told.
const saidBytes = 1000

// said is what each of the programs has said last, for who finds that they don't work: Stop leaves no logs.
func (c *Cluster) said() (text string) {
	for _, p := range c.parts {
		log, err := os.ReadFile(filepath.Join(c.dir, p.Name+".log"))
		if err == nil {
			text += fmt.Sprintf("\n%s, running %t: …%s", p.Name, p.Running(), log[max(0, len(log)-saidBytes):])
		}
	}
	return text
}

func (c *Cluster) add(name, address string, s server) {
	c.parts = append(c.parts, &Part{Name: name, Address: address, server: s})
}

// servedParts adds the servers, which run already.
func (c *Cluster) servedParts() {
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
	if p.left || p.Running() {
		return
	}
	c.log.WarnContext(ctx, "it has ended and is started anew", "part", p.Name)
	if err := p.Start(ctx); err != nil && ctx.Err() == nil {
		c.log.ErrorContext(ctx, "it does not start; that is tried again", "part", p.Name, "error", err)
	}
}

var _ = []server{(*devstack.Postgres)(nil), (*devstack.Redis)(nil), (*devstack.PgBouncer)(nil), (*devstack.Companion)(nil)}
