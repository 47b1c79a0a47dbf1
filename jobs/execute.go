package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hibiken/asynq"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/bus"
	"canopy/internal/diagram"
	"canopy/internal/problem"
	"canopy/internal/telemetry"
	"canopy/outbox"
)

const (
	// runLease is how long a run stays a worker's that says nothing; it says something every
	// runRenew.
	runLease = 15 * time.Second
	runRenew = 4 * time.Second
	// runTimeout bounds one worker's hold of a run.
	runTimeout = diagram.RunTimeout + diagram.StepTimeout
	// runInterruptions is how many workers may die on one step before the run is given up.
	runInterruptions = 3
)

// runner executes runs, step by step: the result of each step is kept before the next begins, so
// that another worker can go on from there.
type runner struct {
	store   *db.Store
	bus     *bus.Bus
	tools   *Tools
	metrics *Metrics
	trace   *telemetry.Telemetry
	log     *slog.Logger
	// stopping ends when the worker is to stop: runs under way are given back between steps.
	stopping <-chan struct{}
}

// ProcessTask takes a run up and executes it to its end, unless it is another worker's.
func (r *runner) ProcessTask(ctx context.Context, t *asynq.Task) error {
	var due db.DueRun
	if err := json.Unmarshal(t.Payload(), &due); err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	work, err := r.store.ClaimRun(ctx, due, runLease)
	if errors.Is(err, db.ErrNoRows) { // if the company was suspended meanwhile, the run waits for it from now on
		return errors.Join(sayNothingToDo(t), r.store.ReleaseRuns(ctx, []db.DueRun{due}))
	}
	if err != nil {
		return err
	}
	l := lease[[]byte]{
		every: runRenew, renew: func(ctx context.Context) error { return r.store.RenewRun(ctx, work, runLease) },
		// A run that was cancelled is not this worker's any more.
		early: r.bus.Subscribe(ctx, outbox.RunTopic(work.JobKey)), want: func(state []byte) bool { return string(state) == db.RunFailed },
	}
	ctx, span := r.trace.Root(ctx, orEmpty(work.Traceparent), "run", telemetry.Consumer, telemetry.Number("canopy.customer", work.CustomerID),
		telemetry.Number("canopy.run", work.ID), telemetry.Number("canopy.claim", int64(work.Claim)))
	err = l.hold(ctx, func(ctx context.Context) error { return r.execute(ctx, work) })
	span.End(err)
	if errors.Is(err, errLost) || errors.Is(err, db.ErrNoRows) {
		r.log.InfoContext(ctx, "a run was taken away", "run", work.ID)
		return sayNothingToDo(t)
	}
	if err == nil {
		say(t, "The run finished.")
	}
	return err
}

// execute goes through the steps that are left; an error says that the run did not finish. The worker's
// hold of the run ends with ctx.
func (r *runner) execute(ctx context.Context, w *db.RunWork) error {
	run, err := r.prepare(ctx, w)
	var failure *diagram.Error
	for err == nil {
		if r.stopped() {
			return r.release(ctx, w, workerStopped)
		}
		var more bool
		if more, err = r.step(ctx, w, run); !more && err == nil {
			return r.finish(ctx, w, run)
		}
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errLost):
		return errLost
	case errors.Is(err, errSuspended):
		return r.release(ctx, w, "The company is suspended: the run waits.")
	case cause != nil:
		// The worker stops: the run goes back to where it was before the step.
		return r.release(ctx, w, workerStopped)
	case errors.As(err, &failure):
		return r.fail(ctx, w, failure)
	}
	return err
}

// errSuspended says that the run's company was suspended while a step was executed, whose result is kept.
var errSuspended = errors.New("the run's company is suspended")

const workerStopped = missed("The worker stopped: the run goes to another.")

// release gives the run to another worker, and says why.
func (r *runner) release(ctx context.Context, w *db.RunWork, why missed) error {
	r.metrics.count(ofRuns, runReleased)
	return errors.Join(why, r.store.ReleaseRun(context.WithoutCancel(ctx), w))
}

// fail ends the run as failed.
func (r *runner) fail(ctx context.Context, w *db.RunWork, failure *diagram.Error) error {
	err := r.end(ctx, w, func(tx *db.Store, record *outbox.Record) error {
		return outbox.FailRun(ctx, tx, record, &w.Run, failure)
	})
	if err != nil {
		return err
	}
	r.metrics.count(ofRuns, runFailed)
	return missed("The run failed: its row tells why.")
}

func (r *runner) stopped() bool {
	select {
	case <-r.stopping:
		return true
	default:
		return false
	}
}

