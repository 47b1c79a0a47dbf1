package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"

	"canopy/db"
	"canopy/internal/blob"
	"canopy/internal/bus"
	"canopy/internal/extract"
	"canopy/internal/models/embed"
	"canopy/internal/models/lexical"
	"canopy/outbox"
)

// The lease on a document at work, how often it is renewed, and how long the platform or a model
// server may be at fault before the document is given up.
const (
	documentLease   = 30 * time.Second
	documentRenew   = 5 * time.Second
	documentTimeout = 2 * time.Hour
	documentLife    = 24 * time.Hour
	documentMinWait = 2 * time.Second
	documentMaxWait = 5 * time.Minute
	twinWait        = 3 * time.Second
	maxAttempts     = 500
)

// Documents are the parts that processing documents takes.
type Documents struct {
	Blobs   blob.Store
	Extract *extract.Runner
	// Embeddings is the configured model; nil where there is only the embedded one.
	Embeddings embed.Model
}

// processor turns uploaded documents into searchable chunks.
type processor struct {
	Documents
	store *db.Store
	bus   *bus.Bus
	log   *slog.Logger
	// stop is closed when the worker stops: work under way is handed back at once.
	stop <-chan struct{}
}

// unreadable is a fault of the document that no other try can mend, as a sentence for a person.
type unreadable struct {
	sentence string
	cause    error
}

func (e *unreadable) Error() string { return e.sentence }
func (e *unreadable) Unwrap() error { return e.cause }

