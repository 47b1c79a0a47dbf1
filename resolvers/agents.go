package resolvers

import (
	"cmp"
	"context"
	"encoding/json"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/audit"
	"canopy/internal/diagram"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/internal/webhook"
)

// Agents is a page of the agents of an account within reach, by id; without an account, of the
// one that the token stands on.
func (q Query) Agents(ctx context.Context, accountID *globalid.ID, filter *AgentFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*AgentConnection, error) {
	c, err := q.may(ctx, rule.Agents)
	if err != nil {
		return nil, err
	}
	account, err := q.accountOf(ctx, c, accountID, access.Builder)
	if err != nil {
		return nil, err
	}
	return q.agentsOf(ctx, c, account, asked{filter: filter, order: orderBy, args: page(first, after, last, before)})
}

// ListAgents gives each agent of an account within reach that fits a filter; without an account, of the one that the token
// stands on.
func (q Query) ListAgents(ctx context.Context, accountID *globalid.ID, filter *AgentFilter, l Listing, each func(*db.Agent, paging.Cursor) error) error {
	c, err := q.may(ctx, rule.Agents)
	if err != nil {
		return err
	}
	account, err := q.accountOf(ctx, c, accountID, access.Builder)
	if err != nil {
		return err
	}
	return listAll(ctx, q.Resolver, c, asked{list: db.Agents, filter: filter}, l, within(q.Store, account.Agents), each)
}

// ListDeletedAgents gives the agents of a company within reach that can be brought back, the one that was deleted last first.
func (q Query) ListDeletedAgents(ctx context.Context, id *globalid.ID) ([]*db.Deleted, error) {
	c, err := q.may(ctx, rule.CustomerDeletedAgents)
	if err != nil {
		return nil, err
	}
	customer, err := q.holder(ctx, c, id, "customerId")
	if err != nil {
		return nil, err
	}
	return customer.DeletedAgents(ctx, q.Store)
}

func (r *Resolver) agentsOf(ctx context.Context, c *caller, account *db.Account, in asked) (*AgentConnection, error) {
	in.list = db.Agents
	return connected(ctx, r, c, in,
		within(r.Store, account.Agents),
		within(r.Store, account.AgentCount))
}

// accountOf gives the account of an optional argument, the one of the caller's grant when it is
// left out. What it has must be here.
func (r *Resolver) accountOf(ctx context.Context, c *caller, id *globalid.ID, app access.App) (*db.Account, error) {
	n := c.AccountID
	if id != nil {
		var err error
		if n, err = id.Of("Account", "accountId"); err != nil {
			return nil, err
		}
	} else if g := c.Grants[app]; g != nil && c.Serves[app] {
		n = g.AccountID
	}
	account, err := r.Store.Account(ctx, c.Scope(), n)
	if err != nil {
		return nil, c.unreached(err, "account", n)
	}
	return account, r.hasOf(ctx, account.LivesIn)
}

// Agent gives an agent within reach.
func (q Query) Agent(ctx context.Context, id globalid.ID) (*db.Agent, error) {
	c, err := q.may(ctx, rule.Agent)
	if err != nil {
		return nil, err
	}
	return q.agent(ctx, c, id, "id")
}

func (r *Resolver) agent(ctx context.Context, c *caller, id globalid.ID, field string) (*db.Agent, error) {
	n, err := id.Of("Agent", field)
	if err != nil {
		return nil, err
	}
	a, err := r.Store.Agent(ctx, c.Scope(), n)
	return a, missing(err, "agent", n)
}

// ListRevisions gives each revision of an agent that fits a filter, newest first unless asked for otherwise.
func (q Query) ListRevisions(ctx context.Context, agentID globalid.ID, filter *AgentRevisionFilter, l Listing, each func(*db.Revision, paging.Cursor) error) error {
	agent, err := q.Agent(ctx, agentID)
	if err != nil {
		return err
	}
	return listAll(ctx, q.Resolver, nil, asked{list: db.Revisions, filter: filter}, l, within(q.Store, agent.Revisions), each)
}

// ListAgentRuns gives each run of an agent that fits a filter, newest first unless asked for otherwise.
func (q Query) ListAgentRuns(ctx context.Context, agentID globalid.ID, filter *RunFilter, l Listing, each func(*db.Run, paging.Cursor) error) error {
	c, err := q.may(ctx, rule.AgentRuns)
	if err != nil {
		return err
	}
	agent, err := q.agent(ctx, c, agentID, "id")
	if err != nil {
		return err
	}
	return listAll(ctx, q.Resolver, c, asked{list: db.Runs, filter: filter}, l, within(q.Store, agent.Runs), each)
}

