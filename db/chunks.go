package db

import (
	"context"

	"github.com/lib/pq/oid"

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
	// Places are where its parts stand, as chunk.PackPlaces writes them; nil in chunks of which only the beginning is known.
	Places []byte `db:"places"`

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
	qStillOf = prepare(`
		SELECT id, true AS value FROM documents WHERE id = ANY($1) AND revision = $2 AND ` + unindexed("status = 'ready'"))
	// The chunks first, whatever the planner thinks of a table that has just grown.
	qFoundChunks = prepare(`
		WITH k AS MATERIALIZED (SELECT ` + chunkColumns + `, k.revision FROM chunks k WHERE k.id = ANY($2))
		SELECT ` + chunkColumns + ` FROM k` + joinByID("documents", "d", "k.document_id") + `
		WHERE d.revision = k.revision AND ` + unindexed("d.status = 'ready'") + ` AND d.context_id = ANY ($1::bigint[])`)
	qChunksAsKnown = prepare(`
		WITH x AS MATERIALIZED (SELECT x.id FROM contexts x WHERE x.id = $3 AND ` + onDesk + ` AND ` + unindexed("x.row_version = $4 AND x.version = $5 AND x.dimensions = $6") + `),
		k AS MATERIALIZED (SELECT ` + chunkColumns + `, k.revision FROM chunks k WHERE k.id = ANY($7))
		SELECT ` + chunkColumns + ` FROM x CROSS JOIN k` + joinByID("documents", "d", "k.document_id") + `
		WHERE d.revision = k.revision AND ` + unindexed("d.status = 'ready'") + ` AND d.context_id = x.id`)
)

var (
	documentChunks      = edgeBy((*Document).key, pagesOf[Chunk](chunksOfDocument))
	documentChunkCount  = edgeBy((*Document).key, countsOf(chunksOfDocument))
	documentReadyChunks = edgeBy((*Document).key, valueOf[int](qChunkCounts, onlyIDs))
	documentStillOf     = edgeBy((*Document).key, valueOf[bool](qStillOf, func(r pageRead, ids []int64) []any { return []any{ids, r.revision} }))
	chunkDocument       = edgeBy(func(c *Chunk) int64 { return c.DocumentID }, documentsByID)
)

// Chunk reads one chunk of a ready document of a desk's contexts.
func (s *Store) Chunk(ctx context.Context, desk Desk, id int64) (*Chunk, error) {
	c := &Chunk{}
	err := s.get(ctx, c, qChunk, desk.args(id)...)
	return c, err
}

// Chunks is a page of a document's chunks; none unless it is ready.
func (d *Document) Chunks(ctx context.Context, s *Store, ask Ask) ([]*Chunk, error) {
	return follow(ctx, s, d, documentChunks, scopedAsk{ask: ask})
}

// CountChunks counts a document's chunks that fit a filter; 0 unless it is ready.
func (d *Document) CountChunks(ctx context.Context, s *Store, ask Ask) (int, error) {
	if ask.counted() == (Ask{}) { // which the document tells
		return d.ReadyChunks(ctx, s)
	}
	return follow(ctx, s, d, documentChunkCount, scopedAsk{ask: ask})
}

// ReadyChunks counts a document's chunks; 0 unless it is ready.
func (d *Document) ReadyChunks(ctx context.Context, s *Store) (int, error) {
	return follow(ctx, s, d, documentReadyChunks, none{})
}

// pageRead is a page of the chunks of documents, as of a revision.
type pageRead struct {
	revision int64
	ask      Ask
}

// StillOf tells, once a page of a document's chunks was read, whether the document is ready and of the revision that it had when it was read itself.
func (d *Document) StillOf(ctx context.Context, s *Store, page Ask) (bool, error) {
	return follow(ctx, s, d, documentStillOf, pageRead{d.Revision, page})
}

// Document is the edge from a chunk to its document.
func (c *Chunk) Document(ctx context.Context, s *Store, desk Desk) (*Document, error) {
	return follow(ctx, s, c, chunkDocument, desk)
}

// FoundChunks reads chunks of contexts that a search found, as one group; those that have gone since
// are left out.
func (s *Store) FoundChunks(ctx context.Context, contexts, ids []int64) (map[int64]*Chunk, error) {
	var rows []*Chunk
	err := s.list(ctx, &rows, qFoundChunks, contexts, ids)
	return index(join(rows), func(c *Chunk) int64 { return c.ID }), err
}

// ChunksAsKnown is FoundChunks in a context of a desk, as long as the context is what is known of it: otherwise there are none.
func (s *Store) ChunksAsKnown(ctx context.Context, desk Desk, known *Context, ids []int64) (map[int64]*Chunk, error) {
	var rows []*Chunk
	err := s.list(ctx, &rows, qChunksAsKnown, desk.args(known.ID, known.Version, known.Searched, known.Dimensions, ids)...)
	return index(join(rows), func(c *Chunk) int64 { return c.ID }), err
}

// NewChunk is a chunk to store.
type NewChunk struct {
	Position, OverlapBytes, Tokens, Page, Row int
	Content, Heading                          string
	// Places are as chunk.PackPlaces writes them.
	Places []byte
}

var qInsertChunks = prepare(`
	INSERT INTO chunks (document_id, revision, position, content, overlap_bytes, tokens, page, heading, row_number, places)
	SELECT d.id, d.revision, n.position, n.content, n.overlap_bytes, n.tokens, n.page, n.heading, n.row_number, n.places
	FROM documents d CROSS JOIN unnest($3::integer[], $4::text[], $5::integer[], $6::integer[], $7::integer[], $8::text[], $9::integer[], $10::bytea[])
		n(position, content, overlap_bytes, tokens, page, heading, row_number, places)
	WHERE d.id = $1 AND d.attempts = $2 AND ` + unindexed("d.status = 'processing'") + `
	ON CONFLICT ON CONSTRAINT chunks_once DO NOTHING`)

// InsertChunks stores chunks of the work's revision; those that are there already stay. Work that was
// lost stores none.
func (s *Store) InsertChunks(ctx context.Context, w *DocumentWork, list []NewChunk) error {
	n := len(list)
	position, overlap, tokens := make([]int64, n), make([]int64, n), make([]int64, n)
	page, row := make([]int64, n), make([]int64, n)
	content, heading, places := make([]string, n), make([]string, n), make([][]byte, n)
	for i, c := range list {
		position[i], overlap[i], tokens[i] = int64(c.Position), int64(c.OverlapBytes), int64(c.Tokens)
		page[i], row[i], content[i], heading[i] = int64(c.Page), int64(c.Row), c.Content, c.Heading
		places[i] = c.Places
	}
	_, err := s.exec(ctx, qInsertChunks, w.ID, w.Attempts, position, binaryArray(oid.T_text, content), overlap, tokens, page,
		binaryArray(oid.T_text, heading), row, binaryArray(oid.T_bytea, places))
	return err
}
