package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	canopy "canopy/clients/go"
	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/devstack"
)

const workers = 2

// fleet is every process of a trial.
type fleet struct {
	o        options
	dir      string
	postgres *devstack.Postgres
	redis    *devstack.Redis
	db       tables
	env      []string
	api      canopy.Client
	hookURL  string
	server   *exec.Cmd
	receiver *exec.Cmd
	workers  [workers]*exec.Cmd
	http     *http.Client
	logs     *os.File
}

func newFleet(ctx context.Context, o options) (f *fleet, err error) {
	f = &fleet{o: o, http: &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, //nolint:gosec // our own receiver
	}}}
	f.api.App, f.api.HTTP = access.Builder.String(), f.http
	if f.dir, err = os.MkdirTemp("", "canopy-chaos-"); err != nil {
		return nil, err
	}
	if f.logs, err = os.Create(filepath.Join(f.dir, "canopy.log")); err != nil {
		return f, err
	}
	quiet := slog.New(slog.DiscardHandler)
	if f.postgres, err = devstack.StartPostgres(ctx, devstack.PostgresOptions{Dir: filepath.Join(f.dir, "pg"), Durable: true, Log: quiet}); err != nil {
		return f, err
	}
	if f.redis, err = devstack.StartRedis(ctx, devstack.RedisOptions{Dir: filepath.Join(f.dir, "redis"), Log: quiet}); err != nil {
		return f, err
	}
	if err := db.Migrate(ctx, f.postgres.URL()); err != nil {
		return f, err
	}
	if f.db, err = open(f.postgres.URL()); err != nil {
		return f, err
	}
	return f, f.launch(ctx)
}

// launch starts the receiver and the program's processes.
func (f *fleet) launch(ctx context.Context) error {
	api, err := devstack.FreeAddress()
	if err != nil {
		return err
	}
	hook, err := devstack.FreeAddress()
	if err != nil {
		return err
	}
	certificate := filepath.Join(f.dir, "receiver.pem")
	f.api.URL, f.hookURL = "http://"+api, "https://"+hook
	f.env = append(os.Environ(), "DATABASE_URL="+f.postgres.URL(), "REDIS_URL="+f.redis.URL(), "CANOPY_LISTEN="+api, "CANOPY_PUBLIC_URL="+f.api.URL,
		"CANOPY_SECRET_KEY="+base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32)), "CANOPY_RATE_LIMIT=0", "CANOPY_MAX_COST=0", "CANOPY_COST_LIMIT=0",
		"CANOPY_WEBHOOK_ALLOW=127.0.0.0/8", "CANOPY_WEBHOOK_CA="+certificate)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if f.receiver, err = f.start(self, "-receiver", hook, "-certificate", certificate, "-seed", fmt.Sprint(f.o.seed), "-limit", f.o.limit.String()); err != nil {
		return err
	}
	// Once it answers, its certificate is there for the others to read.
	if err := eventually(ctx, func(ctx context.Context) error { return f.hook(ctx, "/report", nil) }); err != nil {
		return err
	}
	bootstrap := exec.CommandContext(ctx, f.o.binary, "bootstrap", "--company", "Chaos", "--email", "chaos@example.com")
	bootstrap.Env, bootstrap.Stderr = f.env, f.logs
	out, err := bootstrap.Output()
	if err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	f.api.Key = canopy.PrintedKey(string(out))
	if f.server, err = f.start(f.o.binary, "serve"); err != nil {
		return err
	}
	for i := range f.workers {
		if f.workers[i], err = f.start(f.o.binary, "worker"); err != nil {
			return err
		}
	}
	return eventually(ctx, func(ctx context.Context) error {
		_, err := f.api.Token(ctx)
		return err
	})
}

func (f *fleet) start(name string, args ...string) (*exec.Cmd, error) {
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = f.env, f.logs, f.logs
	return cmd, cmd.Start()
}

// eventually does something until it works: parts may be down at the moment.
func eventually(ctx context.Context, do func(context.Context) error) error {
	for {
		err := do(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// heard is what the receivers have heard: destination → event → hearing.
func (f *fleet) heard(ctx context.Context) (all map[string]map[string]*hearing, err error) {
	err = f.hook(ctx, "/report", &all)
	return all, err
}

func (f *fleet) calm(ctx context.Context) error { return f.hook(ctx, "/calm", nil) }

// hook asks the receiver for something.
func (f *fleet) hook(ctx context.Context, path string, out any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.hookURL+path, nil)
	if err != nil {
		return err
	}
	resp, err := f.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if out == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

// close ends every process. The logs stay where something went wrong.
func (f *fleet) close(failed bool) {
	for _, cmd := range append(f.workers[:], f.server, f.receiver) {
		if cmd != nil && cmd.Process != nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	if f.db.DB != nil {
		_ = f.db.Close()
	}
	if f.redis != nil {
		f.redis.Kill()
	}
	if f.postgres != nil {
		f.postgres.Remove()
	}
	if f.logs != nil {
		_ = f.logs.Close()
	}
	if !failed {
		_ = os.RemoveAll(f.dir)
	}
}
