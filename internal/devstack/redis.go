package devstack

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// RedisDatabases is how many numbered databases a private Redis has.
const RedisDatabases = 512

// RedisOptions say how to run a private Redis.
type RedisOptions struct {
	// Dir holds the port and the log. It is made when missing.
	Dir string
	// Log is told of starts and stops; nil discards that.
	Log *slog.Logger
	// Password is what it asks for; one is made where it is empty.
	Password string
	// Settings are further lines of its configuration. With any of them the server may write into the folder data in Dir.
	Settings []string
	// Sentinel has it watch the master that Settings name, and keep nothing.
	Sentinel bool
}

// Redis is a private Redis, listening on 127.0.0.1 alone and asking for a generated password. It
// keeps nothing on disk: what it holds can be made again.
type Redis struct {
	options  RedisOptions
	dir      string
	log      *slog.Logger
	account  *account
	program  string // empty for the stand-in
	password string

	mu     sync.Mutex // held through a start or stop
	port   int
	server redisServer // nil when stopped
}

// redisServer is a running server, or the stand-in.
type redisServer interface {
	running() bool
	stop(ctx context.Context, gentle, hard syscall.Signal) bool
}

// StartRedis runs the Redis (or Valkey) that is installed, or else a stand-in in this process, which
// it says loudly. The server runs until Stop, whatever becomes of ctx, but never longer than this
// process (where the system can tell: on Linux).
func StartRedis(ctx context.Context, o RedisOptions) (*Redis, error) {
	r := &Redis{options: o, log: orDiscard(o.Log), password: cmp.Or(o.Password, rand.Text())}
	var err error
	if r.account, err = serverAccount(); err != nil {
		r.account = nil // unlike PostgreSQL, Redis runs as whoever we are
	}
	if r.dir, err = prepareFolder(o.Dir, nil); err != nil {
		return nil, fmt.Errorf("private Redis: %w", err)
	}
	r.program = redisProgram()
	switch {
	case r.program == "" && len(o.Settings) > 0:
		return nil, fmt.Errorf("private Redis: %w: install redis-server", ErrNoBinaries)
	case len(o.Settings) > 0:
		if err := r.makeData(); err != nil {
			return nil, fmt.Errorf("private Redis: %w", err)
		}
	case r.program == "":
		r.log.WarnContext(ctx, "redis-server is not installed: a stand-in runs inside this process, good for trying things out and nothing more; scripts/bootstrap.sh installs the real one")
	}
	return r, r.Start(ctx)
}

func redisProgram() string {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// URL is how to connect, to database 0.
func (r *Redis) URL() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	u := url.URL{Scheme: "redis", User: url.UserPassword("", r.password), Host: loopback(r.port), Path: "/0"}
	return u.String()
}

// Start starts the server again after Stop or Kill, empty, on the same port unless that was taken
// in the meantime. A server that runs is left alone.
func (r *Redis) Start(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.server != nil && r.server.running() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	return onPort(ctx, r.dir, func(port int) error { return r.launch(ctx, port) })
}

// Stop ends the server; when ctx ends first, at once.
func (r *Redis) Stop(ctx context.Context) { r.end(ctx, syscall.SIGTERM) }

// Kill ends the server as a crash would.
func (r *Redis) Kill() { r.end(context.Background(), syscall.SIGKILL) }

// Freeze has the server hold its connections and answer nothing, until Thaw.
func (r *Redis) Freeze() error { return r.signal(freezing) }

// Thaw has it go on.
func (r *Redis) Thaw() error { return r.signal(thawing) }

func (r *Redis) signal(s syscall.Signal) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	proc, ok := r.server.(*process)
	if !ok {
		return errors.New("no server runs that could be frozen")
	}
	proc.signal(s)
	return nil
}

func (r *Redis) end(ctx context.Context, gentle syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.server != nil {
		r.server.stop(ctx, gentle, syscall.SIGKILL)
		r.server = nil
	}
}

func (r *Redis) launch(ctx context.Context, port int) error {
	if r.program == "" {
		s, err := startStandIn(port, r.password)
		if err != nil {
			return errPortTaken
		}
		r.server, r.port = s, port
		return nil
	}
	out, err := openLog(r.logPath())
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }() // the server has its own handle by then
	cmd, err := r.command(port)
	if err != nil {
		return err
	}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = "/", serverEnv(), out, out
	proc, err := startProcess(cmd, r.account, syscall.SIGKILL)
	if err != nil {
		return fmt.Errorf("start Redis: %w", err)
	}
	if err := r.ready(ctx, proc, port); err != nil {
		proc.stop(context.Background(), syscall.SIGKILL, syscall.SIGKILL)
		return err
	}
	r.server, r.port = proc, port
	go r.watch(proc)
	r.log.InfoContext(ctx, "private Redis is ready", "port", port)
	return nil
}

// makeData makes the folder that the server may write into.
func (r *Redis) makeData() error {
	if err := os.MkdirAll(r.data(), 0o700); err != nil {
		return err
	}
	if r.account == nil {
		return nil
	}
	return errors.Join(os.Chmod(r.dir, 0o711), r.account.give(r.data())) //nolint:gosec // the account has to get to its folder
}

func (r *Redis) data() string { return filepath.Join(r.dir, "data") }

// command runs the server. Settings go in by standard input: on the command line every user could read the password. A sentinel keeps what it
// learns in its file.
func (r *Redis) command(port int) (*exec.Cmd, error) {
	if !r.options.Sentinel {
		cmd := exec.Command(r.program, "-")
		cmd.Stdin = strings.NewReader(r.settings(port))
		return cmd, nil
	}
	file := filepath.Join(r.data(), "sentinel.conf")
	if err := os.WriteFile(file, []byte(r.settings(port)), 0o600); err != nil {
		return nil, err
	}
	return exec.Command(r.program, file, "--sentinel"), r.account.give(file)
}

func (r *Redis) settings(port int) string {
	lines := []string{"bind 127.0.0.1", "port " + strconv.Itoa(port), "requirepass " + r.password, "daemonize no"}
	if !r.options.Sentinel {
		lines = append(lines, "databases "+strconv.Itoa(RedisDatabases), `save ""`, "appendonly no")
	}
	if len(r.options.Settings) > 0 {
		lines = append(append(lines, "dir "+r.data()), r.options.Settings...)
	}
	return strings.Join(lines, "\n") + "\n"
}

func (r *Redis) logPath() string { return filepath.Join(r.dir, "redis.log") }

// watch tells of a server that ends without having been told to.
func (r *Redis) watch(proc *process) {
	<-proc.done
	if !proc.expected.Load() {
		r.log.Error("the private Redis ended by itself", "state", proc.cmd.ProcessState.String(), "log", tail(r.logPath()))
	}
}
