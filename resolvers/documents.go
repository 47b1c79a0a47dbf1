package resolvers

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"

	"canopy/db"
	"canopy/internal/attributes"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/models/lexical"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/outbox"
)

// GetDocument gives a document of one of the caller's contexts.
func (q Query) GetDocument(ctx context.Context, id globalid.ID) (*db.Document, error) {
	c, err := q.may(ctx, rule.ContextDocuments)
	if err != nil {
		return nil, err
	}
	row, err := q.Store.Document(ctx, c.desk(), id.Int)
	return row, missing(err, "document", id.Int)
}

func (q Query) documentNode(ctx context.Context, id globalid.ID) (*db.Document, error) {
	return q.GetDocument(ctx, id)
}

func (q Query) chunkNode(ctx context.Context, id globalid.ID) (*db.Chunk, error) {
	c, err := q.may(ctx, rule.DocumentChunks)
	if err != nil {
		return nil, err
	}
	row, err := q.Store.Chunk(ctx, c.desk(), id.Int)
	return row, missing(err, "chunk", id.Int)
}

// ListDocuments gives each document of a context that fits a filter.
func (q Query) ListDocuments(ctx context.Context, contextID globalid.ID, filter *DocumentFilter, l Listing, each func(*db.Document, paging.Cursor) error) error {
	c, err := q.may(ctx, rule.ContextDocuments)
	if err != nil {
		return err
	}
	row, err := q.aContext(ctx, c, contextID, "contextId")
	if err != nil {
		return err
	}
	return listAll(ctx, q.Resolver, c, asked{list: db.Documents, filter: filter, also: []db.Term{idTerm("contextId", row.ID)}}, l, q.documentsOf(c, contextID), each)
}

// documentsOf reads documents of a context for as long as that is there for the caller.
func (q Query) documentsOf(c *caller, contextID globalid.ID) func(context.Context, db.Ask) ([]*db.Document, error) {
	return whileSo(within(c.desk(), q.Store.FindDocuments), func(ctx context.Context) error {
		_, err := q.aContext(ctx, c, contextID, "contextId")
		return err
	})
}

// ListChunks gives each chunk of a document of the caller's contexts that fits a filter, in their order unless asked for otherwise. One that is not ready has none.
func (q Query) ListChunks(ctx context.Context, documentID globalid.ID, filter *ChunkFilter, l Listing, each func(*db.Chunk, paging.Cursor) error) error {
	c, err := q.may(ctx, rule.DocumentChunks)
	if err != nil {
		return err
	}
	d, err := q.Store.Document(ctx, c.desk(), documentID.Int)
	if err != nil {
		return missing(err, "document", documentID.Int)
	}
	read := whileSo(within(q.Store, d.Chunks), func(ctx context.Context) error {
		now, err := q.Store.Document(ctx, c.desk(), d.ID)
		if err == nil && (now.Revision != d.Revision || now.Status != d.Status) {
			return problem.New(problem.Unavailable, "the document was processed anew while its chunks were read: read them again")
		}
		return missing(err, "document", d.ID)
	})
	return listAll(ctx, q.Resolver, c, asked{list: db.Chunks, filter: filter, reading: readingOf(d)}, l, read, each)
}

// readingOf tells the chunks that a document has from those that it has once it was processed anew.
func readingOf(d *db.Document) string { return strconv.FormatInt(d.Revision, 10) }

// whileSo reads pages of a list, and looks behind each whether what the list hangs from is as it was when it was begun: once that has gone, or is
// another, an empty page would be taken for the end of the list.
func whileSo[T any](read func(context.Context, db.Ask) ([]T, error), still func(context.Context) error) func(context.Context, db.Ask) ([]T, error) {
	return func(ctx context.Context, a db.Ask) ([]T, error) {
		rows, err := read(ctx, a)
		if err == nil {
			err = still(ctx)
		}
		return rows, err
	}
}

// ListDeletedDocuments gives the documents of a context that can be brought back, the one that was deleted last first.
func (q Query) ListDeletedDocuments(ctx context.Context, contextID globalid.ID) ([]*db.Deleted, error) {
	c, err := q.may(ctx, rule.ContextDeletedDocuments)
	if err != nil {
		return nil, err
	}
	row, err := q.aContext(ctx, c, contextID, "contextId")
	if err != nil {
		return nil, err
	}
	return row.DeletedDocuments(ctx, q.Store)
}

