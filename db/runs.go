package db

import (
	"context"
	"encoding/json"
	"time"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/globalid"
)

// The states of a run.
const (
	RunRunning  = "running"
	RunFinished = "finished"
	RunFailed   = "failed"
)

// Run is one execution of an agent's revision.
type Run struct {
	ID         int64  `db:"id"`
	JobKey     string `db:"job_key" audit:"jobKey"`
	AgentID    int64  `db:"agent_id" audit:"agent"`
	RevisionID int64  `db:"revision_id" audit:"revision"`
	AccountID  int64  `db:"account_id"`
	CustomerID int64  `db:"customer_id,joined"`
	// UserID is who started the run, and KeyID the API key by which they did; nil for a login.
	UserID    *int64    `db:"user_id"`
	KeyID     *int64    `db:"api_key_id"`
	Status    string    `db:"status" audit:"status"`
	CreatedAt time.Time `db:"created_at"`
	// FinishedAt is when the run ended, well or badly.
	FinishedAt *time.Time       `db:"finished_at"`
	Input      json.RawMessage  `db:"input"`
	Output     *json.RawMessage `db:"output"`
	Error      *json.RawMessage `db:"error"`

	siblings
}

// GlobalID is the node id of the run.
func (r *Run) GlobalID() globalid.ID { return globalid.ID{Type: "Run", Int: r.ID} }

// RunStep is the log of one finished step of a run.
type RunStep struct {
	RunID      int64            `db:"run_id"`
	Position   int              `db:"position"`
	StepID     string           `db:"step_id"`
	Type       string           `db:"type"`
	Result     *json.RawMessage `db:"result"`
	Error      *json.RawMessage `db:"error"`
	StartedAt  time.Time        `db:"started_at"`
	DurationMs float64          `db:"duration_ms"`
}

// OutputJSON is what the run gave, nil before it has finished.
func (r *Run) OutputJSON() json.RawMessage { return rawOf(r.Output) }

// ErrorJSON is why the run failed, nil when it did not.
func (r *Run) ErrorJSON() json.RawMessage { return rawOf(r.Error) }

// ResultJSON is what the step gave, nil when it failed.
func (s *RunStep) ResultJSON() json.RawMessage { return rawOf(s.Result) }

// ErrorJSON is why the step failed, nil when it did not.
func (s *RunStep) ErrorJSON() json.RawMessage { return rawOf(s.Error) }

var runTables = ` FROM runs r` + joinByID("accounts", "a", "r.account_id") + joinByID("customers", "c", "a.customer_id")

var (
	runColumns     = columns[Run]("r") + `, a.customer_id`
	runStepColumns = columns[RunStep]("s")
)

var (
	qRun          = prepare(`SELECT ` + runColumns + runTables + `WHERE r.id = $3 AND ` + withinScope)
	qRunByKey     = prepare(`SELECT ` + runColumns + runTables + `WHERE r.job_key = $3 AND ` + withinScope)
	qRunForUpdate = prepare(`SELECT ` + runColumns + runTables + `WHERE r.job_key = $3 AND ` + withinScope + ` FOR UPDATE OF r`)
	qStartRuns    = prepare(`
		WITH r AS (INSERT INTO runs (job_key, agent_id, revision_id, account_id, user_id, api_key_id, input)
			SELECT t.job_key, g.id, g.published_id, g.account_id, NULLIF(t.user_id, 0), NULLIF(t.key_id, 0), t.input::json
			FROM unnest($3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[]) WITH ORDINALITY t(job_key, agent_id, user_id, key_id, input, n)` +
		joinByID("agents", "g", "t.agent_id") + joinByID("accounts", "a", "g.account_id") + joinByID("customers", "c", "a.customer_id") + `
			WHERE ` + unindexed("g.deleted_at IS NULL") + ` AND g.enabled AND g.published_id IS NOT NULL AND ` + withinScope + ` ORDER BY t.n RETURNING *)
		SELECT ` + runColumns + ` FROM r` + joinByID("accounts", "a", "r.account_id") + `ORDER BY r.id`)
	qRunSteps = prepare(`SELECT ` + runStepColumns + ` FROM run_steps s WHERE s.run_id = ANY($1) ORDER BY s.run_id, s.position`)
	qEndRun   = prepare(`
		UPDATE runs SET status = $2, output = $3, error = $4, finished_at = now() WHERE id = $1 AND ` + unindexed("status = 'running'") + ` RETURNING finished_at`)
)

