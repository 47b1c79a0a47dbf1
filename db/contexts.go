package db

import (
	"context"
	"time"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/globalid"
)

// Context is a custom assistant: its instructions, and the settings of its search.
type Context struct {
	ID             int64          `db:"id"`
	AccountID      int64          `db:"account_id" audit:"account"`
	UserID         *int64         `db:"user_id"`
	Name           string         `db:"name" audit:"name"`
	Description    string         `db:"description" audit:"description"`
	Caption        string         `db:"caption" audit:"caption"`
	ToolsJSON      string         `db:"tools_json" audit:"toolsJson"`
	StarterPrompts pq.StringArray `db:"starter_prompts" audit:"starterPrompts"`
	ShareState     int            `db:"share_state" audit:"shareState"`
	Icon           string         `db:"icon" audit:"icon"`
	EmbeddingModel string         `db:"embedding_model" audit:"embeddingModel"`
	// Dimensions of the dense vectors stored; 0 while there are none.
	Dimensions int `db:"dimensions"`
	// MaxSize bounds the documents' sizes together, in bytes.
	MaxSize        int64   `db:"max_size"`
	TopN           int     `db:"top_n" audit:"topN"`
	ScoreThreshold float64 `db:"score_threshold" audit:"scoreThreshold"`
	// SearchMode is what a search compares that does not say; DenseWeight the model's part of a HYBRID one, 0 to 1.
	SearchMode  string  `db:"search_mode" audit:"searchMode"`
	DenseWeight float64 `db:"dense_weight" audit:"denseWeight"`
	// ChunkSize is in tokens, Overlap the part of it that neighbours share.
	ChunkSize int     `db:"chunk_size" audit:"chunkSize"`
	Overlap   float64 `db:"overlap" audit:"overlap"`
	// LogsQueries says that what is asked of it is kept.
	LogsQueries bool `db:"logs_queries" audit:"logsQueries"`
	// Searched grows with every change of what a search may find, Version with every change of the context.
	Searched  int64     `db:"version"`
	Version   int       `db:"row_version"`
	CreatedAt time.Time `db:"created_at"`

	siblings
}

// GlobalID is the node id of the context.
func (c *Context) GlobalID() globalid.ID { return globalid.ID{Type: "Context", Int: c.ID} }

func (c *Context) key() int64 { return c.ID }

// Desk is the part of the contexts that a caller may see: those of one account, and of the private
// ones among them all, or only Viewer's own. The zero Desk holds nothing.
type Desk struct {
	AccountID int64 `db:"account_id"`
	// Viewer is the user who sees no private context of others; 0 sees all.
	Viewer int64 `db:"viewer"`
}

func (d Desk) args(more ...any) []any { return append([]any{d.AccountID, d.Viewer}, more...) }

// scoped is for a query whose ids come behind onDesk's arguments.
func (d Desk) scoped(ids []int64) []any { return d.args(ids) }

var contextColumns = columns[Context]("x")

// ofDesk holds the contexts x of a desk, whose arguments come first, and onDesk those that are not deleted.
const (
	ofDesk = `x.account_id = $1 AND ($2::bigint = 0 OR x.share_state = 1 OR x.user_id = $2)`
	onDesk = ofDesk + ` AND x.removed_at IS NULL`
)

// shownOn is the account of a context that is not deleted, which an index of those alone has before their ids: there may be very many others.
const shownOn = `CASE WHEN x.removed_at IS NULL THEN x.account_id END`

