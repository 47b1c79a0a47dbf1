package db

import "context"

var (
	qContextSize = prepare(`SELECT size FROM context_sizes WHERE context_id = $1`)
	qBlockStarts = prepare(`
		SELECT b.document_id, b.first, b.chunks, length(b.block), substring(b.block FROM 1 FOR $3)
		FROM unnest($1::bigint[], $2::bigint[]) w(id, revision)
		JOIN vector_blocks b ON b.document_id = w.id AND b.revision = w.revision WHERE NOT b.dense`)
	qBlockSlices = prepare(`
		SELECT w.n, substring(b.block FROM w.at + 1 FOR w.length) AS slice
		FROM unnest($1::bigint[], $2::bigint[], $3::integer[], $4::integer[], $5::integer[]) WITH ORDINALITY w(id, revision, first, at, length, n)
		JOIN vector_blocks b ON b.document_id = w.id AND b.revision = w.revision AND b.first = w.first WHERE NOT b.dense`)
)

// ContextSize gives the sizes of a context's documents together, in bytes; ErrNoRows where it never had any.
func (s *Store) ContextSize(ctx context.Context, contextID int64) (size int64, err error) {
	err = s.get(ctx, &size, qContextSize, contextID)
	return size, err
}

// BlockStart is how a stored block of vectors of words begins.
type BlockStart struct {
	Block
	First int
	// Length is that of the whole block, in bytes.
	Length int
}

// StreamBlockStarts gives so many bytes of each block of words of documents at the given revisions. They are valid until the next one only.
func (s *Store) StreamBlockStarts(ctx context.Context, size int, documents map[int64]int64, each func(BlockStart) error) error {
	var b BlockStart
	var ids []byte
	scan := []any{&b.Document, &b.First, (*rawBytes)(&ids), &b.Length, (*rawBytes)(&b.Bytes)}
	return s.streamOf(ctx, documents, scan, func() (err error) {
		if err = b.chunksFrom(ids); err != nil {
			return err
		}
		return each(b)
	}, qBlockStarts, size)
}

// BlockSlice names so many bytes of a stored block of vectors of words, from one on that is counted from 0.
type BlockSlice struct {
	Document, Revision  int64
	First, From, Length int
}

// BlockSlices reads slices of blocks, each nil whose document is not stored in that revision any more.
func (s *Store) BlockSlices(ctx context.Context, list []BlockSlice) ([][]byte, error) {
	n := len(list)
	documents, revisions := make([]int64, n), make([]int64, n)
	first, from, length := make([]int64, n), make([]int64, n), make([]int64, n)
	for i, b := range list {
		documents[i], revisions[i] = b.Document, b.Revision
		first[i], from[i], length[i] = int64(b.First), int64(b.From), int64(b.Length)
	}
	read := make([][]byte, n)
	var rows []struct {
		N     int    `db:"n"`
		Slice []byte `db:"slice"`
	}
	if err := s.list(ctx, &rows, qBlockSlices, documents, revisions, first, from, length); err != nil {
		return nil, err
	}
	for _, r := range rows {
		read[r.N-1] = r.Slice
	}
	return read, nil
}
