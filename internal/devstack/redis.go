package devstack

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// RedisOptions say where a private Redis runs.
type RedisOptions struct {
	Dir string
	Log *slog.Logger
}

// Redis is a running private Redis. It keeps nothing on disk: what it holds can be made again.
type Redis struct {
	port int
	dir  string
	proc *process
	mini *miniredis.Miniredis
	stop context.CancelFunc
}

// StartRedis starts a server on the loopback address; where none is installed, a stand-in in this
// process, which is said loudly.
func StartRedis(ctx context.Context, o RedisOptions) (*Redis, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	port, err := stablePort(filepath.Join(o.Dir, "redis.port"))
	if err != nil {
		return nil, err
	}
	r := &Redis{port: port, dir: o.Dir}
	if _, err := exec.LookPath("redis-server"); err != nil {
		o.Log.WarnContext(ctx, "redis-server is not installed: a stand-in runs in this process. It is slow and for trying things out only; scripts/bootstrap.sh installs the real one")
		return r, r.startStandIn()
	}
	return r, r.Start(ctx)
}

// Start starts the server again after Stop or Kill.
func (r *Redis) Start(ctx context.Context) error {
	if r.mini != nil {
		return r.mini.StartAddr(r.address())
	}
	cmd := exec.Command("redis-server", "--bind", "127.0.0.1", "--port", strconv.Itoa(r.port), "--save", "", //nolint:gosec // fixed arguments
		"--appendonly", "no", "--dir", r.dir, "--daemonize", "no", "--databases", "512")
	var err error
	if r.proc, err = startProcess(cmd); err != nil {
		return fmt.Errorf("start Redis: %w", err)
	}
	return r.proc.until(ctx, "Redis", func(ctx context.Context) error {
		c := redis.NewClient(&redis.Options{Addr: r.address()})
		defer func() { _ = c.Close() }()
		return c.Ping(ctx).Err()
	})
}

// startStandIn runs miniredis, whose clock has to be moved by hand.
func (r *Redis) startStandIn() error {
	r.mini = miniredis.NewMiniRedis()
	if err := r.mini.StartAddr(r.address()); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				r.mini.FastForward(time.Second)
			}
		}
	}()
	return nil
}

func (r *Redis) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(r.port)) }

// URL is where the server is.
func (r *Redis) URL() string { return "redis://" + r.address() + "/0" }

// Stop ends the server.
func (r *Redis) Stop(ctx context.Context) error {
	if r.mini != nil {
		r.stop()
		r.mini.Close()
		return nil
	}
	return r.proc.stop(ctx, syscall.SIGTERM)
}

// Kill ends the server at once, as a crash would.
func (r *Redis) Kill() error {
	if r.mini != nil {
		r.mini.Close()
		return nil
	}
	return r.proc.stop(context.Background(), syscall.SIGKILL)
}