// ProcessTask makes one attempt on a document. What comes of it is written to the document's row; the
// queue is told only of faults of the platform's own.
func (p *processor) ProcessTask(ctx context.Context, t *asynq.Task) error {
	var due db.DueDocument
	if err := json.Unmarshal(t.Payload(), &due); err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	w, err := p.store.ClaimDocument(ctx, due, documentLease)
	if errors.Is(err, db.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	outbox.TellDocument(ctx, p.bus, w.ContextID, w.ID)
	a := &attempt{processor: p, work: w}
	return a.record(context.WithoutCancel(ctx), a.run(ctx))
}

// attempt is the work on one claimed document.
type attempt struct {
	*processor
	work *db.DocumentWork
	// progress is in thousandths.
	progress atomic.Int64
}

// run processes the document under a lease that is kept up, and tells the progress meanwhile.
func (a *attempt) run(ctx context.Context) error {
	show := time.NewTicker(progressEvery)
	defer show.Stop()
	shown := int64(0)
	l := lease[time.Time]{
		every: documentRenew, early: show.C, want: func(time.Time) bool { return a.progress.Load() != shown }, stop: a.stop,
		renew: func(ctx context.Context) error {
			shown = a.progress.Load()
			err := a.store.RenewDocument(ctx, a.work, documentLease, float64(shown)/1000)
			if err == nil {
				outbox.TellDocument(ctx, a.bus, a.work.ContextID, a.work.ID)
			}
			return err
		},
	}
	return l.hold(ctx, a.process)
}

// progressEvery is how often progress is written down, at most.
const progressEvery = 500 * time.Millisecond

// reader is the version of what reads documents and cuts their text. It goes up with every change of
// where chunks begin and end, or of what they say: chunks of two versions don't belong together.
const reader = 2

// process takes over the chunks of a twin where there is one, and makes them otherwise.
func (a *attempt) process(ctx context.Context) error {
	if a.work.Attempts > maxAttempts {
		return &unreadable{sentence: "The work on the document was interrupted too often."}
	}
	model, err := a.model()
	if err != nil {
		return err
	}
	if err := a.store.ReadBy(ctx, a.work, reader); err != nil {
		return err
	}
	if done, err := a.takeOver(ctx); done || err != nil {
		return err
	}
	text, err := a.text(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = text.Close() }()
	made := &maker{attempt: a, model: model, text: text}
	count, dimensions, err := made.run(ctx)
	if err != nil {
		return err
	}
	return a.store.FinishDocument(ctx, a.work, count, dimensions)
}

// model gives the dense model to embed with; nil for the embedded one.
func (a *attempt) model() (embed.Model, error) {
	switch name := a.work.Model; {
	case name == lexical.Name:
		return nil, nil
	case a.Embeddings != nil && a.Embeddings.Name() == name:
		return a.Embeddings, nil
	default:
		return nil, &unreadable{sentence: fmt.Sprintf("The embedding model %q is not configured on this server.", name)}
	}
}

// errTwin says that a document of the same bytes is at work.
var errTwin = errors.New("a document of the same content is being processed")

// takeOver uses the chunks of a ready document of the same bytes, so that nothing is embedded twice.
func (a *attempt) takeOver(ctx context.Context) (done bool, err error) {
	t, err := a.store.Twin(ctx, a.work)
	if errors.Is(err, db.ErrNoRows) {
		busy, err := a.store.TwinAtWork(ctx, a.work)
		if err == nil && busy {
			err = errTwin
		}
		return false, err
	}
	if err != nil || t.Dimensions != a.work.Dimensions && a.work.Dimensions != 0 {
		return false, err
	}
	n, err := a.store.CopyChunks(ctx, a.work, t)
	if err != nil || n != int64(t.Chunks) {
		return false, err // the twin is being changed, or a part was here already
	}
	dimensions := t.Dimensions
	if a.work.Model == lexical.Name {
		dimensions = 0
	}
	return true, a.store.FinishDocument(ctx, a.work, t.Chunks, dimensions)
}

// text extracts the document's text.
func (a *attempt) text(ctx context.Context) (*extract.Document, error) {
	path, done, err := a.Blobs.Local(ctx, a.work.BlobKey())
	if errors.Is(err, blob.ErrNotFound) {
		return nil, &unreadable{"The original file is missing from the document store.", err}
	}
	if err != nil {
		return nil, err
	}
	defer done()
	result, err := a.Extract.Extract(ctx, path, extract.Format(a.work.Format))
	var f *extract.Failure
	if errors.As(err, &f) {
		return nil, &unreadable{f.Message, err}
	}
	a.progress.Store(extractedAt)
	return result, err
}

// extractedAt is the progress, in thousandths, when the text is there.
const extractedAt = 100

// record writes down what came of an attempt.
func (a *attempt) record(ctx context.Context, err error) error {
	w := a.work
	defer func() { outbox.TellDocument(ctx, a.bus, w.ContextID, w.ID) }()
	var bad *unreadable
	switch {
	case err == nil, errors.Is(err, errLost), errors.Is(err, db.ErrNoRows):
		return nil
	case errors.Is(err, errStopped):
		return a.store.DocumentLate(ctx, w, 0, false, "")
	case errors.Is(err, errTwin):
		return a.store.DocumentLate(ctx, w, twinWait, false, "")
	case errors.As(err, &bad):
		a.log.InfoContext(ctx, "a document can't be processed", "document", w.ID, "reason", bad.sentence, "error", bad.cause)
		return a.fail(ctx, bad.sentence)
	case w.StartedAt != nil && time.Since(*w.StartedAt) > documentLife:
		a.log.ErrorContext(ctx, "a document was given up", "document", w.ID, "faults", w.Faults, "error", err)
		return a.fail(ctx, "The document could not be processed for a day: "+trouble(err)+" It can be processed again.")
	}
	wait := min(documentMinWait<<min(w.Faults, 20), documentMaxWait)
	a.log.WarnContext(ctx, "a document could not be processed; it is tried again", "document", w.ID, "faults", w.Faults, "wait", wait, "error", err)
	return a.store.DocumentLate(ctx, w, wait, true, trouble(err)+" It is tried again.")
}

func (a *attempt) fail(ctx context.Context, sentence string) error {
	if err := a.store.FailDocument(ctx, a.work, sentence); !errors.Is(err, db.ErrNoRows) {
		return err
	}
	return nil
}
