package resolvers

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"canopy/db"
	"canopy/internal/embed/lexical"
	"canopy/internal/vector"
)

// sparseIndex gives the index of a context's words, of at least the context's version.
func (r *Resolver) sparseIndex(ctx context.Context, row *db.Context) (*vector.Sparse, error) {
	key := vector.Key{Context: row.ID, Model: lexical.Name, Kind: vector.KindSparse}
	x, err := r.Vectors.Get(ctx, key, row.Version, func(ctx context.Context, from vector.Index) (vector.Index, int64, error) {
		var before *vector.Sparse
		if from != nil {
			before = from.(*vector.Sparse)
		}
		return r.loadSparse(ctx, row.ID, before)
	})
	if err != nil {
		return nil, missing(err, "context", row.ID)
	}
	return x.(*vector.Sparse), nil
}

// loadSparse reads what an index lacks. The version is read before the chunks: what changes in
// between is read again at the next version.
func (r *Resolver) loadSparse(ctx context.Context, contextID int64, from *vector.Sparse) (vector.Index, int64, error) {
	state, err := r.Store.IndexState(ctx, contextID, "")
	if err != nil {
		return nil, 0, err
	}
	have := vector.Documents{}
	if from != nil {
		have = from.Documents()
	}
	add, remove := have.Changes(state.Documents)
	b := vector.NewSparseBuilder(from)
	b.Remove(remove...)
	err = r.Store.StreamVectors(ctx, false, pick(state.Documents, add), func(row db.VectorRow) error {
		var v lexical.Vector
		if err := v.UnmarshalBinary(row.Vector); err != nil {
			return fmt.Errorf("chunk %d: %w", row.Chunk, err)
		}
		b.Add(vector.SparseRow{Chunk: row.Chunk, Document: row.Document, Revision: state.Documents[row.Document], Vector: v})
		return nil
	})
	return b.Build(), state.Version, err
}

// denseIndex gives the index of a context's dense vectors; nil while it has none.
func (r *Resolver) denseIndex(ctx context.Context, row *db.Context) (*vector.Dense, error) {
	if row.Dimensions == 0 {
		return nil, nil
	}
	key := vector.Key{Context: row.ID, Model: fmt.Sprintf("%s/%d", row.EmbeddingModel, row.Dimensions), Kind: vector.KindDense}
	x, err := r.Vectors.Get(ctx, key, row.Version, func(ctx context.Context, from vector.Index) (vector.Index, int64, error) {
		var before *vector.Dense
		if from != nil {
			before = from.(*vector.Dense)
		}
		return r.loadDense(ctx, row, before)
	})
	if err != nil {
		return nil, missing(err, "context", row.ID)
	}
	return x.(*vector.Dense), nil
}

func (r *Resolver) loadDense(ctx context.Context, row *db.Context, from *vector.Dense) (vector.Index, int64, error) {
	state, err := r.Store.IndexState(ctx, row.ID, row.EmbeddingModel)
	if err != nil {
		return nil, 0, err
	}
	have := vector.Documents{}
	if from != nil {
		have = from.Documents()
	}
	add, remove := have.Changes(state.Documents)
	b, err := vector.NewDenseBuilder(row.Dimensions, from)
	if err != nil {
		return nil, 0, err
	}
	b.Remove(remove...)
	more := 0
	for _, id := range add {
		more += state.Chunks[id]
	}
	b.Grow(more)
	buffer := make([]float32, row.Dimensions)
	err = r.Store.StreamVectors(ctx, true, pick(state.Documents, add), func(v db.VectorRow) error {
		if len(v.Vector) != 4*row.Dimensions {
			return nil // of a length that the context had before; its document is processed anew
		}
		for i := range buffer {
			buffer[i] = math.Float32frombits(binary.LittleEndian.Uint32(v.Vector[4*i:]))
		}
		return b.Add(vector.DenseRow{Chunk: v.Chunk, Document: v.Document, Revision: state.Documents[v.Document], Vector: buffer})
	})
	return b.Build(), state.Version, err
}

// pick gives some documents with their revisions.
func pick(all map[int64]int64, ids []int64) map[int64]int64 {
	some := make(map[int64]int64, len(ids))
	for _, id := range ids {
		some[id] = all[id]
	}
	return some
}