// prepare puts a run together again from what is kept of it.
func (r *runner) prepare(ctx context.Context, w *db.RunWork) (*diagram.Run, error) {
	if w.Interruptions >= runInterruptions {
		return nil, &diagram.Error{Code: codeInterrupted, Message: "The run was given up: its worker was lost several times at the same step."}
	}
	d, faults, err := diagram.Parse(ctx, w.BranchID, w.Diagram)
	if err != nil {
		return nil, err
	}
	if len(faults) > 0 {
		return nil, &diagram.Error{Code: diagram.CodeFailed, Message: "The published diagram is not valid: " + faults[0].Message}
	}
	logs, err := r.store.RunLogs(ctx, w.ID)
	if err != nil {
		return nil, err
	}
	run := &diagram.Run{Diagram: d, Branch: w.BranchID, Input: w.Input, Started: w.StartedAt}
	for _, s := range logs {
		if s.Error != nil {
			failure := &diagram.Error{}
			if err := json.Unmarshal(*s.Error, failure); err != nil {
				return nil, err
			}
			return nil, failure
		}
		run.Results = append(run.Results, s.ResultJSON())
	}
	return run, nil
}

// codeInterrupted is the error code of a run that lost its worker too often.
const codeInterrupted = "interrupted"

// step executes the next step and keeps what came of it; more is false when no step is left. The
// error of a failed step is a *diagram.Error.
func (r *runner) step(ctx context.Context, w *db.RunWork, run *diagram.Run) (more bool, err error) {
	next, more := run.Next()
	if !more {
		return false, nil
	}
	begun := time.Now()
	at := r.begin(ctx, w, db.CurrentStep{Position: len(run.Results), StepID: next.ID, Type: string(next.Type), StartedAt: begun.Round(time.Microsecond)})
	defer at.end()
	run.Given = at.give
	// What it asks of the platform takes turns with what callers of all branches ask.
	stepping, span := telemetry.Begin(access.WithBranch(ctx, w.BranchID), "step "+string(next.Type), telemetry.Internal)
	result, err := run.Step(stepping, r.tools.of(&w.Run))
	took := time.Since(begun)
	span.End(err)
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.Is(err, db.ErrAway):
		// The step came to no end, and not by a fault of its own: it is executed again when the run is
		// taken up again.
		return false, problem.From(err)
	}
	done := at.end()
	entry := db.RunStep{
		Position: done.Position, StepID: done.StepID, Type: done.Type, StartedAt: done.StartedAt, DurationMs: milliseconds(took),
	}
	if done.Input != nil {
		entry.Input = &done.Input
	}
	var failure *diagram.Error
	switch {
	case errors.As(err, &failure):
		raw, jsonErr := json.Marshal(failure)
		if jsonErr != nil {
			return false, jsonErr
		}
		entry.Error = (*json.RawMessage)(&raw)
	case err != nil:
		return false, err
	default:
		entry.Result = &result
	}
	suspended, writeErr := r.store.AddRunStep(ctx, w, entry, runLease)
	if writeErr != nil {
		return false, writeErr
	}
	run.Results = append(run.Results, result)
	r.bus.Publish(ctx, outbox.RunTopic(w.JobKey), []byte(next.ID))
	if err == nil && suspended {
		err = errSuspended
	}
	return true, err
}

func (r *runner) finish(ctx context.Context, w *db.RunWork, run *diagram.Run) error {
	output, err := run.Output(ctx)
	if ctx.Err() != nil {
		return r.release(ctx, w, workerStopped)
	}
	var failure *diagram.Error
	if errors.As(err, &failure) {
		return r.fail(ctx, w, failure)
	}
	if err == nil {
		err = r.end(ctx, w, func(tx *db.Store, record *outbox.Record) error {
			return outbox.FinishRun(ctx, tx, record, &w.Run, output)
		})
	}
	if err == nil {
		r.metrics.count(ofRuns, runFinished)
	}
	return err
}

// end ends a run, and records the event of it, if it is still this worker's.
func (r *runner) end(ctx context.Context, w *db.RunWork, do func(*db.Store, *outbox.Record) error) error {
	var told outbox.Told
	err := r.store.Tx(ctx, func(tx *db.Store) (err error) {
		if err := tx.HoldRun(ctx, w); err != nil {
			return err
		}
		var record outbox.Record
		if err := do(tx, &record); err != nil {
			return err
		}
		told, err = record.Write(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	r.bus.Publish(ctx, outbox.RunTopic(w.JobKey), []byte(w.Status))
	told.Announce(ctx, r.bus)
	return nil
}
