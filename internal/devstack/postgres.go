package devstack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// startPatience bounds a start, recovery after a crash included.
const startPatience = 60 * time.Second

// PostgresOptions say how to run a private PostgreSQL.
type PostgresOptions struct {
	// Dir holds the data, the generated password, the port and the log. It is made when missing.
	Dir string
	// Durable keeps what was committed through a crash of the machine. Tests do without.
	Durable bool
	// Log is told of starts and stops; nil discards that.
	Log *slog.Logger
	// Settings are server parameters, over those of this package.
	Settings map[string]string
}

// Postgres is a private PostgreSQL server, listening on 127.0.0.1 alone.
type Postgres struct {
	options  PostgresOptions
	primary  *Postgres // of a standby
	template *Postgres // whose data this one began with
	log      *slog.Logger
	account  *account
	binaries binaries
	place    string
	password string

	mu   sync.Mutex // held through a start or stop
	lock *os.File   // nil when stopped
	proc *process
	port int
}

// StartPostgres runs the newest PostgreSQL that is installed, on a cluster that it makes at the
// first start, and gives it when it answers. The server runs until Stop, whatever becomes of ctx,
// but never longer than this process (where the system can tell: on Linux). Errors are ErrInUse
// where a living process holds the folder, and ErrNoBinaries.
func StartPostgres(ctx context.Context, o PostgresOptions) (*Postgres, error) {
	return begin(ctx, &Postgres{options: o, log: orDiscard(o.Log)})
}

