package pgvector

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"canopy/internal/vector"
)

// The words of contexts are kept beside their vectors: in segments, each of some documents, by groups of words, so that a question reads its own. Segments
// don't change. Those that are made together are a batch, which counts once all of it is there; a batch of which a third is outdated goes, and its documents
// come into another. Who searches holds each document against what the platform's own database says of it, so nothing here need be up to date.

// outdatedThird is the part of a batch that may be outdated.
const outdatedThird = 3

// wordTables are those of words, in partitions by context.
func wordTables() []string {
	list := []string{
		`CREATE SCHEMA IF NOT EXISTS canopy_vectors`,
		`CREATE SEQUENCE IF NOT EXISTS canopy_vectors.batches`,
		`CREATE TABLE IF NOT EXISTS canopy_vectors.word_contexts (context_id bigint PRIMARY KEY)`,
		`CREATE TABLE IF NOT EXISTS canopy_vectors.word_documents (
			context_id  bigint NOT NULL,
			document_id bigint NOT NULL,
			revision    bigint NOT NULL,
			stamp       bigint NOT NULL,
			batch       bigint NOT NULL,
			PRIMARY KEY (context_id, document_id))`,
		`CREATE TABLE IF NOT EXISTS canopy_vectors.word_segments (
			context_id bigint  NOT NULL,
			segment_id bigint  NOT NULL,
			batch      bigint  NOT NULL,
			whole      boolean NOT NULL DEFAULT false,
			chunks     integer NOT NULL,
			places     bytea   NOT NULL,
			PRIMARY KEY (context_id, segment_id))`,
		`CREATE TABLE canopy_vectors.words (
			context_id bigint  NOT NULL,
			place      integer NOT NULL,
			segment_id bigint  NOT NULL,
			postings   bytea   NOT NULL,
			PRIMARY KEY (context_id, place, segment_id)) PARTITION BY HASH (context_id)`,
	}
	for i := range partitions {
		name := fmt.Sprintf("canopy_vectors.words_%d", i)
		list = append(list, fmt.Sprintf(`CREATE TABLE %s PARTITION OF canopy_vectors.words FOR VALUES WITH (MODULUS %d, REMAINDER %d)`, name, partitions, i),
			// Postings do not compress.
			`ALTER TABLE `+name+` ALTER COLUMN postings SET STORAGE EXTERNAL`)
	}
	// What is told to lie in a table that was lost is there no more.
	for _, table := range []string{"word_contexts", "word_documents", "word_segments"} {
		list = append(list, `DELETE FROM canopy_vectors.`+table)
	}
	return list
}

// prepareWords makes the tables of words where they are not there.
func (s *Store) prepareWords(ctx context.Context) error {
	return s.create(ctx, `canopy_vectors.words`, nil, wordTables())
}

// WithoutWords are the whole documents that are held and whose words are not.
func (t *Turn) WithoutWords(ctx context.Context) (list []Document, err error) {
	err = t.store.pool.SelectContext(ctx, &list, `
		SELECT d.document_id, d.revision, d.stamp, d.whole, d.chunks FROM canopy_vectors.documents d
		LEFT JOIN canopy_vectors.word_documents w ON w.context_id = d.context_id AND w.document_id = d.document_id AND w.revision = d.revision AND w.stamp = d.stamp
		WHERE d.context_id = $1 AND d.whole AND w.batch IS NULL ORDER BY d.document_id`, t.Context)
	return list, err
}

// DropOutdatedWords forgets the batches of which too much is of no document that is held, and those that somebody has left half done.
func (t *Turn) DropOutdatedWords(ctx context.Context) error {
	return t.dropWords(ctx, `
		SELECT s.batch FROM (SELECT batch, sum(chunks) AS n, bool_and(whole) AS whole FROM canopy_vectors.word_segments WHERE context_id = $1 GROUP BY batch) s
		LEFT JOIN (SELECT w.batch, sum(d.chunks) AS n FROM canopy_vectors.word_documents w
			JOIN canopy_vectors.documents d ON d.context_id = w.context_id AND d.document_id = w.document_id AND d.revision = w.revision AND d.stamp = w.stamp
			WHERE w.context_id = $1 GROUP BY w.batch) l ON l.batch = s.batch
		WHERE NOT s.whole OR (s.n - COALESCE(l.n, 0)) * $2 > s.n`, t.Context, outdatedThird)
}