var (
	qContext = prepare(`SELECT ` + contextColumns + ` FROM contexts x WHERE x.id = $3 AND ` + onDesk)
	// One row at most: a person has one permission on an account.
	qDeskOfRun = prepare(`
		SELECT a.id AS account_id, sight.viewer
		FROM contexts x` + joinByID("accounts", "a", "x.account_id") + joinByID("customers", "c", "a.customer_id") + `
		CROSS JOIN LATERAL (
			(SELECT CASE WHEN r.is_owner THEN 0 ELSE p.user_id END AS viewer
			 FROM permissions p` + joinByID("roles", "r", "p.role_id") + `
			 WHERE $4::bigint IS NULL AND p.account_id = a.id AND p.user_id = $3 AND NOT p.disabled AND $5 = ANY(r.features))
			UNION ALL
			(SELECT 0
			 FROM api_keys k` + joinByID("customers", "kc", "k.customer_id") + `JOIN permissions p ON p.user_id = k.user_id` +
		joinByID("accounts", "o", "p.account_id") + joinByID("app_instances", "i", "o.app_instance_id") +
		joinByID("applications", "app", "i.application_id") + joinByID("roles", "r", "p.role_id") + `
			 WHERE k.id = $4 AND k.revoked_at IS NULL AND COALESCE(k.expires_at > now(), true) AND COALESCE($5 = ANY(k.features), true) AND c.lineage[kc.level + 1] = kc.id
			   AND o.customer_id = c.id AND NOT o.disabled AND app.code = $6 AND NOT p.disabled AND $5 = ANY(r.features)
			 LIMIT 1)) sight
		WHERE x.id = $2 AND x.removed_at IS NULL AND a.customer_id = $1 AND NOT a.disabled`)
	qContextForUpdate = prepare(`SELECT ` + contextColumns + ` FROM contexts x WHERE x.id = $3 AND ` + onDesk + ` FOR UPDATE`)
	qContextsByID     = prepare(`SELECT ` + contextColumns + ` FROM contexts x WHERE x.id = ANY($3) AND ` + onDesk)
	qInsertContext    = prepare(`
		INSERT INTO contexts AS x (account_id, user_id, name, description, caption, tools_json, starter_prompts, embedding_model)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ` + contextColumns)
	qUpdateContext = prepare(`
		UPDATE contexts x SET name = $2, description = $3, caption = $4, tools_json = $5, starter_prompts = $6,
			top_n = $7, score_threshold = $8, chunk_size = $9, overlap = $10, embedding_model = $11,
			search_mode = $12, dense_weight = $13, logs_queries = $14
		WHERE id = $1 RETURNING ` + contextColumns)
	qShareContext  = prepare(`UPDATE contexts x SET share_state = $2, icon = $3 WHERE id = $1 RETURNING ` + contextColumns)
	qDeleteContext = prepare(`DELETE FROM contexts WHERE id = $1`)
	qHideContext   = prepare(`UPDATE contexts SET removed_at = now(), erase_at = now() + $2 * interval '1 second' WHERE id = $1`)
	// As the desk's conditions have it, but of one that is off its desk.
	qRestoreContext = prepare(`
		UPDATE contexts x SET removed_at = NULL, erase_at = NULL
		WHERE x.id = $3 AND ` + ofDesk + ` AND x.removed_at IS NOT NULL AND x.home_id IS NULL
			AND x.erase_at > now() + interval '1 minute' -- now is when the transaction began: by then the erasure may have
		RETURNING ` + contextColumns)
	qDeletedContexts = prepare(`
		SELECT 'Context' AS type, x.id, x.name, x.account_id AS owner_id, x.removed_at, x.erase_at FROM contexts x
		WHERE ` + ofDesk + ` AND x.removed_at IS NOT NULL AND x.home_id IS NULL
			AND ` + unindexed("x.erase_at > now() + interval '1 minute'") + ` ORDER BY x.account_id DESC, x.removed_at DESC LIMIT $3`)
	qBumpContext  = prepare(`UPDATE contexts SET version = version + 1 WHERE id = $1`)
	qBumpDocument = prepare(bump(""))
)

var (
	contextsByID = rowsBy(qContextsByID, Desk.scoped, (*Context).key)

	contextAccount = edgeBy(func(c *Context) int64 { return c.AccountID }, accountsByID)
	contextCreator = edgeBy(func(c *Context) int64 { return orZero(c.UserID) }, usersByID)
)

// ContextsOf reads those of some contexts that are a desk's.
func (s *Store) ContextsOf(ctx context.Context, desk Desk, ids []int64) (map[int64]*Context, error) {
	return contextsByID(ctx, s, desk, ids)
}

// Context reads one context of a desk.
func (s *Store) Context(ctx context.Context, d Desk, id int64) (*Context, error) {
	c := &Context{}
	err := s.get(ctx, c, qContext, d.args(id)...)
	return c, err
}

// DeskOfRun gives the desk on which a run looks for a context, of its own company only, as its starter
// may at this moment. Started by a login, the run sees what that person sees on the context's account;
// started by an API key, everything, if the key is alive and its user may read contexts on an account
// of the company, and the key is not bound to other rights. ErrNoRows: the run sees no such context.
func (s *Store) DeskOfRun(ctx context.Context, r *Run, contextID int64) (d Desk, err error) {
	err = s.get(ctx, &d, qDeskOfRun, r.CustomerID, contextID, r.UserID, r.KeyID, access.ContextRead.Names()[0], access.Assistant.String())
	return d, err
}

// ContextForUpdate reads one context and holds its row until the transaction ends.
func (s *Store) ContextForUpdate(ctx context.Context, d Desk, id int64) (*Context, error) {
	c := &Context{}
	err := s.get(ctx, c, qContextForUpdate, d.args(id)...)
	return c, err
}

