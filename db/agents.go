package db

import (
	"context"
	"encoding/json"
	"time"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/globalid"
)

// Agent is a diagram of a builder account: a draft that changes, and the revision that runs.
type Agent struct {
	ID          int64           `db:"id"`
	AccountID   int64           `db:"account_id" audit:"account"`
	CustomerID  int64           `db:"customer_id,joined"`
	Name        string          `db:"name" audit:"name"`
	Draft       json.RawMessage `db:"draft" audit:"draft"`
	PublishedID *int64          `db:"published_id" audit:"published"`
	Enabled     bool            `db:"enabled" audit:"enabled"`
	CreatedAt   time.Time       `db:"created_at"`
	Version     int             `db:"row_version"`
	UpdatedAt   time.Time       `db:"updated_at"`

	siblings
}

// GlobalID is the node id of the agent.
func (a *Agent) GlobalID() globalid.ID { return globalid.ID{Type: "Agent", Int: a.ID} }

// Runnable tells whether the agent can be run: it is enabled and published.
func (a *Agent) Runnable() bool { return a.Enabled && a.PublishedID != nil }

func (a *Agent) key() int64 { return a.ID }

// Revision is a diagram as it was published once.
type Revision struct {
	ID        int64           `db:"id"`
	AgentID   int64           `db:"agent_id"`
	Number    int             `db:"number"`
	Diagram   json.RawMessage `db:"diagram"`
	CreatedAt time.Time       `db:"created_at"`

	siblings
}

// GlobalID is the node id of the revision.
func (r *Revision) GlobalID() globalid.ID { return globalid.ID{Type: "AgentRevision", Int: r.ID} }

const agentTables = ` FROM agents g JOIN accounts a ON a.id = g.account_id JOIN customers c ON c.id = a.customer_id `

var (
	agentColumns    = columns[Agent]("g") + `, a.customer_id`
	revisionColumns = columns[Revision]("v")
)

var (
	qAgentsByID = prepare(`
		SELECT ` + agentColumns + eachByID("agents", "g") + joinByID("accounts", "a", "g.account_id") +
		joinByID("customers", "c", "a.customer_id") + `WHERE g.deleted_at IS NULL AND ` + withinScope)
	qAgentForUpdate = prepare(`
		SELECT ` + agentColumns + agentTables + `WHERE g.id = $3 AND ` + unindexed("g.deleted_at IS NULL") + ` AND ` + withinScope + ` FOR UPDATE OF g`)
	qAgentIDs   = prepare(`SELECT nextval('agents_id_seq') AS id, ` + wanting("$2::bigint", "$3::text[]") + ` AS wanted FROM generate_series(1, $1::integer)`)
	qMakeAgents = prepare(`
		WITH ` + makingGate(1, "true") + `
		made AS (INSERT INTO agents (id, account_id, name, draft, enabled, created_by)
			SELECT id, account_id, name, draft::json, enabled, NULLIF(created_by, 0)
			FROM ` + unnest(2+tellArgs, []string{"bigint", "bigint", "text", "text", "boolean", "bigint"}) + ` t(id, account_id, name, draft, enabled, created_by)
			WHERE ` + gated + ` RETURNING *),` + telling(2, gated) + `
		SELECT ` + columns[Agent]("m") + `, t.customer_id,` + toldColumns + makingTold)
	qUpdateAgent = prepare(`
		UPDATE agents SET name = $2, draft = $3, published_id = $4, enabled = $5, updated_at = now() WHERE id = $1 RETURNING updated_at, row_version`)
	qDeleteAgent  = prepare(`UPDATE agents SET deleted_at = now() WHERE id = $1`)
	qRestoreAgent = prepare(`
		UPDATE agents SET deleted_at = NULL WHERE id = (SELECT g.id` + agentTables + `WHERE g.id = $3 AND ` + unindexed("g.deleted_at > now() - $4 * interval '1 second'") + `
			AND ` + withinScope + ` FOR UPDATE OF g)`)

	qInsertRevision = prepare(`
		INSERT INTO agent_revisions AS v (agent_id, number, diagram, created_by)
		SELECT $1, COALESCE(max(o.number), 0) + 1, $2::json, NULLIF($3::bigint, 0) FROM agent_revisions o WHERE o.agent_id = $1
		RETURNING ` + revisionColumns)
	qRevisionsByID = prepare(`SELECT ` + revisionColumns + ` FROM agent_revisions v WHERE v.id = ANY($1)`)
	qRevision      = prepare(`
		SELECT ` + revisionColumns + ` FROM agent_revisions v` + joinByID("agents", "g", "v.agent_id") + joinByID("accounts", "a", "g.account_id") +
		joinByID("customers", "c", "a.customer_id") + `WHERE v.id = $3 AND ` + withinScope)
)

