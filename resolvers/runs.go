package resolvers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/audit"
	"canopy/internal/diagram"
	"canopy/internal/globalid"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/internal/webhook"
	"canopy/outbox"
)

// message is what is told on the bus once a change is committed.
type message struct {
	topic   string
	payload []byte
}

// Run gives a run within reach by its job key.
func (q Query) Run(ctx context.Context, jobKey string) (*db.Run, error) {
	return q.run(ctx, rule.Run, jobKey)
}

func (r *Resolver) run(ctx context.Context, need *rule.Rule, jobKey string) (*db.Run, error) {
	c, err := r.may(ctx, need)
	if err != nil {
		return nil, err
	}
	key, err := parseJobKey(jobKey)
	if err != nil {
		return nil, err
	}
	row, err := r.Store.RunByKey(ctx, c.Scope(), key)
	return row, noRun(err)
}

// RunSteps lists the steps of a run within reach that are done, in the order of execution.
func (q Query) RunSteps(ctx context.Context, jobKey string) ([]*db.RunStep, error) {
	run, err := q.Run(ctx, jobKey)
	if err != nil {
		return nil, err
	}
	return run.Steps(ctx, q.Store)
}

func (q Query) runNode(ctx context.Context, id globalid.ID) (*db.Run, error) {
	c, err := q.may(ctx, rule.Run)
	if err != nil {
		return nil, err
	}
	row, err := q.Store.Run(ctx, c.Scope(), id.Int)
	return row, missing(err, "run", id.Int)
}

// parseJobKey reads a job key; one that is none is a job that is not there.
func parseJobKey(s string) (string, error) {
	key, err := uuid.Parse(s)
	if err != nil || len(s) != len(key.String()) {
		return "", noRun(db.ErrNoRows)
	}
	return key.String(), nil
}

// noRun is missing for a job key, which is not repeated: a caller may send any text.
func noRun(err error) error {
	if errors.Is(err, db.ErrNoRows) {
		return problem.Missing("there is no such job")
	}
	return err
}

// StartRunInput is an agent to run, with the input of the run.
type StartRunInput struct {
	AgentID globalid.ID
	Input   json.RawMessage
}

// StartRunPayload is the run that StartRun began.
type StartRunPayload struct {
	Run    *db.Run
	JobKey string
}

// StartRun begins a run of an agent's published revision. It goes on in the background.
func (m Mutation) StartRun(ctx context.Context, in StartRunInput) (*StartRunPayload, error) {
	c, err := m.may(ctx, rule.StartRun)
	if err != nil {
		return nil, err
	}
	var v check
	v.runInput("input", in.Input)
	if err := v.err(); err != nil {
		return nil, err
	}
	agentID, err := in.AgentID.Of("Agent", "agentId")
	if err != nil {
		return nil, err
	}
	if isNull(in.Input) {
		in.Input = json.RawMessage("{}")
	}
	key, err := m.Store.NewJobKey()
	if err != nil {
		return nil, err
	}
	var keyID *int64
	if !c.Login() {
		keyID = &c.KeyID
	}
	new := &making[db.Run]{
		ch:  &changes{caller: c, work: true},
		row: &db.Run{JobKey: key, AgentID: agentID, Input: in.Input, UserID: &c.UserID, KeyID: keyID, Status: db.RunRunning},
		tell: func(ch *changes, made *db.Run) error {
			if err := ch.record.Emit(made.CustomerID, webhook.RunStarted{JobKey: made.JobKey}); err != nil {
				return err
			}
			return ch.audit(made.CustomerID, audit.RunStarted, made, audit.Created(made))
		},
	}
	err = makeTogether(ctx, m.Resolver, m.Together.ofRuns(), agentID, runsMade(c.Scope()), new)
	if errors.Is(err, db.ErrNoRows) {
		err = m.notStarted(ctx, c, agentID)
	}
	if err != nil {
		return &StartRunPayload{}, err
	}
	return &StartRunPayload{Run: new.row, JobKey: new.row.JobKey}, nil
}

// runsMade is how runs of agents within a reach are made.
func runsMade(reach access.Scope) kind[db.Run] {
	return kind[db.Run]{
		action: audit.RunStarted,
		begin: func(ctx context.Context, s *db.Store, names []string, list []*db.Run) (bool, error) {
			return s.BeginRuns(ctx, reach, names, list)
		},
		write: func(ctx context.Context, tx *db.Store, alone bool, list []*db.Run, audits []db.NewAudit, events []db.NewEvent) ([]db.WrittenAudit, []db.Destined, error) {
			return tx.MakeRuns(ctx, reach, alone, list, audits, events)
		},
	}
}

