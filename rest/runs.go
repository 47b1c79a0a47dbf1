package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"canopy/db"
	"canopy/internal/diagram"
	"canopy/internal/paging"
	"canopy/internal/rule"
	"canopy/resolvers"
)

const (
	runsPath = "/v1/runs"
	runPath  = runsPath + "/{jobKey}"
)

// RunPath names a run in the path.
type RunPath struct {
	JobKey string `path:"jobKey" doc:"The jobKey that starting the run gave"`
}

// ListedRun is a run in a list.
type ListedRun struct {
	ID         int64      `json:"id"`
	JobKey     string     `json:"jobKey" format:"uuid" doc:"What the run is named by"`
	AgentID    int64      `json:"agentId"`
	RevisionID int64      `json:"revisionId" doc:"The revision of the agent that runs"`
	CustomerID int64      `json:"customerId" doc:"The company whose run it is"`
	Status     string     `json:"status" enum:"running,finished,failed"`
	CreatedAt  time.Time  `json:"createdAt"`
	FinishedAt *time.Time `json:"finishedAt" doc:"When the run ended, well or badly; null while it is on its way"`
}

func listedRunOf(r *db.Run) ListedRun {
	return ListedRun{
		ID: r.ID, JobKey: r.JobKey, AgentID: r.AgentID, RevisionID: r.RevisionID, CustomerID: r.CustomerID, Status: r.Status,
		CreatedAt: r.CreatedAt.UTC(), FinishedAt: utc(r.FinishedAt),
	}
}

// run is a run with what went into it and what came of it.
type run struct {
	ListedRun
	Input       json.RawMessage `json:"input" doc:"The diagram's input: a JSON object"`
	Output      json.RawMessage `json:"output" doc:"The diagram's output: a JSON object; null unless the run has finished"`
	Error       json.RawMessage `json:"error" doc:"Why the run has failed, as the errorData of GET /job/{job_id} tells it; null otherwise"`
	CurrentStep *currentStep    `json:"currentStep"`
}

// TransformSchema documents that the step may be null, which needs the object spelled out.
func (run) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	step := *r.SchemaFromRef(s.Properties["currentStep"].Ref)
	step.Nullable = true
	step.Description = "The step that is under way, once it has been for half a second; null before that, and when the run has ended"
	s.Properties["currentStep"] = &step
	return s
}

func runAnswer(r *db.Run) (*one[run], error) {
	step, err := r.CurrentStep()
	if err != nil {
		return nil, err
	}
	return &one[run]{run{
		ListedRun: listedRunOf(r), Input: r.Input, Output: orNull(r.OutputJSON()), Error: orNull(r.ErrorJSON()), CurrentStep: currentStepOf(step),
	}}, nil
}

// currentStep is the step that a run is at.
type currentStep struct {
	Position  int             `json:"position" doc:"Counts the steps from 0 in the order of execution"`
	StepID    string          `json:"stepId" doc:"The step's id in the diagram"`
	Type      string          `json:"type" doc:"What kind of step it is"`
	Input     json.RawMessage `json:"input" doc:"What the step was given, as GET /v1/runs/{jobKey}/steps tells it; null also while that is worked out"`
	StartedAt time.Time       `json:"startedAt" doc:"When the step began; where its worker was lost, when it began anew"`
}

func currentStepOf(s *db.CurrentStep) *currentStep {
	if s == nil {
		return nil
	}
	return &currentStep{Position: s.Position, StepID: s.StepID, Type: s.Type, Input: orNull(s.Input), StartedAt: s.StartedAt.UTC()}
}

// orNull is a value that is null where there is none.
func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}

// runStep is the log of one step of a run that is done.
type runStep struct {
	Position   int             `json:"position" doc:"Counts the steps from 0 in the order of execution"`
	StepID     string          `json:"stepId" doc:"The step's id in the diagram"`
	Type       string          `json:"type" doc:"What kind of step it is"`
	Input      json.RawMessage `json:"input" doc:"What the step was given once its expressions were evaluated, with the names of secrets in place of their values; null for a set step, whose result it is, for one whose condition was false, and where an expression failed"`
	Result     json.RawMessage `json:"result" doc:"What the step gave; null where it failed"`
	Error      json.RawMessage `json:"error" doc:"Why the step failed; null otherwise"`
	StartedAt  time.Time       `json:"startedAt"`
	DurationMs float64         `json:"durationMs" doc:"How long it took, in milliseconds"`
}

func runStepOf(s *db.RunStep) runStep {
	return runStep{
		Position: s.Position, StepID: s.StepID, Type: s.Type, Input: orNull(s.InputJSON()), Result: orNull(s.ResultJSON()), Error: orNull(s.ErrorJSON()),
		StartedAt: s.StartedAt.UTC(), DurationMs: s.DurationMs,
	}
}

// runInput is any JSON object.
type runInput struct{ json.RawMessage }

// Schema documents that any members are taken.
func (runInput) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: "The diagram's input: any JSON object"}
	s.PrecomputeMessages()
	return s
}

type startRunInput struct {
	AgentPath
	Body runInput `required:"true"`
}

func (in *startRunInput) asked() resolvers.StartRunInput {
	return resolvers.StartRunInput{AgentID: in.id(), Input: in.Body.RawMessage}
}

// startedRun names a run.
type startedRun struct {
	JobKey string `json:"jobKey" format:"uuid" doc:"The key to poll GET /job/{job_id} with"`
}

type jobPath struct {
	JobID string `path:"job_id" doc:"The jobKey that starting the run gave"`
}

// runningJob is a run on its way.
type runningJob struct {
	JobKey string `json:"jobKey" format:"uuid"`
	Status string `json:"status" enum:"running"`
}

