package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"

	"golang.org/x/sync/errgroup"

	"canopy/internal/config"
	"canopy/internal/mail"
	"canopy/internal/web"
)

// version is the program's, set when it is built.
var version = "dev"

// gcPercent trades memory for speed: the garbage collector runs when the heap has grown to five
// times of what is live, or nears the limit. A worker's need is bounded, by the texts that it has at
// hand and the indexes that it keeps, so that it is held to less. GOGC and GOMEMLIMIT in the
// environment win.
const (
	gcPercent    = 400
	memoryLimit  = 1 << 30
	workerMemory = 160 << 20
)

func (m *Main) tune(mode config.Mode) {
	if m.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	limit := int64(memoryLimit)
	if mode == config.Worker {
		limit = workerMemory
	}
	if m.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}

func serveCommand(m *Main, _ *flag.FlagSet) func(context.Context, []string) error {
	return func(ctx context.Context, _ []string) error {
		p, err := m.server(ctx, config.Server)
		if err != nil {
			return err
		}
		defer p.close()
		l, err := p.listen(ctx)
		if err != nil {
			return err
		}
		return p.serve(ctx, l, false)
	}
}

// server opens the platform for serve and worker.
func (m *Main) server(ctx context.Context, mode config.Mode) (*platform, error) {
	cfg, err := config.Load(mode, m.Getenv)
	if err != nil {
		return nil, err
	}
	m.tune(mode)
	log := m.logger()
	warn(ctx, cfg, log)
	return openPlatform(ctx, cfg, log)
}

// warn tells of settings that are a risk, or are missed.
func warn(ctx context.Context, cfg *config.Config, log *slog.Logger) {
	for _, w := range cfg.Warnings() {
		log.WarnContext(ctx, w)
	}
}

func (p *platform) listen(ctx context.Context) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", p.cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("CANOPY_LISTEN: %w", err)
	}
	return l, nil
}

// serve answers until ctx ends, and then finishes what is under way. open leaves the operator's
// pages without a password, for dev.
func (p *platform) serve(ctx context.Context, l net.Listener, open bool) error {
	h, err := p.handler(open)
	if err != nil {
		return err
	}
	p.log.InfoContext(ctx, "serving", "address", l.Addr().String(), "url", p.cfg.PublicURL.String())
	return web.Serve(ctx, l, h, web.ServeOptions{Log: p.log})
}

func workerCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	metrics := flags.String("metrics", "", "address to serve /metrics, /healthz and /readyz on, such as :9090 (default nowhere)")
	return func(ctx context.Context, _ []string) error {
		p, err := m.server(ctx, config.Worker)
		if err != nil {
			return err
		}
		defer p.close()
		var sender mail.Sender
		if p.cfg.SMTPURL != "" {
			if sender, err = mail.NewSMTP(p.cfg.SMTPURL); err != nil {
				return fmt.Errorf("CANOPY_SMTP_URL: %w", err)
			}
		}
		p.log.InfoContext(ctx, "working")
		all, ctx := errgroup.WithContext(ctx)
		all.Go(func() error { return p.work(ctx, sender) })
		if *metrics != "" {
			all.Go(func() error { return p.serveOperators(ctx, *metrics) })
		}
		return all.Wait()
	}
}

// serveOperators serves a worker's metrics and health.
func (p *platform) serveOperators(ctx context.Context, address string) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("-metrics: %w", err)
	}
	mux := http.NewServeMux()
	p.operatorMux(mux, web.BasicAuth{User: p.cfg.MonitorUser, Password: p.cfg.MonitorPassword}, p.own())
	return web.Serve(ctx, l, mux, web.ServeOptions{Log: p.log})
}