// DeleteDocumentInput names a document to remove. With ContextID it must be one of that context.
type DeleteDocumentInput struct {
	ID        globalid.ID
	ContextID *globalid.ID
	IfVersion *int
	// Restorable has it kept for a time, in which it can be brought back.
	Restorable *bool
}

// DeleteDocumentPayload is what DeleteDocument removed.
type DeleteDocumentPayload struct{ DeletedID globalid.ID }

// DeleteDocument removes a document, its chunks and, by a job, its original; a restorable one 30 days later.
func (m Mutation) DeleteDocument(ctx context.Context, in DeleteDocumentInput) (*DeleteDocumentPayload, error) {
	out := &DeleteDocumentPayload{}
	err := m.changeDocument(ctx, rule.DeleteDocument, in.ID, in.ContextID, audit.DocumentDeleted, func(tx *db.Store, ch *changes, d *db.Document) (*db.Document, error) {
		if err := unchanged(d.Version, in.IfVersion); err != nil {
			return nil, err
		}
		out.DeletedID = d.GlobalID()
		if or(in.Restorable, false) {
			return nil, tx.HideDocument(ctx, d)
		}
		ch.work = true
		return nil, tx.DeleteDocument(ctx, d)
	})
	return out, err
}

// RestoreDocumentInput is a removed document to bring back.
type RestoreDocumentInput struct{ ID globalid.ID }

// RestoreDocumentPayload is what RestoreDocument brought back.
type RestoreDocumentPayload struct{ Document *db.Document }

// RestoreDocument brings a document back to its context that was removed as restorable within the last 30 days. It has another number
// where a document of its name was uploaded meanwhile and has got its own.
func (m Mutation) RestoreDocument(ctx context.Context, in RestoreDocumentInput) (*RestoreDocumentPayload, error) {
	c, err := m.may(ctx, rule.RestoreDocument)
	if err != nil {
		return nil, err
	}
	id, err := in.ID.Of("Document", "id")
	if err != nil {
		return nil, err
	}
	out := &RestoreDocumentPayload{}
	return out, m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		// The context is held first, as by an upload.
		home, err := tx.RemovedHome(ctx, c.desk(), id)
		if err != nil {
			return missing(err, "deleted document", id)
		}
		into, err := tx.ContextForUpdate(ctx, c.desk(), home)
		if err != nil {
			return missing(err, "deleted document", id)
		}
		d, err := tx.RemovedDocumentForUpdate(ctx, c.desk(), id)
		if err != nil {
			return missing(err, "deleted document", id)
		}
		if out.Document, err = bringBack(ctx, tx, into, d); err != nil {
			return err
		}
		ch.tellDocuments(home, id)
		ch.work = true // it may have to be processed
		return ch.audit(c.CustomerID, audit.DocumentRestored, out.Document, audit.Created(out.Document))
	})
}

// bringBack puts a removed document back into its context, as long as it has room, with a number that no other document of its name has.
func bringBack(ctx context.Context, tx *db.Store, into *db.Context, d *db.Document) (*db.Document, error) {
	stored, err := into.Stored(ctx, tx, d.OriginalName)
	if err != nil {
		return nil, err
	}
	if stored.Size+d.Size > into.MaxSize {
		return nil, errTooLarge
	}
	taken, err := into.NameTaken(ctx, tx, d.OriginalName, d.NameIndex)
	if err != nil {
		return nil, err
	}
	row, err := tx.RestoreDocument(ctx, d, into.ID)
	if err != nil || !taken {
		return row, err
	}
	name := row.DisplayName
	if isOwnName(name, row.OriginalName, row.NameIndex) { // nobody has given it another one
		name = displayName(row.OriginalName, stored.NextIndex)
	}
	return tx.NameDocument(ctx, row.ID, stored.NextIndex, name)
}

// UpdateDocumentInput is a change of a document. What is left out is kept; Attributes replace all that there are.
type UpdateDocumentInput struct {
	ID          globalid.ID
	DisplayName *string
	Attributes  json.RawMessage
	IfVersion   *int
}

