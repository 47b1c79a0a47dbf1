// Package devstack runs private PostgreSQL and Redis servers: for `canopy dev`, which needs
// nothing installed but their programs, and for the tests.
package devstack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/lib/pq"
)

// PostgresOptions say where and how a private PostgreSQL runs.
type PostgresOptions struct {
	// Dir holds the cluster; where the server's user can't enter it, it holds a note of where the
	// cluster is.
	Dir string
	// Durable is for data that is to stay; without it the server does not wait for the disk.
	Durable bool
	// Settings are further settings of the server.
	Settings map[string]string
	Log      *slog.Logger
}

// Postgres is a running private PostgreSQL.
type Postgres struct {
	o        PostgresOptions
	bin      string
	data     string
	password string
	port     int
	owner    *syscall.Credential
	proc     *process
}

// StartPostgres makes the cluster if there is none, and starts the server on the loopback address.
func StartPostgres(ctx context.Context, o PostgresOptions) (*Postgres, error) {
	p := &Postgres{o: o}
	var err error
	if p.bin, err = postgresPrograms(); err != nil {
		return nil, err
	}
	if p.owner, err = serverUser(); err != nil {
		return nil, err
	}
	if p.data, err = clusterDir(o.Dir, p.owner); err != nil {
		return nil, err
	}
	if err := p.initialise(ctx); err != nil {
		return nil, err
	}
	if err := p.refuseRunning(); err != nil {
		return nil, err
	}
	if p.port, err = stablePort(filepath.Join(o.Dir, "postgres.port")); err != nil {
		return nil, err
	}
	return p, p.Start(ctx)
}

// postgresPrograms finds the newest server installation.
func postgresPrograms() (string, error) {
	var dirs []string
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin",
		"/usr/local/opt/postgresql*/bin", "/usr/local/pgsql/bin",
	} {
		found, _ := filepath.Glob(pattern) // the patterns are well-formed
		dirs = append(dirs, found...)
	}
	if initdb, err := exec.LookPath("initdb"); err == nil {
		dirs = append(dirs, filepath.Dir(initdb))
	}
	best, newest := "", 0
	for _, dir := range dirs {
		out, err := exec.Command(filepath.Join(dir, "postgres"), "--version").Output() //nolint:gosec // a known place
		if err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
			continue
		}
		if v := majorVersion(string(out)); v > newest {
			best, newest = dir, v
		}
	}
	if newest < 14 {
		return "", errors.New("no PostgreSQL server of version 14 or newer is installed: run scripts/bootstrap.sh, or set DATABASE_URL")
	}
	return best, nil
}

// majorVersion reads "postgres (PostgreSQL) 15.18 (…)".
func majorVersion(s string) int {
	fields := strings.Fields(s)
	if len(fields) < 3 {
		return 0
	}
	major, _, _ := strings.Cut(fields[2], ".")
	n, _ := strconv.Atoi(major)
	return n
}

// initialise makes the cluster, with a password that stays beside it.
func (p *Postgres) initialise(ctx context.Context) error {
	secret := filepath.Join(p.o.Dir, "postgres.password")
	if raw, err := os.ReadFile(secret); err == nil {
		p.password = string(raw)
		if _, err := os.Stat(filepath.Join(p.data, "PG_VERSION")); err == nil {
			return nil
		}
	}
	p.password = randomWord()
	if err := os.WriteFile(secret, []byte(p.password), 0o600); err != nil {
		return err
	}
	pwfile, err := os.CreateTemp("", "canopy-pw-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(pwfile.Name()) }()
	if _, err := pwfile.WriteString(p.password + "\n"); err != nil {
		return err
	}
	if err := errors.Join(pwfile.Close(), chown(pwfile.Name(), p.owner)); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(p.bin, "initdb"), "-D", p.data, "-U", "canopy", //nolint:gosec // a known place
		"--auth=scram-sha-256", "--pwfile="+pwfile.Name(), "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
	cmd.SysProcAttr = as(p.owner)
	cmd.Dir = "/"
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, lastLines(out))
	}
	return nil
}

