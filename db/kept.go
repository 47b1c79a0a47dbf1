package db

import (
	"context"
	"encoding/json"

	"canopy/internal/vector"
)

// The revision that a document had when it was ready the last time is kept while the document is processed anew, until the next one is whole. Where
// none comes to be, as the original is missing or can't be read any more, the document stays what it was, if a search can use that; otherwise it fails, and what
// there is of it goes on being kept, for a time when it can be processed.

// keptAnew has a document d of a context x that begins anew keep the revision that it has. While it is not ready, packed is that revision; its negative, where
// the vectors are those of the model that the document is processed with, so that it could be ready with them as it is. 0 is for none.
const keptAnew = `packed = CASE WHEN d.status = 'ready' THEN d.revision * CASE WHEN d.packed = d.revision AND d.model = x.embedding_model THEN -1 ELSE 1 END
			WHEN d.packed < 0 AND d.model <> x.embedding_model THEN -d.packed ELSE d.packed END`

var (
	// A worker of an earlier release may have dropped some of the chunks: what is left is not whole. Of a dense block the beginning tells the dimensions.
	qKept = prepare(`
		SELECT d.packed, d.packed <> 0 AND d.chunks > 0 AND d.chunks = (SELECT count(*) FROM chunks WHERE document_id = d.id AND revision = abs(d.packed)) AS whole,
			COALESCE((SELECT substring(block, 1, 24) FROM vector_blocks WHERE document_id = d.id AND revision = abs(d.packed) AND dense ORDER BY first LIMIT 1), '') AS dense, x.dimensions
		FROM (SELECT * FROM documents WHERE ` + heldDocument + `) d` + joinByID("contexts", "x", "d.context_id"))
	qForsake    = prepare(`UPDATE documents SET packed = 0 WHERE ` + heldDocument)
	qDropUnkept = prepare(`WITH ` + dropOthers("CASE WHEN abs(h.packed) = h.revision THEN h.chunks ELSE 0 END") + ` SELECT more FROM part`)
	qKeepNow    = prepare(`UPDATE documents SET packed = -revision, chunks = $3, warnings = $4::jsonb WHERE ` + heldDocument)
	// The context has another length of vectors only where it had none.
	qStayContext = prepare(bump(`, dimensions = CASE WHEN dimensions = 0 THEN $3 ELSE dimensions END`))
	// What was made with other settings than those of the row is no other document's twin: no reader has made it.
	qStayDocument = prepare(`
		UPDATE documents SET status = 'ready', progress = 1, error = '', reader = CASE WHEN -packed = revision THEN reader ELSE 0 END,
			revision = -packed, packed = -packed, warnings = $3::jsonb, completed_at = now()
		WHERE ` + heldDocument + ` AND ` + unindexed("packed < 0"))
)

// keptRevision is what a document at work has of before.
type keptRevision struct {
	Packed int64 `db:"packed"`
	// Whole tells whether all its chunks are there.
	Whole bool `db:"whole"`
	// Dense is how a block of its dense vectors begins; empty without any. Dimensions are those of the context.
	Dense      []byte `db:"dense"`
	Dimensions int    `db:"dimensions"`
}

// found tells whether a search finds in the revision what it found before.
func (k *keptRevision) found() bool {
	own := vector.DenseDimensions(k.Dense)
	return k.Whole && k.Packed < 0 && (own == 0 || k.Dimensions == 0 || own == k.Dimensions)
}

// keepNow has a document keep the revision at work, which is whole, in place of the one before: only then that may go.
func (s *Store) keepNow(ctx context.Context, w *DocumentWork, chunks int, warnings json.RawMessage) error {
	err := s.Tx(ctx, func(tx *Store) error { return tx.must(ctx, qKeepNow, w.ID, w.Attempts, chunks, string(warnings)) })
	if err == nil {
		w.Packed, w.ChunkCount, w.Warnings = -w.Revision, chunks, warnings
	}
	return err
}

// FailDocument ends a document that could not be processed. Where a search can use the revision of before, the document is ready with that, and has the warnings:
// stays tells so. Otherwise it has failed, with a sentence for a person, and keeps no chunks but those of that revision. ErrNoRows says that the work was lost.
func (s *Store) FailDocument(ctx context.Context, w *DocumentWork, sentence string, warnings json.RawMessage) (stays bool, err error) {
	k := &keptRevision{}
	if err := s.get(ctx, k, qKept, w.ID, w.Attempts); err != nil {
		return false, err
	}
	if !k.Whole {
		if err := s.must(ctx, qForsake, w.ID, w.Attempts); err != nil {
			return false, err
		}
	}
	if err := s.byParts(ctx, qDropUnkept, w.ID, w.Attempts); err != nil {
		return false, err
	}
	if !k.found() {
		return false, s.must(ctx, qFailDocument, w.ID, w.Attempts, sentence)
	}
	return true, s.Tx(ctx, func(tx *Store) error {
		// The context first, as in FinishDocument.
		if err := tx.must(ctx, qStayContext, w.ContextID, w.ID, vector.DenseDimensions(k.Dense)); err != nil {
			return err
		}
		return tx.must(ctx, qStayDocument, w.ID, w.Attempts, string(warnings))
	})
}