// DiagramCheck checks a diagram as publishing does, and tells what its parts read.
func (q Query) DiagramCheck(ctx context.Context, raw json.RawMessage) (*diagram.Checked, error) {
	c, err := q.may(ctx, rule.DiagramCheck)
	if err != nil {
		return nil, err
	}
	var v check
	v.draft(raw)
	if err := v.err(); err != nil {
		return nil, err
	}
	return diagram.Check(ctx, c.Lineage.Branch(), raw)
}

func (q Query) agentRevisionNode(ctx context.Context, id globalid.ID) (*db.Revision, error) {
	c, err := q.may(ctx, rule.Agent)
	if err != nil {
		return nil, err
	}
	row, err := q.Store.Revision(ctx, c.Scope(), id.Int)
	return row, missing(err, "revision", id.Int)
}

// emptyDiagram is the draft of an agent that was created without one.
var emptyDiagram = json.RawMessage(`{"steps":[],"output":{}}`)

// CreateAgentInput is a new agent.
type CreateAgentInput struct {
	AccountID *globalid.ID
	Name      string
	Diagram   json.RawMessage
}

// CreateAgentPayload is what CreateAgent made.
type CreateAgentPayload struct{ Agent *db.Agent }

// CreateAgent makes an agent, enabled and unpublished, on a builder account.
func (m Mutation) CreateAgent(ctx context.Context, in CreateAgentInput) (*CreateAgentPayload, error) {
	c, err := m.may(ctx, rule.CreateAgent)
	if err != nil {
		return nil, err
	}
	var v check
	v.name("name", in.Name)
	v.draft(in.Diagram)
	if err := v.err(); err != nil {
		return nil, err
	}
	account, err := m.builderAccount(ctx, c, in.AccountID)
	if err != nil {
		return nil, err
	}
	if isNull(in.Diagram) {
		in.Diagram = emptyDiagram
	}
	new := &making[db.NewAgent]{
		ch: &changes{caller: c},
		row: &db.NewAgent{
			Agent:     db.Agent{AccountID: account.ID, CustomerID: account.CustomerID, Name: in.Name, Draft: in.Diagram, Enabled: true},
			CreatedBy: c.UserID,
		},
		tell: func(ch *changes, made *db.NewAgent) error {
			if err := ch.record.Emit(made.CustomerID, webhook.AgentCreated{AgentID: made.ID, Name: made.Name}); err != nil {
				return err
			}
			return ch.audit(made.CustomerID, audit.AgentCreated, made, audit.Created(&made.Agent))
		},
	}
	if err := makeTogether(ctx, m.Resolver, m.Together.ofAgents(), account.ID, agentsMade, new); err != nil {
		return &CreateAgentPayload{}, err
	}
	return &CreateAgentPayload{&new.row.Agent}, nil
}

// agentsMade is how agents are made.
var agentsMade = kind[db.NewAgent]{
	action: audit.AgentCreated,
	begin: func(ctx context.Context, s *db.Store, names []string, list []*db.NewAgent) (bool, error) {
		return s.BeginAgents(ctx, names, list)
	},
	write: func(ctx context.Context, tx *db.Store, alone bool, list []*db.NewAgent, audits []db.NewAudit, events []db.NewEvent) ([]db.WrittenAudit, []db.Destined, error) {
		return tx.MakeAgents(ctx, alone, list, audits, events)
	},
}

// builderAccount gives the account where an agent is made. That of the caller's own grant was found with the caller.
func (m Mutation) builderAccount(ctx context.Context, c *caller, id *globalid.ID) (*db.Account, error) {
	if g := c.Grants[access.Builder]; id == nil && g != nil && c.Serves[access.Builder] {
		return &db.Account{ID: g.AccountID, CustomerID: c.CustomerID}, m.hasOf(ctx, c.RegionID)
	}
	account, err := m.accountOf(ctx, c, id, access.Builder)
	if err != nil {
		return nil, err
	}
	if account.ApplicationCode != access.Builder.String() {
		return nil, problem.Invalid(problem.Fault{Location: "accountId", Message: "is not an account of the agent builder"})
	}
	return account, nil
}

