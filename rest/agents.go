package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"canopy/db"
	"canopy/internal/diagram"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/rule"
	"canopy/resolvers"
)

const (
	agentsPath = "/v1/agents"
	agentPath  = agentsPath + "/{id}"
)

// ListedAgent is an agent in a list, without its diagram.
type ListedAgent struct {
	ID          int64     `json:"id"`
	AccountID   int64     `json:"accountId" doc:"The builder account that it is on"`
	CustomerID  int64     `json:"customerId" doc:"The company that it belongs to"`
	Name        string    `json:"name"`
	PublishedID *int64    `json:"publishedId" doc:"The id of the revision that runs; null where none is published"`
	Enabled     bool      `json:"enabled"`
	Runnable    bool      `json:"runnable" doc:"Whether it can be run: it is enabled and published"`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
}

// agent is an agent with the diagram that it would publish.
type agent struct {
	ListedAgent
	Draft json.RawMessage `json:"draft" doc:"The diagram that publishing makes a revision of"`
}

func listedAgentOf(a *db.Agent) ListedAgent {
	return ListedAgent{
		ID: a.ID, AccountID: a.AccountID, CustomerID: a.CustomerID, Name: a.Name, PublishedID: a.PublishedID, Enabled: a.Enabled, Runnable: a.Runnable(),
		CreatedAt: a.CreatedAt.UTC(), UpdatedAt: a.UpdatedAt.UTC(),
	}
}

func agentAnswer(ctx context.Context, a *db.Agent) (*tagged[agent], error) {
	return tag(ctx, a.Version, agent{listedAgentOf(a), a.Draft})
}

// agentRevision is a diagram as it was published.
type agentRevision struct {
	ID        int64           `json:"id"`
	AgentID   int64           `json:"agentId"`
	Number    int             `json:"number" doc:"Counts the agent's revisions from 1"`
	Diagram   json.RawMessage `json:"diagram"`
	CreatedAt time.Time       `json:"createdAt" doc:"When it was published"`
}

// AgentPath names an agent in the path.
type AgentPath struct {
	ID int64 `path:"id" doc:"The agent's id"`
}

func (p *AgentPath) id() globalid.ID { return globalid.ID{Int: p.ID} }

// AgentFilter are the parameters that bound a list of agents.
type AgentFilter struct {
	IDs      []int64 `query:"ids" doc:"Only those of these ids, separated by commas"`
	Search   string  `query:"search" doc:"Only those whose names have all words of this text, the last one as a beginning; where none has, within one edit"`
	Enabled  bool    `query:"enabled" doc:"Only those that are, or are not, enabled"`
	Runnable bool    `query:"runnable" doc:"Only those that can, or can't, be run"`
}

// AgentsQuery are the parameters of the list of agents.
type AgentsQuery struct {
	Pages
	OrderQuery
	AgentFilter
	AccountID int64 `query:"accountId" minimum:"1" doc:"The builder account; by default the one that the token stands on"`

	filter *resolvers.AgentFilter
}

// Resolve tells what was given from what was left out.
func (q *AgentsQuery) Resolve(hc huma.Context) []error {
	q.filter = filterGiven[resolvers.AgentFilter](hc, &q.AgentFilter)
	return nil
}

func (q *AgentsQuery) account() *globalid.ID { return idOf(q.AccountID) }

// RevisionFilter are the parameters that bound a list of revisions.
type RevisionFilter struct {
	IDs          []int64   `query:"ids" doc:"Only those of these ids, separated by commas"`
	CreatedSince time.Time `query:"createdSince" doc:"Only those from this moment on"`
	CreatedUntil time.Time `query:"createdUntil" doc:"Only those before this moment"`
}

type revisionsQuery struct {
	AgentPath
	Pages
	OrderQuery
	RevisionFilter

	filter *resolvers.AgentRevisionFilter
}

// Resolve tells what was given from what was left out.
func (q *revisionsQuery) Resolve(hc huma.Context) []error {
	q.filter = filterGiven[resolvers.AgentRevisionFilter](hc, &q.RevisionFilter)
	return nil
}