var (
	agentRuns     = edgeBy((*Agent).key, pagesOf[Run](runsOfAgent))
	agentRunCount = edgeBy((*Agent).key, countsOf(runsOfAgent))
	runAgent      = edgeBy(func(r *Run) int64 { return r.AgentID }, agentsByID)
	runRevision   = edgeBy(func(r *Run) int64 { return r.RevisionID }, revisionsByID)
	runSteps      = edgeBy(func(r *Run) int64 { return r.ID }, stepsOf)
)

func stepsOf(ctx context.Context, s *Store, _ none, ids []int64) (map[int64][]*RunStep, error) {
	var rows []*RunStep
	err := s.list(ctx, &rows, qRunSteps, ids)
	return byKey(rows, func(x *RunStep) int64 { return x.RunID }), err
}

// Run reads one run of an account within the scope.
func (s *Store) Run(ctx context.Context, scope access.Scope, id int64) (*Run, error) {
	r := &Run{}
	err := s.get(ctx, r, qRun, scope.From(), scope.To(), id)
	return r, err
}

// RunByKey reads one run by its job key, a UUID.
func (s *Store) RunByKey(ctx context.Context, scope access.Scope, jobKey string) (*Run, error) {
	r := &Run{}
	err := s.get(ctx, r, qRunByKey, scope.From(), scope.To(), jobKey)
	return r, err
}

// RunForUpdate reads one run by its job key and holds its row until the transaction ends.
func (s *Store) RunForUpdate(ctx context.Context, scope access.Scope, jobKey string) (*Run, error) {
	r := &Run{}
	err := s.get(ctx, r, qRunForUpdate, scope.From(), scope.To(), jobKey)
	return r, err
}

// Runs is a page of an agent's runs.
func (a *Agent) Runs(ctx context.Context, s *Store, ask Ask) ([]*Run, error) {
	return follow(ctx, s, a, agentRuns, scopedAsk{ask: ask})
}

// RunCount counts an agent's runs.
func (a *Agent) RunCount(ctx context.Context, s *Store, ask Ask) (int, error) {
	return follow(ctx, s, a, agentRunCount, scopedAsk{ask: ask})
}

// Agent is the edge from a run to its agent; nil when that was deleted.
func (r *Run) Agent(ctx context.Context, s *Store, scope access.Scope) (*Agent, error) {
	return follow(ctx, s, r, runAgent, scope)
}

// Revision is the edge from a run to the revision that it executes.
func (r *Run) Revision(ctx context.Context, s *Store) (*Revision, error) {
	return follow(ctx, s, r, runRevision, none{})
}

// Steps is the edge from a run to its log, in the order of execution.
func (r *Run) Steps(ctx context.Context, s *Store) ([]*RunStep, error) {
	return follow(ctx, s, r, runSteps, none{})
}

// StartRuns puts runs of agents within the scope down as running and due: by their job key, agent, user, key and input. It gives them in their
// order. ErrNoRows where there is no such agent for one of them, or it can't be run.
func (s *Store) StartRuns(ctx context.Context, scope access.Scope, list []Run) (made []*Run, err error) {
	var keys, inputs pq.StringArray
	var agents, users, apiKeys pq.Int64Array
	for _, r := range list {
		keys, inputs = append(keys, r.JobKey), append(inputs, string(r.Input))
		agents, users, apiKeys = append(agents, r.AgentID), append(users, orZero(r.UserID)), append(apiKeys, orZero(r.KeyID))
	}
	if err := s.list(ctx, &made, qStartRuns, scope.From(), scope.To(), keys, agents, users, apiKeys, inputs); err != nil {
		return nil, err
	}
	if len(made) < len(list) {
		return nil, ErrNoRows
	}
	return made, nil
}

// EndRun ends a running run; ErrNoRows when it has ended already, so that it ends once.
func (s *Store) EndRun(ctx context.Context, r *Run) error {
	return s.get(ctx, &r.FinishedAt, qEndRun, r.ID, r.Status, rawArg(r.Output), rawArg(r.Error))
}

// rawArg is a JSON value that may be missing, as a statement argument.
func rawArg(raw *json.RawMessage) any {
	if raw == nil {
		return nil
	}
	return []byte(*raw)
}

// rawOf is a JSON value that may be missing.
func rawOf(raw *json.RawMessage) json.RawMessage {
	if raw == nil {
		return nil
	}
	return *raw
}
