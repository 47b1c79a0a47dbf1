package db

import (
	"context"

	"github.com/lib/pq"

	"canopy/internal/globalid"
)

// Chunk is a piece of a document's text, as it is searched.
type Chunk struct {
	ID         int64 `db:"id"`
	DocumentID int64 `db:"document_id"`
	// Position counts the chunks of a document from 0.
	Position int    `db:"position"`
	Content  string `db:"content"`
	// OverlapBytes is how much of Content stands in earlier chunks, too.
	OverlapBytes int `db:"overlap_bytes"`
	Tokens       int `db:"tokens"`
	// Page, Heading and Row say where in the document the chunk begins; zero where that is unknown.
	Page    int    `db:"page"`
	Heading string `db:"heading"`
	Row     int    `db:"row_number"`

	siblings
}

// GlobalID is the node id of the chunk.
func (c *Chunk) GlobalID() globalid.ID { return globalid.ID{Type: "Chunk", Int: c.ID} }

var chunkColumns = columns[Chunk]("k")

// ofReady holds the chunks k that a search may find: those of ready documents d, of their revision.
var ofReady = ` FROM chunks k JOIN documents d ON d.id = k.document_id AND d.revision = k.revision AND ` + unindexed("d.status = 'ready'") + ` `

var (
	qChunk = prepare(`
		SELECT ` + chunkColumns + ofReady + `JOIN contexts x ON x.id = d.context_id WHERE k.id = $3 AND ` + onDesk)
	qChunkCounts = prepare(`
		SELECT id, chunks AS value FROM documents WHERE id = ANY($1) AND ` + unindexed("status = 'ready'"))
	// The chunks first, whatever the planner thinks of a table that has just grown.
	qFoundChunks = prepare(`
		WITH k AS MATERIALIZED (SELECT ` + chunkColumns + `, k.revision FROM chunks k WHERE k.id = ANY($2))
		SELECT ` + chunkColumns + ` FROM k JOIN documents d ON d.id = k.document_id AND d.revision = k.revision AND ` + unindexed("d.status = 'ready'") + `
		WHERE d.context_id = $1`)
	qIndexState = prepare(`
		SELECT x.version, d.id, d.revision, COALESCE(d.chunks, 0) AS chunks FROM contexts x
		LEFT JOIN documents d ON d.context_id = x.id AND ` + unindexed("d.status = 'ready'") + ` AND ($2 = '' OR d.model = $2) WHERE x.id = $1`)
	qSparseRows = prepare(`
		SELECT k.id, k.document_id, k.sparse AS vector FROM unnest($1::bigint[], $2::bigint[]) w(id, revision)
		JOIN chunks k ON k.document_id = w.id AND k.revision = w.revision WHERE k.sparse <> ''`)
	qDenseRows = prepare(`
		SELECT k.id, k.document_id, k.dense AS vector FROM unnest($1::bigint[], $2::bigint[]) w(id, revision)
		JOIN chunks k ON k.document_id = w.id AND k.revision = w.revision WHERE k.dense IS NOT NULL`)
)

var (
	// chunksOfDocument are those of its revision, once it is ready.
	chunksOfDocument = hung{list: Chunks, ways: func(*statement, []Term) []way {
		ready := "(SELECT id, revision FROM documents WHERE id = k.id AND " + unindexed("status = 'ready'") + " OFFSET 0) d"
		return []way{{each: ready, from: "chunks y", where: []string{"y.document_id = d.id", "y.revision = d.revision"}, ordered: true}}
	}}

	documentChunks      = edgeBy((*Document).key, pagesOf[Chunk](chunksOfDocument))
	documentReadyChunks = edgeBy((*Document).key, valueOf[int](qChunkCounts, onlyIDs))
	chunkDocument       = edgeBy(func(c *Chunk) int64 { return c.DocumentID }, documentsByID)
)

// Chunk reads one chunk of a ready document of a desk's contexts.
func (s *Store) Chunk(ctx context.Context, desk Desk, id int64) (*Chunk, error) {
	c := &Chunk{}
	err := s.get(ctx, c, qChunk, desk.args(id)...)
	return c, err
}

// Chunks is a page of a document's chunks by position; none unless it is ready.
func (d *Document) Chunks(ctx context.Context, s *Store, ask Ask) ([]*Chunk, error) {
	return follow(ctx, s, d, documentChunks, scopedAsk{ask: ask})
}

// ReadyChunks counts a document's chunks; 0 unless it is ready.
func (d *Document) ReadyChunks(ctx context.Context, s *Store) (int, error) {
	return follow(ctx, s, d, documentReadyChunks, none{})
}

// Document is the edge from a chunk to its document.
func (c *Chunk) Document(ctx context.Context, s *Store, desk Desk) (*Document, error) {
	return follow(ctx, s, c, chunkDocument, desk)
}

