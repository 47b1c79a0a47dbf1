package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/hibiken/asynq"

	"canopy/db"
	"canopy/internal/bus"
	"canopy/internal/chunk"
	"canopy/internal/egress"
	"canopy/internal/mail"
	"canopy/internal/roster"
	"canopy/internal/secret"
	"canopy/internal/sso"
	"canopy/internal/telemetry"
	"canopy/search"
)

// DrainTime is how long running tasks may finish when a worker stops.
const DrainTime = 20 * time.Second

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
	// ReadArchive reads archives in, from where documents are stored.
	ReadArchive ReadArchive
	// Egress sends deliveries; without it they wait.
	Egress *egress.Client
	// DNS is asked whether companies still have their domains.
	DNS *sso.DNS
	// Tools are what runs work with; without them runs wait.
	Tools     *Tools
	Retention Retention
	// MonthsFrom is how many rows a log has once it is changed over to months; 0 changes none.
	MonthsFrom int
	// Copies copies the vectors of large contexts; nil where there is no database for them.
	Copies *search.Engine
	// Home is told of what was used in a cell; nil at the home.
	Home *db.Home
	// PublicURL is the base of links in mails.
	PublicURL string
	// Roster is where the worker is written down, with its Version, while it runs.
	Roster  *roster.Roster
	Version string
	// Metrics counts; nil counts nothing.
	Metrics *Metrics
	// Trace tells of the work; nil tells nothing.
	Trace *telemetry.Telemetry
	Log   *slog.Logger
}

// line is a kind of work: how its rows get into the queue, and what takes them up there.
type line struct {
	queue, task string
	// look hands on what is due; watch, where there is one, does so in its own time, until the context ends.
	look    look
	watch   func(context.Context)
	handler asynq.Handler
	// atOnce is how many tasks are taken up at the same time.
	atOnce int
	// done tells of places that have become free; nil where the rows don't wait for one.
	done <-chan struct{}
	// drain, unless it is nil, waits for what goes on after its tasks.
	drain func()
}

// Run works until ctx ends; then tasks under way finish, and others are left for the next worker.
func (w *Worker) Run(ctx context.Context) error {
	r := &relay{store: w.Store, client: asynq.NewClient(w.Redis), inspector: asynq.NewInspector(w.Redis), bus: w.Bus, log: w.Log}
	defer func() { _, _ = r.client.Close(), r.inspector.Close() }()
	lines := w.lines(ctx, r)
	servers, queues, mux := make([]*asynq.Server, len(lines)), make([]string, len(lines)), asynq.NewServeMux()
	mux.Use(w.traceTasks)
	for i, l := range lines {
		mux.Handle(l.task, l.handler)
		servers[i], queues[i] = w.server(ctx, l), l.queue
	}
	if err := start(servers, mux); err != nil {
		return err
	}
	var running sync.WaitGroup
	running.Go(func() { w.Roster.Keep(ctx, w.Version, queues) })
	running.Go(func() { w.upkeep(ctx) })
	running.Go(func() { w.tellLimits(ctx) })
	running.Go(func() { w.eraseDeleted(ctx) })
	if w.Home != nil {
		running.Go(func() { w.sendMarks(ctx) })
		running.Go(func() { w.exchangeCounts(ctx) })
		running.Go(func() { w.hearHome(ctx) })
	}
	running.Go(func() { w.reprocessContexts(ctx) })
	running.Go(func() { w.deferDocuments(ctx) })
	if w.Copies != nil {
		running.Go(func() { w.keepCopies(ctx) })
	}
	if w.Documents != nil {
		// What counts tokens takes a tenth of a second to make. An error comes again with the first document.
		running.Go(func() { _, _ = chunk.Count("") })
	}
	for _, l := range lines {
		running.Go(func() {
			if l.watch != nil {
				l.watch(ctx)
				return
			}
			r.watch(ctx, l)
		})
	}
	<-ctx.Done()
	for _, server := range servers {
		running.Go(server.Shutdown)
	}
	running.Wait()
	for _, l := range lines {
		if l.drain != nil {
			l.drain()
		}
	}
	return nil
}

