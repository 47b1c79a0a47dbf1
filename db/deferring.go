package db

import (
	"context"
	"errors"
)

// What is not processed yet of a context that was deleted waits until the context is brought back or erased, and stands in nobody's way. A context
// may have very many such documents: the first ones wait at once, the others by parts, each of which is a short transaction. It is the same the other
// way round.

// deferAtOnce is how many documents are seen to in one statement.
const deferAtOnce = 500

var (
	// The context is held, as by whoever changes what it has. Others who look meanwhile pass it over.
	qHoldDeferred = prepare(`
		WITH due AS MATERIALIZED (SELECT context_id, turn_at FROM context_deferrals ORDER BY turn_at LIMIT 20)
		SELECT x.id FROM due r JOIN contexts x ON x.id = r.context_id ORDER BY r.turn_at LIMIT 1 FOR NO KEY UPDATE OF x SKIP LOCKED`)
	qDeferralWork = prepare(`
		SELECT r.after_id, x.removed_at IS NOT NULL AS hidden FROM context_deferrals r` + joinByID("contexts", "x", "r.context_id") + `WHERE r.context_id = $1`)
	// The states come from a list, so that each is a range of the index that has a context's documents by their state: those that are ready are
	// not read.
	qNextUnprocessed = prepare(`
		SELECT o.id FROM (VALUES ('pending'), ('processing')) s(status) CROSS JOIN LATERAL (SELECT id FROM documents
			WHERE context_id BETWEEN $1 AND $1 AND status BETWEEN s.status AND s.status AND id > $2 ORDER BY context_id, status, id LIMIT $3) o
		ORDER BY o.id LIMIT $3`)
	qDeferDocuments = prepare(`
		UPDATE documents d SET next_attempt_at = x.erase_at, handed_out = false
		FROM contexts x WHERE x.id = $1 AND d.id = ANY ($2) AND ` + unindexed("d.status = 'pending' AND d.context_id = x.id"))
	qRecallDocuments = prepare(`
		UPDATE documents SET next_attempt_at = now()
		WHERE id = ANY ($2) AND ` + unindexed("context_id = $1 AND status IN ('pending', 'processing') AND next_attempt_at > now() + interval '1 hour'"))
	qDeferOn = prepare(`
		INSERT INTO context_deferrals (context_id, after_id) VALUES ($1, $2)
		ON CONFLICT (context_id) DO UPDATE SET after_id = EXCLUDED.after_id, turn_at = EXCLUDED.turn_at`)
	qEndDeferral = prepare(`DELETE FROM context_deferrals WHERE context_id = $1`)
)

// deferNext has the next documents of a context, which is held, wait where it is hidden, and wait no more where it is not.
func (s *Store) deferNext(ctx context.Context, id, after int64, hidden bool) error {
	var next []int64
	if err := s.list(ctx, &next, qNextUnprocessed, id, after, deferAtOnce); err != nil {
		return err
	}
	q := qRecallDocuments
	if hidden {
		q = qDeferDocuments
	}
	if len(next) > 0 {
		if _, err := s.exec(ctx, q, id, next); err != nil {
			return err
		}
	}
	if len(next) < deferAtOnce {
		_, err := s.exec(ctx, qEndDeferral, id)
		return err
	}
	return s.must(ctx, qDeferOn, id, next[len(next)-1])
}

// DeferSome has the next documents of a context wait that was deleted, or wait no more, as it was brought back. none
// tells that there is no such context, or that others hold it. It may run anywhere, at any time: how far it is stands in the database.
func (s *Store) DeferSome(ctx context.Context) (none bool, err error) {
	err = s.Tx(ctx, func(tx *Store) error {
		var id int64
		if err := tx.get(ctx, &id, qHoldDeferred); err != nil {
			return err
		}
		var w struct {
			After  int64 `db:"after_id"`
			Hidden bool  `db:"hidden"`
		}
		if err := tx.get(ctx, &w, qDeferralWork, id); err != nil {
			return err
		}
		return tx.deferNext(ctx, id, w.After, w.Hidden)
	})
	if errors.Is(err, ErrNoRows) {
		return true, nil
	}
	return false, err
}
