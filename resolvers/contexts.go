package resolvers

import (
	"context"
	"time"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/internal/rule"
)

// desk is what the caller may see of the contexts of its account. A key sees them all; a person sees
// no private one of others, unless it owns the account.
func (c *caller) desk() db.Desk {
	d := db.Desk{AccountID: c.AccountID}
	if c.Login() && !c.Owner {
		d.Viewer = c.UserID
	}
	return d
}

// aContext gives a context of the caller's.
func (r *Resolver) aContext(ctx context.Context, c *caller, id globalid.ID, field string) (*db.Context, error) {
	n, err := id.Of("Context", field)
	if err != nil {
		return nil, err
	}
	row, err := r.Store.Context(ctx, c.desk(), n)
	return row, missing(err, "context", n)
}

// Context gives a context of the token's account.
func (q Query) Context(ctx context.Context, id globalid.ID) (*db.Context, error) {
	c, err := q.may(ctx, rule.Context)
	if err != nil {
		return nil, err
	}
	return q.aContext(ctx, c, id, "id")
}

// Contexts is a page of the contexts of the token's account.
func (q Query) Contexts(ctx context.Context, filter *ContextFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*ContextConnection, error) {
	c, err := q.may(ctx, rule.Contexts)
	if err != nil {
		return nil, err
	}
	return q.contextPage(ctx, c, asked{filter: filter, order: orderBy, args: page(first, after, last, before)})
}

func (r *Resolver) contextPage(ctx context.Context, c *caller, in asked) (*ContextConnection, error) {
	in.list = db.Contexts
	return connected(ctx, r, c, in,
		within(c.desk(), r.Store.FindContexts),
		within(c.desk(), r.Store.CountContexts))
}

// ListContexts gives each context of the token's account that fits a filter.
func (q Query) ListContexts(ctx context.Context, filter *ContextFilter, l Listing, each func(*db.Context, paging.Cursor) error) error {
	c, err := q.may(ctx, rule.Contexts)
	if err != nil {
		return err
	}
	return listAll(ctx, q.Resolver, c, asked{list: db.Contexts, filter: filter}, l,
		within(c.desk(), q.Store.FindContexts), each)
}

// CreateContextInput is a new context. StarterPrompts nil has them generated; an empty list is kept.
type CreateContextInput struct {
	Name           string
	Description    string
	Caption        string
	ToolsJSON      *string
	StarterPrompts []string
}

// CreateContextPayload is what CreateContext made.
type CreateContextPayload struct{ Context *db.Context }

// CreateContext makes a private context on the token's account, for the server's embedding model.
func (m Mutation) CreateContext(ctx context.Context, in CreateContextInput) (*CreateContextPayload, error) {
	c, err := m.may(ctx, rule.CreateContext)
	if err != nil {
		return nil, err
	}
	var v check
	v.name("name", in.Name)
	v.text("description", in.Description, maxInstructions)
	v.text("caption", in.Caption, maxText)
	tools := v.toolsJSON("toolsJson", or(in.ToolsJSON, "[]"))
	v.starterPrompts("starterPrompts", in.StarterPrompts)
	if err := v.err(); err != nil {
		return nil, err
	}
	if in.StarterPrompts == nil {
		in.StarterPrompts = m.suggestPrompts(ctx, in.Name, in.Caption, in.Description)
	}
	out := &CreateContextPayload{}
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		out.Context, err = tx.InsertContext(ctx, db.Context{
			AccountID: c.AccountID, UserID: &c.UserID, Name: in.Name, Description: in.Description, Caption: in.Caption,
			ToolsJSON: tools, StarterPrompts: in.StarterPrompts, EmbeddingModel: m.Search.Default(),
		})
		if err != nil {
			return err
		}
		return ch.audit(c.CustomerID, audit.ContextCreated, out.Context, audit.Created(out.Context))
	})
	return out, err
}

// UpdateContextInput is a change of a context; nil keeps a field.
type UpdateContextInput struct {
	ID             globalid.ID
	Name           *string
	Description    *string
	Caption        *string
	ToolsJSON      *string
	StarterPrompts []string
	TopN           *int
	ScoreThreshold *float64
	SearchMode     *string
	DenseWeight    *float64
	LogsQueries    *bool
	ChunkSize      *int
	Overlap        *float64
	EmbeddingModel *string
	IfVersion      *int
}

