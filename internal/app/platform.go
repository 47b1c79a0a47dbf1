// Package app is the platform, wired: what `canopy serve`, `worker` and `dev` run, and what
// end-to-end tests start. It stands above every other room; only commands and tests import it.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"canopy/db"
	"canopy/db/pgvector"
	"canopy/internal/bus"
	"canopy/internal/config"
	"canopy/internal/egress"
	"canopy/internal/extract"
	"canopy/internal/limit"
	"canopy/internal/passkey"
	"canopy/internal/redisconn"
	"canopy/internal/roster"
	"canopy/internal/secret"
	"canopy/internal/sso"
	"canopy/internal/telemetry"
	"canopy/internal/token"
	"canopy/internal/web"
	"canopy/jobs"
	"canopy/outbox"
	"canopy/resolvers"
)

// keysSoon is how soon the signing keys may be read once more for an unknown key id.
const keysSoon = time.Second

// Platform is what serve, worker and dev share: the parts, wired.
type Platform struct {
	Config *config.Config
	Log    *slog.Logger
	Store  *db.Store
	Box    *secret.Box
	Bus    *bus.Bus
	// Queue is where asynq finds Redis; nil where none is configured.
	Queue    asynq.RedisConnOpt
	Resolver *resolvers.Resolver

	version string
	// limitPatience is that of the options.
	limitPatience time.Duration
	redis         redis.UniversalClient
	registry      *prometheus.Registry
	metrics       *jobs.Metrics
	telemetry     *telemetry.Telemetry
	measured      measured
	untouched     *db.UntouchedDeliveries
	tools         *jobs.Tools
	ocr           *extract.OCR
	// home tells how late a cell is; nil at the home.
	home *homeWatch
	// vectors is the database of vectors; nil where none is configured.
	vectors *pgvector.Store

	background sync.WaitGroup
	stop       context.CancelFunc
}

// Options are what a platform is told besides its settings.
type Options struct {
	// Version is the program's, told to those who ask and to receivers of deliveries.
	Version string
	// Service is what the process does, to whom its traces and metrics are sent: canopy-serve, say.
	Service string
	Log     *slog.Logger
	// LimitPatience is how long limits wait for Redis before they do without; 0 is limit.Patience.
	LimitPatience time.Duration
}

// Open connects and wires the parts. The database has to be there, with this program's schema; Redis
// may be away. Close ends what it began.
func Open(ctx context.Context, cfg *config.Config, o Options) (*Platform, error) {
	box, err := secret.NewBox(cfg.SecretKeys...)
	if err != nil {
		return nil, err
	}
	store, err := db.Open(ctx, cfg.DatabaseURL, db.Options{MaxConns: cfg.DBMaxConns})
	if err != nil {
		return nil, err
	}
	p := &Platform{
		Config: cfg, Log: o.Log, Store: store, Box: box, version: o.Version, limitPatience: o.LimitPatience, registry: prometheus.NewRegistry(),
		untouched: &db.UntouchedDeliveries{Store: store},
	}
	if err := p.checkRegion(); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	if err := p.awaitRegion(ctx); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	if cfg.DatabaseReadURL != "" {
		if err := store.ReadFrom(cfg.DatabaseReadURL, db.Options{MaxConns: cfg.DBMaxConns}, o.Log); err != nil {
			return nil, errors.Join(err, store.Close())
		}
	}
	telemetry.LogTo(o.Log)
	if p.telemetry, err = telemetry.Start(ctx, cfg.Telemetry, cmp.Or(o.Service, "canopy"), o.Version, &p.measured); err == nil {
		err = p.connectRedis()
	}
	if err != nil {
		return nil, errors.Join(err, store.Close(), p.telemetry.Close(ctx))
	}
	if p.redis != nil {
		if err := p.askRedis(ctx); err != nil {
			p.Log.WarnContext(ctx, "Redis can't be used; until it can, other processes learn late of what happens here: see REDIS_URL", "error", err)
		}
	}
	p.Bus = bus.New(p.redis, p.Log)
	if err := p.wire(ctx); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Platform) connectRedis() (err error) {
	if p.Config.RedisURL == "" {
		return nil
	}
	if p.Queue, err = redisconn.Parse(p.Config.RedisURL); err != nil {
		return err
	}
	if p.redis, err = redisconn.Client(p.Config.RedisURL); err == nil && p.telemetry.Traces() {
		redisconn.Trace(p.redis)
	}
	return err
}

