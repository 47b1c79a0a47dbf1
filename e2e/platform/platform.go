package platform

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq" // the driver of the look into the tables

	"canopy/internal/app"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
	"canopy/internal/mail"
)

// Platform is a whole platform on a database of its own, with the demo data, behind a real listener.
type Platform struct {
	T    testing.TB
	App  *app.Platform
	URL  string
	Demo app.Demo
	// DB is the platform's database, past the platform.
	DB *sqlx.DB
	// Log is what the platform has said.
	Log *devtest.Log
	// StopServing has nobody reach the platform any more.
	StopServing func()
}

// Start starts a platform; change may alter its settings first. The limits are off.
func Start(t testing.TB, change ...func(*config.Config)) *Platform {
	t.Helper()
	s := &Platform{T: t, Log: &devtest.Log{}}
	t.Cleanup(s.forget)
	server := httptest.NewUnstartedServer(nil)
	s.URL = "http://" + server.Listener.Addr().String()
	cfg := settings(t, s.URL)
	cfg.DatabaseURL = demoDatabase(t)
	cfg.RedisURL = devtest.Redis(t)
	cfg.BlobURL = "file://" + t.TempDir()
	for _, f := range change {
		f(cfg)
	}
	s.open(cfg)
	var err error
	if server.Config.Handler, err = s.App.Handler(true); err != nil {
		t.Fatal(err)
	}
	server.Start()
	s.StopServing = server.Close
	t.Cleanup(func() { s.StopServing() })
	return s
}

// forget lets go of a platform whose test has ended. What a test has to do at its end holds on to the platform, and is held by the
// package testing until all tests that ran beside this one have ended: without this the memory of all their platforms adds up.
func (s *Platform) forget() { *s = Platform{T: s.T} }

// limitPatience has limits hold on a machine that is busy, where Redis takes its time.
const limitPatience = 10 * time.Second

// Patience is how long a test waits for what happens in the background. It is far more than that takes: only a test that fails
// waits for its end.
const Patience = 2 * time.Minute

// AtOnce is how soon what an event ends has ended, on a busy machine, too: without the event a look every ten seconds would end it.
const AtOnce = 5 * time.Second

// settings are those of a platform at an address, without its servers.
func settings(t testing.TB, at string) *config.Config {
	t.Helper()
	env := map[string]string{"CANOPY_RATE_LIMIT": "0", "CANOPY_COST_LIMIT": "0"}
	cfg, err := config.Load(config.Dev, func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	if cfg.PublicURL, err = url.Parse(at); err != nil {
		t.Fatal(err)
	}
	cfg.SecretKeys = [][]byte{bytes.Repeat([]byte{7}, 32)}
	return cfg
}

// open wires the platform to its database.
func (s *Platform) open(cfg *config.Config) {
	s.T.Helper()
	var err error
	if s.DB, err = sqlx.Open("postgres", cfg.DatabaseURL); err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() { _ = s.DB.Close() })
	if cfg.Region == "" { // a cell gets them
		s.Demo = s.credentials()
		for _, column := range []string{"applications SET auth_url", "app_instances SET domain"} {
			s.SQL("UPDATE "+column+" = $1", s.URL)
		}
	}
	s.App, err = app.Open(context.Background(), cfg, app.Options{
		Version: "test", Log: slog.New(slog.NewTextHandler(s.Log, nil)), LimitPatience: limitPatience,
	})
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() { s.App.Close() })
}

// Work runs the platform's worker until the test ends, and gives what stops it earlier.
func (s *Platform) Work(sender mail.Sender) (stop func()) {
	s.T.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.App.Worker(sender).Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			s.T.Error(err)
		}
	})
	s.T.Cleanup(stop)
	return stop
}