type agentRunsQuery struct {
	AgentPath
	Pages
	OrderQuery
	RunFilter

	filter *resolvers.RunFilter
}

// Resolve tells what was given from what was left out.
func (q *agentRunsQuery) Resolve(hc huma.Context) []error {
	q.filter = filterGiven[resolvers.RunFilter](hc, &q.RunFilter)
	return nil
}

type createAgentInput struct {
	Body struct {
		AccountID *int64          `json:"accountId,omitempty" doc:"The builder account; by default the one that the token stands on"`
		Name      string          `json:"name" example:"Invoice reader"`
		Diagram   json.RawMessage `json:"diagram,omitempty" doc:"The draft; an empty diagram when left out. It is checked when it is published"`
	} `nameHint:"CreateAgentRequest"`
}

type updateAgentInput struct {
	AgentPath
	Body struct {
		Name    *string         `json:"name,omitempty"`
		Diagram json.RawMessage `json:"diagram,omitempty" doc:"The draft. What is published stays until the agent is published again"`
	} `nameHint:"UpdateAgentRequest"`
}

type diagramCheckInput struct {
	Body struct {
		Diagram json.RawMessage `json:"diagram" doc:"The diagram, which may be unfinished; at most 256 KiB"`
	} `nameHint:"DiagramCheckRequest"`
}

// diagramCheck is what is known of a diagram.
type diagramCheck struct {
	Faults []diagramFault `json:"faults" doc:"Every fault that publishing would name, at most 100; none where it can be published"`
	Steps  []diagramReads `json:"steps" doc:"What each step reads, in the order of the steps"`
	Output diagramReads   `json:"output"`
}

// diagramFault is one thing that is wrong with a diagram.
type diagramFault struct {
	Location string `json:"location" doc:"Where; empty for the diagram as a whole" example:"steps[1].when"`
	Message  string `json:"message" doc:"What is wrong there"`
}

// diagramReads is what the expressions of a part of a diagram read.
type diagramReads struct {
	Input   []string `json:"input" doc:"Members of the input"`
	Steps   []string `json:"steps" doc:"Ids of earlier steps"`
	Secrets []string `json:"secrets" doc:"Names of secrets"`
}

func (a *api) checkDiagram(ctx context.Context, in *diagramCheckInput) (*one[diagramCheck], error) {
	out, err := a.queries().DiagramCheck(ctx, in.Body.Diagram)
	if err != nil {
		return nil, err
	}
	return &one[diagramCheck]{diagramCheck{
		Faults: mapped(out.Faults, func(f diagram.Fault) diagramFault { return diagramFault(f) }),
		Steps:  mapped(out.Steps, func(r diagram.Reads) diagramReads { return diagramReads(r) }),
		Output: diagramReads(out.Output),
	}}, nil
}

