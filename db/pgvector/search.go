package pgvector

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

const (
	// fewRows is, unless a test says otherwise, up to how many rows a filter's are all compared: the index would pass over too many others.
	fewRows = 10_000
	// leastSearched is how many neighbours an index looks at, at least, and mostSearched what pgvector allows.
	leastSearched, mostSearched = 200, 1000
	// mostScanned is how many rows an index gives up after where most do not fit.
	mostScanned = 40_000
	// sampled is how many vectors tell how those of a context lie.
	sampled = 1000
)

// Ask is a search of one context.
type Ask struct {
	// State is what was held when the search began. Where that is there no more, the error is ErrNone.
	State State
	// Vector is of length 1.
	Vector []float32
	// Top is how many rows are wanted.
	Top int
	// Documents bounds the search to some; nil for all. Without are left out.
	Documents, Without []int64
	// Chunks are rows that are wanted whatever they are like, where their documents count.
	Chunks []int64
}

// Row is a found row.
type Row struct {
	Chunk      int64   `db:"chunk_id"`
	Document   int64   `db:"document_id"`
	Similarity float32 `db:"similarity"`
}

// Found is what was found: the closest first, then those that were asked for by their chunks.
type Found struct {
	Rows []Row
	// Mean and Squares are the means of the similarities of all rows, and of their squares, where a negative one counts as 0; by a sample of them.
	Mean    float64 `db:"mean"`
	Squares float64 `db:"squares"`
}

// Search finds the rows of greatest inner product. All of it is of one moment: that a worker removes a document meanwhile changes nothing.
func (s *Store) Search(ctx context.Context, a Ask) (found Found, err error) {
	tx, err := s.pool.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return found, err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	q := s.question(a)
	if err := q.begin(ctx, tx); err != nil {
		return found, err
	}
	q.bound()
	if found.Rows, err = q.nearest(ctx, tx); err != nil {
		return found, err
	}
	if len(a.Chunks) > 0 {
		named, err := q.rows(ctx, tx, q.exact(` AND chunk_id = ANY(`+q.arg(pq.Array(a.Chunks))+`)`, ""))
		if err != nil {
			return found, err
		}
		found.Rows = append(found.Rows, named...)
	}
	sample := s.question(a)
	err = tx.GetContext(ctx, &found, `SELECT COALESCE(avg(s), 0) AS mean, COALESCE(avg(s * s), 0) AS squares FROM (
		SELECT LEAST(1, GREATEST(0, -(embedding <#> `+sample.vector+`))) AS s FROM `+sample.table+` WHERE context_id = $1 ORDER BY draw LIMIT `+strconv.Itoa(sampled)+`) v`, sample.args...)
	if err == nil {
		err = found.sound()
	}
	return found, err
}

// sound finds what can't be compared: no order holds among such similarities.
func (f Found) sound() error {
	for _, r := range f.Rows {
		if math.IsNaN(float64(r.Similarity)) {
			return fmt.Errorf("pgvector: the similarity of chunk %d is no number", r.Chunk)
		}
	}
	if math.IsNaN(f.Mean) || math.IsNaN(f.Squares) {
		return errors.New("pgvector: the mean of the similarities is no number")
	}
	return nil
}

// question is an Ask on its way into statements, with their arguments. The first is the context, the second the vector.
type question struct {
	Ask
	args          []any
	table, vector string
	where         string
	few           int64
}

func (s *Store) question(a Ask) *question {
	return &question{Ask: a, few: s.few, args: []any{a.State.Context, literal(a.Vector)}, table: table(a.State.Dimensions), vector: fmt.Sprintf("$2::halfvec(%d)", a.State.Dimensions)}
}

// arg takes in an argument, and gives its place.
func (q *question) arg(v any) string {
	q.args = append(q.args, v)
	return "$" + strconv.Itoa(len(q.args))
}

