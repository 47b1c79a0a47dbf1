package devstack

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// PgBouncer is a pooler before a private PostgreSQL, listening on 127.0.0.1 alone. Tests use it.
type PgBouncer struct {
	server   *Postgres
	settings map[string]string
	dir      string
	program  string
	account  *account

	mu   sync.Mutex // held through a start or stop
	proc *process
	port int
}

// StartPgBouncer runs the PgBouncer that is installed before a server, on the settings given and
// its own defaults for all others. It runs until Remove, but never longer than this process (where
// the system can tell: on Linux). The error is ErrNoBinaries where none is installed.
func StartPgBouncer(ctx context.Context, server *Postgres, settings map[string]string) (*PgBouncer, error) {
	b := &PgBouncer{server: server, settings: settings}
	var err error
	if b.program, err = pgBouncerProgram(); err != nil {
		return nil, err
	}
	if b.account, err = serverAccount(); err != nil { // like PostgreSQL, it refuses to run as root
		return nil, err
	}
	if b.dir, err = os.MkdirTemp("", temporaryPrefix); err != nil {
		return nil, err
	}
	if _, err = prepareFolder(b.dir, b.account); err != nil {
		return nil, fmt.Errorf("PgBouncer: %w", err)
	}
	if err := b.Start(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(b.dir))
	}
	return b, nil
}

// Start starts it again once it has ended, on the same port unless that was taken in the meantime. One that runs is left alone.
func (b *PgBouncer) Start(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.proc != nil && b.proc.running() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	return onPort(ctx, b.dir, func(port int) error { return b.launch(ctx, port) })
}

func pgBouncerProgram() (string, error) {
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer", "/opt/homebrew/bin/pgbouncer", "/usr/local/bin/pgbouncer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("PgBouncer: %w: install pgbouncer", ErrNoBinaries)
}

var bouncerVersion = regexp.MustCompile(`PgBouncer (\d+)\.(\d+)`)

// PgBouncerTracks tells whether the installed PgBouncer is one that can track prepared statements
// (1.21 or newer).
func PgBouncerTracks() (bool, error) {
	program, err := pgBouncerProgram()
	if err != nil {
		return false, err
	}
	out, err := exec.Command(program, "--version").Output()
	if err != nil {
		return false, err
	}
	m := bouncerVersion.FindSubmatch(out)
	if m == nil {
		return false, fmt.Errorf("PgBouncer: its version is %q", out)
	}
	major, _ := strconv.Atoi(string(m[1]))
	minor, _ := strconv.Atoi(string(m[2]))
	return major > 1 || minor >= 21, nil
}

// Restart ends it with every connection, and starts it again. A PgBouncer tells each client what its first connection to the server was told:
// of a standby, that it is one, also after it was promoted.
func (b *PgBouncer) Restart(ctx context.Context) error {
	b.mu.Lock()
	b.end()
	b.mu.Unlock()
	return b.Start(ctx)
}

// URL is how to connect through it, as the superuser, to a database of its own.
func (b *PgBouncer) URL() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.url()
}

func (b *PgBouncer) url() string {
	u, _ := url.Parse(b.server.URL()) // it was made by us
	u.Host = loopback(b.port)
	return u.String()
}

// Remove ends it, and with it every connection, and removes everything it left.
func (b *PgBouncer) Remove() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end()
	_ = os.RemoveAll(b.dir)
}

func (b *PgBouncer) end() {
	b.proc.stop(context.Background(), syscall.SIGTERM, syscall.SIGKILL)
}

func (b *PgBouncer) launch(ctx context.Context, port int) error {
	file, err := b.configure(port)
	if err != nil {
		return err
	}
	out, err := openLog(b.logPath())
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }() // it has its own handle by then
	cmd := exec.Command(b.program, file)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = b.dir, serverEnv(), out, out
	if b.proc, err = startProcess(cmd, b.account, syscall.SIGKILL); err != nil {
		return fmt.Errorf("start PgBouncer: %w", err)
	}
	b.port = port
	if err := b.ready(ctx); err != nil {
		b.end()
		return err
	}
	return nil
}

func (b *PgBouncer) logPath() string { return filepath.Join(b.dir, "pgbouncer.log") }

// configure writes its settings and its one user.
func (b *PgBouncer) configure(port int) (file string, err error) {
	server, err := url.Parse(b.server.URL())
	if err != nil {
		return "", err
	}
	users := filepath.Join(b.dir, "users.txt")
	var text strings.Builder
	fmt.Fprintf(&text, "[databases]\n* = host=%s port=%s\n[pgbouncer]\n", server.Hostname(), server.Port())
	fmt.Fprintf(&text, "listen_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\nauth_type = scram-sha-256\nauth_file = %s\n", port, users)
	for name, value := range b.settings {
		fmt.Fprintf(&text, "%s = %s\n", name, value)
	}
	file = filepath.Join(b.dir, "pgbouncer.ini")
	return file, errors.Join(b.write(file, text.String()), b.write(users, fmt.Sprintf("%q %q\n", superuser, b.server.password)))
}

// write makes a file that only its account reads.
func (b *PgBouncer) write(file, text string) error {
	return errors.Join(os.WriteFile(file, []byte(text), 0o600), b.account.give(file))
}

// ready waits until the server answers through it.
func (b *PgBouncer) ready(ctx context.Context) error {
	var last error
	answered := poll(ctx, func() bool {
		if !b.proc.running() {
			return true
		}
		last = ping(ctx, b.url(), "")
		return last == nil || refused(last)
	})
	switch {
	case !b.proc.running() && !portFree(b.port):
		return errPortTaken
	case !b.proc.running():
		return fmt.Errorf("PgBouncer did not start: %s (log: %s)", tail(b.logPath()), b.logPath())
	case !answered || last != nil:
		return fmt.Errorf("PgBouncer does not answer: %w (log: %s)", errors.Join(ctx.Err(), last), b.logPath())
	}
	return nil
}