// dropWords forgets the batches that a statement selects. From the first on they count no more.
func (t *Turn) dropWords(ctx context.Context, statement string, args ...any) error {
	var batches, segments []int64
	if err := t.store.pool.SelectContext(ctx, &batches, statement, args...); err != nil || len(batches) == 0 {
		return err
	}
	err := t.write(ctx, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM canopy_vectors.word_documents WHERE context_id = $1 AND batch = ANY($2)`, t.Context, pq.Array(batches)); err != nil {
			return err
		}
		return tx.SelectContext(ctx, &segments, `UPDATE canopy_vectors.word_segments SET whole = false WHERE context_id = $1 AND batch = ANY($2) RETURNING segment_id`, t.Context, pq.Array(batches))
	})
	for i := 0; i < len(segments) && err == nil; i++ {
		err = t.write(ctx, func(tx *sqlx.Tx) error {
			// The places are named, so that each row is found by its key.
			if _, err := tx.ExecContext(ctx, `DELETE FROM canopy_vectors.words WHERE context_id = $1 AND place = ANY(ARRAY(SELECT generate_series(0, $3))) AND segment_id = $2`,
				t.Context, segments[i], vector.FarPlaces-1); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, `DELETE FROM canopy_vectors.word_segments WHERE context_id = $1 AND segment_id = $2`, t.Context, segments[i])
			return err
		})
	}
	return err
}

// NewBatch gives the number of the next batch, above all others; segments are numbered by it, too.
func (t *Turn) NewBatch(ctx context.Context) (id int64, err error) {
	err = t.store.pool.GetContext(ctx, &id, `SELECT nextval('canopy_vectors.batches')`)
	return id, err
}

// AddWords adds a segment to a batch.
func (t *Turn) AddWords(ctx context.Context, batch int64, s vector.FarSegment) error {
	id, err := t.NewBatch(ctx)
	if err != nil {
		return err
	}
	places, postings := make([]int64, 0, len(s.Groups)), make([][]byte, 0, len(s.Groups))
	for place, data := range s.Groups {
		places, postings = append(places, int64(place)), append(postings, data)
	}
	return t.write(ctx, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO canopy_vectors.word_segments (context_id, segment_id, batch, chunks, places) VALUES ($1, $2, $3, $4, $5)`,
			t.Context, id, batch, s.Count, s.Places()); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO canopy_vectors.words (context_id, place, segment_id, postings) SELECT $1, u.place, $2, u.postings FROM unnest($3::integer[], $4::bytea[]) u(place, postings)`,
			t.Context, id, pq.Array(places), pq.ByteaArray(postings))
		return err
	})
}

// SettleWords has a batch count, which has these documents.
func (t *Turn) SettleWords(ctx context.Context, batch int64, documents []Document) error {
	ids, revisions, stamps := make([]int64, len(documents)), make([]int64, len(documents)), make([]int64, len(documents))
	for i, d := range documents {
		ids[i], revisions[i], stamps[i] = d.ID, d.Revision, d.Stamp
	}
	return t.write(ctx, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, `
			INSERT INTO canopy_vectors.word_documents (context_id, document_id, revision, stamp, batch)
			SELECT $1, u.id, u.revision, u.stamp, $2 FROM unnest($3::bigint[], $4::bigint[], $5::bigint[]) u(id, revision, stamp)
			ON CONFLICT (context_id, document_id) DO UPDATE SET revision = EXCLUDED.revision, stamp = EXCLUDED.stamp, batch = EXCLUDED.batch`,
			t.Context, batch, pq.Array(ids), pq.Array(revisions), pq.Array(stamps)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE canopy_vectors.word_segments SET whole = true WHERE context_id = $1 AND batch = $2`, t.Context, batch)
		return err
	})
}

