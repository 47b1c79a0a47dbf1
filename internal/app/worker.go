package app

import (
	"context"
	"fmt"
	"net"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"canopy/db"
	"canopy/internal/config"
	"canopy/internal/mail"
	"canopy/jobs"
	"canopy/search"
)

// Work does the background work until ctx ends. operators is where to serve /metrics, /healthz and /readyz, and is closed at the end; nil is nowhere.
func Work(ctx context.Context, cfg *config.Config, operators net.Listener, o Options) (err error) {
	defer forgive(ctx, &err)
	if operators != nil {
		defer func() { _ = operators.Close() }()
	}
	o.Service = "canopy-worker"
	warn(ctx, cfg, o.Log)
	p, err := Open(ctx, cfg, o)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.FindOCR(ctx); err != nil {
		return err
	}
	var sender mail.Sender
	if cfg.SMTPURL != "" {
		if sender, err = mail.NewSMTP(cfg.SMTPURL); err != nil {
			return fmt.Errorf("CANOPY_SMTP_URL: %w", err)
		}
	}
	own := p.own()
	p.measured.set(prometheus.Gatherers{own, p.registry})
	p.Log.InfoContext(ctx, "working")
	defer p.tellStop(ctx)()
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return p.work(ctx, sender) })
	if operators != nil {
		all.Go(func() error { return p.serveOperators(ctx, operators, own) })
	}
	return all.Wait()
}

// Worker makes the background half of the platform. sender may be nil: mails wait then.
func (p *Platform) Worker(sender mail.Sender) *jobs.Worker {
	var copies *search.Engine
	if p.vectors != nil {
		copies = p.Resolver.Search
	}
	var home *db.Home
	if p.home != nil {
		home = p.home.home
	}
	return &jobs.Worker{
		Copies: copies, Home: home,
		Store: p.Store, Redis: p.Queue, Bus: p.Bus, Box: p.Box, Mail: sender, Documents: p.documents(), ReadArchive: p.Resolver.ReadArchive, Egress: p.Resolver.Egress, DNS: p.Resolver.DNS, Tools: p.tools,
		Retention: Retention(p.Config), MonthsFrom: p.Config.MonthsFrom,
		PublicURL: p.Resolver.Issuer(), Roster: p.Resolver.Roster, Version: p.version, Metrics: p.metrics, Trace: p.telemetry, Log: p.Log,
	}
}

// Retention is how long each log is kept by the settings.
func Retention(c *config.Config) jobs.Retention {
	return jobs.Retention{db.DeliveryLog: c.WebhookRetention, db.RunLog: c.RunRetention, db.AuditLog: c.AuditRetention}
}

// work runs it until ctx ends. The first PDF of a machine would wait some seconds until its reader is
// compiled: that is done meanwhile.
func (p *Platform) work(ctx context.Context, sender mail.Sender) error {
	w := p.Worker(sender)
	if w.Documents != nil {
		p.background.Go(func() {
			if err := w.Documents.Extract.Warm(ctx); err != nil && ctx.Err() == nil {
				p.Log.WarnContext(ctx, "the reader of PDFs is not ready", "error", err)
			}
		})
	}
	return w.Run(ctx)
}
