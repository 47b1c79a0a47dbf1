package db

import (
	"context"
	"time"
)

// A removed document that can be brought back lies in a context of its own, that was removed from the start and whose home is the context
// that it comes from. Nothing that reads contexts finds it there.

var (
	qKeepRemoved = prepare(`
		INSERT INTO contexts (account_id, user_id, name, description, caption, tools_json, starter_prompts, embedding_model, share_state, removed_at, erase_at, home_id)
		SELECT account_id, user_id, name, '', '', '[]', '{}', embedding_model, share_state, now(), now() + $2 * interval '1 second', id
		FROM contexts WHERE id = $1 RETURNING id`)
	// A worker that is at it loses it: what it would end belongs to the context that the document has left.
	qTakeDocument = prepare(`
		UPDATE documents SET context_id = $2, attempts = attempts + (status = 'processing')::int, started_at = CASE WHEN status = 'processing' THEN NULL ELSE started_at END,
			progress = CASE WHEN status = 'processing' THEN 0 ELSE progress END, handed_out = handed_out AND status <> 'processing',
			status = CASE WHEN status = 'processing' THEN 'pending' ELSE status END
		WHERE id = $1`)
	qAddSize = prepare(`
		INSERT INTO context_sizes AS s (context_id, size) VALUES ($1, $2) ON CONFLICT (context_id) DO UPDATE SET size = s.size + EXCLUDED.size`)

	// The desk's conditions hold for the home. As with contexts, the erasure may have begun in the last minute.
	removedDocument = ` FROM documents d` + joinByID("contexts", "k", "d.context_id") + joinByID("contexts", "x", "k.home_id") + `
		WHERE d.id = $3 AND ` + unindexed("k.erase_at > now() + interval '1 minute'") + ` AND ` + onDesk
	qRemovedHome     = prepare(`SELECT x.id` + removedDocument)
	qRemovedDocument = prepare(`SELECT ` + documentColumns + removedDocument + ` FOR UPDATE OF d, k`)
	qNameTaken       = prepare(`SELECT EXISTS (SELECT FROM documents WHERE context_id = $1 AND original_name = $2 AND name_index = $3)`)
	qReturnDocument  = prepare(`
		UPDATE documents d SET context_id = $2, next_attempt_at = CASE WHEN d.next_attempt_at > now() + interval '1 hour' THEN now() ELSE d.next_attempt_at END
		WHERE d.id = $1 RETURNING ` + documentColumns)
	qOtherModel     = prepare(`SELECT EXISTS (SELECT FROM documents d` + joinByID("contexts", "x", "d.context_id") + `WHERE d.id = $1 AND d.model <> x.embedding_model)`)
	qNameAnew       = prepare(`UPDATE documents d SET name_index = $2, display_name = $3 WHERE d.id = $1 RETURNING ` + documentColumns)
	qForgetHomeless = prepare(`UPDATE contexts SET erase_at = now() WHERE home_id = $1`)

	qDeletedDocuments = prepare(`
		SELECT 'Document' AS type, d.id, d.display_name AS name, k.home_id AS owner_id, k.removed_at, k.erase_at
		FROM unnest($1::bigint[]) x(id) CROSS JOIN LATERAL (
			SELECT * FROM contexts WHERE home_id = x.id AND ` + unindexed("erase_at > now() + interval '1 minute'") + ` ORDER BY home_id DESC, removed_at DESC LIMIT $2) k
		CROSS JOIN LATERAL (SELECT * FROM documents WHERE context_id = k.id LIMIT 1) d
		ORDER BY k.home_id, k.removed_at DESC, d.id DESC`)
)

var contextDeletedDocuments = edgeBy((*Context).key, func(ctx context.Context, s *Store, _ none, ids []int64) (map[int64][]*Deleted, error) {
	return deletedOf(ctx, s, qDeletedDocuments, ids)
})

// DeletedDocuments are the context's documents that can be brought back, the one that was deleted last first; at most MaxDeleted.
func (c *Context) DeletedDocuments(ctx context.Context, s *Store) ([]*Deleted, error) {
	return follow(ctx, s, c, contextDeletedDocuments, none{})
}

// HideDocument takes a document out of its context, where RestoreDocument can bring it back within HiddenFor; EraseContexts takes it away
// then. It counts until it is gone.
func (s *Store) HideDocument(ctx context.Context, d *Document) error {
	return s.takeOut(ctx, d, HiddenFor)
}

// takeOut takes a document to a context of its own, which is erased after a time.
func (s *Store) takeOut(ctx context.Context, d *Document, keep time.Duration) error {
	var kept int64
	if err := s.get(ctx, &kept, qKeepRemoved, d.ContextID, keep.Seconds()); err != nil {
		return err
	}
	if err := s.moveDocument(ctx, d, d.ContextID, -d.Size); err != nil {
		return err
	}
	if err := s.must(ctx, qTakeDocument, d.ID, kept); err != nil {
		return err
	}
	return s.deferNext(ctx, kept, 0, true)
}

// moveDocument has a context know that a document has come or gone, with its size.
func (s *Store) moveDocument(ctx context.Context, d *Document, contextID, size int64) error {
	if err := s.must(ctx, qBumpDocument, contextID, d.ID); err != nil {
		return err
	}
	return s.must(ctx, qAddSize, contextID, size)
}

// RemovedHome gives the context of a desk that a removed document comes from; ErrNoRows where there is no such document.
func (s *Store) RemovedHome(ctx context.Context, desk Desk, id int64) (home int64, err error) {
	err = s.get(ctx, &home, qRemovedHome, desk.args(id)...)
	return home, err
}

// RemovedDocumentForUpdate reads a removed document that a desk can bring back, and holds its row. Its home is held already.
func (s *Store) RemovedDocumentForUpdate(ctx context.Context, desk Desk, id int64) (*Document, error) {
	d := &Document{}
	err := s.get(ctx, d, qRemovedDocument, desk.args(id)...)
	return d, err
}

// NameTaken tells whether a document of a context has a name's index.
func (c *Context) NameTaken(ctx context.Context, s *Store, originalName string, index int) (taken bool, err error) {
	err = s.get(ctx, &taken, qNameTaken, c.ID, originalName, index)
	return taken, err
}

// NameDocument gives a document another index of its name, and another name that it is shown by.
func (s *Store) NameDocument(ctx context.Context, id int64, nameIndex int, displayName string) (*Document, error) {
	row := &Document{}
	err := s.get(ctx, row, qNameAnew, id, nameIndex, displayName)
	return row, err
}

// RestoreDocument brings a removed document back to its context. Where that has another model by now, the document is processed anew.
func (s *Store) RestoreDocument(ctx context.Context, d *Document, home int64) (*Document, error) {
	row := &Document{}
	if err := s.get(ctx, row, qReturnDocument, d.ID, home); err != nil {
		return nil, err
	}
	if err := s.must(ctx, qDeleteContext, d.ContextID); err != nil {
		return nil, err
	}
	if err := s.moveDocument(ctx, row, home, row.Size); err != nil {
		return nil, err
	}
	var other bool
	if err := s.get(ctx, &other, qOtherModel, d.ID); err != nil || !other {
		return row, err
	}
	return s.ReprocessDocument(ctx, row)
}