// begin sets how indexes are searched in the transaction, and looks whether what was held still is.
func (q *question) begin(ctx context.Context, tx *sqlx.Tx) error {
	var held bool
	err := tx.GetContext(ctx, &held, `
		SELECT c.version >= $2 AND c.history = $3 AND c.model = $4 AND c.dimensions = $5 AND set_config('hnsw.iterative_scan', 'strict_order', true)
			|| set_config('hnsw.ef_search', $6, true) || set_config('hnsw.max_scan_tuples', $7, true) || set_config('enable_sort', 'off', true) <> ''
		FROM canopy_vectors.contexts c WHERE c.context_id = $1`,
		q.State.Context, q.State.Version, q.State.History, q.State.Model, q.State.Dimensions,
		strconv.Itoa(min(mostSearched, max(leastSearched, 2*q.Top))), strconv.Itoa(mostScanned))
	if errors.Is(err, sql.ErrNoRows) || missing(err) || err == nil && !held {
		return ErrNone
	}
	return err
}

// bound holds rows against the documents that count.
func (q *question) bound() {
	if len(q.Without) > 0 {
		q.where += ` AND document_id <> ALL(` + q.arg(pq.Array(q.Without)) + `)`
	}
	if q.Documents != nil {
		q.where += ` AND document_id = ANY(` + q.arg(pq.Array(q.Documents)) + `)`
	}
}

// nearest finds by the index, and compares all rows that count where these are few, or where the index has given up.
func (q *question) nearest(ctx context.Context, tx *sqlx.Tx) ([]Row, error) {
	if q.Top <= 0 {
		return nil, nil
	}
	fitting, err := q.fitting(ctx, tx)
	if err != nil || fitting == 0 {
		return nil, err
	}
	best := ` ORDER BY similarity DESC, chunk_id LIMIT ` + strconv.Itoa(q.Top)
	if fitting <= q.few {
		return q.rows(ctx, tx, q.exact("", best))
	}
	list, err := q.rows(ctx, tx, q.byIndex())
	if err != nil || int64(len(list)) >= min(int64(q.Top), fitting) {
		return list, err
	}
	return q.rows(ctx, tx, q.exact("", best))
}

// fitting is how many rows count.
func (q *question) fitting(ctx context.Context, tx *sqlx.Tx) (n int64, err error) {
	counted, left := q.Documents, q.Without
	if counted == nil { // of all that is held some are left out
		counted, left = q.Without, nil
	}
	if len(counted) > 0 {
		if err = tx.GetContext(ctx, &n, `SELECT COALESCE(sum(chunks), 0) FROM canopy_vectors.documents WHERE context_id = $1 AND document_id = ANY($2) AND document_id <> ALL($3)`,
			q.State.Context, pq.Array(counted), pq.Array(orEmpty(left))); err != nil {
			return 0, err
		}
	}
	if q.Documents == nil {
		n = q.State.Chunks - n
	}
	return n, nil
}

// byIndex finds the closest rows by the index.
func (q *question) byIndex() string {
	return `SELECT chunk_id, document_id, -(embedding <#> ` + q.vector + `) AS similarity FROM ` + q.table +
		` WHERE context_id = $1` + q.where + ` ORDER BY embedding <#> ` + q.vector + ` LIMIT ` + strconv.Itoa(q.Top)
}

// exact compares all rows that count.
func (q *question) exact(more, order string) string {
	return `WITH fitting AS MATERIALIZED (SELECT chunk_id, document_id, -(embedding <#> ` + q.vector + `) AS similarity FROM ` + q.table +
		` WHERE context_id = $1` + q.where + more + `) SELECT * FROM fitting` + order
}

func (q *question) rows(ctx context.Context, tx *sqlx.Tx, statement string) (list []Row, err error) {
	err = tx.SelectContext(ctx, &list, statement, q.args...)
	return list, err
}

func arrayOrNull(ids []int64) any {
	if ids == nil {
		return nil
	}
	return pq.Array(ids)
}

func orEmpty(ids []int64) []int64 {
	if ids == nil {
		return []int64{}
	}
	return ids
}

// literal writes a vector as pgvector reads it, as exactly as it keeps it.
func literal(v []float32) string {
	var b strings.Builder
	b.Grow(10 * len(v))
	b.WriteByte('[')
	buffer := make([]byte, 0, 24)
	for i, f := range v {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(strconv.AppendFloat(buffer, float64(f), 'g', 6, 32))
	}
	b.WriteByte(']')
	return b.String()
}
