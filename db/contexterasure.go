package db

import (
	"context"
	"errors"
	"strconv"
)

// eraseAtOnce and eraseChunks are how many documents, and chunks of them, go in one statement. A context that has more goes by parts, each
// of which is a short transaction.
const (
	eraseAtOnce = 100
	eraseChunks = 5000
)

// firstDocuments selects the first documents of the context $1, one more than go at once.
var firstDocuments = `(SELECT * FROM documents WHERE context_id = $1 ORDER BY context_id, id LIMIT ` + strconv.Itoa(eraseAtOnce+1) + `)`

var (
	qContextIsLarge = prepare(`SELECT count(*) > ` + strconv.Itoa(eraseAtOnce) + ` OR COALESCE(sum(chunks), 0) > ` + strconv.Itoa(eraseChunks) + ` FROM ` + firstDocuments + ` d`)
	// Others who erase it pass it over meanwhile.
	qHoldHidden = prepare(`
		SELECT id FROM contexts WHERE removed_at IS NOT NULL AND COALESCE(erase_at, removed_at) <= now()
		ORDER BY COALESCE(erase_at, removed_at) LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`)
	// One goes whatever it has.
	qEraseFirst = prepare(`
		WITH gone AS MATERIALIZED (SELECT d.id, ` + blobOf + ` AS key
			FROM (SELECT *, sum(chunks) OVER (ORDER BY id) - chunks AS before FROM ` + firstDocuments + ` f) d WHERE d.before < ` + strconv.Itoa(eraseChunks) + `),
		keys AS (INSERT INTO blob_deletions (key) SELECT key FROM gone ON CONFLICT (key) DO NOTHING)
		DELETE FROM documents WHERE id = ANY (ARRAY(SELECT id FROM gone))`)
	// What is left of it stands behind the other contexts.
	qEraseOn    = prepare(`UPDATE contexts SET erase_at = now() WHERE id = $1`)
	qEraseAsked = prepare(`
		DELETE FROM context_queries WHERE id = ANY (ARRAY(SELECT id FROM context_queries WHERE context_id = $1 LIMIT ` + strconv.Itoa(eraseRows) + `))`)
)

// EraseContexts erases a part of a context that was removed and can't be brought back; done tells that there is none left, or none that
// nobody else erases at the moment. Whoever begins anew goes on from there.
func (s *Store) EraseContexts(ctx context.Context) (done bool, err error) {
	err = s.Tx(ctx, func(tx *Store) error {
		var id int64
		if err := tx.get(ctx, &id, qHoldHidden); err != nil {
			return err
		}
		for _, q := range []query{qEraseFirst, qEraseAsked} {
			if n, err := tx.exec(ctx, q, id); err != nil {
				return err
			} else if n > 0 {
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