// runInput checks the input of a run: a JSON object, or nothing.
func (v *check) runInput(field string, raw json.RawMessage) {
	trimmed := bytes.TrimLeft(raw, " \t\r\n")
	switch {
	case len(raw) > diagram.MaxInput:
		v.fault(field, "is longer than %d bytes", diagram.MaxInput)
	case isNull(raw):
	case trimmed[0] != '{' || !json.Valid(raw):
		v.fault(field, "must be a JSON object")
	}
}

// notStarted tells why an agent was not found to be run.
func (r *Resolver) notStarted(ctx context.Context, c *caller, agentID int64) error {
	agent, err := r.Store.Agent(ctx, c.Scope(), agentID)
	if err != nil {
		return missing(err, "agent", agentID)
	}
	return notRunnable(agent)
}

func notRunnable(a *db.Agent) error {
	if !a.Enabled {
		return problem.Bad("the agent %d is not runnable: it is disabled", a.ID).With("not_runnable")
	}
	return problem.Bad("the agent %d is not runnable: it is not published", a.ID).With("not_runnable")
}

// CancelRunInput is a run to end.
type CancelRunInput struct{ JobKey string }

// CancelRunPayload is what CancelRun ended.
type CancelRunPayload struct{ Run *db.Run }

// CancelRun ends a run as failed, with the error code "cancelled". The step under way is given up.
func (m Mutation) CancelRun(ctx context.Context, in CancelRunInput) (*CancelRunPayload, error) {
	c, err := m.may(ctx, rule.CancelRun)
	if err != nil {
		return nil, err
	}
	key, err := parseJobKey(in.JobKey)
	if err != nil {
		return nil, err
	}
	out := &CancelRunPayload{}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		if out.Run, err = tx.RunForUpdate(ctx, c.Scope(), key); err != nil {
			return noRun(err)
		}
		if out.Run.Status != db.RunRunning {
			return problem.Bad("the run has ended already: it is %s", out.Run.Status)
		}
		before := *out.Run
		if err := outbox.FailRun(ctx, tx, &ch.record, out.Run, &diagram.Error{Code: diagram.CodeCancelled, Message: "The run was cancelled."}); err != nil {
			return err
		}
		ch.messages = append(ch.messages, message{outbox.RunTopic(key), []byte(out.Run.Status)})
		return ch.audit(out.Run.CustomerID, audit.RunCancelled, out.Run, audit.Between(&before, out.Run))
	})
	return out, err
}

// RunUpdated gives a run as it is now, and then each time that it has moved on, until it has
// ended.
func (s Subscription) RunUpdated(ctx context.Context, jobKey string) (<-chan *db.Run, error) {
	if _, err := s.may(ctx, rule.RunUpdated); err != nil {
		return nil, err
	}
	key, err := parseJobKey(jobKey)
	if err != nil {
		return nil, err
	}
	return follow(ctx, s.Resolver, feed[db.Run]{
		topic: outbox.RunTopic(key),
		load: func(ctx context.Context, _ []byte) ([]*db.Run, error) {
			run, err := s.run(ctx, rule.RunUpdated, key)
			return []*db.Run{run}, err
		},
		over: func(r *db.Run) bool { return r.Status != db.RunRunning },
	})
}

// RunEdges resolves the edges of a run.
type RunEdges struct{ *Resolver }

// Agent is what runs; nil when it was deleted.
func (e RunEdges) Agent(ctx context.Context, obj *db.Run) (*db.Agent, error) {
	c, err := e.may(ctx, rule.RunAgent)
	if err != nil {
		return nil, err
	}
	return obj.Agent(ctx, e.Store, c.Scope())
}

// Revision is the diagram that runs.
func (e RunEdges) Revision(ctx context.Context, obj *db.Run) (*db.Revision, error) {
	return obj.Revision(ctx, e.Store)
}

// Steps are the steps that are done, in the order of execution.
func (e RunEdges) Steps(ctx context.Context, obj *db.Run) ([]*db.RunStep, error) {
	return obj.Steps(ctx, e.Store)
}
