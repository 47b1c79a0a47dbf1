package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
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
	"canopy/internal/telemetry"
	"canopy/internal/vector"
	"canopy/outbox"
	"canopy/search"
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
	// Models are those that there are to embed with.
	Models search.Models
}

// processor turns uploaded documents into searchable chunks.
type processor struct {
	Documents
	store   *db.Store
	bus     *bus.Bus
	metrics *Metrics
	trace   *telemetry.Telemetry
	log     *slog.Logger
	// stop is closed when the worker stops: work under way is handed back at once.
	stop <-chan struct{}
}

// fullWait is after how long a document that waits for a limit of the day looks again, which may be raised meanwhile.
const fullWait = 5 * time.Minute

// unreadable is a fault of the document that no other try can mend, as a sentence for a person.
type unreadable struct {
	sentence string
	cause    error
}

func (e *unreadable) Error() string { return e.sentence }
func (e *unreadable) Unwrap() error { return e.cause }

// ProcessTask makes one attempt on a document. What comes of it is written to the document's row, and
// told to the queue.
func (p *processor) ProcessTask(ctx context.Context, t *asynq.Task) error {
	var due db.DueDocument
	if err := json.Unmarshal(t.Payload(), &due); err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	w, err := p.store.ClaimDocument(ctx, due, documentLease)
	if errors.Is(err, db.ErrNoRows) { // if the company was suspended meanwhile, the document waits for it from now on
		return errors.Join(sayNothingToDo(t), p.store.ReleaseDocuments(ctx, []db.DueDocument{due}))
	}
	if err != nil {
		return err
	}
	outbox.TellDocument(ctx, p.bus, w.ContextID, w.ID)
	at := &processing{processor: p, work: w}
	ctx, span := p.trace.Root(ctx, orEmpty(w.Traceparent), "document", telemetry.Consumer, telemetry.Number("canopy.document", w.ID),
		telemetry.Number("canopy.attempt", int64(w.Attempts)))
	err = at.run(ctx)
	span.End(err)
	if errors.Is(err, errLost) || errors.Is(err, db.ErrNoRows) {
		outbox.TellDocument(context.WithoutCancel(ctx), p.bus, w.ContextID, w.ID)
		return sayNothingToDo(t)
	}
	if err := at.record(context.WithoutCancel(ctx), err); err != nil {
		return err
	}
	say(t, "The document is ready.")
	return nil
}

// processing is the work on one claimed document.
type processing struct {
	*processor
	work *db.DocumentWork
	// progress is in thousandths.
	progress atomic.Int64
}

// run processes the document under a lease that is kept up, and tells the progress meanwhile.
func (p *processing) run(ctx context.Context) error {
	show := time.NewTicker(progressEvery)
	defer show.Stop()
	shown := int64(0)
	l := lease[time.Time]{
		every: documentRenew, early: show.C, want: func(time.Time) bool { return p.progress.Load() != shown }, stop: p.stop,
		renew: func(ctx context.Context) error {
			shown = p.progress.Load()
			err := p.store.RenewDocument(ctx, p.work, documentLease, float64(shown)/1000)
			if err == nil {
				outbox.TellDocument(ctx, p.bus, p.work.ContextID, p.work.ID)
			}
			return err
		},
	}
	return l.hold(ctx, p.process)
}

// progressEvery is how often progress is written down, at most.
const progressEvery = 500 * time.Millisecond

// reader is the version of what reads documents and cuts their text. It goes up with every change of
// where chunks begin and end, of what they say, or of how their vectors are stored: chunks of two versions don't belong
// together.
const reader = 9

// reader is the version of what reads this document: recognition in other languages, or none, reads pictures otherwise.
func (p *processing) reader() int {
	ocr := p.Extract.OCR()
	if ocr == nil || extract.Format(p.work.Format) != extract.PDF {
		return reader
	}
	return reader + int(crc32.ChecksumIEEE([]byte(ocr.Languages()))&0x7fff_ff00)
}

// process takes over the chunks of a twin where there is one, and makes them otherwise.
func (p *processing) process(ctx context.Context) error {
	if p.work.Attempts > maxAttempts {
		return &unreadable{sentence: "The work on the document was interrupted too often."}
	}
	model, err := p.model()
	if err != nil {
		return err
	}
	if err := p.store.ReadBy(ctx, p.work, p.reader()); err != nil {
		return err
	}
	if done, err := p.takeOver(ctx); done || err != nil {
		return err
	}
	text, err := p.text(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = text.Close() }()
	made := &maker{processing: p, model: model, text: text, lexical: lexical.For(p.work.Model)}
	made.words = vector.NewSparsePacker(made.lexical)
	defer made.words.Done()
	count, dimensions, err := made.run(ctx)
	if err != nil {
		return err
	}
	warnings, err := warningsOf(text)
	if err != nil {
		return err
	}
	return p.finish(ctx, count, dimensions, warnings)
}

// finish makes the document ready, if the company may have so many chunks.
func (p *processing) finish(ctx context.Context, count, dimensions int, warnings json.RawMessage) error {
	err := p.store.FinishDocument(ctx, p.work, count, dimensions, warnings)
	var full *db.LimitReached
	if errors.As(err, &full) {
		return &unreadable{tooManyChunks(full), err}
	}
	return err
}

