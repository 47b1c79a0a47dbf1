package db

import (
	"context"
	"encoding/json"
	"time"
)

// The worker's side of runs. A worker takes a run up under a claim of its own, keeps it by
// renewing its lease, and writes only while the claim is the last one.

// DueRun names a run to be taken up, and the claim that it was last taken up under.
type DueRun struct {
	ID    int64 `db:"id" json:"id"`
	Claim int   `db:"claim" json:"claim"`
}

// RunWork is what a worker needs to go on with a run.
type RunWork struct {
	Run
	Claim int `db:"claim"`
	// Interruptions counts the workers that died on the step at hand, before this one.
	Interruptions int `db:"interruptions"`
	// StartedAt is when the first worker took it up.
	StartedAt time.Time       `db:"started_at"`
	Diagram   json.RawMessage `db:"diagram"`
	// BranchID is the branch that the run's work is counted for.
	BranchID int64 `db:"branch_id"`
	// Traceparent leads to what the run comes from; nil where that was not told.
	Traceparent *string `db:"traceparent"`
}

var (
	// heldRun is run $1, as long as the worker of claim $2 has it.
	heldRun = `id = $1 AND claim = $2 AND ` + unindexed("status = 'running'")

	// A run that is handed to the queue is out of sight for the lease; if the queue loses it, it
	// is due again afterwards. No other run is due later than now, unless its company is suspended: the time until that is
	// over is none of the run's own. A branch's runs go by id: those whose leases ran out while the queue still has them stay the first ones.
	runsWork = work{
		table: "runs", open: "status = 'running'", handedOut: "true", due: "due_at", first: "id", size: "id", window: "1", count: "claim",
		owner: "account_id", lineage: lineageOfAccount("{owner}"), stopped: ", step = NULL, suspended_at = COALESCE(suspended_at, now())",
	}
	qLeaseRuns    = runsWork.leased()
	suspendedRuns = suspension{runsWork.setAside(), runsWork.takeBack()}
	// A run that was taken up meanwhile has another claim, and is left alone.
	qReleaseRuns = prepare(`
		UPDATE runs r SET due_at = now() FROM unnest($1::bigint[], $2::integer[]) d(id, claim)
		WHERE r.id = ANY($1) AND r.id = d.id AND r.claim = d.claim AND ` + unindexed("r.status = 'running'"))
	qClaimRun = prepare(`
		UPDATE runs r SET claim = r.claim + 1, step = NULL, interruptions = CASE WHEN r.claim > 0 THEN r.interruptions + 1 ELSE 0 END,
			started_at = COALESCE(r.started_at + COALESCE(now() - r.suspended_at, '0'), now()), suspended_at = NULL, due_at = now() + $3 * interval '1 second'
		FROM accounts a, agent_revisions v
		WHERE r.id = $1 AND r.claim = $2 AND ` + unindexed("r.status = 'running'") + ` AND a.id = r.account_id AND v.id = r.revision_id
			AND ` + unindexed("NOT "+inactive(lineageOfAccount("r.account_id"))) + `
		RETURNING ` + runColumns + `, r.claim, r.interruptions, r.started_at, v.diagram, branch_of(a.customer_id) AS branch_id, r.traceparent`)
	qRenewRun = prepare(`
		UPDATE runs SET due_at = now() + $3 * interval '1 second' WHERE ` + heldRun)
	// A finished step belongs to the claim under which it is written, and clears the interruptions.
	qStepDone = prepare(`
		UPDATE runs SET interruptions = 0, step = NULL, due_at = now() + $3 * interval '1 second' WHERE ` + heldRun + `
		RETURNING ` + inactive(lineageOfAccount("account_id")) + ` AS suspended`)
	qInsertRunStep = prepare(`
		INSERT INTO run_steps (run_id, position, step_id, type, input, result, error, started_at, duration_ms)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`)
	qSetCurrentStep = prepare(`UPDATE runs SET step = $3 WHERE ` + heldRun)
	qRunLogs        = prepare(`SELECT result, error FROM run_steps WHERE run_id = $1 ORDER BY position`)
	qReleaseRun     = prepare(`UPDATE runs SET due_at = now(), step = NULL, interruptions = interruptions - 1 WHERE ` + heldRun)
	qHoldRun        = prepare(`SELECT id FROM runs WHERE ` + heldRun + ` FOR UPDATE`)
	// A run that waits while others are executed waits for its turn.
	qRunsUntouchedFor = prepare(`
		SELECT COALESCE(EXTRACT(epoch FROM now() - min(due_at)), 0)::float8 FROM runs WHERE status = 'running' AND due_at <= now()
			AND NOT EXISTS (SELECT 1 FROM runs WHERE status = 'running' AND due_at > now() AND due_at < 'infinity')`)
	qDueRuns = backlog("runs", "due_at", `status = 'running'`)
)