// UpdateDocumentPayload is the changed document.
type UpdateDocumentPayload struct{ Document *db.Document }

// UpdateDocument changes the name that a document is shown by, and its attributes.
func (m Mutation) UpdateDocument(ctx context.Context, in UpdateDocumentInput) (*UpdateDocumentPayload, error) {
	out := &UpdateDocumentPayload{}
	err := m.changeDocument(ctx, rule.UpdateDocument, in.ID, nil, audit.DocumentUpdated, func(tx *db.Store, ch *changes, d *db.Document) (_ *db.Document, err error) {
		var v check
		next := *d
		if in.DisplayName != nil {
			next.DisplayName = *in.DisplayName
			if next.DisplayName != d.DisplayName { // which may be longer, of before long ones were cut
				v.name("displayName", next.DisplayName)
			}
		}
		if len(given(in.Attributes)) > 0 {
			next.Attributes = v.attributes("attributes", in.Attributes)
			if there, _ := attributes.Check("", d.Attributes); bytes.Equal(there, next.Attributes) {
				next.Attributes = d.Attributes // whose members are in another order
			}
		}
		if err := v.err(); err != nil {
			return nil, err
		}
		if err := unchanged(d.Version, in.IfVersion); err != nil {
			return nil, err
		}
		if out.Document = d; same(d, &next) {
			return d, nil
		}
		out.Document, err = tx.UpdateDocument(ctx, &next)
		ch.tellDocuments(d.ContextID, d.ID)
		return out.Document, err
	})
	return out, err
}

// ReprocessDocumentInput names a document to process anew.
type ReprocessDocumentInput struct{ ID globalid.ID }

// ReprocessDocumentPayload is what ReprocessDocument began.
type ReprocessDocumentPayload struct{ Document *db.Document }

// ReprocessDocument has a document processed anew, with its context's present settings.
func (m Mutation) ReprocessDocument(ctx context.Context, in ReprocessDocumentInput) (*ReprocessDocumentPayload, error) {
	out := &ReprocessDocumentPayload{}
	err := m.changeDocument(ctx, rule.ReprocessDocument, in.ID, nil, audit.DocumentReprocessed, func(tx *db.Store, ch *changes, d *db.Document) (_ *db.Document, err error) {
		out.Document, err = tx.ReprocessDocument(ctx, d)
		ch.tellDocuments(d.ContextID, d.ID)
		return out.Document, err
	})
	return out, err
}

// changeDocument changes one document of the caller's contexts; do gives it as it is then, and the one that it was given where that is as it was. The context is held first, as by
// whoever deletes it or finishes a document of it.
func (m Mutation) changeDocument(ctx context.Context, need *rule.Rule, id globalid.ID, contextID *globalid.ID, action audit.Action,
	do func(*db.Store, *changes, *db.Document) (*db.Document, error),
) error {
	c, err := m.may(ctx, need)
	if err != nil {
		return err
	}
	n, err := id.Of("Document", "id")
	if err != nil {
		return err
	}
	var within int64
	if contextID != nil {
		if within, err = contextID.Of("Context", "contextId"); err != nil {
			return err
		}
	}
	return m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		d, err := tx.Document(ctx, c.desk(), n)
		if err == nil {
			_, err = tx.ContextForUpdate(ctx, c.desk(), d.ContextID)
		}
		if err == nil {
			d, err = tx.DocumentForUpdate(ctx, c.desk(), n)
		}
		if err == nil && contextID != nil && d.ContextID != within {
			err = db.ErrNoRows
		}
		if err != nil {
			return missing(err, "document", n)
		}
		now, err := do(tx, ch, d)
		if err != nil || now == d {
			return err
		}
		return ch.audit(c.CustomerID, action, d, audit.Between(d, now))
	})
}

// ReprocessContextInput names a context whose documents are to be processed anew.
type ReprocessContextInput struct{ ID globalid.ID }

// ReprocessContextPayload is what ReprocessContext began.
type ReprocessContextPayload struct{ Context *db.Context }

