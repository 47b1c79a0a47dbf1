package jobs

import (
	"context"
	"errors"
	"fmt"

	"canopy/db"
	"canopy/internal/models/lexical"
	"canopy/internal/vector"
)

// packBatch is how many documents are looked up together, and denseBlock how many vectors a dense block has that is made
// of those beside their chunks: as many as are embedded together.
const (
	packBatch  = 100
	denseBlock = batchSize
)

// packVectors puts the vectors of documents that an earlier release has processed into blocks, one document in a
// transaction. Of a document that can't be packed the vectors stay where they are, where they are found, too.
func (w *Worker) packVectors(ctx context.Context) (err error) {
	for after := int64(0); ; {
		list, listed := w.Store.UnpackedDocuments(ctx, after, packBatch)
		if listed != nil || len(list) == 0 {
			return errors.Join(err, listed)
		}
		for _, d := range list {
			packed := w.Store.Pack(ctx, d, func(tx *db.Store) error { return packDocument(ctx, tx, d) })
			if packed != nil && !errors.Is(packed, db.ErrNoRows) {
				err = errors.Join(err, fmt.Errorf("document %d: %w", d.ID, packed))
			}
			after = d.ID
		}
	}
}

// packDocument reads so many chunks at once as a block of words covers.
func packDocument(ctx context.Context, tx *db.Store, d db.Unpacked) error {
	for first := 0; ; first += vector.BlockChunks {
		rows, err := tx.VectorsFrom(ctx, d, first, vector.BlockChunks)
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := packWords(ctx, tx, d, first, rows); err != nil {
			return err
		}
		for ; len(rows) > 0; rows = rows[min(denseBlock, len(rows)):] {
			if err := packDense(ctx, tx, d, rows[:min(denseBlock, len(rows))]); err != nil {
				return err
			}
		}
	}
}

func packWords(ctx context.Context, tx *db.Store, d db.Unpacked, first int, rows []db.ChunkVectors) error {
	p := vector.NewSparsePacker(lexical.One) // earlier releases had no other
	defer p.Done()
	for _, r := range rows {
		if len(r.Sparse) == 0 {
			continue
		}
		var v lexical.Vector
		if err := v.UnmarshalBinary(r.Sparse); err != nil {
			return fmt.Errorf("position %d: %w", r.Position, err)
		}
		p.Add(r.Position-first, v)
	}
	if p.Len() == 0 {
		return nil
	}
	return tx.PackBlock(ctx, d, db.NewBlock{First: first, Count: rows[len(rows)-1].Position + 1 - first, Bytes: p.Pack()})
}

func packDense(ctx context.Context, tx *db.Store, d db.Unpacked, rows []db.ChunkVectors) error {
	var p vector.DensePacker
	first := rows[0].Position
	for _, r := range rows {
		if len(r.Dense) == 0 {
			continue
		}
		if err := p.Add(r.Position-first, vector.AppendFloats(nil, r.Dense)); err != nil {
			return fmt.Errorf("position %d: %w", r.Position, err)
		}
	}
	if p.Len() == 0 {
		return nil
	}
	return tx.PackBlock(ctx, d, db.NewBlock{Dense: true, First: first, Count: rows[len(rows)-1].Position + 1 - first, Bytes: p.Pack()})
}
