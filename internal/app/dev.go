package app

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"canopy/db"
	"canopy/internal/config"
	"canopy/internal/devstack"
	"canopy/internal/mail"
	"canopy/internal/webhook"
)

// stopTime is how long the private servers may take to end.
const stopTime = 10 * time.Second

// DevInfo is what a development platform tells of itself, to the shell and in dev.json.
type DevInfo struct {
	URL        string `json:"url"`
	GraphqlURL string `json:"graphqlUrl"`
	ConsoleURL string `json:"consoleUrl"`
	DocsURL    string `json:"docsUrl"`
	MonitorURL string `json:"monitorUrl"`
	// Mails is the folder that has them; "" where they are sent.
	Mails string `json:"-"`
	// ReceiverURL is where canopy webhook listen is sent webhooks; "" where others reach the platform, too.
	ReceiverURL string `json:"-"`
	Demo
}

// dev is the whole platform in one process.
type dev struct {
	Options
	cfg      *config.Config
	dir      string
	postgres *devstack.Postgres
	redis    *devstack.Redis
}

// Dev runs the whole platform in one process until ctx ends, with the demo data, on private servers
// where none are configured. dir is the folder for everything that is kept. ready is told where the
// platform is.
func Dev(ctx context.Context, cfg *config.Config, dir string, ready func(DevInfo), o Options) (err error) {
	defer forgive(ctx, &err)
	d := &dev{Options: o, cfg: cfg, dir: dir}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	defer d.stopServers()
	if err := d.startServers(ctx); err != nil {
		return err
	}
	if err := db.Migrate(ctx, cfg.DatabaseURL); err != nil {
		return err
	}
	warn(ctx, cfg, o.Log)
	p, err := Open(ctx, cfg, o)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.FindOCR(ctx); err != nil {
		return err
	}
	l, err := p.listen(ctx)
	if err != nil {
		return err
	}
	info, err := d.demo(ctx, p)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	sender, err := d.sender(ctx, p)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer p.tellStop(ctx)()
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return p.serve(ctx, l, true) })
	all.Go(func() error { return p.work(ctx, sender) })
	sender.wait(ctx)
	ready(*info)
	return all.Wait()
}

// startServers fills the gaps of the settings: private servers, a sealing key that stays, a folder for mails.
func (d *dev) startServers(ctx context.Context) (err error) {
	start, ctx := errgroup.WithContext(ctx)
	if d.cfg.SMTPURL == "" {
		d.cfg.MailFolder = filepath.Join(d.dir, "mail")
	}
	if d.cfg.BlobURL == "" {
		d.cfg.BlobURL = "file://" + filepath.ToSlash(filepath.Join(d.dir, "blobs"))
	}
	if d.cfg.DatabaseURL == "" {
		start.Go(func() (err error) {
			d.postgres, err = devstack.StartPostgres(ctx, devstack.PostgresOptions{Dir: filepath.Join(d.dir, "postgres"), Durable: true, Log: d.Log})
			if err == nil {
				d.cfg.DatabaseURL = d.postgres.URL()
			}
			return err
		})
	}
	if d.cfg.RedisURL == "" {
		start.Go(func() (err error) {
			d.redis, err = devstack.StartRedis(ctx, devstack.RedisOptions{Dir: filepath.Join(d.dir, "redis"), Log: d.Log})
			if err == nil {
				d.cfg.RedisURL = d.redis.URL()
			}
			return err
		})
	}
	start.Go(d.receive)
	if len(d.cfg.SecretKeys) == 0 {
		start.Go(func() error {
			key, err := keptKey(filepath.Join(d.dir, "secret.key"))
			d.cfg.SecretKeys = [][]byte{key}
			return err
		})
	}
	return start.Wait()
}

// receive lets webhooks through to canopy webhook listen on this machine, and trusts it, where nobody but this machine reaches the platform.
func (d *dev) receive() error {
	host, _, err := net.SplitHostPort(d.cfg.Listen)
	if err != nil || !net.ParseIP(host).IsLoopback() || d.cfg.Listen == webhook.ListenAddress {
		return nil
	}
	d.cfg.Receiver = netip.MustParseAddrPort(webhook.ListenAddress)
	if d.cfg.WebhookCA != "" {
		return nil
	}
	d.cfg.WebhookCA = filepath.Join(d.dir, "listener.pem")
	if err := webhook.KeepCertificate(d.cfg.WebhookCA); err != nil {
		return fmt.Errorf("the certificate of canopy webhook listen: %w", err)
	}
	return nil
}

func (d *dev) stopServers() {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	if d.redis != nil {
		d.redis.Stop(ctx) // it keeps nothing
	}
	if d.postgres != nil {
		d.postgres.Stop(ctx)
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

func (d *dev) sender(ctx context.Context, p *Platform) (*firstMails, error) {
	if d.cfg.MailFolder != "" {
		return newFirstMails(ctx, p, &mail.Files{Dir: d.cfg.MailFolder, Log: d.Log})
	}
	smtp, err := mail.NewSMTP(d.cfg.SMTPURL)
	if err != nil {
		return nil, err
	}
	return newFirstMails(ctx, p, smtp)
}

// demo makes the demo data on the first start, and reads what that start told on later ones.
func (d *dev) demo(ctx context.Context, p *Platform) (*DevInfo, error) {
	file := filepath.Join(d.dir, "dev.json")
	info := &DevInfo{Mails: d.cfg.MailFolder}
	if d.cfg.Receiver.IsValid() {
		info.ReceiverURL = "https://" + d.cfg.Receiver.String() + "/"
	}
	_, err := p.Store.Root(ctx)
	switch {
	case errors.Is(err, db.ErrNoRows):
		err := p.MakeDemo(ctx, func(made Demo) error {
			info.Demo = made
			return d.keep(file, info)
		})
		if err != nil {
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
		d.Log.WarnContext(ctx, "the database was filled elsewhere, so there is no demo key here: canopy key create --email ADDRESS makes one")
	}
	return info, d.keep(file, info)
}

// keep writes what the platform tells of itself.
func (d *dev) keep(file string, info *DevInfo) error {
	at := d.cfg.PublicURL
	info.URL, info.GraphqlURL, info.ConsoleURL = at.String(), at.JoinPath("graphql").String(), at.JoinPath("console").String()+"/"
	info.DocsURL, info.MonitorURL = at.JoinPath("docs").String(), at.JoinPath("monitoring").String()+"/"
	raw, err := json.MarshalIndent(info, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(raw, '\n'), 0o600)
}