// draft checks the field diagram for what every draft must be: JSON of a bearable size. Whether it is a diagram that
// can run is checked when it is published.
func (v *check) draft(raw json.RawMessage) {
	switch {
	case len(raw) > diagram.MaxDiagram:
		v.fault("diagram", "is longer than %d bytes", diagram.MaxDiagram)
	case len(raw) > 0 && !json.Valid(raw):
		v.fault("diagram", "is not JSON")
	}
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// UpdateAgentInput is an agent with what changes of it.
type UpdateAgentInput struct {
	ID        globalid.ID
	Name      *string
	Diagram   json.RawMessage
	IfVersion *int
}

// UpdateAgentPayload is what UpdateAgent changed.
type UpdateAgentPayload struct{ Agent *db.Agent }

// UpdateAgent changes an agent's name or draft. What is published stays.
func (m Mutation) UpdateAgent(ctx context.Context, in UpdateAgentInput) (*UpdateAgentPayload, error) {
	out := &UpdateAgentPayload{}
	err := m.changeAgent(ctx, rule.UpdateAgent, in.ID, audit.AgentUpdated, func(_ context.Context, a *db.Agent, _ *changes) (webhook.Data, error) {
		var v check
		if in.Name != nil {
			v.name("name", *in.Name)
			a.Name = *in.Name
		}
		v.draft(in.Diagram)
		if err := cmp.Or(v.err(), unchanged(a.Version, in.IfVersion)); err != nil {
			return nil, err
		}
		if !isNull(in.Diagram) {
			a.Draft = in.Diagram
		}
		out.Agent = a
		return nil, nil
	})
	return out, err
}

// PublishAgentInput is an agent to publish.
type PublishAgentInput struct{ ID globalid.ID }

// PublishAgentPayload is what PublishAgent made.
type PublishAgentPayload struct {
	Agent    *db.Agent
	Revision *db.Revision
}

// PublishAgent makes an agent's draft the revision that runs. The draft must be valid; every
// fault in it is named.
func (m Mutation) PublishAgent(ctx context.Context, in PublishAgentInput) (*PublishAgentPayload, error) {
	out := &PublishAgentPayload{}
	c, err := m.may(ctx, rule.PublishAgent)
	if err != nil {
		return out, err
	}
	// The diagram waits for its turn to be read, and no transaction waits with it.
	read, err := m.agent(ctx, c, in.ID, "id")
	if err != nil {
		return out, err
	}
	_, faults, err := diagram.Parse(ctx, c.Lineage.Branch(), read.Draft)
	if err != nil {
		return out, err
	}
	if len(faults) > 0 {
		return out, diagramFaults(faults)
	}
	err = m.changeAgent(ctx, rule.PublishAgent, in.ID, audit.AgentPublished, func(ctx context.Context, a *db.Agent, ch *changes) (webhook.Data, error) {
		if string(a.Draft) != string(read.Draft) {
			return nil, problem.Conflicting("changed_meanwhile", "the agent's draft was changed meanwhile: publish it again")
		}
		var err error
		if out.Revision, err = ch.tx.InsertRevision(ctx, a.ID, a.Draft, ch.actor()); err != nil {
			return nil, err
		}
		a.PublishedID, out.Agent = &out.Revision.ID, a
		return webhook.AgentPublished{AgentID: a.ID, RevisionID: out.Revision.ID}, nil
	})
	return out, err
}

func diagramFaults(faults []diagram.Fault) error {
	var v check
	for _, f := range faults {
		at := "diagram"
		if f.Location != "" {
			at += "." + f.Location
		}
		v.fault(at, "%s", f.Message)
	}
	return v.err()
}

// UnpublishAgentInput is an agent to unpublish.
type UnpublishAgentInput struct{ ID globalid.ID }

// UnpublishAgentPayload is what UnpublishAgent changed.
type UnpublishAgentPayload struct{ Agent *db.Agent }

// UnpublishAgent takes an agent's published revision back, if it has one. Runs under way finish.
func (m Mutation) UnpublishAgent(ctx context.Context, in UnpublishAgentInput) (*UnpublishAgentPayload, error) {
	out := &UnpublishAgentPayload{}
	err := m.changeAgent(ctx, rule.UnpublishAgent, in.ID, audit.AgentUnpublished, func(_ context.Context, a *db.Agent, _ *changes) (webhook.Data, error) {
		out.Agent = a
		a.PublishedID = nil
		return webhook.AgentUnpublished{AgentID: a.ID}, nil
	})
	return out, err
}

// EnableAgentInput is an agent to enable.
type EnableAgentInput struct{ ID globalid.ID }

// EnableAgentPayload is what EnableAgent changed.
type EnableAgentPayload struct{ Agent *db.Agent }

// EnableAgent lets an agent run, once it is published.
func (m Mutation) EnableAgent(ctx context.Context, in EnableAgentInput) (*EnableAgentPayload, error) {
	out := &EnableAgentPayload{}
	err := m.changeAgent(ctx, rule.EnableAgent, in.ID, audit.AgentEnabled, func(_ context.Context, a *db.Agent, _ *changes) (webhook.Data, error) {
		out.Agent = a
		a.Enabled = true
		return webhook.NewAgentEnabled(a.ID, a.Runnable()), nil
	})
	return out, err
}

// DisableAgentInput is an agent to disable.
type DisableAgentInput struct{ ID globalid.ID }

// DisableAgentPayload is what DisableAgent changed.
type DisableAgentPayload struct{ Agent *db.Agent }

// DisableAgent keeps an agent from being run. Runs under way finish.
func (m Mutation) DisableAgent(ctx context.Context, in DisableAgentInput) (*DisableAgentPayload, error) {
	out := &DisableAgentPayload{}
	err := m.changeAgent(ctx, rule.DisableAgent, in.ID, audit.AgentDisabled, func(_ context.Context, a *db.Agent, _ *changes) (webhook.Data, error) {
		out.Agent = a
		a.Enabled = false
		return webhook.NewAgentDisabled(a.ID), nil
	})
	return out, err
}

// DeleteAgentInput is an agent to delete.
type DeleteAgentInput struct {
	ID        globalid.ID
	IfVersion *int
}

// DeleteAgentPayload tells what DeleteAgent removed.
type DeleteAgentPayload struct{ DeletedID globalid.ID }

// DeleteAgent removes an agent. Its runs stay readable, and those under way finish.
func (m Mutation) DeleteAgent(ctx context.Context, in DeleteAgentInput) (*DeleteAgentPayload, error) {
	c, err := m.may(ctx, rule.DeleteAgent)
	if err != nil {
		return nil, err
	}
	id, err := in.ID.Of("Agent", "id")
	if err != nil {
		return nil, err
	}
	out := &DeleteAgentPayload{}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		a, err := tx.AgentForUpdate(ctx, c.Scope(), id)
		if err != nil {
			return missing(err, "agent", id)
		}
		if err := unchanged(a.Version, in.IfVersion); err != nil {
			return err
		}
		out.DeletedID = a.GlobalID()
		if err := tx.DeleteAgent(ctx, id); err != nil {
			return err
		}
		if err := ch.record.Emit(a.CustomerID, webhook.AgentDeleted{AgentID: id}); err != nil {
			return err
		}
		return ch.audit(a.CustomerID, audit.AgentDeleted, a, audit.Removed(a))
	})
	return out, err
}