// ReprocessContext has all documents of a context processed anew, with its present settings. From an embedded model the
// context goes over to that model's successor.
func (m Mutation) ReprocessContext(ctx context.Context, in ReprocessContextInput) (*ReprocessContextPayload, error) {
	out := &ReprocessContextPayload{}
	err := m.changeContext(ctx, rule.ReprocessContext, in.ID, audit.ContextReprocessed, func(ch *changes, row *db.Context) (_ audit.Changes, err error) {
		newest := lexical.Newest(row.EmbeddingModel)
		if newest != row.EmbeddingModel {
			if _, err := ch.tx.UpdateContext(ctx, patched(row, UpdateContextInput{EmbeddingModel: &newest})); err != nil {
				return audit.Changes{}, err
			}
		}
		var n int
		out.Context, n, err = ch.reprocessAll(ctx, row, newest != row.EmbeddingModel)
		if err != nil {
			return audit.Changes{}, err
		}
		return audit.Between(row, out.Context).With("documents", n), nil
	})
	return out, err
}

// reprocessAll has all documents of a context processed anew, some at a time; of another model when its vectors can't be compared with those
// that there are. It gives what that makes of the context, and how many documents there are.
func (ch *changes) reprocessAll(ctx context.Context, row *db.Context, otherModel bool) (*db.Context, int, error) {
	documents, begun, err := ch.tx.ReprocessContext(ctx, row.ID, otherModel)
	if err != nil {
		return nil, 0, err
	}
	ch.tellDocuments(row.ID, begun...)
	now, err := ch.tx.Context(ctx, ch.caller.desk(), row.ID)
	return now, documents, err
}

// CancelReprocessingInput names a context whose documents are being processed anew.
type CancelReprocessingInput struct{ ID globalid.ID }

// CancelReprocessingPayload is what CancelReprocessing ended.
type CancelReprocessingPayload struct{ Context *db.Context }

// CancelReprocessing has the documents of a context stay as they are whose turn to be processed anew has not come. Those that were begun are
// processed.
func (m Mutation) CancelReprocessing(ctx context.Context, in CancelReprocessingInput) (*CancelReprocessingPayload, error) {
	out := &CancelReprocessingPayload{}
	err := m.changeContext(ctx, rule.CancelReprocessing, in.ID, audit.ContextReprocessingCancelled, func(ch *changes, row *db.Context) (audit.Changes, error) {
		r, err := row.Reprocessing(ctx, ch.tx)
		if err != nil {
			return audit.Changes{}, err
		}
		if r == nil || r.Status != db.ReprocessingRunning {
			return audit.Changes{}, problem.Bad("the documents of the context %d are not being processed anew", row.ID)
		}
		if err := ch.tx.CancelReprocessing(ctx, row.ID); err != nil {
			return audit.Changes{}, err
		}
		now := *r
		now.Status = db.ReprocessingCancelled
		out.Context = row
		return audit.Between(r, &now).With("done", r.Done), nil
	})
	return out, err
}

// Reprocessing is how far it is that the context's documents are processed anew.
func (e ContextEdges) Reprocessing(ctx context.Context, obj *db.Context) (*db.ContextReprocessing, error) {
	return obj.Reprocessing(ctx, e.Store)
}

// GetReprocessing is how far it is that the documents of a context are processed anew, or was the last time.
func (q Query) GetReprocessing(ctx context.Context, id globalid.ID) (*db.ContextReprocessing, error) {
	c, err := q.may(ctx, rule.Context)
	if err != nil {
		return nil, err
	}
	row, err := q.aContext(ctx, c, id, "id")
	if err != nil {
		return nil, err
	}
	r, err := row.Reprocessing(ctx, q.Store)
	if err == nil && r == nil {
		err = problem.Missing("the documents of the context %d were never processed anew", row.ID)
	}
	return r, err
}

// tellDocuments has the listeners of documents hear of a change, and the relay of work.
func (ch *changes) tellDocuments(contextID int64, ids ...int64) {
	ch.work = true
	for _, id := range ids {
		ch.documents = append(ch.documents, [2]int64{contextID, id})
	}
}

