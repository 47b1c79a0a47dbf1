package db

import "context"

// history names what the versions of contexts belong to: a table of a database, and the last timeline of its server. A failover begins another, and so
// does what is restored, into another database of the same server as well: its versions go on from those of the dump, and mean other changes.
const history = `
	(SELECT s.system_identifier || ' ' || substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8) || ' ' || d.oid || ' ' || 'contexts'::regclass::oid
	FROM pg_control_system() s CROSS JOIN pg_database d WHERE d.datname = current_database())`

// copiedColumns are what a copy of the dense vectors by the model $2 has to know of a document d. The stamp is another for each time that it was processed.
var copiedColumns = indexedColumns + `, d.chunks, (EXTRACT(epoch FROM d.completed_at) * 1000000)::bigint AS stamp`

var (
	qCopyState = prepare(`
		SELECT x.version, ` + history + ` AS history, ` + copiedColumns + ` FROM contexts x LEFT JOIN documents d ON d.context_id = x.id AND ` + indexed + `
		WHERE x.id = $1`)
	qCopyChanges = prepare(`
		SELECT x.version, ` + history + ` AS history, h.document_id AS changed, ` + copiedColumns + ` FROM contexts x
		LEFT JOIN context_changes h ON h.context_id = x.id AND h.version > $3
		LEFT JOIN documents d ON d.id = h.document_id AND ` + unindexed("d.context_id = x.id") + ` AND ` + indexed + ` WHERE x.id = $1`)
	qVersionsOf = prepare(`
		SELECT id, account_id, version, embedding_model, dimensions, ` + history + ` AS history FROM contexts WHERE id = ANY($1) AND removed_at IS NULL AND dimensions > 0`)
	// So many chunks of so many tokens, of which that part is not their neighbours', are of a byte for each eight tokens at least.
	qLargeContexts = prepare(`
		SELECT s.context_id AS id, x.account_id, x.version, x.embedding_model, x.dimensions, d.chunks
		FROM (SELECT context_id, size FROM context_sizes WHERE context_id > $1 ORDER BY context_id LIMIT $2) s` + joinByID("contexts", "x", "s.context_id") + `
		CROSS JOIN LATERAL (SELECT CASE WHEN x.dimensions > 0 AND x.removed_at IS NULL AND s.size * 8 >= $3 * x.chunk_size * (1 - x.overlap)
			THEN (SELECT COALESCE(sum(chunks), 0) FROM documents WHERE context_id = x.id AND ` + unindexed("status = 'ready' AND model = x.embedding_model") + `) ELSE 0 END AS chunks) d
		ORDER BY s.context_id`)
)

// Copied is what a copy of the dense vectors of a context is to hold.
type Copied struct {
	IndexState
	// History is that of which Version is one.
	History string
	// Stamps tell documents of the same revision apart that are of different histories; Chunks is how many the documents have together.
	Stamps map[int64]int64
	Chunks int64
}

type copiedRow struct {
	indexedRow
	History string `db:"history"`
	Stamp   *int64 `db:"stamp"`
	Chunks  *int64 `db:"chunks"`
}

// Copied reads what a copy of a context's dense vectors by a model is to hold that holds what it should at a version of a history; 0 for one that there
// is not yet. Partial says, as in IndexState, that it is about changes alone; of another history it is not. Of more changes than are kept it is not
// either: with changes alone, Documents is nil then.
func (s *Store) Copied(ctx context.Context, contextID int64, model, of string, since int64, changesAlone bool) (*Copied, error) {
	ctx = Alone(ctx) // a history is told by the server that takes writes
	if since > 0 {
		c, err := s.copied(ctx, qCopyChanges, contextID, model, since)
		if err != nil {
			return nil, err
		}
		if c.Partial = c.History == of && int64(len(c.Changed)) == c.Version-since; c.Partial {
			return c, nil
		}
		if changesAlone {
			c.Documents = nil
			return c, nil
		}
	}
	return s.copied(ctx, qCopyState, contextID, model)
}

func (s *Store) copied(ctx context.Context, q query, args ...any) (*Copied, error) {
	var rows []copiedRow
	if err := s.list(ctx, &rows, q, args...); err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, ErrNoRows
	}
	c := &Copied{History: rows[0].History, Stamps: make(map[int64]int64, len(rows))}
	plain := make([]indexedRow, len(rows))
	for i, r := range rows {
		plain[i] = r.indexedRow
		if r.ID != nil {
			c.Stamps[*r.ID] = orZero(r.Stamp)
			c.Chunks += orZero(r.Chunks)
		}
	}
	c.add(plain)
	return c, nil
}

// VectorContext is a context that has dense vectors.
type VectorContext struct {
	ID        int64 `db:"id"`
	AccountID int64 `db:"account_id"`
	Searched  int64 `db:"version"`
	// History is as in Copied, and Chunks how many it has, where these were asked for.
	History    string `db:"history"`
	Model      string `db:"embedding_model"`
	Dimensions int    `db:"dimensions"`
	Chunks     int64  `db:"chunks"`
}

// VectorContexts reads those of some contexts that are there and have dense vectors.
func (s *Store) VectorContexts(ctx context.Context, ids []int64) (list []VectorContext, err error) {
	err = s.list(Alone(ctx), &list, qVersionsOf, ids) // as in Copied
	return list, err
}

// LargeContexts looks through the next so many contexts by their ids, from after one on. Chunks are counted where there may be that many;
// otherwise they are 0.
func (s *Store) LargeContexts(ctx context.Context, after int64, limit int, chunks int64) (list []VectorContext, err error) {
	err = s.list(ctx, &list, qLargeContexts, after, limit, chunks)
	return list, err
}
