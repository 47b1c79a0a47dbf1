package app

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/hibiken/asynq"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redis/go-redis/v9"

	"canopy/console"
	"canopy/db"
	"canopy/graph"
	"canopy/internal/hop"
	"canopy/internal/monitoring"
	"canopy/internal/pages"
	"canopy/internal/web"
	"canopy/jobs"
	"canopy/rest"
	"canopy/search"
)

// probed are asked for every few seconds, by machines.
var probed = []string{"/healthz", "/readyz", "/metrics"}

// Handler is everything that the platform serves, on one listener. open leaves the operator's pages
// without a password where none is set, for dev.
func (p *Platform) Handler(open bool) (http.Handler, error) {
	origins := p.origins()
	registry := p.own()
	p.measured.set(prometheus.Gatherers{registry, p.registry})
	measure, err := web.Metrics(registry)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	toCells := hop.Options{Region: p.Config.Region, Home: p.Config.PublicURL, Keys: p.Config.CellKeys, Metrics: registry, Log: p.Log}
	if p.home != nil {
		toCells.Follow = p.home.follow
	}
	cells, err := hop.New(toCells)
	if err != nil {
		return nil, err
	}
	p.Resolver.Cells = cells
	door, _ := rest.New(p.Resolver, rest.Options{Version: p.version, Origins: origins, Cells: cells, Readable: func(r *http.Request) bool {
		_, pattern := mux.Handler(&http.Request{Method: http.MethodGet, URL: r.URL, Host: r.Host})
		return pattern != "/"
	}})
	gql := graph.New(p.Resolver, graph.Options{
		Introspection: p.Config.Introspection, MaxCost: p.Config.MaxCost, CostPerMinute: p.Config.CostLimit,
		Redis: p.redis, Origins: origins, PublicURL: p.Config.PublicURL, Metrics: registry, Cells: cells, Log: p.Log,
	})
	mux.Handle("/", door)
	mux.Handle("/graphql", gql)
	if p.Config.Introspection {
		mux.HandleFunc("GET /schema.graphql", graph.ServeSchema)
	}
	pages.Register(mux, pages.Options{Version: p.version, Monitoring: p.Queue != nil, Console: "console/", Closed: !p.Config.Introspection})
	console.Register(mux, console.Options{GraphiQL: p.Config.Introspection, PortalOrigins: p.Config.PortalOrigins, Mails: p.Config.MailFolder})
	guard := p.guard()
	guard.Open = open && p.Config.MonitorUser == ""
	p.operators(mux, guard, registry)
	if p.Queue != nil {
		dashboard, err := monitoring.Handler(p.Queue)
		if err != nil {
			return nil, err
		}
		mux.Handle(monitoring.Root+"/", guard.Guard(dashboard))
		mux.Handle("GET "+monitoring.Root, http.RedirectHandler(monitoring.Root+"/", http.StatusSeeOther))
	}
	return web.Chain(web.Routed(mux), web.Trace(p.telemetry, probed...), web.Identify(p.Config.TrustedProxies), cells.Arrive(rest.NotPassedOn), measure,
		web.AccessLog(p.Log, probed...), web.Recover(p.Log, rest.Failed),
		web.Bare(p.Config.PublicURL.Scheme == "https"), web.CORS(origins), web.NoStore,
		web.CleanPaths(rest.NotFound)), nil
}

// readyTimeout bounds what readiness asks of all parts. Redis, without which the platform is ready, has less:
// a probe that gives up after a second, as Kubernetes' does by default, must not take the process out for it.
const (
	readyTimeout = 2 * time.Second
	redisTimeout = 300 * time.Millisecond
)