// UpdateContextPayload is what UpdateContext changed.
type UpdateContextPayload struct{ Context *db.Context }

// UpdateContext changes a context. Another chunk size or overlap holds for what is processed from now
// on; another model has all documents processed anew, as vectors of two models can't be compared. What was asked of a context goes when it keeps that no longer.
func (m Mutation) UpdateContext(ctx context.Context, in UpdateContextInput) (*UpdateContextPayload, error) {
	out := &UpdateContextPayload{}
	err := m.changeContext(ctx, rule.UpdateContext, in.ID, audit.ContextUpdated, func(ch *changes, row *db.Context) (_ audit.Changes, err error) {
		if err := m.checkUpdate(&in); err != nil {
			return audit.Changes{}, err
		}
		if err := unchanged(row.Version, in.IfVersion); err != nil {
			return audit.Changes{}, err
		}
		next := patched(row, in)
		if out.Context = row; same(row, next) {
			return audit.None(), nil
		}
		if out.Context, err = ch.tx.UpdateContext(ctx, next); err != nil {
			return audit.Changes{}, err
		}
		if row.LogsQueries && !out.Context.LogsQueries {
			if err := ch.tx.DropQueries(ctx, row.ID); err != nil {
				return audit.Changes{}, err
			}
		}
		if out.Context.EmbeddingModel != row.EmbeddingModel {
			out.Context, _, err = ch.reprocessAll(ctx, row, true)
		}
		return audit.Between(row, out.Context), err
	})
	return out, err
}

// changeContext changes one of the caller's contexts: do changes the row that it is given, and tells
// the log of it, which hears of nothing where nothing has changed. The row is held, so that nobody else changes it or its documents meanwhile.
func (m Mutation) changeContext(ctx context.Context, need *rule.Rule, id globalid.ID, action audit.Action, do func(*changes, *db.Context) (audit.Changes, error)) error {
	c, err := m.may(ctx, need)
	if err != nil {
		return err
	}
	n, err := id.Of("Context", "id")
	if err != nil {
		return err
	}
	return m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		row, err := tx.ContextForUpdate(ctx, c.desk(), n)
		if err != nil {
			return missing(err, "context", n)
		}
		what, err := do(ch, row)
		if err != nil || what.Empty() {
			return err
		}
		return ch.audit(c.CustomerID, action, row, what)
	})
}

// checkUpdate checks a change, and puts what it gives into the form that is kept.
func (m Mutation) checkUpdate(in *UpdateContextInput) error {
	var v check
	if in.Name != nil {
		v.name("name", *in.Name)
	}
	v.text("description", or(in.Description, ""), maxInstructions)
	v.text("caption", or(in.Caption, ""), maxText)
	if in.ToolsJSON != nil {
		kept := v.toolsJSON("toolsJson", *in.ToolsJSON)
		in.ToolsJSON = &kept
	}
	v.starterPrompts("starterPrompts", in.StarterPrompts)
	v.settings(*in)
	if model := or(in.EmbeddingModel, m.Search.Default()); !m.Search.Configured(model) {
		v.fault("embeddingModel", "%q is not configured on this server; it has %s", clip(model), m.Search.Names())
	}
	return v.err()
}

func patched(row *db.Context, in UpdateContextInput) *db.Context {
	next := *row
	next.Name = or(in.Name, row.Name)
	next.Description = or(in.Description, row.Description)
	next.Caption = or(in.Caption, row.Caption)
	next.ToolsJSON = or(in.ToolsJSON, row.ToolsJSON)
	if in.StarterPrompts != nil {
		next.StarterPrompts = in.StarterPrompts
	}
	next.TopN = or(in.TopN, row.TopN)
	next.ScoreThreshold = or(in.ScoreThreshold, row.ScoreThreshold)
	next.SearchMode = or(in.SearchMode, row.SearchMode)
	next.DenseWeight = or(in.DenseWeight, row.DenseWeight)
	next.LogsQueries = or(in.LogsQueries, row.LogsQueries)
	next.ChunkSize = or(in.ChunkSize, row.ChunkSize)
	next.Overlap = or(in.Overlap, row.Overlap)
	next.EmbeddingModel = or(in.EmbeddingModel, row.EmbeddingModel)
	return &next
}

