package main

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"canopy/db"
	"canopy/internal/bus"
	"canopy/internal/config"
	"canopy/internal/egress"
	"canopy/internal/limit"
	"canopy/internal/mail"
	"canopy/internal/redisconn"
	"canopy/internal/secret"
	"canopy/internal/token"
	"canopy/jobs"
	"canopy/resolvers"
)

// keysEvery is how often the signing keys are read again; an unknown key id has them read at once,
// at most every keysSoon.
const (
	keysEvery = 30 * time.Second
	keysSoon  = time.Second
)

// platform is what serve, worker and dev share: the parts, wired.
type platform struct {
	cfg      *config.Config
	log      *slog.Logger
	store    *db.Store
	redis    redis.UniversalClient
	queue    asynq.RedisConnOpt
	bus      *bus.Bus
	box      *secret.Box
	resolver *resolvers.Resolver
	registry *prometheus.Registry
	metrics  *jobs.Metrics
	tools    *jobs.Tools

	background sync.WaitGroup
	stop       context.CancelFunc
}

// openPlatform connects and wires the parts. The database has to be there; Redis may be away.
func openPlatform(ctx context.Context, cfg *config.Config, log *slog.Logger) (*platform, error) {
	box, err := secret.NewBox(cfg.SecretKey)
	if err != nil {
		return nil, err
	}
	store, err := db.Open(ctx, cfg.DatabaseURL, db.Options{})
	if err != nil {
		return nil, err
	}
	p := &platform{cfg: cfg, log: log, store: store, box: box, registry: prometheus.NewRegistry()}
	if err := p.connectRedis(); err != nil {
		_ = store.Close()
		return nil, err
	}
	p.bus = bus.New(p.redis, log)
	if err := p.wire(ctx); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *platform) connectRedis() (err error) {
	if p.cfg.RedisURL == "" {
		return nil
	}
	if p.queue, err = redisconn.Parse(p.cfg.RedisURL); err != nil {
		return err
	}
	p.redis, err = redisconn.Client(p.cfg.RedisURL)
	return err
}

func (p *platform) wire(ctx context.Context) error {
	ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	if err := jobs.EnsureSigningKey(ctx, p.store, p.box); err != nil {
		return err
	}
	client, err := p.egressClient(egress.DefaultTimeout, egress.DefaultMaxResponse)
	if err != nil {
		return err
	}
	if p.metrics, err = jobs.NewMetrics(p.registry); err != nil {
		return err
	}
	keys := &token.KeyRing{}
	if err := jobs.LoadSigningKeys(ctx, p.store, p.box, keys); err != nil {
		return err
	}
	p.resolver = &resolvers.Resolver{
		Store: p.store, Box: p.box, Egress: client, Keys: keys, Bus: p.bus, PublicURL: p.cfg.PublicURL, Log: p.log,
		Limiter: limit.New(p.redis), Throttle: limit.NewThrottle(p.redis), Addresses: limit.NewAddressThrottle(p.redis), RequestsPerMinute: p.cfg.RateLimit,
	}
	p.resolver.Verifier = token.NewVerifier(p.resolver.Issuer(), keys, p.reloadKeys(ctx, keys))
	p.background.Go(func() { p.refreshKeys(ctx, keys) })
	if err := p.wireAssistant(ctx); err != nil {
		return err
	}
	p.tools, err = p.runTools()
	return err
}

func (p *platform) refreshKeys(ctx context.Context, keys *token.KeyRing) {
	tick := time.NewTicker(keysEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			p.loadKeys(ctx, keys)
		}
	}
}

func (p *platform) loadKeys(ctx context.Context, keys *token.KeyRing) {
	if err := jobs.LoadSigningKeys(ctx, p.store, p.box, keys); err != nil && ctx.Err() == nil {
		p.log.WarnContext(ctx, "the signing keys were not read; the last ones stay in use", "error", err)
	}
}

// reloadKeys reads the keys again for a key id that is not among them: another process may have
// made it a moment ago. Made-up ids do not have them read more than once in a while.
func (p *platform) reloadKeys(ctx context.Context, keys *token.KeyRing) func(string) bool {
	var last atomic.Int64
	return func(string) bool {
		now, before := time.Now().UnixNano(), last.Load()
		if now-before < keysSoon.Nanoseconds() || !last.CompareAndSwap(before, now) {
			return false
		}
		p.loadKeys(ctx, keys)
		return true
	}
}

// worker makes the background half of the platform.
func (p *platform) worker(sender mail.Sender) *jobs.Worker {
	return &jobs.Worker{
		Store: p.store, Redis: p.queue, Bus: p.bus, Box: p.box, Mail: sender, Documents: p.documents(), Egress: p.resolver.Egress, Tools: p.tools,
		Retention: jobs.Retention{Deliveries: p.cfg.WebhookRetention, Runs: p.cfg.RunRetention}, PublicURL: p.resolver.Issuer(), Metrics: p.metrics, Log: p.log,
	}
}

// work runs it until ctx ends. The first PDF of a machine would wait some seconds until its reader is
// compiled: that is done meanwhile.
func (p *platform) work(ctx context.Context, sender mail.Sender) error {
	w := p.worker(sender)
	if w.Documents != nil {
		p.background.Go(func() {
			if err := w.Documents.Extract.Warm(ctx); err != nil && ctx.Err() == nil {
				p.log.WarnContext(ctx, "the reader of PDFs is not ready", "error", err)
			}
		})
	}
	return w.Run(ctx)
}

func (p *platform) close() {
	if p.stop != nil {
		p.stop()
	}
	p.background.Wait()
	p.bus.Close()
	if p.resolver != nil && p.resolver.Blobs != nil {
		_ = p.resolver.Blobs.Close()
	}
	if p.redis != nil {
		_ = p.redis.Close()
	}
	_ = p.store.Close()
}
