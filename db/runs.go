package db

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
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
	// Step is the CurrentStep that the run is at, once it takes long.
	Step *json.RawMessage `db:"step,joined"`

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
	Input      *json.RawMessage `db:"input"`
	Result     *json.RawMessage `db:"result"`
	Error      *json.RawMessage `db:"error"`
	StartedAt  time.Time        `db:"started_at"`
	DurationMs float64          `db:"duration_ms"`
}

// CurrentStep is the step that a run is at.
type CurrentStep struct {
	Position  int             `json:"position"`
	StepID    string          `json:"id"`
	Type      string          `json:"type"`
	StartedAt time.Time       `json:"startedAt"`
	Input     json.RawMessage `json:"input,omitempty"`
}

// CurrentStep is the step that the run is at, as it was told when it had taken a while; nil where it was not.
func (r *Run) CurrentStep() (*CurrentStep, error) {
	if r.Step == nil || r.Status != RunRunning {
		return nil, nil
	}
	step := &CurrentStep{}
	return step, json.Unmarshal(*r.Step, step)
}

// OutputJSON is what the run gave, nil before it has finished.
func (r *Run) OutputJSON() json.RawMessage { return rawOf(r.Output) }

// ErrorJSON is why the run failed, nil when it did not.
func (r *Run) ErrorJSON() json.RawMessage { return rawOf(r.Error) }

// InputJSON is what the step was given, without secrets; nil where none is kept.
func (s *RunStep) InputJSON() json.RawMessage { return rawOf(s.Input) }

// ResultJSON is what the step gave, nil when it failed.
func (s *RunStep) ResultJSON() json.RawMessage { return rawOf(s.Result) }

// ErrorJSON is why the step failed, nil when it did not.
func (s *RunStep) ErrorJSON() json.RawMessage { return rawOf(s.Error) }

var runTables = ` FROM runs r` + joinByID("accounts", "a", "r.account_id") + joinByID("customers", "c", "a.customer_id")

// joinRunnable joins the agent g of t, with its account a, where it is within the scope and can be run.
var joinRunnable = joinByID("agents", "g", "t.agent_id") + joinByID("accounts", "a", "g.account_id") + joinByID("customers", "c", "a.customer_id") +
	`WHERE ` + unindexed("g.deleted_at IS NULL") + ` AND g.enabled AND g.published_id IS NOT NULL AND ` + withinScope

var (
	// A step that is done is not the one at hand, whoever has forgotten to say so.
	runColumns = columns[Run]("r") + `, a.customer_id,
		CASE WHEN r.step IS NOT NULL AND (r.step->>'position')::integer = (SELECT count(*) FROM run_steps WHERE run_id = r.id) THEN r.step END AS step`
	runStepColumns = columns[RunStep]("s")
)