// WordsReady says that the words of nearly all documents are held. From now on they are asked for here.
func (t *Turn) WordsReady(ctx context.Context) error {
	return t.write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO canopy_vectors.word_contexts (context_id) VALUES ($1) ON CONFLICT DO NOTHING`, t.Context)
		return err
	})
}

// clearWords forgets all words.
func (t *Turn) clearWords(ctx context.Context) error {
	if err := t.write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM canopy_vectors.word_contexts WHERE context_id = $1`, t.Context)
		return err
	}); err != nil {
		return err
	}
	return t.dropWords(ctx, `SELECT DISTINCT batch FROM canopy_vectors.word_segments WHERE context_id = $1`, t.Context)
}

// WordBatches gives the contexts whose words are held, each with its latest batch.
func (s *Store) WordBatches(ctx context.Context) (map[int64]int64, error) {
	var list []struct {
		Context int64 `db:"context_id"`
		Batch   int64 `db:"batch"`
	}
	err := s.pool.SelectContext(ctx, &list, `
		SELECT c.context_id, max(s.batch) AS batch FROM canopy_vectors.word_contexts c JOIN canopy_vectors.word_segments s ON s.context_id = c.context_id AND s.whole GROUP BY c.context_id`)
	if missing(err) {
		return nil, nil
	}
	batches := make(map[int64]int64, len(list))
	for _, row := range list {
		batches[row.Context] = row.Batch
	}
	return batches, err
}

// Words are those of a context, without their postings.
type Words struct {
	Segments  []WordSegment
	Documents []WordDocument
}

// WordSegment is a segment as AddWords has it.
type WordSegment struct {
	ID     int64  `db:"segment_id"`
	Batch  int64  `db:"batch"`
	Places []byte `db:"places"`
}

// WordDocument is a document of a batch.
type WordDocument struct {
	Document
	Batch int64 `db:"batch"`
}

// Words tells where the words of a context are held; ErrNone where none are.
func (s *Store) Words(ctx context.Context, contextID int64) (w Words, err error) {
	tx, err := s.pool.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return w, err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	err = tx.SelectContext(ctx, &w.Segments, `SELECT segment_id, batch, places FROM canopy_vectors.word_segments WHERE context_id = $1 AND whole ORDER BY segment_id`, contextID)
	if err == nil {
		err = tx.SelectContext(ctx, &w.Documents, `SELECT document_id, revision, stamp, batch FROM canopy_vectors.word_documents WHERE context_id = $1`, contextID)
	}
	if missing(err) || err == nil && len(w.Segments) == 0 {
		err = ErrNone
	}
	return w, err
}

// WordGroups reads what segments have of some groups. Where one of these segments is there no more, the error is ErrNone.
func (s *Store) WordGroups(ctx context.Context, contextID int64, segments, groups []int64) (list []vector.FarGroup, err error) {
	rows, err := s.pool.QueryContext(ctx, `
		SELECT 0, count(*)::integer, NULL::bytea FROM canopy_vectors.word_segments WHERE context_id = $1 AND segment_id = ANY($3) AND whole
		UNION ALL SELECT segment_id, place, postings FROM canopy_vectors.words WHERE context_id = $1 AND place = ANY($2)`, contextID, pq.Array(groups), pq.Array(segments))
	if err != nil {
		if missing(err) {
			err = ErrNone
		}
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	wanted := make(map[int64]bool, len(segments))
	for _, id := range segments {
		wanted[id] = true
	}
	there := 0
	for rows.Next() {
		var g vector.FarGroup
		var n int
		if err := rows.Scan(&g.Segment, &n, &g.Data); err != nil {
			return nil, err
		}
		switch g.Group = uint32(n); {
		case g.Segment == 0:
			there = n
		case wanted[g.Segment]:
			list = append(list, g)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if there != len(segments) {
		return nil, ErrNone
	}
	return list, nil
}