// InsertContext makes a context with the default settings of its search.
func (s *Store) InsertContext(ctx context.Context, c Context) (*Context, error) {
	row := &Context{}
	err := s.get(ctx, row, qInsertContext, c.AccountID, c.UserID, c.Name, c.Description, c.Caption, c.ToolsJSON,
		c.StarterPrompts, c.EmbeddingModel)
	return row, err
}

// UpdateContext writes what a caller may change of a context.
func (s *Store) UpdateContext(ctx context.Context, c *Context) (*Context, error) {
	row := &Context{}
	err := s.get(ctx, row, qUpdateContext, c.ID, c.Name, c.Description, c.Caption, c.ToolsJSON, c.StarterPrompts,
		c.TopN, c.ScoreThreshold, c.ChunkSize, c.Overlap, c.EmbeddingModel, c.SearchMode, c.DenseWeight, c.LogsQueries)
	return row, err
}

// ShareContext sets who may see a context, and its icon.
func (s *Store) ShareContext(ctx context.Context, id int64, state int, icon string) (*Context, error) {
	row := &Context{}
	err := s.get(ctx, row, qShareContext, id, state, icon)
	return row, err
}

// DeleteContext removes a context with its documents and chunks, and puts the documents' originals
// up for deletion. A large one is only hidden: EraseContexts takes it away.
func (s *Store) DeleteContext(ctx context.Context, id int64) error {
	var large bool
	if err := s.get(ctx, &large, qContextIsLarge, id); err != nil {
		return err
	}
	if _, err := s.exec(ctx, qForgetHomeless, id); err != nil {
		return err
	}
	if large {
		return s.must(ctx, qHideContext, id, 0)
	}
	if _, err := s.exec(ctx, qDropContextBlobs, id); err != nil {
		return err
	}
	return s.must(ctx, qDeleteContext, id)
}

// HideContext takes a context off its desk, where RestoreContext can bring it back within HiddenFor; EraseContexts takes it away then.
// Its documents count until they are gone, itself no more.
func (s *Store) HideContext(ctx context.Context, id int64) error {
	if err := s.must(ctx, qHideContext, id, HiddenFor.Seconds()); err != nil {
		return err
	}
	return s.deferNext(ctx, id, 0, true)
}

// DeletedContexts are a desk's contexts that can be brought back, the one that was deleted last first; at most MaxDeleted.
func (s *Store) DeletedContexts(ctx context.Context, d Desk) (rows []*Deleted, err error) {
	err = s.list(ctx, &rows, qDeletedContexts, d.args(MaxDeleted)...)
	return rows, err
}

// RestoreContext puts a context of a desk back on it that was hidden, and holds its row; ErrNoRows where there is none.
func (s *Store) RestoreContext(ctx context.Context, d Desk, id int64) (*Context, error) {
	c := &Context{}
	if err := s.get(ctx, c, qRestoreContext, d.args(id)...); err != nil {
		return nil, err
	}
	return c, s.deferNext(ctx, id, 0, false)
}

// Account is the edge from a context to its account; nil beyond the scope.
func (c *Context) Account(ctx context.Context, s *Store, scope access.Scope) (*Account, error) {
	return follow(ctx, s, c, contextAccount, scope)
}

// Creator is the edge from a context to the user who made it; nil when that user is gone or beyond
// the scope.
func (c *Context) Creator(ctx context.Context, s *Store, scope access.Scope) (*User, error) {
	return follow(ctx, s, c, contextCreator, scope)
}

// AgentsNamed declares the edge from a context to the agents that its tools name, by id, within the
// scope. named reads their ids from a context's tool definitions.
func AgentsNamed(named func(*Context) []int64) func(context.Context, *Store, *Context, access.Scope) (map[int64]*Agent, error) {
	e := edgeBy(func(c *Context) *Context { return c },
		func(ctx context.Context, s *Store, scope access.Scope, contexts []*Context) (map[*Context]map[int64]*Agent, error) {
			var ids []int64
			for _, c := range contexts {
				ids = append(ids, named(c)...)
			}
			agents, err := agentsByID(ctx, s, scope, ids)
			found := make(map[*Context]map[int64]*Agent, len(contexts))
			for _, c := range contexts {
				found[c] = agents
			}
			return found, err
		})
	return func(ctx context.Context, s *Store, c *Context, scope access.Scope) (map[int64]*Agent, error) {
		return follow(ctx, s, c, e, scope)
	}
}
