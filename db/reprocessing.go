package db

import (
	"context"
	"errors"
	"strconv"
	"time"
)

// The states of a reprocessing.
const (
	ReprocessingRunning   = "RUNNING"
	ReprocessingDone      = "DONE"
	ReprocessingCancelled = "CANCELLED"
)

// reprocessAtOnce is how many documents of a context wait for being processed anew, or are, at the same time. The others are found as before
// meanwhile, and no transaction is about more.
const reprocessAtOnce = 200

const (
	// reprocessEvery is how often the next documents of a context have their turn.
	reprocessEvery = time.Second
	// reprocessIdle is how often it is looked whether a context that was deleted, or whose company is suspended, is there again.
	reprocessIdle = time.Minute
)

// ContextReprocessing is how far it is that the documents of a context are processed anew: those that there were when it began.
type ContextReprocessing struct {
	ContextID int64  `db:"context_id"`
	Status    string `db:"status" audit:"status"`
	// Documents is how many there are, Done how many of them are ready again, or have failed.
	Documents int        `db:"documents" audit:"documents"`
	Done      int        `db:"done"`
	StartedAt time.Time  `db:"started_at"`
	EndedAt   *time.Time `db:"ended_at"`

	siblings
}

// Progress is the part that is done, 0 to 1.
func (r *ContextReprocessing) Progress() float64 {
	if r.Status == ReprocessingDone {
		return 1
	}
	return float64(r.Done) / float64(max(1, r.Documents))
}

// begunAnew is what changes in a document d of a context x whose turn has come. Whoever works on it can't write to it any more.
const begunAnew = keptAnew + `, status = 'pending', progress = 0, error = '', revision = d.revision + 1, faults = 0, attempts = d.attempts + 1,
			model = x.embedding_model, chunk_size = x.chunk_size, overlap = x.overlap,
			next_attempt_at = now(), started_at = NULL, completed_at = NULL`

// openUpTo counts the documents of a context up to an id that are not processed, as far as it matters. They are asked for in the order of the one
// index that has those of a context by their state, and the states come from a list: others' that are open are not read.
func openUpTo(contextID, id string) string {
	most := strconv.Itoa(reprocessAtOnce)
	return `(SELECT count(*)::integer FROM (SELECT FROM (VALUES ('pending'), ('processing')) s(status) CROSS JOIN LATERAL (SELECT FROM documents
			WHERE context_id BETWEEN ` + contextID + ` AND ` + contextID + ` AND status BETWEEN s.status AND s.status AND id <= ` + id + `
			ORDER BY context_id, status, id LIMIT ` + most + `) d LIMIT ` + most + `) o)`
}

// measuresAnew tells whether the vectors of document $1 of a context may have another length than those of the others: a model can give
// others by now, and the context is processed anew for that.
func measuresAnew(contextID, id string) string {
	return `EXISTS (SELECT FROM context_reprocessings r WHERE r.context_id = ` + contextID + ` AND ` + unindexed("r.status <> 'DONE' AND r.after_id >= "+id) + `)`
}

var (
	qUnpin = prepare(`UPDATE contexts SET dimensions = 0 WHERE id = $1`)
	// One that is under way begins anew, with the settings of now.
	qStartReprocessing = prepare(`
		INSERT INTO context_reprocessings AS r (context_id, until_id, documents)
		SELECT $1, COALESCE(max(id), 0), count(*) FROM documents WHERE context_id = $1
		ON CONFLICT (context_id) DO UPDATE SET after_id = 0, until_id = EXCLUDED.until_id, documents = EXCLUDED.documents, begun = 0,
			status = 'RUNNING', next_at = now(), started_at = now(), ended_at = NULL
		RETURNING documents`)
	// The context is held, as by whoever changes what it has. Others who look meanwhile pass it over.
	qHoldReprocessed = prepare(`
		WITH due AS MATERIALIZED (SELECT context_id, next_at FROM context_reprocessings WHERE status = 'RUNNING' AND next_at <= now() ORDER BY next_at LIMIT 20)
		SELECT x.id FROM due r JOIN contexts x ON x.id = r.context_id ORDER BY r.next_at LIMIT 1 FOR NO KEY UPDATE OF x SKIP LOCKED`)
	qReprocessingWork = prepare(`
		SELECT r.after_id, r.until_id, ` + openUpTo("r.context_id", "r.after_id") + ` AS open,
			` + unindexed("x.removed_at IS NOT NULL OR "+inactive(lineageOfAccount("x.account_id"))) + ` AS waits
		FROM context_reprocessings r` + joinByID("contexts", "x", "r.context_id") + `
		WHERE r.context_id = $1 AND ` + unindexed("r.status = 'RUNNING' AND r.next_at <= now()") + ` FOR UPDATE OF r`)
	qReprocessSome = prepare(`
		UPDATE documents d SET ` + begunAnew + ` FROM contexts x
		WHERE x.id = $1 AND d.id = ANY (ARRAY(SELECT id FROM documents WHERE context_id BETWEEN $1 AND $1 AND id > $2 AND id <= $3 ORDER BY context_id, id LIMIT $4))
		RETURNING d.id`)
	// Each document is a version of its own, so that an index takes out what it has of these alone.
	qBumpDocuments = prepare(`
		WITH x AS (UPDATE contexts SET version = version + cardinality($2::bigint[]) WHERE id = $1 RETURNING id, version),
		old AS (DELETE FROM context_changes h USING x WHERE h.context_id = x.id AND h.version <= x.version - ` + strconv.Itoa(keptChanges) + `)
		INSERT INTO context_changes (context_id, version, document_id)
		SELECT x.id, x.version - cardinality($2::bigint[]) + d.n, d.id FROM x CROSS JOIN unnest($2::bigint[]) WITH ORDINALITY d(id, n)`)
	qReprocessingOn = prepare(`
		UPDATE context_reprocessings SET after_id = $2, begun = begun + $3, next_at = now() + $4 * interval '1 second' WHERE context_id = $1`)
	// Documents may have gone meanwhile.
	qEndReprocessing = prepare(`
		UPDATE context_reprocessings SET status = 'DONE', documents = begun, ended_at = now() WHERE context_id = $1`)
	qCancelReprocessing = prepare(`
		UPDATE context_reprocessings SET status = 'CANCELLED', ended_at = now() WHERE context_id = $1 AND ` + unindexed("status = 'RUNNING'"))
	qReprocessings = prepare(`
		SELECT r.context_id, r.status, r.documents, r.started_at, r.ended_at,
			CASE r.status WHEN 'DONE' THEN r.begun ELSE GREATEST(r.begun - ` + openUpTo("r.context_id", "r.after_id") + `, 0) END AS done
		FROM context_reprocessings r WHERE r.context_id = ANY ($1)`)
)

