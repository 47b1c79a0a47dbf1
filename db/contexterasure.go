package db

import (
	"context"
	"errors"
	"strconv"
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
		SELECT id FROM contexts WHERE removed_at IS NOT NULL AND COALESCE(erase_at, removed_at) <= now()
		ORDER BY COALESCE(erase_at, removed_at) LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`)
	qEraseFirstChunks = prepare(eraseChunksOf(firstDocuments, strconv.Itoa(eraseChunks)))
	qEraseFirstBlocks = prepare(eraseBlocksOf(firstDocuments, strconv.Itoa(eraseBlocks)))
	qEraseFirst       = prepare(`
		WITH gone AS MATERIALIZED (SELECT d.id, ` + blobOf + ` AS key FROM ` + firstDocuments + ` d LIMIT ` + strconv.Itoa(eraseAtOnce) + `),
		keys AS (INSERT INTO blob_deletions (key) SELECT key FROM gone ON CONFLICT (key) DO NOTHING)
		DELETE FROM documents WHERE id = ANY (ARRAY(SELECT id FROM gone))`)
	// What is left of it stands behind the other contexts.
	qEraseOn    = prepare(`UPDATE contexts SET erase_at = now() WHERE id = $1`)
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

// contextSteps take away what a context has, in this order; where so many rows went there may be more to go before the next step.
var contextSteps = []struct {
	query query
	more  int64
}{
	{qEraseFirstChunks, eraseChunks},
	{qEraseFirstBlocks, eraseBlocks},
	{qEraseFirst, 1},
	{qEraseAsked, 1},
}

// EraseContexts erases a part of a context that was removed and can't be brought back; done tells that there is none left, or none that
// nobody else erases at the moment. Whoever begins anew goes on from there.
func (s *Store) EraseContexts(ctx context.Context) (done bool, err error) {
	err = s.Tx(ctx, func(tx *Store) error {
		var id int64
		if err := tx.get(ctx, &id, qHoldHidden); err != nil {
			return err
		}
		for _, step := range contextSteps {
			if n, err := tx.exec(ctx, step.query, id); err != nil {
				return err
			} else if n >= step.more {
				return tx.must(ctx, qEraseOn, id)
			}
		}
		if _, err := tx.exec(ctx, qForgetHomeless, id); err != nil {
			return err
		}
		return tx.must(ctx, qDeleteContext, id)
	})
	if errors.Is(err, ErrNoRows) {
		return true, nil
	}
	return false, err
}