// refuseRunning tells a cluster that another process is using from a stale pid file.
func (p *Postgres) refuseRunning() error {
	raw, err := os.ReadFile(filepath.Join(p.data, "postmaster.pid"))
	if err != nil {
		return nil //nolint:nilerr // no pid file: nobody uses it
	}
	first, _, _ := strings.Cut(string(raw), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || syscall.Kill(pid, 0) != nil {
		return nil //nolint:nilerr // stale; the server clears it away
	}
	if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil && !bytes.HasPrefix(name, []byte("postgres")) {
		return nil
	}
	return fmt.Errorf("the private PostgreSQL in %s is in use already (process %d): is another canopy dev running?", p.o.Dir, pid)
}

// Start starts the server again after Stop or Kill.
func (p *Postgres) Start(ctx context.Context) error {
	settings := map[string]string{
		"listen_addresses": "127.0.0.1", "port": strconv.Itoa(p.port), "unix_socket_directories": "",
		"max_connections": "200", "shared_buffers": "128MB", "log_destination": "stderr", "logging_collector": "off",
		"log_min_messages": "fatal", "timezone": "UTC", "max_wal_size": "2GB", "jit": "off",
	}
	if !p.o.Durable {
		settings["fsync"], settings["synchronous_commit"], settings["full_page_writes"] = "off", "off", "off"
	}
	for name, value := range p.o.Settings {
		settings[name] = value
	}
	args := []string{"-D", p.data}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	cmd := exec.Command(filepath.Join(p.bin, "postgres"), args...) //nolint:gosec // a known place
	cmd.Dir = "/"
	cmd.SysProcAttr = as(p.owner)
	var err error
	if p.proc, err = startProcess(cmd); err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	return p.proc.until(ctx, "PostgreSQL", p.answers)
}

func (p *Postgres) answers(ctx context.Context) error {
	c, err := pq.NewConnector(p.URL())
	if err != nil {
		return err
	}
	conn, err := c.Connect(ctx)
	if err != nil {
		return err
	}
	return conn.Close()
}

// URL is where the server is, as its superuser, on the database postgres.
func (p *Postgres) URL() string { return p.DatabaseURL("postgres") }

// DatabaseURL is the URL of one of the server's databases.
func (p *Postgres) DatabaseURL(name string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword("canopy", p.password),
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port)), Path: "/" + name, RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Stop ends the server: connections are closed, and what was committed is on disk.
func (p *Postgres) Stop(ctx context.Context) error { return p.proc.stop(ctx, syscall.SIGINT) }

// Kill ends the server at once, as a crash would.
func (p *Postgres) Kill() error { return p.proc.stop(context.Background(), syscall.SIGQUIT) }

// Remove ends the server at once and removes its data.
func (p *Postgres) Remove() {
	_ = p.Kill() // it may have ended by itself
	_ = os.RemoveAll(p.data)
}

// clusterDir is where the cluster is: in dir, or, where the server's user can't enter that, in a
// folder of its own that dir has a note of.
func clusterDir(dir string, owner *syscall.Credential) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	note := filepath.Join(dir, "postgres.dir")
	if raw, err := os.ReadFile(note); err == nil {
		if _, err := os.Stat(string(raw)); err == nil {
			return string(raw), nil
		}
	}
	data := filepath.Join(dir, "postgres")
	if owner != nil {
		// Another user's server: a place that every user can reach.
		var err error
		if data, err = os.MkdirTemp("/var/tmp", "canopy-postgres-"); err != nil {
			return "", err
		}
		if err := chown(data, owner); err != nil {
			return "", err
		}
		if err := os.WriteFile(note, []byte(data), 0o600); err != nil {
			return "", err
		}
		return data, nil
	}
	return data, os.MkdirAll(data, 0o700)
}

func lastLines(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], " ")
}

// stablePort gives the port that a file remembers while it is free, and otherwise a free one.
func stablePort(file string) (int, error) {
	if raw, err := os.ReadFile(file); err == nil {
		if port, err := strconv.Atoi(string(raw)); err == nil && isFree(port) {
			return port, nil
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, errors.Join(l.Close(), os.WriteFile(file, strconv.AppendInt(nil, int64(port), 10), 0o600))
}

func isFree(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// startTimeout is how long a server may take to answer: long enough to recover from a crash.
const startTimeout = time.Minute
