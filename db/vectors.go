package db

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
)

// The vectors of a document's chunks are stored in blocks. Those of documents that an earlier release has processed are
// beside their chunks, until they are packed.
var (
	qBlocks = prepare(`
		SELECT b.document_id, b.chunks, b.block FROM unnest($1::bigint[], $2::bigint[]) w(id, revision)
		JOIN vector_blocks b ON b.document_id = w.id AND b.revision = w.revision WHERE b.dense = $3`)
	qSparseRows = prepare(`
		SELECT k.id, k.document_id, k.sparse AS vector FROM unnest($1::bigint[], $2::bigint[]) w(id, revision)
		JOIN chunks k ON k.document_id = w.id AND k.revision = w.revision WHERE k.document_id = ANY($1) AND k.sparse <> ''`)
	qDenseRows = prepare(`
		SELECT k.id, k.document_id, k.dense AS vector FROM unnest($1::bigint[], $2::bigint[]) w(id, revision)
		JOIN chunks k ON k.document_id = w.id AND k.revision = w.revision WHERE k.document_id = ANY($1) AND k.dense IS NOT NULL`)
	qBlockPositions = prepare(`SELECT first FROM vector_blocks WHERE document_id = $1 AND revision = $2 AND NOT dense`)
	qInsertBlock    = prepare(insertBlock(`d.attempts = $2 AND ` + unindexed("d.status = 'processing'")))
	qUnpacked       = prepare(`
		SELECT id, revision FROM documents WHERE packed <> revision AND status = 'ready' AND id > $1 ORDER BY id LIMIT $2`)
	qPack = prepare(`
		UPDATE documents SET packed = revision WHERE id = $1 AND revision = $2 AND packed <> revision AND ` + unindexed("status = 'ready'"))
	qPackBlock   = prepare(insertBlock(`d.revision = $2 AND ` + unindexed("d.status = 'ready'")))
	qVectorsFrom = prepare(`
		SELECT position, COALESCE(sparse, '') AS sparse, COALESCE(dense, '') AS dense FROM chunks
		WHERE document_id = $1 AND revision = $2 AND position >= $3 AND position < $4 ORDER BY position`)
)

// insertBlock stores a block of document $1 as long as it is held: dense, first, how many positions, bytes. One that is
// there already stays.
func insertBlock(held string) string {
	return `
		INSERT INTO vector_blocks (document_id, revision, dense, first, chunks, block)
		SELECT d.id, d.revision, $3::boolean, $4::integer, ` + idsOfChunks("$4::integer", "$4::integer + $5::integer") + `, $6::bytea
		FROM documents d WHERE d.id = $1 AND ` + held + `
		ON CONFLICT DO NOTHING`
}

// idsOfChunks are those at the positions from one to before another, of the revision of a document d.
func idsOfChunks(from, to string) string {
	return `(SELECT string_agg(int8send(k.id), '' ORDER BY k.position) FROM chunks k
			WHERE k.document_id = d.id AND k.revision = d.revision AND k.position >= ` + from + ` AND k.position < ` + to + `)`
}

// Block is a stored block of vectors of a document.
type Block struct {
	Document int64
	// Chunks are the ids of the chunks at the positions that it covers. They are valid until the next block only.
	Chunks []int64
	// Bytes stay as they are.
	Bytes []byte
}

// chunksFrom reads the ids of chunks as they are stored.
func (b *Block) chunksFrom(ids []byte) error {
	if len(ids)%8 != 0 {
		return fmt.Errorf("a block of document %d has %d bytes of ids", b.Document, len(ids))
	}
	for b.Chunks = b.Chunks[:0]; len(ids) > 0; ids = ids[8:] {
		b.Chunks = append(b.Chunks, int64(binary.BigEndian.Uint64(ids)))
	}
	return nil
}

// sharedRow is the length, in bytes, of the longest row that the driver reads into memory that it uses again. Longer ones have memory of their
// own: most of an index is made of what was read, as it is, and copying it would take as long as reading it.
const sharedRow = 512

// StreamBlocks gives the blocks of vectors, dense or of words, of documents at the given revisions.
func (s *Store) StreamBlocks(ctx context.Context, dense bool, documents map[int64]int64, each func(Block) error) error {
	var b Block
	var ids, block []byte
	scan := []any{&b.Document, (*rawBytes)(&ids), (*rawBytes)(&block)}
	return s.streamOf(ctx, documents, scan, func() error {
		if err := b.chunksFrom(ids); err != nil {
			return err
		}
		if b.Bytes = block; len(block) <= sharedRow {
			b.Bytes = bytes.Clone(block)
		}
		return each(b)
	}, qBlocks, dense)
}