// DeleteContextInput names a context to remove; with Restorable it can be brought back for a time.
type DeleteContextInput struct {
	ID         globalid.ID
	IfVersion  *int
	Restorable *bool
}

// DeleteContextPayload is what DeleteContext removed.
type DeleteContextPayload struct{ DeletedID globalid.ID }

// DeleteContext removes a context with its documents, their chunks and, by a job, their originals; a restorable one 30 days later.
func (m Mutation) DeleteContext(ctx context.Context, in DeleteContextInput) (*DeleteContextPayload, error) {
	out := &DeleteContextPayload{}
	err := m.changeContext(ctx, rule.DeleteContext, in.ID, audit.ContextDeleted, func(ch *changes, row *db.Context) (audit.Changes, error) {
		if err := unchanged(row.Version, in.IfVersion); err != nil {
			return audit.Changes{}, err
		}
		out.DeletedID = row.GlobalID()
		if or(in.Restorable, false) {
			return audit.Removed(row), ch.tx.HideContext(ctx, row.ID)
		}
		ch.work = true
		return audit.Removed(row), ch.tx.DeleteContext(ctx, row.ID)
	})
	if err == nil {
		m.Search.Forget(out.DeletedID.Int)
	}
	return out, err
}

// DeletedContexts are the contexts of the token's account that the caller can bring back, the one that was deleted last first.
func (q Query) DeletedContexts(ctx context.Context) ([]*db.Deleted, error) {
	c, err := q.may(ctx, rule.DeletedContexts)
	if err != nil {
		return nil, err
	}
	return orEmpty(q.Store.DeletedContexts(ctx, c.desk()))
}

// ContextErasures are the contexts of the token's account that were removed for good and are being erased.
func (q Query) ContextErasures(ctx context.Context) ([]*db.ContextErasure, error) {
	c, err := q.may(ctx, rule.ContextErasures)
	if err != nil {
		return nil, err
	}
	return orEmpty(q.Store.ContextErasures(ctx, c.desk()))
}

// RestoreContextInput is a removed context to bring back.
type RestoreContextInput struct{ ID globalid.ID }

// RestoreContextPayload is what RestoreContext brought back.
type RestoreContextPayload struct{ Context *db.Context }

// RestoreContext brings a context back, with its documents, that was removed as restorable within the last 30 days.
func (m Mutation) RestoreContext(ctx context.Context, in RestoreContextInput) (*RestoreContextPayload, error) {
	c, err := m.may(ctx, rule.RestoreContext)
	if err != nil {
		return nil, err
	}
	id, err := in.ID.Of("Context", "id")
	if err != nil {
		return nil, err
	}
	out := &RestoreContextPayload{}
	return out, m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		row, err := tx.RestoreContext(ctx, c.desk(), id)
		if err != nil {
			return missing(err, "deleted context", id)
		}
		// Documents whose turn came meanwhile wait for it.
		out.Context, ch.work = row, true
		return ch.audit(c.CustomerID, audit.ContextRestored, row, audit.Created(row))
	})
}

// ShareContextInput says who may see a context, and its icon.
type ShareContextInput struct {
	ID         globalid.ID
	ShareState int
	Icon       *string
	IfVersion  *int
}

// ShareContextPayload is what ShareContext changed.
type ShareContextPayload struct{ Context *db.Context }

