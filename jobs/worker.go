package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/hibiken/asynq"

	"canopy/db"
	"canopy/internal/bus"
	"canopy/internal/egress"
	"canopy/internal/mail"
	"canopy/internal/secret"
)

// drainTime is how long running tasks may finish when a worker stops.
const drainTime = 20 * time.Second

// Worker runs the tasks, the relay and the upkeep. Any number of workers may run at once.
type Worker struct {
	Store *db.Store
	Redis asynq.RedisConnOpt
	Bus   *bus.Bus
	Box   *secret.Box
	// Mail sends mails; without one they wait in the outbox.
	Mail mail.Sender
	// Documents processes documents; without it they wait.
	Documents *Documents
	// Egress sends deliveries; without it they wait.
	Egress *egress.Client
	// Tools are what runs work with; without them runs wait.
	Tools     *Tools
	Retention Retention
	// PublicURL is the base of links in mails.
	PublicURL string
	// Metrics counts; nil counts nothing.
	Metrics *Metrics
	Log     *slog.Logger
}

// Run works until ctx ends; then tasks under way finish, and others are left for the next worker.
func (w *Worker) Run(ctx context.Context) error {
	servers := []*asynq.Server{w.server(20, checkEvery, queueShares)}
	mux := asynq.NewServeMux()
	if w.Mail != nil {
		mux.Handle(typeMail, &mailer{w.Store, w.Box, w.Mail, w.Log})
	} else {
		w.Log.WarnContext(ctx, "no mail server is configured (SMTP_URL): mails wait in the outbox")
	}
	if w.Documents != nil {
		mux.Handle(typeBlob, &remover{w.Store, w.Documents.Blobs})
		mux.Handle(typeDocument, &processor{
			Documents: *w.Documents, store: w.Store, bus: w.Bus, log: w.Log, stop: ctx.Done(),
		})
		servers = append(servers, w.server(documentsAtOnce, checkEvery, map[string]int{queueDocuments: 1}))
	} else {
		w.Log.WarnContext(ctx, "no document store is configured (CANOPY_BLOB_URL): documents are not processed")
	}
	if w.Tools != nil {
		mux.Handle(typeRun, &runner{w.Store, w.Bus, w.Tools, w.Log, ctx.Done()})
		servers = append(servers, w.server(runsAtOnce, checkEvery, map[string]int{queueRuns: 1}))
	}
	var deliveries *dispatcher
	if w.Egress != nil {
		deliveries = newDispatcher(ctx, w)
		mux.Handle(typeDeliver, deliveries)
		servers = append(servers, w.server(pokesAtOnce, checkOften, map[string]int{queueWebhooks: 1}))
	}
	if err := start(servers, mux); err != nil {
		return err
	}
	client, inspector := asynq.NewClient(w.Redis), asynq.NewInspector(w.Redis)
	defer func() { _, _ = client.Close(), inspector.Close() }()
	relay := &Relay{
		Store: w.Store, Client: client, Inspector: inspector, Bus: w.Bus, Log: w.Log,
		Mails: w.Mail != nil, Documents: w.Documents != nil,
	}
	var running sync.WaitGroup
	running.Go(func() { relay.Run(ctx) })
	running.Go(func() { w.upkeep(ctx) })
	due := &dueRelay{Relay: relay}
	if w.Tools != nil {
		running.Go(func() { relay.watch(ctx, queueRuns, due.relayRuns) })
	}
	if deliveries != nil {
		running.Go(func() { relay.watch(ctx, queueWebhooks, due.relayDeliveries) })
	}
	<-ctx.Done()
	for _, server := range servers {
		running.Go(server.Shutdown)
	}
	running.Wait()
	if deliveries != nil {
		deliveries.drain()
	}
	return nil
}

// documentsAtOnce is how many documents a worker processes at the same time: half the processors,
// since each keeps two busy, and an extractor child beside it.
var documentsAtOnce = max(1, runtime.GOMAXPROCS(0)/2)

// How often empty queues are looked at: deliveries are urgent.
const (
	checkEvery  = 50 * time.Millisecond
	checkOften  = 8 * time.Millisecond
	pokesAtOnce = 10
)

func (w *Worker) server(concurrency int, every time.Duration, queues map[string]int) *asynq.Server {
	return asynq.NewServer(w.Redis, asynq.Config{
		Concurrency:       concurrency,
		Queues:            queues,
		TaskCheckInterval: every,
		ShutdownTimeout:   drainTime,
		Logger:            asynqLog{w.Log},
		LogLevel:          asynq.WarnLevel,
		ErrorHandler: asynq.ErrorHandlerFunc(func(ctx context.Context, t *asynq.Task, err error) {
			w.Log.ErrorContext(ctx, "a task failed", "type", t.Type(), "error", err)
		}),
	})
}

// start starts task servers, all or none.
func start(servers []*asynq.Server, mux *asynq.ServeMux) error {
	for i, server := range servers {
		if err := server.Start(mux); err != nil {
			for _, started := range servers[:i] {
				started.Shutdown()
			}
			return fmt.Errorf("start the task servers: %w", err)
		}
	}
	return nil
}

// upkeepEvery is the pace of the upkeep. Each of its steps may run anywhere, at any time, twice.
const upkeepEvery = 10 * time.Minute

func (w *Worker) upkeep(ctx context.Context) {
	tick := time.NewTicker(upkeepEvery)
	defer tick.Stop()
	for {
		for name, step := range w.steps() {
			if err := step(ctx); err != nil && ctx.Err() == nil {
				w.Log.WarnContext(ctx, "upkeep failed; it is tried again", "step", name, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// steps are what the upkeep does.
func (w *Worker) steps() map[string]func(context.Context) error {
	steps := map[string]func(context.Context) error{
		"rotate signing keys":          func(ctx context.Context) error { return rotateByAge(ctx, w.Store, w.Box) },
		"forget old links":             w.Store.SweepLinks,
		"forget old mails":             w.Store.SweepMails,
		"forget old deliveries":        w.forgetDeliveries,
		"forget old runs":              w.forgetRuns,
		"disable failing destinations": w.disableFailing,
	}
	if w.Documents != nil {
		steps["find originals without a document"] = func(ctx context.Context) error {
			return SweepBlobs(ctx, w.Store, w.Documents.Blobs, orphanAge)
		}
	}
	return steps
}

// asynqLog writes asynq's log with slog.
type asynqLog struct{ log *slog.Logger }

func (l asynqLog) Debug(args ...any) { l.log.Debug("asynq: " + fmt.Sprint(args...)) }
func (l asynqLog) Info(args ...any)  { l.log.Info("asynq: " + fmt.Sprint(args...)) }
func (l asynqLog) Warn(args ...any)  { l.log.Warn("asynq: " + fmt.Sprint(args...)) }
func (l asynqLog) Error(args ...any) { l.log.Error("asynq: " + fmt.Sprint(args...)) }

// Fatal is asynq's word for a fault that ends it; the process's own life cycle decides on that.
func (l asynqLog) Fatal(args ...any) { l.log.Error("asynq: " + fmt.Sprint(args...)) }
