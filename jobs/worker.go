package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hibiken/asynq"

	"canopy/db"
	"canopy/internal/bus"
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
	Log  *slog.Logger
}

// Run works until ctx ends; then tasks under way finish, and others are left for the next worker.
func (w *Worker) Run(ctx context.Context) error {
	server := asynq.NewServer(w.Redis, asynq.Config{
		Concurrency:       20,
		Queues:            queueShares,
		TaskCheckInterval: 50 * time.Millisecond,
		ShutdownTimeout:   drainTime,
		Logger:            asynqLog{w.Log},
		LogLevel:          asynq.WarnLevel,
		ErrorHandler: asynq.ErrorHandlerFunc(func(ctx context.Context, t *asynq.Task, err error) {
			w.Log.ErrorContext(ctx, "a task failed", "type", t.Type(), "error", err)
		}),
	})
	mux := asynq.NewServeMux()
	if w.Mail != nil {
		mux.Handle(typeMail, &mailer{w.Store, w.Box, w.Mail, w.Log})
	} else {
		w.Log.WarnContext(ctx, "no mail server is configured (SMTP_URL): mails wait in the outbox")
	}
	if err := server.Start(mux); err != nil {
		return fmt.Errorf("start the task server: %w", err)
	}
	client := asynq.NewClient(w.Redis)
	defer func() { _ = client.Close() }()
	relay := &Relay{Store: w.Store, Client: client, Bus: w.Bus, Log: w.Log, Mails: w.Mail != nil}
	var running sync.WaitGroup
	running.Go(func() { relay.Run(ctx) })
	running.Go(func() { w.upkeep(ctx) })
	<-ctx.Done()
	server.Shutdown()
	running.Wait()
	return nil
}

// upkeepEvery is the pace of the upkeep. Each of its steps may run anywhere, at any time, twice.
const upkeepEvery = 10 * time.Minute

func (w *Worker) upkeep(ctx context.Context) {
	tick := time.NewTicker(upkeepEvery)
	defer tick.Stop()
	for {
		for name, step := range map[string]func(context.Context) error{
			"rotate signing keys": func(ctx context.Context) error { return rotateByAge(ctx, w.Store, w.Box) },
			"forget old links":    w.Store.SweepLinks,
			"forget old mails":    w.Store.SweepMails,
		} {
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

// asynqLog writes asynq's log with slog.
type asynqLog struct{ log *slog.Logger }

func (l asynqLog) Debug(args ...any) { l.log.Debug("asynq: " + fmt.Sprint(args...)) }
func (l asynqLog) Info(args ...any)  { l.log.Info("asynq: " + fmt.Sprint(args...)) }
func (l asynqLog) Warn(args ...any)  { l.log.Warn("asynq: " + fmt.Sprint(args...)) }
func (l asynqLog) Error(args ...any) { l.log.Error("asynq: " + fmt.Sprint(args...)) }

// Fatal is asynq's word for a fault that ends it; the process's own life cycle decides on that.
func (l asynqLog) Fatal(args ...any) { l.log.Error("asynq: " + fmt.Sprint(args...)) }