// ShareContext makes a context private (0) or shared (1).
func (m Mutation) ShareContext(ctx context.Context, in ShareContextInput) (*ShareContextPayload, error) {
	out := &ShareContextPayload{}
	err := m.changeContext(ctx, rule.ShareContext, in.ID, audit.ContextShared, func(ch *changes, row *db.Context) (_ audit.Changes, err error) {
		var v check
		if in.ShareState != 0 && in.ShareState != 1 {
			v.fault("shareState", "is 0 (private) or 1 (shared)")
		}
		if in.Icon != nil && !isEmoji(*in.Icon) {
			v.fault("icon", "must be a single emoji")
		}
		if err := v.err(); err != nil {
			return audit.Changes{}, err
		}
		if err := unchanged(row.Version, in.IfVersion); err != nil {
			return audit.Changes{}, err
		}
		icon := or(in.Icon, row.Icon)
		if out.Context = row; row.ShareState == in.ShareState && row.Icon == icon {
			return audit.None(), nil
		}
		out.Context, err = ch.tx.ShareContext(ctx, row.ID, in.ShareState, icon)
		return audit.Between(row, out.Context), err
	})
	return out, err
}

// ContextEdges resolves the edges of a context.
type ContextEdges struct{ *Resolver }

// Deleted is when the context was deleted: a deleted one is gone, so never.
func (e ContextEdges) Deleted(context.Context, *db.Context) (*time.Time, error) { return nil, nil }

// StarterPrompts lists the context's conversation starters.
func (e ContextEdges) StarterPrompts(_ context.Context, obj *db.Context) ([]string, error) {
	return obj.StarterPrompts, nil
}

// Tools are the definitions of toolsJson.
func (e ContextEdges) Tools(_ context.Context, obj *db.Context) ([]*Tool, error) {
	return storedTools(obj), nil
}

// Account is the account that the context belongs to.
func (e ContextEdges) Account(ctx context.Context, obj *db.Context) (*db.Account, error) {
	return obj.Account(ctx, e.Store, reach(ctx))
}

// Creator is who made the context; nil when that user is gone, or beyond the caller's reach.
func (e ContextEdges) Creator(ctx context.Context, obj *db.Context) (*db.User, error) {
	if obj.UserID == nil {
		return nil, nil
	}
	return obj.Creator(ctx, e.Store, reach(ctx))
}

// Documents is a page of the context's documents.
func (e ContextEdges) Documents(ctx context.Context, obj *db.Context, filter *DocumentFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*DocumentConnection, error) {
	c, err := e.may(ctx, rule.ContextDocuments)
	if err != nil {
		return nil, err
	}
	return connected(ctx, e.Resolver, c, asked{list: db.Documents, filter: filter, order: orderBy, args: page(first, after, last, before)},
		within(e.Store, obj.Documents),
		within(e.Store, obj.DocumentCount))
}

// Contexts is a page of the company's contexts, where the token stands for it.
func (e CustomerEdges) Contexts(ctx context.Context, obj *db.Customer, filter *ContextFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*ContextConnection, error) {
	c, err := e.may(ctx, rule.CustomerContexts)
	if err != nil {
		return nil, err
	}
	if obj.ID != c.CustomerID {
		return nil, problem.Denied("the token does not serve the contexts of the company %d: a token for the company's assistant account does", obj.ID)
	}
	if err := e.hasOf(ctx, obj.RegionID); err != nil {
		return nil, err
	}
	return e.contextPage(ctx, c, asked{filter: filter, order: orderBy, args: page(first, after, last, before)})
}

// Contexts is a page of the account's contexts, where the token stands on it.
func (e AccountEdges) Contexts(ctx context.Context, obj *db.Account, filter *ContextFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*ContextConnection, error) {
	c, err := e.may(ctx, rule.AccountContexts)
	if err != nil {
		return nil, err
	}
	if obj.ID != c.AccountID {
		return nil, problem.Denied("the token does not serve the contexts of the account %d: a token for that account does", obj.ID)
	}
	if err := e.hasOf(ctx, obj.LivesIn); err != nil {
		return nil, err
	}
	return e.contextPage(ctx, c, asked{filter: filter, order: orderBy, args: page(first, after, last, before)})
}

// DeletedDocuments are the context's documents that can be brought back.
func (e ContextEdges) DeletedDocuments(ctx context.Context, obj *db.Context) ([]*db.Deleted, error) {
	if _, err := e.may(ctx, rule.ContextDeletedDocuments); err != nil {
		return nil, err
	}
	return obj.DeletedDocuments(ctx, e.Store)
}