var (
	agentsByID    = rowsBy(qAgentsByID, scoped, (*Agent).key)
	revisionsByID = rowsBy(qRevisionsByID, onlyIDs, func(r *Revision) int64 { return r.ID })

	accountAgents      = edgeBy((*Account).key, pagesOf[Agent](agentsOfAccount))
	accountAgentCount  = edgeBy((*Account).key, countsOf(agentsOfAccount))
	customerAgents     = edgeBy((*Customer).key, pagesOf[Agent](agentsOfCustomer))
	customerAgentCount = edgeBy((*Customer).key, countsOf(agentsOfCustomer))
	agentAccount       = edgeBy(func(a *Agent) int64 { return a.AccountID }, accountsByID)
	agentPublished     = edgeBy(func(a *Agent) int64 { return orZero(a.PublishedID) }, revisionsByID)
	agentRevisions     = edgeBy((*Agent).key, pagesOf[Revision](revisionsOfAgent))
	agentRevisionCount = edgeBy((*Agent).key, countsOf(revisionsOfAgent))
	revisionAgent      = edgeBy(func(r *Revision) int64 { return r.AgentID }, agentsByID)
)

// Agent reads one agent of an account within the scope.
func (s *Store) Agent(ctx context.Context, scope access.Scope, id int64) (*Agent, error) {
	return oneHere(ctx, s, "agents", agentsByID, scope, id)
}

// AgentForUpdate reads one agent and holds its row until the transaction ends.
func (s *Store) AgentForUpdate(ctx context.Context, scope access.Scope, id int64) (*Agent, error) {
	a := &Agent{}
	err := s.get(ctx, a, qAgentForUpdate, scope.From(), scope.To(), id)
	return a, err
}

// Agents is a page of an account's agents.
func (a *Account) Agents(ctx context.Context, s *Store, ask Ask) ([]*Agent, error) {
	return follow(ctx, s, a, accountAgents, scopedAsk{ask: ask})
}

// AgentCount counts an account's agents.
func (a *Account) AgentCount(ctx context.Context, s *Store, ask Ask) (int, error) {
	return follow(ctx, s, a, accountAgentCount, scopedAsk{ask: ask})
}

// Agents is a page of the agents of all of a company's accounts.
func (c *Customer) Agents(ctx context.Context, s *Store, ask Ask) ([]*Agent, error) {
	return follow(ctx, s, c, customerAgents, scopedAsk{ask: ask})
}

// AgentCount counts the agents of all of a company's accounts.
func (c *Customer) AgentCount(ctx context.Context, s *Store, ask Ask) (int, error) {
	return follow(ctx, s, c, customerAgentCount, scopedAsk{ask: ask})
}

// Account is the edge from an agent to its account.
func (a *Agent) Account(ctx context.Context, s *Store, scope access.Scope) (*Account, error) {
	return follow(ctx, s, a, agentAccount, scope)
}

// Published is the edge from an agent to the revision that runs; nil when none does.
func (a *Agent) Published(ctx context.Context, s *Store) (*Revision, error) {
	return follow(ctx, s, a, agentPublished, none{})
}

// Revisions is a page of an agent's revisions, newest first; the cursor is a number.
func (a *Agent) Revisions(ctx context.Context, s *Store, ask Ask) ([]*Revision, error) {
	return follow(ctx, s, a, agentRevisions, scopedAsk{ask: ask})
}