// DocumentUpdated gives the documents of a context as their processing goes on.
func (s Subscription) DocumentUpdated(ctx context.Context, contextID globalid.ID) (<-chan *db.Document, error) {
	if _, err := s.may(ctx, rule.DocumentUpdated); err != nil {
		return nil, err
	}
	id, err := contextID.Of("Context", "contextId")
	if err != nil {
		return nil, err
	}
	return follow(ctx, s.Resolver, feed[db.Document]{topic: outbox.DocumentTopic(id), load: func(ctx context.Context, message []byte) ([]*db.Document, error) {
		c, err := s.may(ctx, rule.DocumentUpdated)
		if err != nil {
			return nil, err
		}
		if message == nil {
			_, err := s.aContext(ctx, c, contextID, "contextId")
			return nil, err
		}
		id, err := strconv.ParseInt(string(message), 10, 64)
		if err != nil {
			return nil, err
		}
		d, err := s.Store.Document(ctx, c.desk(), id)
		return []*db.Document{d}, missing(err, "document", id)
	}})
}

// DocumentEdges resolves the edges of a document.
type DocumentEdges struct{ *Resolver }

// Error says what went wrong; nil when nothing did.
func (e DocumentEdges) Error(_ context.Context, obj *db.Document) (*string, error) {
	if obj.Error == "" {
		return nil, nil
	}
	return &obj.Error, nil
}

// Warnings tell what a ready document lacks.
func (e DocumentEdges) Warnings(_ context.Context, obj *db.Document) (list []*db.DocumentWarning, err error) {
	return list, json.Unmarshal(obj.Warnings, &list)
}

// Context is the context that the document belongs to.
func (e DocumentEdges) Context(ctx context.Context, obj *db.Document) (*db.Context, error) {
	c, err := e.may(ctx, rule.DocumentContext)
	if err != nil {
		return nil, err
	}
	return obj.Context(ctx, e.Store, c.desk())
}

// Chunks is a page of the document's chunks.
func (e DocumentEdges) Chunks(ctx context.Context, obj *db.Document, filter *ChunkFilter, orderBy []*Order, first *int, after *string, last *int, before *string) (*ChunkConnection, error) {
	c, err := e.may(ctx, rule.DocumentChunks)
	if err != nil {
		return nil, err
	}
	return connected(ctx, e.Resolver, c, asked{list: db.Chunks, filter: filter, order: orderBy, args: page(first, after, last, before), reading: readingOf(obj)},
		func(ctx context.Context, a db.Ask) ([]*db.Chunk, error) {
			rows, err := obj.Chunks(ctx, e.Store, a)
			if err != nil || a.Page.IsOpen() {
				return rows, err
			}
			// It may have become another between reading it and its chunks.
			still, err := obj.StillOf(ctx, e.Store, a)
			if err == nil && !still {
				err = problem.Invalid(problem.Fault{Location: boundName(a.Page.Backward), Message: otherReading})
			}
			return rows, err
		},
		within(e.Store, obj.CountChunks))
}

// Creator is who uploaded the document; nil when that user is gone, or beyond the caller's reach.
func (e DocumentEdges) Creator(ctx context.Context, obj *db.Document) (*db.User, error) {
	if obj.CreatedBy == nil {
		return nil, nil
	}
	return obj.Creator(ctx, e.Store, reach(ctx))
}

// ChunkEdges resolves the edges of a chunk.
type ChunkEdges struct{ *Resolver }

// Page is the page that the chunk begins on; nil where there are none.
func (e ChunkEdges) Page(_ context.Context, obj *db.Chunk) (*int, error) { return Known(obj.Page), nil }

// Heading is the heading that the chunk begins under; nil where there is none.
func (e ChunkEdges) Heading(_ context.Context, obj *db.Chunk) (*string, error) {
	return Known(obj.Heading), nil
}

// Row is the row that the chunk begins with; nil where there are none.
func (e ChunkEdges) Row(_ context.Context, obj *db.Chunk) (*int, error) { return Known(obj.Row), nil }

// Document is the document that the chunk is a piece of.
func (e ChunkEdges) Document(ctx context.Context, obj *db.Chunk) (*db.Document, error) {
	return e.documentOf(ctx, rule.ChunkDocument, obj)
}

func (r *Resolver) documentOf(ctx context.Context, need *rule.Rule, chunk *db.Chunk) (*db.Document, error) {
	c, err := r.may(ctx, need)
	if err != nil {
		return nil, err
	}
	return chunk.Document(ctx, r.Store, c.desk())
}

// Known is a value that may be missing, which its zero stands for.
func Known[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