func begin(ctx context.Context, p *Postgres) (_ *Postgres, err error) {
	if p.account, err = serverAccount(); err != nil {
		return nil, err
	}
	if p.options.Dir, err = prepareFolder(p.options.Dir, p.account); err != nil {
		return nil, fmt.Errorf("private PostgreSQL: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.start(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// URL is how to connect as the superuser, to a database of its own.
func (p *Postgres) URL() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.url(superuser)
}

func (p *Postgres) url(database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(superuser, p.password), Host: loopback(p.port),
		Path: "/" + database, RawQuery: "sslmode=disable&connect_timeout=5",
	}
	return u.String()
}

func (p *Postgres) start(ctx context.Context) (err error) {
	begun := time.Now()
	if p.lock, err = takeLock(filepath.Join(p.options.Dir, "lock")); err != nil {
		return fmt.Errorf("private PostgreSQL in %s: %w", p.options.Dir, err)
	}
	defer func() {
		if err != nil {
			p.unlock()
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	if err := p.prepare(ctx); err != nil {
		return err
	}
	if err := onPort(ctx, p.options.Dir, func(port int) error { return p.launch(ctx, port) }); err != nil {
		return err
	}
	p.log.InfoContext(ctx, "private PostgreSQL is ready", "version", p.binaries.major, "port", p.port,
		"data", p.data(), "took", time.Since(begun).Round(time.Millisecond))
	return nil
}

// prepare leaves a whole cluster that no server runs on.
func (p *Postgres) prepare(ctx context.Context) error {
	where := places{dir: p.options.Dir, account: p.account, durable: p.options.Durable, log: p.log}
	major, err := clusterMajor(cmp.Or(where.remembered(), p.options.Dir))
	if err != nil {
		return fmt.Errorf("private PostgreSQL: %w", err)
	}
	if p.binaries, err = findBinaries(ctx, p.account, major); err != nil {
		return err
	}
	if p.place, err = where.find(ctx, p.binaries); err != nil {
		return fmt.Errorf("private PostgreSQL: %w", err)
	}
	if p.primary != nil && major == 0 {
		return p.copyPrimary(ctx)
	}
	if p.template != nil && major == 0 {
		return p.copyTemplate(ctx)
	}
	if p.password, err = keptPassword(p.options.Dir, major != 0); err != nil {
		return fmt.Errorf("private PostgreSQL: %w", err)
	}
	if major != 0 {
		return endOrphan(ctx, p.data(), p.log)
	}
	return createCluster(ctx, p.place, p.binaries, p.account, p.password, p.options.Durable)
}

func (p *Postgres) data() string    { return filepath.Join(p.place, dataFolder) }
func (p *Postgres) logPath() string { return filepath.Join(p.options.Dir, "postgres.log") }

// launch starts the server on a port and waits until it answers.
func (p *Postgres) launch(ctx context.Context, port int) error {
	out, err := openLog(p.logPath())
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }() // the server has its own handle by then
	cmd := exec.Command(p.binaries.postgres(), p.arguments(port)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.data(), serverEnv(), out, out
	// SIGINT is the fast shutdown: a server whose owner was killed still leaves its data in order.
	proc, err := startProcess(cmd, p.account, syscall.SIGINT)
	if err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	p.proc, p.port = proc, port
	if err := p.ready(ctx); err != nil {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		proc.stop(ended, syscall.SIGINT, syscall.SIGQUIT)
		return err
	}
	go p.watch(proc)
	return nil
}

// watch tells of a server that ends without having been told to.
func (p *Postgres) watch(proc *process) {
	<-proc.done
	if !proc.expected.Load() {
		p.log.Error("the private PostgreSQL ended by itself", "state", proc.cmd.ProcessState.String(), "log", tail(p.logPath()))
	}
}

func (p *Postgres) arguments(port int) []string {
	settings := map[string]string{
		"listen_addresses":        "127.0.0.1",
		"port":                    strconv.Itoa(port),
		"unix_socket_directories": "", // its path has a short limit, and nobody needs it
		"log_destination":         "stderr",
		"logging_collector":       "off",
		"log_min_messages":        "fatal",
		"max_connections":         "200",
		"jit":                     "off", // it costs more than it gains on short statements
		"timezone":                "UTC",
		"log_timezone":            "UTC",
	}
	if !p.options.Durable {
		for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
			settings[name] = "off"
		}
	}
	maps.Copy(settings, p.options.Settings)
	args := []string{"-D", p.data()}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	return args
}

// Stop shuts the server down: open transactions are rolled back, what was committed is kept. When
// ctx ends first, the server ends at once, and sets its data right at the next start.
func (p *Postgres) Stop(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stop(ctx, syscall.SIGINT)
}

// Kill ends the server as a crash would: at once, with recovery at the next start.
func (p *Postgres) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), hardStop)
	defer cancel()
	p.stop(ctx, syscall.SIGQUIT)
}

// Start starts the server again after Stop or Kill, on the same port unless that was taken in the
// meantime. A server that runs is left alone.
func (p *Postgres) Start(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lock != nil && p.proc.running() {
		return nil
	}
	p.stop(ctx, syscall.SIGINT)
	return p.start(ctx)
}

// Restart is Stop and Start.
func (p *Postgres) Restart(ctx context.Context) error {
	p.Stop(ctx)
	return p.Start(ctx)
}

// Remove ends the server at once and removes everything it left, Dir included. It is for data that
// nobody needs any more.
func (p *Postgres) Remove() {
	p.Kill()
	if err := errors.Join(os.RemoveAll(p.place), os.RemoveAll(p.options.Dir)); err != nil {
		p.log.Warn("the private PostgreSQL left something behind", "error", err)
	}
}

func (p *Postgres) stop(ctx context.Context, gentle syscall.Signal) {
	if p.lock == nil {
		return
	}
	if p.proc.running() && !p.proc.stop(ctx, gentle, syscall.SIGQUIT) {
		p.log.WarnContext(ctx, "the private PostgreSQL was shut down in haste")
	}
	p.unlock()
}

func (p *Postgres) unlock() {
	if err := p.lock.Close(); err != nil {
		p.log.Warn("the lock of the private PostgreSQL", "error", err)
	}
	p.lock = nil
}