func (p *Platform) wire(ctx context.Context) error {
	ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	if p.Store.Cell() != nil { // what has come from the home tells first whether this is the home's key: none other is written down
		if err := jobs.LoadSigningKeys(ctx, p.Store, p.Box, &token.KeyRing{}); err != nil {
			return fmt.Errorf("a cell has the home's CANOPY_SECRET_KEY: %w", err)
		}
	}
	if err := jobs.CheckSealingKeys(ctx, p.Store, p.Box); err != nil {
		return err
	}
	if err := p.wireDirectory(ctx); err != nil {
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
	if err := jobs.LoadSigningKeys(ctx, p.Store, p.Box, keys); err != nil {
		return err
	}
	patience := cmp.Or(p.limitPatience, limit.Patience)
	p.Resolver = &resolvers.Resolver{
		Store: p.Store, Box: p.Box, Egress: client, Providers: sso.New(client, p.Config.PublicURL), DNS: sso.NewDNS(p.Config.DNS), Keys: keys, Bus: p.Bus, PublicURL: p.Config.PublicURL, Log: p.Log,
		Rates:    &resolvers.Rates{Limiter: limit.New(p.redis, patience), Defaults: p.Config.Limits, Store: p.Store, Tell: web.TellRate, Uncounted: web.Uncounted},
		Passkeys: passkey.New(p.Config.PublicURL, p.Config.PasskeyDomain, resolvers.PasskeyLife, p.origins().Has),
		Throttle: limit.NewThrottle(p.redis, patience), Crowds: limit.NewCrowdThrottle(p.redis, patience), Addresses: limit.NewAddressThrottle(p.redis, patience),
		RequestsPerMinute: p.Config.RateLimit,
		Roster:            roster.New(p.redis), Version: p.version,
		EraseAfter: p.Config.EraseAfter, MaxImport: p.Config.MaxImport,
		ClientAddress: web.ClientAddress, UserAgent: web.UserAgent, Together: &resolvers.Together{},
	}
	if p.home != nil {
		p.Resolver.Late, p.Resolver.Lacks = p.home.refuses, p.home.lacks
	}
	p.Resolver.Verifier = token.NewVerifier(p.Resolver.Issuer(), keys, p.reloadKeys(ctx, keys))
	p.background.Go(func() { p.refreshKeys(ctx, keys) })
	p.background.Go(func() { p.Resolver.WatchTree(ctx) })
	p.background.Go(func() { p.shareMinutes(ctx) })
	if err := p.wireAssistant(ctx); err != nil {
		return err
	}
	p.tools, err = p.runTools()
	return err
}

// wireDirectory has the home write what every process needs of the directory, and a cell watch how late its replica is.
func (p *Platform) wireDirectory(ctx context.Context) error {
	if p.Store.Cell() == nil {
		if err := jobs.EnsureSigningKey(ctx, p.Store, p.Box); err != nil {
			return err
		}
		return p.Store.PutDefaultLimits(ctx, p.Config.Limits)
	}
	if p.Config.HomeURL == "" { // a command of the shell
		return nil
	}
	home, err := p.Store.OpenHome(p.Config.HomeURL)
	if err != nil {
		return err
	}
	p.home = &homeWatch{store: p.Store, home: home, most: p.Config.MaxLag, strict: p.Config.StrictLag, begun: time.Now(), notes: p.redis}
	if err := p.home.remember(ctx); err != nil {
		p.Log.WarnContext(ctx, "it was not read whether the replica was late when the home was heard last", "error", err)
	}
	p.home.begin(ctx)
	p.background.Go(func() {
		p.watchHome(ctx, p.home)
		_ = home.Close()
	})
	return nil
}

// origins are those of web front ends, beside the platform's own.
func (p *Platform) origins() web.Origins {
	return web.Origins{Listed: p.Config.CORSOrigins, Local: p.Config.LocalOrigins}
}

// refreshKeys reads the signing keys every so often, and when they have changed.
func (p *Platform) refreshKeys(ctx context.Context, keys *token.KeyRing) {
	tick := time.NewTicker(jobs.KeysEvery)
	defer tick.Stop()
	changed := p.Bus.Subscribe(ctx, outbox.SigningKeysTopic)
	soon := time.NewTicker(askEvery)
	defer soon.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-soon.C:
			if p.Store.Splitting() {
				p.lookForCells(ctx)
			}
			continue
		case <-changed:
		case <-tick.C:
			if err := jobs.UseSealingKey(ctx, p.Store, p.Box); err != nil && ctx.Err() == nil {
				p.Log.WarnContext(ctx, "it was not written down which key seals", "error", err)
			}
			p.compareKeys(ctx)
		}
		p.loadKeys(ctx, keys)
		p.lookForCells(ctx)
	}
}

// compareKeys has the log tell where another process has come to seal with a key that this one was not given.
func (p *Platform) compareKeys(ctx context.Context) {
	if err := jobs.CompareSealingKeys(ctx, p.Store, p.Box); err != nil && ctx.Err() == nil {
		p.Log.WarnContext(ctx, "what other processes seal may not open here", "error", err)
	}
}

func (p *Platform) lookForCells(ctx context.Context) {
	if err := p.Store.LookForCells(ctx); err != nil && ctx.Err() == nil {
		p.Log.WarnContext(ctx, "it was not read which regions have a cell", "error", err)
	}
}

func (p *Platform) loadKeys(ctx context.Context, keys *token.KeyRing) {
	if err := jobs.LoadSigningKeys(ctx, p.Store, p.Box, keys); err != nil && ctx.Err() == nil {
		p.Log.WarnContext(ctx, "the signing keys were not read; the last ones stay in use", "error", err)
	}
}

// reloadKeys reads the keys again for a key id that is not among them: another process may have
// made it a moment ago. Made-up ids do not have them read more than once in a while.
func (p *Platform) reloadKeys(ctx context.Context, keys *token.KeyRing) func(string) bool {
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

// Close ends the background work of an open platform, and its connections.
func (p *Platform) Close() {
	if p.stop != nil {
		p.stop()
	}
	p.background.Wait()
	p.Bus.Close()
	if p.Resolver != nil && p.Resolver.Blobs != nil {
		_ = p.Resolver.Blobs.Close()
	}
	if p.redis != nil {
		_ = p.redis.Close()
	}
	if err := p.telemetry.Close(context.Background()); err != nil {
		p.Log.Warn("the last traces and metrics were not sent", "error", err)
	}
	_ = p.Store.Close()
	if p.vectors != nil {
		_ = p.vectors.Close()
	}
}