// lines are what the worker has the parts for. The rows of others wait.
func (w *Worker) lines(ctx context.Context, r *relay) (list []line) {
	if w.Mail != nil {
		mails := turns[db.DueMail]{relay: r, lease: w.Store.LeaseMails, task: mailTask, release: w.Store.ReleaseMails}
		list = append(list, mails.line(line{
			queue: queueMail, task: typeMail, atOnce: mailPlaces,
			handler: &mailer{store: w.Store, box: w.Box, sender: w.Mail, metrics: w.Metrics, trace: w.Trace, log: w.Log},
		}))
	} else {
		w.Log.WarnContext(ctx, "no mail server is configured (CANOPY_SMTP_URL): mails wait in the outbox")
	}
	if w.Documents != nil {
		documents := turns[db.DueDocument]{
			relay: r, lease: w.Store.LeaseDocuments, task: documentTask, release: w.Store.ReleaseDocuments, sort: w.Store.SortDocuments,
			stop: ctx.Done(), timeout: documentTimeout,
		}
		exports := turns[db.DueExport]{relay: r, lease: w.Store.LeaseExports, task: exportTask, release: w.Store.ReleaseExports}
		list = append(list, documents.line(line{
			queue: queueDocuments, task: typeDocument, atOnce: DocumentPlaces,
			handler: &processor{Documents: *w.Documents, store: w.Store, bus: w.Bus, metrics: w.Metrics, trace: w.Trace, log: w.Log, stop: ctx.Done()},
		}), exports.line(line{
			queue: queueExports, task: typeExport, atOnce: archivePlaces,
			handler: &exporter{store: w.Store, blobs: w.Documents.Blobs, log: w.Log, stop: ctx.Done()},
		}))
		if w.Store.Cell() == nil {
			imports := turns[db.DueImport]{relay: r, lease: w.Store.LeaseImportRequests, task: importTask, release: w.Store.ReleaseImportRequests}
			list = append(list, imports.line(line{
				queue: queueImports, task: typeImport, atOnce: archivePlaces,
				handler: &importer{store: w.Store, blobs: w.Documents.Blobs, bus: w.Bus, read: w.ReadArchive, log: w.Log, stop: ctx.Done()},
			}))
		}
		list = append(list, line{
			queue: queueBlobs, task: typeBlob, look: r.relayBlobs, handler: &remover{w.Store, w.Documents.Blobs}, atOnce: blobsAtOnce,
		})
	} else {
		w.Log.WarnContext(ctx, "no document store is configured (CANOPY_BLOB_URL): documents are not processed")
	}
	if w.Tools != nil {
		runs := turns[db.DueRun]{relay: r, lease: w.Store.LeaseRuns, task: runTask, release: w.Store.ReleaseRuns, sort: w.Store.SortRuns}
		list = append(list, runs.line(line{
			queue: queueRuns, task: typeRun, atOnce: runPlaces,
			handler: &runner{store: w.Store, bus: w.Bus, tools: w.Tools, metrics: w.Metrics, trace: w.Trace, log: w.Log, stopping: ctx.Done()},
		}))
	}
	if w.Egress != nil {
		d := newDispatcher(ctx, w)
		list = append(list, line{
			queue: queueWebhooks, task: typeDeliver, watch: newDeliveryRelay(r).watch, handler: d, atOnce: pokesAtOnce, drain: d.drain,
		})
	}
	return list
}

// The places of a worker: how many tasks of a kind it works on at the same time. One branch alone gets
// half of them, and the others are there for those who come meanwhile.
const (
	mailPlaces = 40
	runPlaces  = 128
)

// DocumentPlaces are those for documents: one branch alone has as many of them at work as there are processors, as each spends
// a part of its time on being handed over.
var DocumentPlaces = 2*runtime.GOMAXPROCS(0) - 1

const (
	// blobsAtOnce is how many originals are deleted at the same time.
	blobsAtOnce = 10
	// pokesAtOnce is how many tasks of destinations are taken up at once; of these, half may wait for what
	// comes of the attempts, so that there are always others that begin them.
	pokesAtOnce = 1024
	followers   = pokesAtOnce / 2
)

func (w *Worker) server(ctx context.Context, l line) *asynq.Server {
	return asynq.NewServer(newBell(ctx, w.Redis, w.Bus, l.queue), asynq.Config{
		Concurrency:       l.atOnce,
		Queues:            map[string]int{l.queue: 1},
		TaskCheckInterval: bellPause,
		ShutdownTimeout:   DrainTime,
		Logger:            asynqLog{w.Log},
		LogLevel:          asynq.WarnLevel,
		ErrorHandler: asynq.ErrorHandlerFunc(func(ctx context.Context, t *asynq.Task, err error) {
			if m := missed(""); !errors.As(err, &m) { // whoever missed has told the log
				w.Log.ErrorContext(ctx, "a task failed", "type", t.Type(), "error", err)
			}
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

// asynqLog writes asynq's log with slog.
type asynqLog struct{ log *slog.Logger }

func (l asynqLog) Debug(args ...any) { l.log.Debug("asynq: " + fmt.Sprint(args...)) }
func (l asynqLog) Info(args ...any)  { l.log.Info("asynq: " + fmt.Sprint(args...)) }
func (l asynqLog) Error(args ...any) { l.log.Error("asynq: " + fmt.Sprint(args...)) }

// exhausted begins what asynq warns of with every task that has failed. It is not true: whether there
// are other tries is PostgreSQL's business, and whoever failed has told the log.
const exhausted = "Retry exhausted for task "

func (l asynqLog) Warn(args ...any) {
	if text := fmt.Sprint(args...); !strings.HasPrefix(text, exhausted) {
		l.log.Warn("asynq: " + text)
	}
}

// Fatal is asynq's word for a fault that ends it; the process's own life cycle decides on that.
func (l asynqLog) Fatal(args ...any) { l.log.Error("asynq: " + fmt.Sprint(args...)) }