var (
	qRun          = prepare(`SELECT ` + runColumns + runTables + `WHERE r.id = $3 AND ` + withinScope)
	qRunByKey     = prepare(`SELECT ` + runColumns + runTables + `WHERE r.job_key = $3 AND ` + withinScope)
	qRunsBegun    = prepare(`SELECT ` + runColumns + runTables + `WHERE r.job_key BETWEEN $3 AND $4 AND ` + withinScope + ` ORDER BY r.job_key LIMIT $5`)
	qRunForUpdate = prepare(`SELECT ` + runColumns + runTables + `WHERE r.job_key = $3 AND ` + withinScope + ` FOR UPDATE OF r`)
	// As the log is changed over to months, another sequence takes the place of the one that made ids: so who draws one waits for the table first, which nothing is read of.
	qRunnable = prepare(`
		WITH waits AS (SELECT FROM runs WHERE false)
		SELECT nextval('runs_id_seq') AS id, g.published_id AS revision_id, g.account_id, a.customer_id, ` + wanting("a.customer_id", "$4::text[]") + ` AS wanted
		FROM unnest($3::bigint[]) WITH ORDINALITY t(agent_id, n)` + joinRunnable + ` ORDER BY t.n`)
	qMakeRuns = prepare(`
		WITH ready AS MATERIALIZED (SELECT t.*
			FROM ` + unnest(4+tellArgs, []string{"bigint", "uuid", "bigint", "bigint", "bigint", "bigint", "bigint", "text", "text"}) + `
				t(id, job_key, agent_id, revision_id, account_id, user_id, api_key_id, status, input)` + joinRunnable + `),
		` + makingGate(3, "(SELECT count(*) FROM ready) = cardinality($"+strconv.Itoa(4+tellArgs)+"::bigint[])") + `
		made AS (INSERT INTO runs (id, job_key, agent_id, revision_id, account_id, user_id, api_key_id, status, input)
			SELECT id, job_key, agent_id, revision_id, account_id, NULLIF(user_id, 0), NULLIF(api_key_id, 0), status, input::json FROM ready
			WHERE ` + gated + ` RETURNING *),` + telling(4, gated) + `
		SELECT ` + columns[Run]("m") + `, t.customer_id,` + toldColumns + makingTold)
	qRunSteps = prepare(`SELECT ` + runStepColumns + ` FROM run_steps s WHERE s.run_id = ANY($1) ORDER BY s.run_id, s.position`)
	qEndRun   = prepare(`
		UPDATE runs SET status = $2, output = $3, error = $4, step = NULL, finished_at = now() WHERE id = $1 AND ` + unindexed("status = 'running'") + ` RETURNING finished_at`)
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

// RunsBegun reads runs whose job keys, which are random, begin with some digits, without the dashes; at most limit of them. Each digit leaves a sixteenth of all
// runs to look through.
func (s *Store) RunsBegun(ctx context.Context, scope access.Scope, digits string, limit int) ([]*Run, error) {
	const keyDigits = 32
	rest := keyDigits - len(digits)
	var rows []*Run
	err := s.list(ctx, &rows, qRunsBegun, scope.From(), scope.To(), digits+strings.Repeat("0", rest), digits+strings.Repeat("f", rest), limit)
	return rows, err
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

// BeginRuns gives runs that are to be made, of agents within the scope, their ids, and what they have of their agents. It tells whether a destination asks
// for their audit events by one of some names. ErrNoRows where there is no such agent for one of them, or it can't be run.
func (s *Store) BeginRuns(ctx context.Context, scope access.Scope, names []string, list []*Run) (wanted bool, err error) {
	var agents pq.Int64Array
	for _, r := range list {
		agents = append(agents, r.AgentID)
	}
	var rows []struct {
		ID         int64 `db:"id"`
		RevisionID int64 `db:"revision_id"`
		AccountID  int64 `db:"account_id"`
		CustomerID int64 `db:"customer_id"`
		Wanted     bool  `db:"wanted"`
	}
	if err := s.list(ctx, &rows, qRunnable, scope.From(), scope.To(), agents, pq.StringArray(names)); err != nil {
		return false, err
	}
	if len(rows) < len(list) {
		return false, ErrNoRows
	}
	for i, r := range rows {
		list[i].ID, list[i].RevisionID, list[i].AccountID, list[i].CustomerID = r.ID, r.RevisionID, r.AccountID, r.CustomerID
		wanted = wanted || r.Wanted
	}
	return wanted, nil
}

// MakeRuns puts runs that were begun down as running and due, and writes what is told of them: an audit event of each, in their order. alone says
// that nothing follows in the transaction: ErrMoreToTell where something has to. ErrNoRows where one of the agents can't be run any more.
func (s *Store) MakeRuns(ctx context.Context, scope access.Scope, alone bool, list []*Run, audits []NewAudit, events []NewEvent) ([]WrittenAudit, []Destined, error) {
	var ids, agents, revisions, accounts, users, apiKeys pq.Int64Array
	var keys, statuses, inputs pq.StringArray
	for _, r := range list {
		ids, agents, revisions, accounts = append(ids, r.ID), append(agents, r.AgentID), append(revisions, r.RevisionID), append(accounts, r.AccountID)
		users, apiKeys = append(users, orZero(r.UserID)), append(apiKeys, orZero(r.KeyID))
		keys, statuses, inputs = append(keys, r.JobKey), append(statuses, r.Status), append(inputs, string(r.Input))
	}
	var rows []madeRun
	args := append(append([]any{scope.From(), scope.To(), alone}, tellArrays(audits, events)...), ids, keys, agents, revisions, accounts, users, apiKeys, statuses, inputs)
	if err := s.list(ctx, &rows, qMakeRuns, args...); err != nil {
		return nil, nil, err
	}
	for i := range rows {
		*list[i] = rows[i].Run
	}
	return toldWith(rows, alone, func(r *madeRun) *told { return &r.told })
}

type madeRun struct {
	Run
	told
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