func (a *api) registerAgents() {
	notFound := []int{http.StatusNotFound}
	addList(a, operation{
		id: "listAgents", rule: rule.Agents, orders: db.Agents, path: agentsPath, tag: tagAgents, errors: notFound,
		summary: "List agents", description: "The agents of an account, by id unless asked for otherwise, without their diagrams.",
	}, anyOrder, func(ctx context.Context, in *AgentsQuery, _ query, each emit[ListedAgent]) error {
		return a.queries().ListAgents(ctx, in.account(), in.filter, in.listing(&in.Pages), func(row *db.Agent, at paging.Cursor) error {
			return each(listedAgentOf(row), at)
		})
	})
	add(a, operation{
		id: "createAgent", rule: rule.CreateAgent, method: http.MethodPost, path: agentsPath, tag: tagAgents, status: http.StatusCreated, errors: notFound,
		summary: "Create an agent", description: "Makes an agent, enabled and unpublished.",
	}, func(ctx context.Context, in *createAgentInput) (*tagged[agent], error) {
		out, err := a.mutations().CreateAgent(ctx, resolvers.CreateAgentInput{AccountID: optionalID(in.Body.AccountID), Name: in.Body.Name, Diagram: in.Body.Diagram})
		if err != nil {
			return nil, err
		}
		return agentAnswer(ctx, out.Agent)
	})
	add(a, operation{
		id: "getAgent", conditions: byNoneMatch, rule: rule.Agent, method: http.MethodGet, path: agentPath, tag: tagAgents, errors: notFound,
		summary: "Get an agent", description: "An agent of a company within reach, with its draft.",
	}, func(ctx context.Context, in *AgentPath) (*tagged[agent], error) {
		row, err := a.queries().Agent(ctx, in.id())
		if err != nil {
			return nil, err
		}
		return agentAnswer(ctx, row)
	})
	add(a, operation{
		id: "updateAgent", conditions: byMatch, rule: rule.UpdateAgent, method: http.MethodPut, path: agentPath, tag: tagAgents, errors: notFound, status: http.StatusOK,
		summary: "Update an agent", description: "Changes the name or the draft, as given.",
	}, func(ctx context.Context, in *updateAgentInput) (*tagged[agent], error) {
		out, err := a.mutations().UpdateAgent(ctx, resolvers.UpdateAgentInput{ID: in.id(), Name: in.Body.Name, Diagram: in.Body.Diagram, IfVersion: ifMatch(ctx)})
		if err != nil {
			return nil, err
		}
		return agentAnswer(ctx, out.Agent)
	})
	add(a, operation{
		id: "deleteAgent", conditions: byMatch, rule: rule.DeleteAgent, method: http.MethodDelete, path: agentPath, tag: tagAgents, errors: notFound,
		summary: "Delete an agent", description: "Removes an agent; for 30 days it can be restored. Runs under way go on to their end.",
	}, func(ctx context.Context, in *AgentPath) (*struct{}, error) {
		_, err := a.mutations().DeleteAgent(ctx, resolvers.DeleteAgentInput{ID: in.id(), IfVersion: ifMatch(ctx)})
		return nil, err
	})
	add(a, operation{
		id: "restoreAgent", rule: rule.RestoreAgent, method: http.MethodPost, path: agentPath + "/restore", tag: tagAgents, errors: notFound, status: http.StatusOK,
		summary: "Restore a deleted agent", description: "Brings an agent back, as it was, that was deleted within the last 30 days.",
	}, func(ctx context.Context, in *AgentPath) (*tagged[agent], error) {
		out, err := a.mutations().RestoreAgent(ctx, resolvers.RestoreAgentInput{ID: in.id()})
		if err != nil {
			return nil, err
		}
		return agentAnswer(ctx, out.Agent)
	})
	add(a, operation{
		id: "listDeletedAgents", rule: rule.CustomerDeletedAgents, method: http.MethodGet, path: agentsPath + "/deleted", tag: tagAgents, errors: notFound,
		summary: "List the deleted agents of a company", description: "Those that can be restored, the one that was deleted last first; at most 200.",
	}, func(ctx context.Context, in *DeletedOf) (*one[[]deleted], error) {
		return deletedAnswer(a.queries().ListDeletedAgents(ctx, idOf(in.CustomerID)))
	})
	add(a, operation{
		id: "checkDiagram", rule: rule.DiagramCheck, method: http.MethodPost, path: agentsPath + "/check", tag: tagAgents, status: http.StatusOK,
		summary: "Check a diagram", description: "Names every fault that publishing would name, and tells what the expressions read. Nothing is kept.",
	}, a.checkDiagram)
	a.registerAgentStates()
	a.registerAgentLists()
}