var contextReprocessing = edgeBy((*Context).key, rowsBy(qReprocessings, onlyIDs, func(r *ContextReprocessing) int64 { return r.ContextID }))

// Reprocessing is how far it is that the context's documents are processed anew, or was the last time; nil where they never were.
func (c *Context) Reprocessing(ctx context.Context, s *Store) (*ContextReprocessing, error) {
	return follow(ctx, s, c, contextReprocessing, none{})
}

// ReprocessContext has all documents of a context, which is held, processed anew: the first ones at once, which it gives by their ids, and
// the others by ReprocessSome. anew has the model's vectors have another length. It tells how many documents there are.
func (s *Store) ReprocessContext(ctx context.Context, id int64, anew bool) (documents int, begun []int64, err error) {
	if anew {
		if err := s.must(ctx, qUnpin, id); err != nil {
			return 0, nil, err
		}
	}
	if err := s.get(ctx, &documents, qStartReprocessing, id); err != nil {
		return 0, nil, err
	}
	if err := s.must(ctx, qBumpContext, id); err != nil {
		return 0, nil, err
	}
	begun, err = s.reprocessNext(ctx, id)
	return documents, begun, err
}

// reprocessNext has the next documents of a context, which is held, have their turn.
func (s *Store) reprocessNext(ctx context.Context, id int64) (begun []int64, err error) {
	var w struct {
		After int64 `db:"after_id"`
		Until int64 `db:"until_id"`
		Open  int   `db:"open"`
		Waits bool  `db:"waits"`
	}
	if err := s.get(ctx, &w, qReprocessingWork, id); err != nil {
		return nil, err
	}
	pause, room := reprocessEvery, reprocessAtOnce-w.Open
	if w.Waits {
		pause, room = reprocessIdle, 0
	}
	if room > 0 {
		if err := s.list(ctx, &begun, qReprocessSome, id, w.After, w.Until, room); err != nil {
			return nil, err
		}
	}
	for _, d := range begun {
		w.After = max(w.After, d)
	}
	if len(begun) > 0 {
		if _, err := s.exec(ctx, qBumpDocuments, id, begun); err != nil {
			return nil, err
		}
	}
	if len(begun) < room { // those were the last ones
		w.After = w.Until
	}
	if err := s.must(ctx, qReprocessingOn, id, w.After, len(begun), pause.Seconds()); err != nil {
		return nil, err
	}
	if len(begun) == 0 && w.Open == 0 && room > 0 {
		return nil, s.must(ctx, qEndReprocessing, id)
	}
	return begun, nil
}

// ReprocessSome has the next documents of a context have their turn whose reprocessing is due: the one that has waited longest. none tells that
// there is none such, or that others hold it. It may run anywhere, at any time: what was begun is written down with it.
func (s *Store) ReprocessSome(ctx context.Context) (contextID int64, begun []int64, none bool, err error) {
	err = s.Tx(ctx, func(tx *Store) (err error) {
		if err := tx.get(ctx, &contextID, qHoldReprocessed); err != nil {
			return err
		}
		begun, err = tx.reprocessNext(ctx, contextID)
		return err
	})
	if errors.Is(err, ErrNoRows) {
		return 0, nil, true, nil
	}
	return contextID, begun, false, err
}

// CancelReprocessing has the documents of a context stay as they are whose turn has not come; ErrNoRows where none are processed anew. The
// context is held.
func (s *Store) CancelReprocessing(ctx context.Context, id int64) error {
	return s.must(ctx, qCancelReprocessing, id)
}
