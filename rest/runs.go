package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"canopy/db"
	"canopy/internal/diagram"
	"canopy/internal/globalid"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// runInput is any JSON object.
type runInput json.RawMessage

// Schema documents that any members are taken.
func (runInput) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: "The diagram's input: any JSON object"}
	s.PrecomputeMessages()
	return s
}

// UnmarshalJSON keeps the input as it came.
func (i *runInput) UnmarshalJSON(raw []byte) error {
	*i = append((*i)[:0], raw...)
	return nil
}

type startRunInput struct {
	ID   int64    `path:"id" doc:"The agent's id"`
	Body runInput `required:"true"`
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
}

func (a *api) startRun(ctx context.Context, in *startRunInput) (*one[startedRun], error) {
	out, err := a.mutations().StartRun(ctx, resolvers.StartRunInput{AgentID: globalid.ID{Int: in.ID}, Input: json.RawMessage(in.Body)})
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
