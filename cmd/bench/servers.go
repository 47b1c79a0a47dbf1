package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	canopy "canopy/clients/go"
	"canopy/db"
	"canopy/internal/devstack"
)

// lab is everything that runs for a measurement.
type lab struct {
	dir      string
	postgres *devstack.Postgres
	redis    *devstack.Redis
	env      []string
	binary   string // of the platform
	self     string // this program
	key      canopy.Key
	platform *child
	bare     *child
}

// child is a server under measurement.
type child struct {
	cmd *exec.Cmd
	url string
	// started is how long it took from the start to the first answer.
	started time.Duration
}

func newLab(ctx context.Context, o options) (l *lab, err error) {
	l = &lab{binary: o.binary}
	if l.dir, err = os.MkdirTemp("", "canopy-bench-"); err != nil {
		return nil, err
	}
	log := slog.New(slog.DiscardHandler)
	if l.postgres, err = devstack.StartPostgres(ctx, devstack.PostgresOptions{
		Dir: l.dir + "/pg", Durable: true, Log: log,
		Settings: map[string]string{"shared_buffers": "512MB", "max_wal_size": "8GB", "synchronous_commit": "off"},
	}); err != nil {
		return l, err
	}
	if l.redis, err = devstack.StartRedis(ctx, devstack.RedisOptions{Dir: l.dir + "/redis", Log: log}); err != nil {
		return l, err
	}
	l.env = append(os.Environ(), "DATABASE_URL="+l.postgres.URL(), "REDIS_URL="+l.redis.URL(),
		"CANOPY_BLOB_URL=file://"+l.dir+"/blobs", "CANOPY_SECRET_KEY="+base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32)),
		"CANOPY_MONITOR_USER=bench", "CANOPY_MONITOR_PASSWORD=bench",
		"CANOPY_RATE_LIMIT=0", "CANOPY_MAX_COST=0", "CANOPY_COST_LIMIT=0", "CANOPY_DRAIN=0")
	if err := db.Migrate(ctx, l.postgres.URL()); err != nil {
		return l, err
	}
	out, err := l.canopy(ctx, "bootstrap", "--company", "Bench", "--email", "bench@example.com")
	if err != nil {
		return l, err
	}
	l.key = canopy.PrintedKey(out)
	return l, nil
}

// canopy runs a command of the program to its end.
func (l *lab) canopy(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, l.binary, args...)
	cmd.Env = l.env
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("canopy %s: %w: %s", args[0], err, errs.String())
	}
	return string(out), nil
}

// start starts a server on an address of its own, which stands for {address} in url and args, and
// waits until it answers there.
func (l *lab) start(url string, env []string, name string, args ...string) (*child, error) {
	address, err := devstack.FreeAddress()
	if err != nil {
		return nil, err
	}
	place := strings.NewReplacer("{address}", address)
	for i := range args {
		args[i] = place.Replace(args[i])
	}
	first := place.Replace(url)
	c := &child{url: first[:strings.Index(first, address)+len(address)], cmd: exec.Command(name, args...)}
	c.cmd.Env = append(append([]string{}, l.env...), "CANOPY_LISTEN="+address, "CANOPY_PUBLIC_URL="+c.url)
	c.cmd.Env = append(c.cmd.Env, env...)
	c.cmd.Stderr = io.Discard
	begin := time.Now()
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	for time.Since(begin) < 30*time.Second {
		if resp, err := trusting.Get(first); err == nil { // bounded by the loop
			_ = resp.Body.Close()
			c.started = time.Since(begin)
			return c, nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	return nil, errors.Join(fmt.Errorf("%s does not answer", name), c.stop())
}

// trusting takes any certificate: the receiver's is its own.
var trusting = &http.Client{Transport: &http.Transport{
	TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, //nolint:gosec // our own receiver
}}

// worker starts a worker beside the platform; it serves nothing, and is given a moment.
func (l *lab) worker() (*child, error) {
	c := &child{cmd: exec.Command(l.binary, "worker")}
	c.cmd.Env = append(append([]string{}, l.env...), "CANOPY_PUBLIC_URL="+l.platform.url)
	c.cmd.Stderr = io.Discard
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	time.Sleep(time.Second)
	return c, nil
}

func (c *child) stop() error {
	if c == nil {
		return nil
	}
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	return c.cmd.Wait()
}

// rss is the resident memory of the server, in bytes.
func (c *child) rss() int64 {
	resident, _ := c.memory()
	return resident
}

// memory is the resident memory of the server, in bytes, and what of it is its own: the rest are pages of its program's file.
// The kernel maps more or fewer of those by how they lie in its cache, and shares them among processes.
func (c *child) memory() (resident, own int64) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", c.cmd.Process.Pid))
	if err != nil {
		return 0, 0
	}
	fields := strings.Fields(string(raw))
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	shared, _ := strconv.ParseInt(fields[2], 10, 64)
	page := int64(os.Getpagesize())
	return pages * page, (pages - shared) * page
}

// counters reads the server's own counts: statements and allocations so far.
func (c *child) counters() (statements, allocations float64) {
	req, err := http.NewRequest(http.MethodGet, c.url+"/metrics", nil) // a scrape
	if err != nil {
		return 0, 0
	}
	req.SetBasicAuth("bench", "bench")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, 0
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		n, _ := strconv.ParseFloat(value, 64)
		switch name {
		case "canopy_sql_statements_total":
			statements = n
		case "go_memstats_mallocs_total":
			allocations = n
		}
	}
	return statements, allocations
}

func (l *lab) close() {
	_ = l.platform.stop()
	_ = l.bare.stop()
	if l.redis != nil {
		l.redis.Kill()
	}
	if l.postgres != nil {
		l.postgres.Remove()
	}
	_ = os.RemoveAll(l.dir)
}