// FoundChunks reads chunks of a context that a search found, as one group; those that have gone since
// are left out.
func (s *Store) FoundChunks(ctx context.Context, contextID int64, ids []int64) (map[int64]*Chunk, error) {
	var rows []*Chunk
	err := s.list(ctx, &rows, qFoundChunks, contextID, ids)
	return index(join(rows), func(c *Chunk) int64 { return c.ID }), err
}

// IndexState is what a search index of a context is to hold: at the version, these documents with
// their revisions, and so many chunks in each.
type IndexState struct {
	Version   int64
	Documents map[int64]int64
	Chunks    map[int64]int
}

// IndexState reads what an index of a context is to hold. With a model, only documents that were
// processed with it count.
func (s *Store) IndexState(ctx context.Context, contextID int64, model string) (*IndexState, error) {
	var rows []struct {
		Version  int64  `db:"version"`
		ID       *int64 `db:"id"`
		Revision *int64 `db:"revision"`
		Chunks   int    `db:"chunks"`
	}
	if err := s.list(ctx, &rows, qIndexState, contextID, model); err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, ErrNoRows
	}
	st := &IndexState{Version: rows[0].Version, Documents: make(map[int64]int64, len(rows)), Chunks: make(map[int64]int, len(rows))}
	for _, r := range rows {
		if r.ID != nil {
			st.Documents[*r.ID], st.Chunks[*r.ID] = *r.Revision, r.Chunks
		}
	}
	return st, nil
}

// VectorRow is one chunk's stored vector. Vector is valid until the next row only.
type VectorRow struct {
	Chunk, Document int64
	Vector          []byte
}

// StreamVectors gives the vectors, dense or sparse, of documents at the given revisions.
func (s *Store) StreamVectors(ctx context.Context, dense bool, documents map[int64]int64, each func(VectorRow) error) error {
	if len(documents) == 0 {
		return nil
	}
	var ids, revisions []int64
	for id, revision := range documents {
		ids, revisions = append(ids, id), append(revisions, revision)
	}
	q := qSparseRows
	if dense {
		q = qDenseRows
	}
	return s.withoutTimeout(ctx, func(s *Store) error {
		rows, err := s.run().QueryContext(ctx, statements[q], ids, revisions)
		if err != nil {
			return translate(ctx, err)
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var v VectorRow
			if err := rows.Scan(&v.Chunk, &v.Document, (*rawBytes)(&v.Vector)); err != nil {
				return translate(ctx, err)
			}
			if err := each(v); err != nil {
				return err
			}
		}
		return translate(ctx, rows.Err())
	})
}

// rawBytes takes a bytea column without a copy of its own.
type rawBytes []byte

// Scan keeps the driver's bytes.
func (b *rawBytes) Scan(src any) error {
	raw, _ := src.([]byte)
	*b = raw
	return nil
}

// NewChunk is a chunk to store. Sparse is empty for a chunk without anything to search.
type NewChunk struct {
	Position, OverlapBytes, Tokens, Page, Row int
	Content, Heading                          string
	Sparse, Dense                             []byte
}

var qInsertChunks = prepare(`
	INSERT INTO chunks (document_id, revision, position, content, overlap_bytes, tokens, page, heading, row_number, sparse, dense)
	SELECT d.id, d.revision, n.position, n.content, n.overlap_bytes, n.tokens, n.page, n.heading, n.row_number, n.sparse, NULLIF(n.dense, '')
	FROM documents d CROSS JOIN unnest($3::integer[], $4::text[], $5::integer[], $6::integer[], $7::integer[], $8::text[], $9::integer[],
		$10::bytea[], $11::bytea[]) n(position, content, overlap_bytes, tokens, page, heading, row_number, sparse, dense)
	WHERE d.id = $1 AND d.attempts = $2 AND ` + unindexed("d.status = 'processing'") + `
	ON CONFLICT ON CONSTRAINT chunks_once DO NOTHING`)

// InsertChunks stores chunks of the work's revision; those that are there already stay. Work that was
// lost stores none.
func (s *Store) InsertChunks(ctx context.Context, w *DocumentWork, list []NewChunk) error {
	n := len(list)
	position, overlap, tokens := make([]int64, n), make([]int64, n), make([]int64, n)
	page, row := make([]int64, n), make([]int64, n)
	content, heading := make([]string, n), make([]string, n)
	sparse, dense := make([][]byte, n), make([][]byte, n)
	for i, c := range list {
		position[i], overlap[i], tokens[i] = int64(c.Position), int64(c.OverlapBytes), int64(c.Tokens)
		page[i], row[i], content[i], heading[i] = int64(c.Page), int64(c.Row), c.Content, c.Heading
		sparse[i], dense[i] = orEmpty(c.Sparse), orEmpty(c.Dense)
	}
	_, err := s.exec(ctx, qInsertChunks, w.ID, w.Attempts, position, pq.StringArray(content), overlap, tokens, page,
		pq.StringArray(heading), row, pq.ByteaArray(sparse), pq.ByteaArray(dense))
	return err
}

func orEmpty(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
