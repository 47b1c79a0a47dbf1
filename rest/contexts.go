package rest

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// contextBody is a context (custom assistant).
type contextBody struct {
	ID             int64      `json:"id"`
	Name           string     `json:"name"`
	Description    string     `json:"description" doc:"System instructions that define the behaviour"`
	Caption        string     `json:"caption" doc:"What it is for, in short"`
	UserID         *int64     `json:"userId" doc:"The user who made it; null when that user is gone"`
	EmbeddingModel string     `json:"embeddingModel" example:"canopy-lexical-2" doc:"The model that its documents are embedded with"`
	MaxSize        int64      `json:"maxSize" example:"104857600" doc:"The largest size of all documents together, in bytes"`
	TopN           int        `json:"topN" example:"5" doc:"Hits of a search"`
	ScoreThreshold float64    `json:"scoreThreshold" example:"0" doc:"The smallest similarity of a hit, 0 to 1"`
	ChunkSize      int        `json:"chunkSize" example:"1000" doc:"Tokens of a chunk"`
	Overlap        float64    `json:"overlap" example:"0.2" doc:"The part of a chunk that neighbours share, 0 to 1"`
	ToolsJSON      string     `json:"toolsJson" example:"[]" doc:"The tool definitions: a JSON array, as a string"`
	StarterPrompts []string   `json:"starterPrompts" doc:"Conversation starters"`
	ShareState     int        `json:"shareState" enum:"0,1" doc:"0 private, 1 shared"`
	Icon           string     `json:"icon" doc:"One emoji; empty when there is none"`
	Deleted        *time.Time `json:"deleted" doc:"Always null: a deleted context is gone"`
	Created        time.Time  `json:"created"`
}

func contextOf(c *db.Context) contextBody {
	return contextBody{
		ID: c.ID, Name: c.Name, Description: c.Description, Caption: c.Caption, UserID: c.UserID, EmbeddingModel: c.EmbeddingModel,
		MaxSize: c.MaxSize, TopN: c.TopN, ScoreThreshold: c.ScoreThreshold, ChunkSize: c.ChunkSize, Overlap: c.Overlap,
		ToolsJSON: c.ToolsJSON, StarterPrompts: c.StarterPrompts, ShareState: c.ShareState, Icon: c.Icon, Created: c.CreatedAt.UTC(),
	}
}

// ContextsQuery are the parameters of the list of contexts.
type ContextsQuery struct {
	Pages
	OrderQuery
	ContextFilter

	filter *resolvers.ContextFilter
}

// Resolve tells what was given from what was left out.
func (q *ContextsQuery) Resolve(hc huma.Context) []error {
	q.filter = filterGiven[resolvers.ContextFilter](hc, &q.ContextFilter)
	return nil
}

// ContextPath names a context in the path.
type ContextPath struct {
	ContextID int64 `path:"contextId" doc:"The context's id"`
}

// DeleteContextPath names a context to delete.
type DeleteContextPath struct {
	ContextPath
	Restorable bool `query:"restorable" doc:"Keeps it for 30 days, in which it can be restored; until then its documents count against the limits"`
}

func (p *ContextPath) id() globalid.ID { return globalid.ID{Int: p.ContextID} }

type createContextInput struct {
	Body struct {
		Name           string   `json:"name" example:"Handbook"`
		Description    string   `json:"description" doc:"System instructions that define the behaviour"`
		Caption        string   `json:"caption" doc:"What it is for, in short"`
		ToolsJSON      string   `json:"toolsJson" example:"[]" doc:"The tool definitions: a JSON array, as a string; [] if there are none"`
		StarterPrompts []string `json:"starterPrompts,omitempty" doc:"Conversation starters; generated when left out" nullable:"true"`
	} `nameHint:"CreateContextRequest"`
}

type updateContextInput struct {
	ContextPath
	Body struct {
		Name           string   `json:"name"`
		Description    string   `json:"description" doc:"System instructions that define the behaviour"`
		Caption        string   `json:"caption" doc:"What it is for, in short"`
		ToolsJSON      *string  `json:"toolsJson,omitempty" doc:"The tool definitions; kept when left out"`
		StarterPrompts []string `json:"starterPrompts,omitempty" doc:"Conversation starters; kept when left out" nullable:"true"`
	} `nameHint:"UpdateContextRequest"`
}

type shareContextInput struct {
	ContextPath
	Body struct {
		ShareState int64   `json:"shareState" doc:"0 private, 1 shared with everyone on the account"`
		Icon       *string `json:"icon,omitempty" doc:"A single emoji"`
	} `nameHint:"ShareContextRequest"`
}

// gone is the answer to a deletion.
type gone struct {
	Deleted bool `json:"deleted" doc:"Always true"`
}