// RestoreAgentInput is a deleted agent to bring back.
type RestoreAgentInput struct{ ID globalid.ID }

// RestoreAgentPayload is what RestoreAgent brought back.
type RestoreAgentPayload struct{ Agent *db.Agent }

// RestoreAgent brings an agent back, as it was, that was deleted within the last 30 days.
func (m Mutation) RestoreAgent(ctx context.Context, in RestoreAgentInput) (*RestoreAgentPayload, error) {
	c, err := m.may(ctx, rule.RestoreAgent)
	if err != nil {
		return nil, err
	}
	id, err := in.ID.Of("Agent", "id")
	if err != nil {
		return nil, err
	}
	out := &RestoreAgentPayload{}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		a, err := tx.RestoreAgent(ctx, c.Scope(), id)
		if err != nil {
			return missing(err, "deleted agent", id)
		}
		out.Agent = a
		if err := ch.record.Emit(a.CustomerID, webhook.AgentCreated{AgentID: id, Name: a.Name}); err != nil {
			return err
		}
		if a.Enabled {
			if err := ch.record.Emit(a.CustomerID, webhook.NewAgentEnabled(id, a.Runnable())); err != nil {
				return err
			}
		}
		return ch.audit(a.CustomerID, audit.AgentRestored, a, audit.Created(a))
	})
	return out, err
}

// changeAgent changes one agent within reach: do changes the row that it is given, and gives the
// event that tells of it, nil for none. Where the agent is as it was, nothing is written and nobody is
// told.
func (m Mutation) changeAgent(ctx context.Context, need *rule.Rule, id globalid.ID, action audit.Action, do func(context.Context, *db.Agent, *changes) (webhook.Data, error)) error {
	c, err := m.may(ctx, need)
	if err != nil {
		return err
	}
	n, err := id.Of("Agent", "id")
	if err != nil {
		return err
	}
	return m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		a, err := tx.AgentForUpdate(ctx, c.Scope(), n)
		if err != nil {
			return missing(err, "agent", n)
		}
		was, before := *a, stateOf(a)
		event, err := do(ctx, a, ch)
		if err != nil || stateOf(a) == before {
			return err
		}
		if err := tx.UpdateAgent(ctx, a); err != nil {
			return err
		}
		if event != nil {
			if err := ch.record.Emit(a.CustomerID, event); err != nil {
				return err
			}
		}
		return ch.audit(a.CustomerID, action, a, audit.Between(&was, a))
	})
}

// agentState is what changeAgent can change of an agent.
type agentState struct {
	name, draft string
	enabled     bool
	published   int64
}

func stateOf(a *db.Agent) agentState {
	return agentState{name: a.Name, draft: string(a.Draft), enabled: a.Enabled, published: or(a.PublishedID, 0)}
}