// VectorRow is one chunk's stored vector. Vector is valid until the next row only.
type VectorRow struct {
	Chunk, Document int64
	Vector          []byte
}

// StreamVectors gives the vectors that are beside their chunks, dense or of words, of documents at the given revisions.
func (s *Store) StreamVectors(ctx context.Context, dense bool, documents map[int64]int64, each func(VectorRow) error) error {
	var v VectorRow
	q := qSparseRows
	if dense {
		q = qDenseRows
	}
	return s.streamOf(ctx, documents, []any{&v.Chunk, &v.Document, (*rawBytes)(&v.Vector)}, func() error { return each(v) }, q)
}

// streamOf reads what documents have at their revisions, row by row, at this process's own pace.
func (s *Store) streamOf(ctx context.Context, documents map[int64]int64, scan []any, each func() error, q query, more ...any) error {
	if len(documents) == 0 {
		return nil
	}
	var ids, revisions []int64
	for id, revision := range documents {
		ids, revisions = append(ids, id), append(revisions, revision)
	}
	return s.eachUnhurried(ctx, func(rows *sql.Rows) error {
		if err := rows.Scan(scan...); err != nil {
			return unread{err}
		}
		return each()
	}, q, append([]any{ids, revisions}, more...)...)
}

// rawBytes takes a bytea column without a copy of its own.
type rawBytes []byte

// Scan keeps the driver's bytes.
func (b *rawBytes) Scan(src any) error {
	raw, _ := src.([]byte)
	*b = raw
	return nil
}

// NewBlock is a block of vectors to store, which covers so many positions from the first on. Their chunks are stored
// already.
type NewBlock struct {
	Dense        bool
	First, Count int
	Bytes        []byte
}

func (b NewBlock) args(document, held int64) []any {
	return []any{document, held, b.Dense, b.First, b.Count, b.Bytes}
}

// InsertBlock stores a block of the work's revision; one that is there already stays. Work that was lost stores none.
func (s *Store) InsertBlock(ctx context.Context, w *DocumentWork, b NewBlock) error {
	_, err := s.exec(ctx, qInsertBlock, b.args(w.ID, int64(w.Attempts))...)
	return err
}

// BlockPositions gives the first positions of the work's blocks of words that are stored already.
func (s *Store) BlockPositions(ctx context.Context, w *DocumentWork) (list []int, err error) {
	err = s.list(ctx, &list, qBlockPositions, w.ID, w.Revision)
	return list, err
}

// Unpacked is a ready document whose vectors are beside its chunks.
type Unpacked struct {
	ID       int64 `db:"id"`
	Revision int64 `db:"revision"`
}

// UnpackedDocuments gives some of those documents, by their ids from after one on.
func (s *Store) UnpackedDocuments(ctx context.Context, after int64, limit int) (list []Unpacked, err error) {
	err = s.list(ctx, &list, qUnpacked, after, limit)
	return list, err
}

// Pack has the vectors of a document stored in blocks, which do stores with PackBlock, all or none. ErrNoRows says that
// the document was packed, changed or deleted meanwhile.
func (s *Store) Pack(ctx context.Context, d Unpacked, do func(tx *Store) error) error {
	return s.Tx(ctx, func(tx *Store) error {
		if err := tx.must(ctx, qPack, d.ID, d.Revision); err != nil {
			return err
		}
		return do(tx)
	})
}

// PackBlock stores a block of a document that is being packed.
func (s *Store) PackBlock(ctx context.Context, d Unpacked, b NewBlock) error {
	_, err := s.exec(ctx, qPackBlock, b.args(d.ID, d.Revision)...)
	return err
}

// ChunkVectors are the vectors beside one chunk, each empty where it has none.
type ChunkVectors struct {
	Position int    `db:"position"`
	Sparse   []byte `db:"sparse"`
	Dense    []byte `db:"dense"`
}

// VectorsFrom reads the vectors beside the chunks of so many positions from one on.
func (s *Store) VectorsFrom(ctx context.Context, d Unpacked, first, count int) (list []ChunkVectors, err error) {
	err = s.list(ctx, &list, qVectorsFrom, d.ID, d.Revision, first, first+count)
	return list, err
}