func (a *api) registerContexts() {
	add(a, operation{
		id: "createContext", rule: rule.CreateContext, method: http.MethodPost, path: "/context", tag: tagContexts, status: http.StatusOK,
		summary: "Create a context", description: "Makes a private context on the token's account.",
	}, a.createContext)
	addList(a, operation{
		id: "listContexts", rule: rule.Contexts, orders: db.Contexts, path: "/context", tag: tagContexts,
		summary: "List the contexts", description: "The contexts of the token's account that the caller may see.",
	}, anyOrder, func(ctx context.Context, in *ContextsQuery, _ query, each emit[contextBody]) error {
		return a.queries().ListContexts(ctx, in.filter, in.listing(&in.Pages), func(c *db.Context, at paging.Cursor) error {
			return each(contextOf(c), at)
		})
	})
	add(a, operation{
		id: "getContext", conditions: byNoneMatch, rule: rule.Context, method: http.MethodGet, path: "/context/{contextId}", tag: tagContexts, errors: []int{http.StatusNotFound},
		summary: "Get a context", description: "One context of the token's account.",
	}, func(ctx context.Context, in *ContextPath) (*tagged[contextBody], error) {
		c, err := a.queries().Context(ctx, in.id())
		return contextAnswer(ctx, c, err)
	})
	add(a, operation{
		id: "updateContext", conditions: byMatch, rule: rule.UpdateContext, method: http.MethodPut, path: "/context/{contextId}", tag: tagContexts, errors: []int{http.StatusNotFound}, status: http.StatusOK,
		summary: "Update a context", description: "Writes the context's name, instructions and caption, and what else is given.",
		names: map[string]string{"id": "contextId"},
	}, a.updateContext)
	add(a, operation{
		id: "deleteContext", conditions: byMatch, rule: rule.DeleteContext, method: http.MethodDelete, path: "/context/{contextId}", tag: tagContexts, errors: []int{http.StatusNotFound}, status: http.StatusOK,
		summary: "Delete a context", description: "Removes the context, its documents and their embeddings: for good, or, with restorable, so that it can be restored for 30 days.",
		names: map[string]string{"id": "contextId"},
	}, func(ctx context.Context, in *DeleteContextPath) (*one[gone], error) {
		_, err := a.mutations().DeleteContext(ctx, resolvers.DeleteContextInput{ID: in.id(), IfVersion: ifMatch(ctx), Restorable: &in.Restorable})
		return &one[gone]{gone{true}}, err
	})
	add(a, operation{
		id: "restoreContext", rule: rule.RestoreContext, method: http.MethodPost, path: "/context/restore/{contextId}", tag: tagContexts, errors: []int{http.StatusNotFound}, status: http.StatusOK,
		summary: "Restore a deleted context", description: "Brings a context back, with its documents, as it was, that was deleted as a restorable one within the last 30 days.",
		names: map[string]string{"id": "contextId"},
	}, func(ctx context.Context, in *ContextPath) (*tagged[contextBody], error) {
		out, err := a.mutations().RestoreContext(ctx, resolvers.RestoreContextInput{ID: in.id()})
		if err != nil {
			return nil, err
		}
		return contextAnswer(ctx, out.Context, nil)
	})
	add(a, operation{
		id: "shareContext", conditions: byMatch, rule: rule.ShareContext, method: http.MethodPut, path: "/context/share/{contextId}", tag: tagContexts, errors: []int{http.StatusNotFound},
		summary: "Share a context", description: "Makes the context private or shared.",
		names: map[string]string{"id": "contextId"},
	}, func(ctx context.Context, in *shareContextInput) (*changedOnly, error) {
		out, err := a.mutations().ShareContext(ctx, resolvers.ShareContextInput{
			ID: in.id(), ShareState: int(in.Body.ShareState), Icon: in.Body.Icon, IfVersion: ifMatch(ctx),
		})
		if err != nil {
			return nil, err
		}
		return &changedOnly{etagOf(out.Context.Version, contextOf(out.Context))}, nil
	})
	a.registerDocuments()
	a.registerSettings()
}

func contextAnswer(ctx context.Context, c *db.Context, err error) (*tagged[contextBody], error) {
	if err != nil {
		return nil, err
	}
	return tag(ctx, c.Version, contextOf(c))
}

func (a *api) createContext(ctx context.Context, in *createContextInput) (*tagged[contextBody], error) {
	b := &in.Body
	made, err := a.mutations().CreateContext(ctx, resolvers.CreateContextInput{
		Name: b.Name, Description: b.Description, Caption: b.Caption, ToolsJSON: &b.ToolsJSON, StarterPrompts: b.StarterPrompts,
	})
	if err != nil {
		return nil, err
	}
	return contextAnswer(ctx, made.Context, nil)
}

func (a *api) updateContext(ctx context.Context, in *updateContextInput) (*tagged[contextBody], error) {
	b := &in.Body
	changed, err := a.mutations().UpdateContext(ctx, resolvers.UpdateContextInput{
		ID: in.id(), Name: &b.Name, Description: &b.Description, Caption: &b.Caption, ToolsJSON: b.ToolsJSON, StarterPrompts: b.StarterPrompts,
		IfVersion: ifMatch(ctx),
	})
	if err != nil {
		return nil, err
	}
	return contextAnswer(ctx, changed.Context, nil)
}
