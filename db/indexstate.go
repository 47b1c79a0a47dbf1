package db

import (
	"context"
	"strconv"
)

// keptChanges is how many of a context's latest versions tell which document they are about. An index that is further behind is compared
// with all documents.
const keptChanges = 1000

var (
	qIndexState = prepare(`
		SELECT x.version, ` + indexedColumns + ` FROM contexts x LEFT JOIN documents d ON d.context_id = x.id AND ` + indexed + ` WHERE x.id = $1`)
	qIndexChanges = prepare(`
		SELECT x.version, h.document_id AS changed, ` + indexedColumns + ` FROM contexts x
		LEFT JOIN context_changes h ON h.context_id = x.id AND h.version > $3
		LEFT JOIN documents d ON d.id = h.document_id AND ` + unindexed("d.context_id = x.id") + ` AND ` + indexed + ` WHERE x.id = $1`)
)

// indexedColumns are those of a document d that an index of vectors by the model $2 holds, which is any where it is empty: indexed tells which do.
const indexedColumns = `d.id, d.revision, COALESCE(d.packed = d.revision, false) AS packed`

var indexed = unindexed("d.status = 'ready'") + ` AND ($2 = '' OR d.model = $2)`

// bump makes a new version of the context $1 that is about its document $2, and sets what is given, too. It is one row.
func bump(set string) string {
	return `
		WITH x AS (UPDATE contexts SET version = version + 1` + set + ` WHERE id = $1 RETURNING id, version),
		old AS (DELETE FROM context_changes h USING x WHERE h.context_id = x.id AND h.version <= x.version - ` + strconv.Itoa(keptChanges) + `)
		INSERT INTO context_changes (context_id, version, document_id) SELECT id, version, $2 FROM x`
}

// IndexState is what a search index of a context is to hold: at the version, these documents with
// their revisions.
type IndexState struct {
	Version   int64
	Documents map[int64]int64
	// Unpacked are those whose vectors are beside their chunks.
	Unpacked map[int64]bool
	// Partial says that the state is about the Changed documents alone, whether they are to be held or not. Otherwise it is about all.
	Partial bool
	Changed []int64
}

type indexedRow struct {
	Version  int64  `db:"version"`
	Changed  *int64 `db:"changed"`
	ID       *int64 `db:"id"`
	Revision *int64 `db:"revision"`
	Packed   bool   `db:"packed"`
}

func (st *IndexState) add(rows []indexedRow) {
	st.Version, st.Documents, st.Unpacked = rows[0].Version, make(map[int64]int64, len(rows)), map[int64]bool{}
	for _, r := range rows {
		if r.Changed != nil {
			st.Changed = append(st.Changed, *r.Changed)
		}
		if r.ID == nil {
			continue
		}
		st.Documents[*r.ID] = *r.Revision
		if !r.Packed {
			st.Unpacked[*r.ID] = true
		}
	}
}

// IndexState reads what an index of a context is to hold that holds what it should at a version; 0 for an index that there is not yet. With a
// model, only documents that were processed with it count.
func (s *Store) IndexState(ctx context.Context, contextID int64, model string, since int64) (*IndexState, error) {
	var rows []indexedRow
	st := &IndexState{}
	if since > 0 {
		if err := s.list(ctx, &rows, qIndexChanges, contextID, model, since); err != nil {
			return nil, err
		}
		if len(rows) == 0 {
			return nil, ErrNoRows
		}
		st.add(rows)
		if st.Partial = int64(len(st.Changed)) == st.Version-since; st.Partial { // each version since then is told of
			return st, nil
		}
		rows, st = nil, &IndexState{}
	}
	if err := s.list(ctx, &rows, qIndexState, contextID, model); err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, ErrNoRows
	}
	st.add(rows)
	return st, nil
}