// registerAgentStates registers what takes an agent from one state to another.
func (a *api) registerAgentStates() {
	a.agentState(rule.PublishAgent, "publish", "Publish an agent", "Makes the draft the revision that runs. Every fault in it is named.",
		func(ctx context.Context, id globalid.ID) (*db.Agent, error) {
			out, err := a.mutations().PublishAgent(ctx, resolvers.PublishAgentInput{ID: id})
			return out.Agent, err
		})
	a.agentState(rule.UnpublishAgent, "unpublish", "Unpublish an agent", "Takes the published revision back. Runs under way go on to their end.",
		func(ctx context.Context, id globalid.ID) (*db.Agent, error) {
			out, err := a.mutations().UnpublishAgent(ctx, resolvers.UnpublishAgentInput{ID: id})
			return out.Agent, err
		})
	a.agentState(rule.EnableAgent, "enable", "Enable an agent", "Lets it be run, once it is published.",
		func(ctx context.Context, id globalid.ID) (*db.Agent, error) {
			out, err := a.mutations().EnableAgent(ctx, resolvers.EnableAgentInput{ID: id})
			return out.Agent, err
		})
	a.agentState(rule.DisableAgent, "disable", "Disable an agent", "Lets no new run begin. Runs under way go on to their end.",
		func(ctx context.Context, id globalid.ID) (*db.Agent, error) {
			out, err := a.mutations().DisableAgent(ctx, resolvers.DisableAgentInput{ID: id})
			return out.Agent, err
		})
}

// agentState registers a change of an agent's state, named by a verb.
func (a *api) agentState(need *rule.Rule, verb, summary, description string, do func(context.Context, globalid.ID) (*db.Agent, error)) {
	add(a, operation{
		id: verb + "Agent", rule: need, method: http.MethodPost, path: agentPath + "/" + verb, tag: tagAgents, status: http.StatusOK, errors: []int{http.StatusNotFound},
		summary: summary, description: description,
	}, func(ctx context.Context, in *AgentPath) (*tagged[agent], error) {
		row, err := do(ctx, in.id())
		if err != nil {
			return nil, err
		}
		return agentAnswer(ctx, row)
	})
}

// registerAgentLists registers what an agent has: revisions and runs.
func (a *api) registerAgentLists() {
	notFound := []int{http.StatusNotFound}
	addList(a, operation{
		id: "listRevisions", rule: rule.Agent, orders: db.Revisions, path: agentPath + "/revisions", tag: tagAgents, errors: notFound,
		summary: "List the revisions of an agent", description: "The diagrams as they were published, newest first unless asked for otherwise.",
	}, anyOrder, func(ctx context.Context, in *revisionsQuery, _ query, each emit[agentRevision]) error {
		return a.queries().ListRevisions(ctx, in.id(), in.filter, in.listing(&in.Pages), func(v *db.Revision, at paging.Cursor) error {
			return each(agentRevision{ID: v.ID, AgentID: v.AgentID, Number: v.Number, Diagram: v.Diagram, CreatedAt: v.CreatedAt.UTC()}, at)
		})
	})
	addList(a, operation{
		id: "listAgentRuns", rule: rule.AgentRuns, orders: db.Runs, path: agentPath + "/runs", tag: tagAgents, errors: notFound,
		summary: "List the runs of an agent", description: "The runs, newest first unless asked for otherwise.",
	}, anyOrder, func(ctx context.Context, in *agentRunsQuery, _ query, each emit[ListedRun]) error {
		return a.queries().ListAgentRuns(ctx, in.id(), in.filter, in.listing(&in.Pages), func(r *db.Run, at paging.Cursor) error {
			return each(listedRunOf(r), at)
		})
	})
	add(a, operation{
		id: "startRun", rule: rule.StartRun, method: http.MethodPost, path: agentPath + "/runs", tag: tagAgents, status: http.StatusCreated, errors: notFound,
		names:   map[string]string{"agentId": "path.id", "input": "body"},
		summary: "Start a run of an agent", description: "Runs the published revision of an agent in the background, and gives the run. The agent must be enabled and published.",
	}, func(ctx context.Context, in *startRunInput) (*one[run], error) {
		out, err := a.mutations().StartRun(ctx, in.asked())
		if err != nil {
			return nil, err
		}
		return runAnswer(out.Run)
	})
}