func tooManyChunks(full *db.LimitReached) string {
	return fmt.Sprintf("The document has more chunks than there is room for: the limit %s is %d, and %d are in use.", full.Name, full.Max, full.Used)
}

// model gives the dense model to embed with; nil where only words are compared.
func (p *processing) model() (embed.Model, error) {
	if !p.Models.Configured(p.work.Model) {
		return nil, &unreadable{sentence: fmt.Sprintf("The embedding model %q is not configured on this server.", p.work.Model)}
	}
	return p.Models.Dense(p.work.Model), nil
}

// errTwin says that a document of the same bytes is at work.
var errTwin = errors.New("a document of the same content is being processed")

// takeOver uses the chunks of a ready document of the same bytes, so that nothing is embedded twice.
func (p *processing) takeOver(ctx context.Context) (done bool, err error) {
	t, err := p.store.Twin(ctx, p.work)
	if errors.Is(err, db.ErrNoRows) {
		busy, err := p.store.TwinAtWork(ctx, p.work)
		if err == nil && busy {
			err = errTwin
		}
		return false, err
	}
	if err != nil || t.Dimensions != p.work.Dimensions && p.work.Dimensions != 0 {
		return false, err
	}
	if copied, err := p.store.CopyChunks(ctx, p.work, t); err != nil || !copied {
		return false, err
	}
	dimensions := t.Dimensions
	if lexical.Named(p.work.Model) != nil {
		dimensions = 0
	}
	return true, p.finish(ctx, t.Chunks, dimensions, t.Warnings)
}

// text extracts the document's text.
func (p *processing) text(ctx context.Context) (*extract.Document, error) {
	path, done, err := p.Blobs.Local(ctx, p.work.BlobKey())
	if errors.Is(err, blob.ErrNotFound) {
		return nil, &unreadable{"The original file is missing from the document store.", err}
	}
	if err != nil {
		return nil, err
	}
	defer done()
	result, err := p.Extract.Extract(ctx, path, extract.Format(p.work.Format), func(done float64) { p.progress.Store(int64(done * extractedAt)) })
	var f *extract.Failure
	if errors.As(err, &f) {
		return nil, &unreadable{f.Message, err}
	}
	p.progress.Store(extractedAt)
	return result, err
}

// extractedAt is the progress, in thousandths, when the text is there.
const extractedAt = 100

// record writes down what came of an attempt; an error says that the document did not become ready.
func (p *processing) record(ctx context.Context, err error) error {
	w := p.work
	defer func() { outbox.TellDocument(ctx, p.bus, w.ContextID, w.ID) }()
	var bad *unreadable
	var full *db.LimitReached
	switch {
	case err == nil:
		p.metrics.count(ofDocuments, documentReady)
		return nil
	case errors.Is(err, errStopped):
		return p.late(ctx, 0, "The worker stopped: the document goes to another.", "", false)
	case errors.Is(err, errTwin):
		return p.late(ctx, twinWait, "The document waits for one of the same content that is being processed.", "", false)
	case errors.As(err, &full) && full.Name.Rate():
		sentence := fmt.Sprintf("The limit %s of %d is reached: the document waits.", full.Name, full.Max)
		return p.late(ctx, min(full.Wait(), fullWait), sentence, sentence, false)
	case errors.As(err, &bad):
		p.log.InfoContext(ctx, "a document can't be processed", "document", w.ID, "reason", bad.sentence, "error", bad.cause)
		return p.fail(ctx, bad.sentence)
	case w.StartedAt != nil && time.Since(*w.StartedAt) > documentLife:
		p.log.ErrorContext(ctx, "a document was given up", "document", w.ID, "faults", w.Faults, "error", err)
		return p.fail(ctx, "The document could not be processed for a day: "+trouble(err)+" It can be processed again.")
	}
	wait := min(documentMinWait<<min(w.Faults, 20), documentMaxWait)
	p.log.WarnContext(ctx, "a document could not be processed; it is tried again", "document", w.ID, "faults", w.Faults, "wait", wait, "error", err)
	return p.late(ctx, wait, fmt.Sprintf("The document could not be processed: its row tells why. It is tried again in %v.", wait), trouble(err)+" It is tried again.", true)
}

// late puts the document off; words tell the queue of it, sentence the owner, and fault says whether
// something was wrong.
func (p *processing) late(ctx context.Context, wait time.Duration, words, sentence string, fault bool) error {
	p.metrics.count(ofDocuments, documentLate)
	return errors.Join(missed(words), p.store.DocumentLate(ctx, p.work, wait, fault, sentence))
}

// fail ends the document's work without a revision: where there is one of before that can be found, the document goes on with that.
func (p *processing) fail(ctx context.Context, sentence string) error {
	w := p.work
	warnings, err := warningsOfStay(w.Warnings, sentence)
	if err != nil {
		return err
	}
	stays, err := p.store.FailDocument(ctx, w, sentence, warnings)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	if !stays || err != nil {
		p.metrics.count(ofDocuments, documentFailed)
		return errors.Join(missed("The document failed: its row tells why."), err)
	}
	p.metrics.count(ofDocuments, documentKept)
	p.log.WarnContext(ctx, "a document could not be processed anew: it is found as it was before", "document", w.ID, "reason", sentence)
	return missed("The document is as it was before: its warnings tell why.")
}