// LeaseRuns hands out due runs by turns of branches, for the lease, so that no more than so many are
// handed out or executed at the same time.
func (s *Store) LeaseRuns(ctx context.Context, places int, lease time.Duration) ([]DueRun, error) {
	return handOut[DueRun](ctx, s, qLeaseRuns, places, lease)
}

// ReleaseRuns ends the lease of runs that could not be handed on: they are due again.
func (s *Store) ReleaseRuns(ctx context.Context, due []DueRun) error {
	return release(ctx, s, qReleaseRuns, due, func(d DueRun) (int64, int) { return d.ID, d.Claim })
}

// SortRuns has the runs of suspended companies wait, and those whose companies go on be due again.
func (s *Store) SortRuns(ctx context.Context) error { return suspendedRuns.sort(ctx, s) }

// ClaimRun takes a run up; ErrNoRows when it has ended, another worker has taken it up, or its company is suspended.
func (s *Store) ClaimRun(ctx context.Context, due DueRun, lease time.Duration) (*RunWork, error) {
	w := &RunWork{}
	err := s.get(ctx, w, qClaimRun, due.ID, due.Claim, lease.Seconds())
	return w, err
}

// RenewRun keeps a run for another lease; ErrNoRows when it is no longer this claim's.
func (s *Store) RenewRun(ctx context.Context, w *RunWork, lease time.Duration) error {
	return s.must(ctx, qRenewRun, w.ID, w.Claim, lease.Seconds())
}

// AddRunStep keeps a step's outcome, and the run for another lease; ErrNoRows when it is no longer
// this claim's. It tells whether the run's company is suspended by now.
func (s *Store) AddRunStep(ctx context.Context, w *RunWork, step RunStep, lease time.Duration) (suspended bool, err error) {
	err = s.Tx(ctx, func(tx *Store) error {
		if err := tx.get(ctx, &suspended, qStepDone, w.ID, w.Claim, lease.Seconds()); err != nil {
			return err
		}
		return tx.must(ctx, qInsertRunStep, w.ID, step.Position, step.StepID, step.Type,
			rawArg(step.Input), rawArg(step.Result), rawArg(step.Error), step.StartedAt, step.DurationMs)
	})
	return suspended, err
}

// SetCurrentStep tells of the step that a run is at, until that is done or the run is another worker's; ErrNoRows when it is no longer this claim's.
func (s *Store) SetCurrentStep(ctx context.Context, w *RunWork, step CurrentStep) error {
	raw, err := json.Marshal(step)
	if err != nil {
		return err
	}
	return s.must(ctx, qSetCurrentStep, w.ID, w.Claim, raw)
}

// HoldRun holds a run's row until the transaction ends; ErrNoRows when it is no longer this claim's.
func (s *Store) HoldRun(ctx context.Context, w *RunWork) error {
	var id int64
	return s.get(ctx, &id, qHoldRun, w.ID, w.Claim)
}

// ReleaseRun gives a run back at once, as a worker that stops in order does.
func (s *Store) ReleaseRun(ctx context.Context, w *RunWork) error {
	_, err := s.exec(ctx, qReleaseRun, w.ID, w.Claim)
	return err
}

// RunLogs reads what the steps of a run that are finished have come to: their results and errors alone.
func (s *Store) RunLogs(ctx context.Context, id int64) (rows []*RunStep, err error) {
	err = s.list(ctx, &rows, qRunLogs, id)
	return rows, err
}

// Backlog is what waits in an outbox: how many rows, and for how long the oldest has been due.
type Backlog struct {
	Count int     `db:"count"`
	Lag   float64 `db:"lag"`
}

// backlog gives the statement that counts what waits in a table, of the rows that are open, where a column tells when each is due. It counts no further
// than is told.
func backlog(table, at, open string) query {
	return prepare(`
		SELECT count(*), COALESCE(EXTRACT(epoch FROM now() - min(at)), 0)::float8 AS lag
		FROM (SELECT ` + at + ` AS at FROM ` + table + ` WHERE ` + open + ` AND ` + at + ` <= now() ORDER BY ` + at + ` LIMIT 100000) due`)
}

// RunsUntouchedFor tells for how long a run has been waiting to be taken up while nobody executes any.
func (s *Store) RunsUntouchedFor(ctx context.Context) (time.Duration, error) {
	return s.seconds(ctx, qRunsUntouchedFor)
}

// RunBacklog tells of the runs that wait to be taken up.
func (s *Store) RunBacklog(ctx context.Context) (b Backlog, err error) {
	err = s.get(ctx, &b, qDueRuns)
	return b, err
}