// RevisionCount counts an agent's revisions.
func (a *Agent) RevisionCount(ctx context.Context, s *Store, ask Ask) (int, error) {
	return follow(ctx, s, a, agentRevisionCount, scopedAsk{ask: ask})
}

// Revision reads one revision of an agent within the scope.
func (s *Store) Revision(ctx context.Context, scope access.Scope, id int64) (*Revision, error) {
	r := &Revision{}
	err := s.get(ctx, r, qRevision, scope.From(), scope.To(), id)
	return r, err
}

// Agent is the edge from a revision to its agent; nil when that was deleted or is beyond the scope.
func (r *Revision) Agent(ctx context.Context, s *Store, scope access.Scope) (*Agent, error) {
	return follow(ctx, s, r, revisionAgent, scope)
}

// NewAgent is an agent to make; CreatedBy 0 stands for the platform itself.
type NewAgent struct {
	Agent
	CreatedBy int64
}

// BeginAgents gives agents of one company that are to be made their ids. It tells whether a destination asks for their audit events by one
// of some names.
func (s *Store) BeginAgents(ctx context.Context, names []string, list []*NewAgent) (wanted bool, err error) {
	var rows []struct {
		ID     int64 `db:"id"`
		Wanted bool  `db:"wanted"`
	}
	if err := s.list(ctx, &rows, qAgentIDs, len(list), list[0].CustomerID, pq.StringArray(names)); err != nil {
		return false, err
	}
	for i, r := range rows {
		list[i].ID = r.ID
	}
	return rows[0].Wanted, nil
}

// MakeAgents makes agents that were begun, and writes what is told of them: an audit event of each, in their order. alone says that
// nothing follows in the transaction: ErrMoreToTell where something has to.
func (s *Store) MakeAgents(ctx context.Context, alone bool, list []*NewAgent, audits []NewAudit, events []NewEvent) ([]WrittenAudit, []Destined, error) {
	var ids, accounts, creators pq.Int64Array
	var names, drafts pq.StringArray
	var enabled pq.BoolArray
	for _, a := range list {
		ids, accounts, creators = append(ids, a.ID), append(accounts, a.AccountID), append(creators, a.CreatedBy)
		names, drafts, enabled = append(names, a.Name), append(drafts, string(a.Draft)), append(enabled, a.Enabled)
	}
	var rows []madeAgent
	args := append(append([]any{alone}, tellArrays(audits, events)...), ids, accounts, names, drafts, enabled, creators)
	if err := s.list(ctx, &rows, qMakeAgents, args...); err != nil {
		return nil, nil, err
	}
	for i := range rows {
		list[i].Agent = rows[i].Agent
	}
	return toldWith(rows, alone, func(r *madeAgent) *told { return &r.told })
}

type madeAgent struct {
	Agent
	told
}

// UpdateAgent writes an agent's name, draft, published revision and whether it is enabled.
func (s *Store) UpdateAgent(ctx context.Context, a *Agent) error {
	return s.get(ctx, a, qUpdateAgent, a.ID, a.Name, []byte(a.Draft), a.PublishedID, a.Enabled)
}

// DeleteAgent hides an agent; its runs stay readable.
func (s *Store) DeleteAgent(ctx context.Context, id int64) error {
	return s.must(ctx, qDeleteAgent, id)
}

// RestoreAgent shows an agent of an account within the scope again that was deleted within HiddenFor, and holds its row; ErrNoRows
// where there is none.
func (s *Store) RestoreAgent(ctx context.Context, scope access.Scope, id int64) (*Agent, error) {
	if err := s.must(ctx, qRestoreAgent, scope.From(), scope.To(), id, HiddenFor.Seconds()); err != nil {
		return nil, err
	}
	return s.AgentForUpdate(ctx, scope, id)
}

// InsertRevision keeps a diagram as an agent's next revision. The agent's row must be held.
func (s *Store) InsertRevision(ctx context.Context, agentID int64, diagram json.RawMessage, createdBy int64) (*Revision, error) {
	r := &Revision{}
	err := s.get(ctx, r, qInsertRevision, agentID, string(diagram), createdBy)
	return r, err
}