// ready tells whether requests can be served: with the database away or read-only they can't, and
// soon not where the process was told to stop; without Redis they can, though limits are open and
// background work waits.
func (p *Platform) ready(w http.ResponseWriter, r *http.Request) {
	if web.Ending(r.Context()) {
		answer(w, http.StatusServiceUnavailable, "stopping", nil)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	parts := map[string]string{"postgresql": "ok", "schema": "ok", "redis": "ok"}
	status, word := http.StatusOK, "ok"
	if p.askRedis(ctx) != nil {
		parts["redis"], word = "away", "degraded"
	}
	if err := p.Store.Ready(ctx); err != nil {
		p.Log.WarnContext(ctx, "not ready", "error", err)
		status, word = http.StatusServiceUnavailable, "unavailable"
		if errors.Is(err, db.ErrReadOnly) {
			parts["postgresql"] = "read-only"
		} else {
			parts["postgresql"], parts["schema"] = "away or of another schema", "unknown"
		}
	}
	if p.home != nil {
		says, well := p.home.says()
		if parts["directory"] = says; !well && status == http.StatusOK {
			word = "degraded"
		}
		if p.home.refuses() != nil {
			status, word = http.StatusServiceUnavailable, "unavailable"
		}
	}
	if late := p.relayLag(ctx); status == http.StatusOK && late > stuckAfter {
		parts["relay"], word = "stuck: something has been due for "+late.Round(time.Second).String(), "degraded"
	}
	answer(w, status, word, parts)
}

// askRedis asks whether all of Redis answers: of a cluster, each master, as each has keys of its own.
func (p *Platform) askRedis(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, redisTimeout)
	defer cancel()
	if cluster, is := p.redis.(*redis.ClusterClient); is {
		return cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error { return master.Ping(ctx).Err() })
	}
	if p.redis == nil {
		return errors.New("there is no Redis")
	}
	return p.redis.Ping(ctx).Err()
}

// stuckAfter is how long something may be due, with nobody at work on it, before the relay counts
// as stuck.
const stuckAfter = time.Minute

// relayLag is how long something in the outboxes has been due with nobody at work on it.
func (p *Platform) relayLag(ctx context.Context) (late time.Duration) {
	for _, ask := range []func(context.Context) (time.Duration, error){p.untouched.For, p.Store.RunsUntouchedFor} {
		if d, err := ask(ctx); err == nil {
			late = max(late, d)
		}
	}
	return late
}

// guard lets operators in.
func (p *Platform) guard() web.BasicAuth {
	return web.BasicAuth{User: p.Config.MonitorUser, Password: p.Config.MonitorPassword, Tries: p.Resolver.Addresses}
}

// operators serves what operators ask of any process of the platform.
func (p *Platform) operators(mux *http.ServeMux, guard web.BasicAuth, own *prometheus.Registry) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok", nil) })
	mux.HandleFunc("GET /readyz", p.ready)
	mux.Handle("GET /metrics", guard.Guard(promhttp.HandlerFor(prometheus.Gatherers{own, p.registry}, promhttp.HandlerOpts{})))
	profiles(mux, guard)
}

// own is a registry of what every process of the platform measures of itself and of the outboxes.
func (p *Platform) own() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	backlogs := &jobs.Backlogs{Store: p.Store}
	if p.Queue != nil {
		backlogs.Inspector = asynq.NewInspector(p.Queue)
	}
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), backlogs, p.home, replicaMetrics{p.Store}, copyMetrics{func() *search.Engine { return p.Resolver.Search }},
		counter("canopy_sql_statements_total", "SQL statements that were run.", p.Store.Executed),
		counter("canopy_search_index_loads_total", "Search indexes that were loaded.", func() int64 { return int64(p.Resolver.Search.Stats().Loads) }),
		counter("canopy_search_index_evictions_total", "Search indexes that were dropped to make room.", func() int64 { return int64(p.Resolver.Search.Stats().Evictions) }),
		gauge("canopy_search_index_bytes", "Memory of the search indexes that are kept.", func() int64 { return p.Resolver.Search.Stats().Bytes }),
		gauge("canopy_search_index_disk_bytes", "Files of the search indexes that are kept.", func() int64 { return p.Resolver.Search.Stats().OnDisk }))
	return registry
}

func gauge(name, help string, read func() int64) prometheus.GaugeFunc {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(read()) })
}

func counter(name, help string, read func() int64) prometheus.CounterFunc {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(read()) })
}

func answer(w http.ResponseWriter, status int, word string, parts map[string]string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	body := map[string]any{"status": word}
	if parts != nil {
		body["parts"] = parts
	}
	_ = json.NewEncoder(w).Encode(body) // the caller has gone, if anything
}
