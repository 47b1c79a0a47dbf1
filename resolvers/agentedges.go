package resolvers

import (
	"context"

	"canopy/db"
	"canopy/internal/rule"
)

// AgentEdges resolves the edges of an agent.
type AgentEdges struct{ *Resolver }

// Account is the account that the agent belongs to.
func (e AgentEdges) Account(ctx context.Context, obj *db.Agent) (*db.Account, error) {
	return obj.Account(ctx, e.Store, reach(ctx))
}

// Published is the revision that runs; nil when none does.
func (e AgentEdges) Published(ctx context.Context, obj *db.Agent) (*db.Revision, error) {
	return obj.Published(ctx, e.Store)
}

// Revisions is a page of the agent's revisions, newest first unless asked for otherwise.
func (e AgentEdges) Revisions(ctx context.Context, obj *db.Agent, filter *AgentRevisionFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*AgentRevisionConnection, error) {
	return connected(ctx, e.Resolver, nil, asked{list: db.Revisions, filter: filter, order: orderBy, args: page(first, after, last, before)},
		within(e.Store, obj.Revisions),
		within(e.Store, obj.RevisionCount))
}

// Runs is a page of the agent's runs, newest first.
func (e AgentEdges) Runs(ctx context.Context, obj *db.Agent, filter *RunFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*RunConnection, error) {
	c, err := e.may(ctx, rule.AgentRuns)
	if err != nil {
		return nil, err
	}
	return connected(ctx, e.Resolver, c, asked{list: db.Runs, filter: filter, order: orderBy, args: page(first, after, last, before)},
		within(e.Store, obj.Runs),
		within(e.Store, obj.RunCount))
}

// AgentRevisionEdges resolves the edges of a revision.
type AgentRevisionEdges struct{ *Resolver }

// Agent is whose revision it is; nil when that was deleted.
func (e AgentRevisionEdges) Agent(ctx context.Context, obj *db.Revision) (*db.Agent, error) {
	c, err := e.may(ctx, rule.AgentRevisionAgent)
	if err != nil {
		return nil, err
	}
	return obj.Agent(ctx, e.Store, c.Scope())
}

// ContextToolEdges resolves the edges of a context's tool.
type ContextToolEdges struct{ *Resolver }

// Agent is what the tool runs; nil where the context's company has no such agent.
func (e ContextToolEdges) Agent(ctx context.Context, obj *Tool) (*db.Agent, error) {
	c, err := e.may(ctx, rule.ContextToolAgent)
	if err != nil {
		return nil, err
	}
	account, err := obj.context.Account(ctx, e.Store, c.Scope())
	if err != nil || account == nil {
		return nil, err
	}
	found, err := agentsOfTools(ctx, e.Store, obj.context, c.Scope())
	if a := found[obj.AgentID]; a != nil && a.CustomerID == account.CustomerID {
		return a, nil
	}
	return nil, err
}

// agentsOfTools leads from a context to the agents that its tools name.
var agentsOfTools = db.AgentsNamed(func(row *db.Context) []int64 {
	tools := storedTools(row)
	ids := make([]int64, len(tools))
	for i, t := range tools {
		ids[i] = t.AgentID
	}
	return ids
})

// Agents is a page of the account's agents.
func (e AccountEdges) Agents(ctx context.Context, obj *db.Account, filter *AgentFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*AgentConnection, error) {
	c, err := e.may(ctx, rule.AccountAgents)
	if err != nil {
		return nil, err
	}
	if err := e.hasOf(ctx, obj.LivesIn); err != nil {
		return nil, err
	}
	return e.agentsOf(ctx, c, obj, asked{filter: filter, order: orderBy, args: page(first, after, last, before)})
}

// Agents is a page of the agents of all of the company's accounts.
func (e CustomerEdges) Agents(ctx context.Context, obj *db.Customer, filter *AgentFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*AgentConnection, error) {
	c, err := e.may(ctx, rule.CustomerAgents)
	if err != nil {
		return nil, err
	}
	if err := e.hasOf(ctx, obj.RegionID); err != nil {
		return nil, err
	}
	return connected(ctx, e.Resolver, c, asked{list: db.Agents, filter: filter, order: orderBy, args: page(first, after, last, before)},
		within(e.Store, obj.Agents),
		within(e.Store, obj.AgentCount))
}

// DeletedAgents are the company's agents that can be brought back.
func (e CustomerEdges) DeletedAgents(ctx context.Context, obj *db.Customer) ([]*db.Deleted, error) {
	if _, err := e.may(ctx, rule.CustomerDeletedAgents); err != nil {
		return nil, err
	}
	if err := e.hasOf(ctx, obj.RegionID); err != nil {
		return nil, err
	}
	return orEmpty(obj.DeletedAgents(ctx, e.Store))
}
