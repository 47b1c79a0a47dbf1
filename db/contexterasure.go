package db

import (
	"context"
	"errors"
	"strconv"
	"time"

	"canopy/internal/globalid"
)

// eraseAtOnce, eraseChunks and eraseBlocks are how many documents, chunks and blocks of vectors of them go in one statement. A context that has
// more goes by parts, each of which is a short transaction: the first documents lose what they have, however much that is, before they go.
const (
	eraseAtOnce = 100
	eraseChunks = 5000
	eraseBlocks = 200
)

// firstDocuments selects the first documents of the context $1, one more than go at once.
var firstDocuments = `(SELECT * FROM documents WHERE context_id = $1 ORDER BY context_id, id LIMIT ` + strconv.Itoa(eraseAtOnce+1) + `)`

var (
	qContextIsLarge  = prepare(`SELECT count(*) > ` + strconv.Itoa(eraseAtOnce) + ` OR COALESCE(sum(CASE WHEN status = 'ready' THEN chunks ELSE ` + storedChunks("d.id") + ` END), 0) > ` + strconv.Itoa(eraseChunks) + ` FROM ` + firstDocuments + ` d`)
	qDocumentIsLarge = prepare(`SELECT ` + storedChunks("$1") + ` > ` + strconv.Itoa(eraseChunks))
	// Others who erase it pass it over meanwhile.
	qHoldHidden = prepare(`
		SELECT id, erase_rows IS NULL AS fresh FROM contexts WHERE removed_at IS NOT NULL AND COALESCE(erase_at, removed_at) <= now()
		ORDER BY COALESCE(erase_at, removed_at) LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`)
	// What it has to lose is counted once, as it begins.
	qEraseBegin = prepare(`
		UPDATE contexts SET erase_rows = (SELECT count(*) + COALESCE(sum(d.chunks), 0) FROM documents d WHERE d.context_id = $1) WHERE id = $1`)
	qEraseFirstChunks = prepare(eraseChunksOf(firstDocuments, strconv.Itoa(eraseChunks)))
	qEraseFirstBlocks = prepare(eraseBlocksOf(firstDocuments, strconv.Itoa(eraseBlocks)))
	qEraseFirst       = prepare(`
		WITH gone AS MATERIALIZED (SELECT d.id, ` + blobOf + ` AS key FROM ` + firstDocuments + ` d LIMIT ` + strconv.Itoa(eraseAtOnce) + `),
		keys AS (INSERT INTO blob_deletions (key) SELECT key FROM gone ON CONFLICT (key) DO NOTHING)
		DELETE FROM documents WHERE id = ANY (ARRAY(SELECT id FROM gone))`)
	// What is left of it stands behind the other contexts.
	qEraseOn         = prepare(`UPDATE contexts SET erase_at = now(), erased_rows = erased_rows + $2 WHERE id = $1`)
	qContextErasures = prepare(`
		SELECT x.id, x.name, x.removed_at, x.erase_rows, x.erased_rows FROM contexts x
		WHERE ` + ofDesk + ` AND x.removed_at IS NOT NULL AND x.home_id IS NULL AND COALESCE(x.erase_at, x.removed_at) <= now() + interval '1 minute'
		ORDER BY x.account_id, COALESCE(x.erase_at, x.removed_at) LIMIT $3`)
	qEraseAsked = prepare(`
		DELETE FROM context_queries WHERE id = ANY (ARRAY(SELECT id FROM context_queries WHERE context_id = $1 LIMIT ` + strconv.Itoa(eraseRows) + `))`)
)

// storedChunks counts the chunks that a document has, as far as it matters: one that is not ready may have very many that its row does not tell of.
func storedChunks(id string) string {
	return `(SELECT count(*) FROM (SELECT FROM chunks WHERE document_id = ` + id + ` LIMIT ` + strconv.Itoa(eraseChunks+1) + `) k)`
}

// eraseChunksOf takes away some chunks of documents, eraseBlocksOf some blocks of their vectors, which have no id and are found by their places.
func eraseChunksOf(documents, most string) string {
	return `DELETE FROM chunks WHERE id = ANY (ARRAY(SELECT k.id FROM ` + documents + ` d CROSS JOIN LATERAL (SELECT id FROM chunks WHERE document_id = d.id LIMIT ` + most + `) k LIMIT ` + most + `))`
}

func eraseBlocksOf(documents, most string) string {
	return `DELETE FROM vector_blocks WHERE ctid = ANY (ARRAY(SELECT b.place FROM ` + documents + ` d CROSS JOIN LATERAL (SELECT ctid AS place FROM vector_blocks WHERE document_id = d.id LIMIT ` + most + `) b LIMIT ` + most + `))`
}

// contextSteps take away what a context has, in this order; where so many rows went there may be more to go before the next step. Those that count tell how far it is.
var contextSteps = []struct {
	query  query
	more   int64
	counts bool
}{
	{qEraseFirstChunks, eraseChunks, true},
	{qEraseFirstBlocks, eraseBlocks, false},
	{qEraseFirst, 1, true},
	{qEraseAsked, 1, false},
}

// ContextErasure is how far a context is that was removed for good, or can no more be brought back.
type ContextErasure struct {
	ID        int64     `db:"id"`
	Name      string    `db:"name"`
	DeletedAt time.Time `db:"removed_at"`
	// Rows are the chunks and documents that it had as its erasure began, nil before; Erased are those of them that have gone.
	Rows   *int64 `db:"erase_rows"`
	Erased int64  `db:"erased_rows"`
}

// GlobalID is what the context had as a node.
func (e *ContextErasure) GlobalID() globalid.ID { return globalid.ID{Type: "Context", Int: e.ID} }

// Progress is the part that is erased, 0 to 1.
func (e *ContextErasure) Progress() float64 {
	if rows := orZero(e.Rows); rows > 0 {
		return min(1, float64(e.Erased)/float64(rows)) // chunks of a document that was not ready are not among its rows
	}
	return 0
}

// ContextErasures are a desk's contexts that are being erased, in the order of their turns; at most MaxDeleted.
func (s *Store) ContextErasures(ctx context.Context, d Desk) (rows []*ContextErasure, err error) {
	err = s.list(ctx, &rows, qContextErasures, d.args(MaxDeleted)...)
	return rows, err
}

// EraseContexts erases a part of a context that was removed and can't be brought back; done tells that there is none left, or none that
// nobody else erases at the moment. Whoever begins anew goes on from there.
func (s *Store) EraseContexts(ctx context.Context) (done bool, err error) {
	err = s.Tx(ctx, func(tx *Store) error {
		var hidden struct {
			ID    int64 `db:"id"`
			Fresh bool  `db:"fresh"`
		}
		if err := tx.get(ctx, &hidden, qHoldHidden); err != nil {
			return err
		}
		if hidden.Fresh {
			if err := tx.must(ctx, qEraseBegin, hidden.ID); err != nil {
				return err
			}
		}
		var gone int64
		for _, step := range contextSteps {
			n, err := tx.exec(ctx, step.query, hidden.ID)
			if err != nil {
				return err
			}
			if step.counts {
				gone += n
			}
			if n >= step.more {
				return tx.must(ctx, qEraseOn, hidden.ID, gone)
			}
		}
		if _, err := tx.exec(ctx, qForgetHomeless, hidden.ID); err != nil {
			return err
		}
		return tx.must(ctx, qDeleteContext, hidden.ID)
	})
	if errors.Is(err, ErrNoRows) {
		return true, nil
	}
	return false, err
}
