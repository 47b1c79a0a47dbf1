package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"

	"canopy/db"
	"canopy/internal/config"
	"canopy/internal/devstack"
	"canopy/internal/mail"
)

// stopTime is how long the private servers may take to end.
const stopTime = 10 * time.Second

// devFile is what dev tells of itself in .data/dev.json.
type devFile struct {
	URL           string `json:"url"`
	GraphqlURL    string `json:"graphqlUrl"`
	ConsoleURL    string `json:"consoleUrl"`
	DocsURL       string `json:"docsUrl"`
	MonitorURL    string `json:"monitorUrl"`
	ClientID      string `json:"clientId"`
	ClientSecret  string `json:"clientSecret"`
	AdminEmail    string `json:"adminEmail"`
	AdminPassword string `json:"adminPassword"`
}

func devCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	dir := flags.String("data", ".data", "folder for everything that is kept")
	return func(ctx context.Context, _ []string) error {
		cfg, err := config.Load(config.Dev, m.Getenv)
		if err != nil {
			return err
		}
		m.tune(config.Dev)
		d := &dev{m: m, cfg: cfg, log: m.logger()}
		if d.dir, err = filepath.Abs(*dir); err != nil {
			return err
		}
		return d.run(ctx)
	}
}

// dev is the whole platform in one process.
type dev struct {
	m        *Main
	cfg      *config.Config
	log      *slog.Logger
	dir      string
	postgres *devstack.Postgres
	redis    *devstack.Redis
}

func (d *dev) run(ctx context.Context) error {
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return err
	}
	defer d.stopServers()
	if err := d.startServers(ctx); err != nil {
		return err
	}
	if err := db.Migrate(ctx, d.cfg.DatabaseURL); err != nil {
		return err
	}
	warn(ctx, d.cfg, d.log)
	p, err := openPlatform(ctx, d.cfg, d.log)
	if err != nil {
		return err
	}
	defer p.close()
	l, err := p.listen(ctx)
	if err != nil {
		return err
	}
	info, err := d.demo(ctx, p)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	sender, err := d.sender()
	if err != nil {
		return errors.Join(err, l.Close())
	}
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return p.serve(ctx, l, true) })
	all.Go(func() error { return p.work(ctx, sender) })
	d.tell(info)
	return all.Wait()
}

// startServers fills the gaps of the settings: private servers, a sealing key that stays.
func (d *dev) startServers(ctx context.Context) (err error) {
	start, ctx := errgroup.WithContext(ctx)
	if d.cfg.BlobURL == "" {
		d.cfg.BlobURL = "file://" + filepath.ToSlash(filepath.Join(d.dir, "blobs"))
	}
	if d.cfg.DatabaseURL == "" {
		start.Go(func() (err error) {
			d.postgres, err = devstack.StartPostgres(ctx, devstack.PostgresOptions{Dir: filepath.Join(d.dir, "postgres"), Durable: true, Log: d.log})
			if err == nil {
				d.cfg.DatabaseURL = d.postgres.URL()
			}
			return err
		})
	}
	if d.cfg.RedisURL == "" {
		start.Go(func() (err error) {
			d.redis, err = devstack.StartRedis(ctx, devstack.RedisOptions{Dir: filepath.Join(d.dir, "redis"), Log: d.log})
			if err == nil {
				d.cfg.RedisURL = d.redis.URL()
			}
			return err
		})
	}
	if len(d.cfg.SecretKey) == 0 {
		start.Go(func() (err error) {
			d.cfg.SecretKey, err = keptKey(filepath.Join(d.dir, "secret.key"))
			return err
		})
	}
	return start.Wait()
}

func (d *dev) stopServers() {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	if d.redis != nil {
		_ = d.redis.Stop(ctx) // it keeps nothing
	}
	if d.postgres != nil {
		if err := d.postgres.Stop(ctx); err != nil {
			d.log.Warn("PostgreSQL did not stop in order", "error", err)
		}
	}
}

// keptKey reads the sealing key of a file, making it the first time.
func keptKey(file string) ([]byte, error) {
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		key := make([]byte, 32)
		_, _ = rand.Read(key) // never fails, by its documentation
		return key, os.WriteFile(file, []byte(base64.StdEncoding.EncodeToString(key)), 0o600)
	}
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(string(raw))
}

func (d *dev) sender() (mail.Sender, error) {
	if d.cfg.SMTPURL == "" {
		return &mail.Files{Dir: filepath.Join(d.dir, "mail"), Log: d.log}, nil
	}
	return mail.NewSMTP(d.cfg.SMTPURL)
}

// demo makes the demo data on the first start, and reads what that start told on later ones.
func (d *dev) demo(ctx context.Context, p *platform) (*devFile, error) {
	file := filepath.Join(d.dir, "dev.json")
	info := &devFile{}
	_, err := p.store.Root(ctx)
	switch {
	case errors.Is(err, db.ErrNoRows):
		if err := makeDemo(ctx, p, info, func() error { return d.keep(file, info) }); err != nil {
			return nil, fmt.Errorf("demo data: %w", err)
		}
	case err != nil:
		return nil, err
	default:
		if raw, err := os.ReadFile(file); err == nil {
			if err := json.Unmarshal(raw, info); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	if info.ClientID == "" {
		d.log.WarnContext(ctx, "the database was filled elsewhere, so there is no demo key here: canopy key create --email ADDRESS makes one")
	}
	return info, d.keep(file, info)
}

// keep writes what the platform tells of itself.
func (d *dev) keep(file string, info *devFile) error {
	at := d.cfg.PublicURL
	info.URL, info.GraphqlURL, info.ConsoleURL = at.String(), at.JoinPath("graphql").String(), at.JoinPath("graphiql").String()
	info.DocsURL, info.MonitorURL = at.JoinPath("docs").String(), at.JoinPath("monitoring").String()+"/"
	raw, err := json.MarshalIndent(info, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(raw, '\n'), 0o600)
}

func (d *dev) tell(i *devFile) {
	w := tabwriter.NewWriter(d.m.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(w, "\nCanopy is ready. Ctrl-C stops it; the data stays in %s.\n\n", d.dir)
	for _, line := range [][2]string{
		{"REST", i.URL},
		{"GraphQL", i.GraphqlURL},
		{"Console", i.ConsoleURL},
		{"Docs", i.DocsURL},
		{"Queues", i.MonitorURL},
		{"Client id", i.ClientID},
		{"Client secret", i.ClientSecret},
		{"Admin", i.AdminEmail},
		{"Password", i.AdminPassword},
	} {
		_, _ = fmt.Fprintf(w, "  %s\t%s\n", line[0], line[1])
	}
	_, _ = fmt.Fprintln(w)
	_ = w.Flush()
}