// finishedJob is a run that has ended well.
type finishedJob struct {
	JobKey     string          `json:"jobKey" format:"uuid"`
	Status     string          `json:"status" enum:"finished"`
	OutputData json.RawMessage `json:"outputData" doc:"The diagram's output: a JSON object"`
}

// failedJob is a run that has ended badly.
type failedJob struct {
	JobKey string `json:"jobKey" format:"uuid"`
	Status string `json:"status" enum:"failed"`
	// ErrorData is documented where its type is.
	ErrorData diagram.Error `json:"errorData"`
	Detail    string        `json:"detail" doc:"What went wrong, for a person"`
}

// jobOutput is an answer whose status tells the state of the run.
type jobOutput struct {
	Status int
	Body   any
}

func (a *api) registerRuns() {
	add(a, operation{
		id: "executeAgentAsJob", rule: rule.StartRun, method: http.MethodPost, path: "/CognitiveDiagram/{id}/ExecuteAsJob", tag: tagRuns,
		status: http.StatusAccepted, errors: []int{http.StatusNotFound}, names: map[string]string{"agentId": "path.id", "input": "body"},
		summary: "Start a run of an agent", description: "Runs the published revision of an agent in the background. The agent must be enabled and published.",
	}, a.startRun)
	schema := func(t reflect.Type, what string) *huma.Response {
		return &huma.Response{Description: what, Content: map[string]*huma.MediaType{
			jsonType: {Schema: a.huma.OpenAPI().Components.Schemas.Schema(t, true, "")},
		}}
	}
	add(a, operation{
		id: "getJob", rule: rule.Run, method: http.MethodGet, path: "/job/{job_id}", tag: tagRuns, errors: []int{http.StatusNotFound},
		summary: "Poll a run", description: "202 while the run is on its way, 200 with its output once it has finished, 400 with its error where it has failed.",
		names: map[string]string{"jobKey": "path.job_id"},
		responses: map[string]*huma.Response{
			"200": schema(reflect.TypeFor[finishedJob](), "The run has finished"),
			"202": schema(reflect.TypeFor[runningJob](), "The run is on its way"),
			"400": schema(reflect.TypeFor[failedJob](), "The run has failed"),
		},
	}, a.job)
	a.registerFollowing()
}

// registerFollowing registers how runs are followed and ended.
func (a *api) registerFollowing() {
	notFound := []int{http.StatusNotFound}
	addList(a, operation{
		id: "listRuns", rule: rule.Runs, orders: db.Runs, path: runsPath, tag: tagRuns, errors: notFound,
		summary: "List runs", description: "The runs within reach, newest first unless asked for otherwise.",
	}, anyOrder, func(ctx context.Context, in *RunsQuery, _ query, each emit[ListedRun]) error {
		return a.queries().ListRuns(ctx, in.customer(), in.Subtree, in.filter, in.listing(&in.Pages), func(r *db.Run, at paging.Cursor) error {
			return each(listedRunOf(r), at)
		})
	})
	add(a, operation{
		id: "getRun", rule: rule.Run, method: http.MethodGet, path: runPath, tag: tagRuns, errors: notFound,
		summary: "Get a run", description: "A run of a company within reach, whatever has come of it.",
	}, func(ctx context.Context, in *RunPath) (*one[run], error) {
		row, err := a.queries().Run(ctx, in.JobKey)
		if err != nil {
			return nil, err
		}
		return runAnswer(row)
	})
	add(a, operation{
		id: "listRunSteps", rule: rule.Run, method: http.MethodGet, path: runPath + "/steps", tag: tagRuns, errors: notFound,
		summary: "List the steps of a run", description: "The steps that are done, in the order of execution.",
	}, func(ctx context.Context, in *RunPath) (*one[[]runStep], error) {
		rows, err := a.queries().RunSteps(ctx, in.JobKey)
		return &one[[]runStep]{mapped(rows, runStepOf)}, err
	})
	add(a, operation{
		id: "cancelRun", rule: rule.CancelRun, method: http.MethodPost, path: runPath + "/cancel", tag: tagRuns, status: http.StatusOK, errors: notFound,
		summary: "Cancel a run", description: "Ends a run as failed, with the error code cancelled. The step under way is given up.",
	}, func(ctx context.Context, in *RunPath) (*one[run], error) {
		out, err := a.mutations().CancelRun(ctx, resolvers.CancelRunInput{JobKey: in.JobKey})
		if err != nil {
			return nil, err
		}
		return runAnswer(out.Run)
	})
}

func (a *api) startRun(ctx context.Context, in *startRunInput) (*one[startedRun], error) {
	out, err := a.mutations().StartRun(ctx, in.asked())
	if err != nil {
		return nil, err
	}
	return &one[startedRun]{startedRun{out.JobKey}}, nil
}

func (a *api) job(ctx context.Context, in *jobPath) (*jobOutput, error) {
	run, err := a.queries().Run(ctx, in.JobID)
	if err != nil {
		return nil, err
	}
	switch run.Status {
	case db.RunFinished:
		return &jobOutput{http.StatusOK, finishedJob{JobKey: run.JobKey, Status: run.Status, OutputData: run.OutputJSON()}}, nil
	case db.RunFailed:
		failed := failedJob{JobKey: run.JobKey, Status: run.Status}
		if err := json.Unmarshal(run.ErrorJSON(), &failed.ErrorData); err != nil {
			return nil, err
		}
		failed.Detail = failed.ErrorData.Message
		return &jobOutput{http.StatusBadRequest, failed}, nil
	}
	return &jobOutput{http.StatusAccepted, runningJob{run.JobKey, run.Status}}, nil
}
