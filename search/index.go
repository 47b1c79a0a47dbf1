package search

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"canopy/db"
	"canopy/internal/models/lexical"
	"canopy/internal/vector"
)

// loadPlaces is how many indexes are loaded at the same time: what is being loaded is in memory beyond what
// the cache may hold. One branch alone gets half.
var loadPlaces = 2 * max(2, runtime.GOMAXPROCS(0)/2)

// loader makes an index from what an earlier version has; it has files in the room.
type loader[T vector.Index] func(ctx context.Context, from T, at int64, room *vector.Room) (T, int64, error)

// index gives an index of a context, of at least the context's version.
func index[T vector.Index](ctx context.Context, e *Engine, row *db.Context, key vector.Key, load loader[T]) (T, error) {
	x, err := e.vectors.Get(ctx, key, row.Searched, func(ctx context.Context, from vector.Loaded) (vector.Loaded, error) {
		branch, err := e.store.BranchOfAccount(ctx, row.AccountID)
		if err != nil {
			return vector.Loaded{}, err
		}
		if err := e.loads.Enter(ctx, branch); err != nil {
			return vector.Loaded{}, err
		}
		defer e.loads.Leave(branch)
		before, _ := from.Index.(T) // nil where the cache has none
		made, version, err := load(ctx, before, from.Version, e.vectors.Room(branch))
		if err == nil {
			e.giveBack(made.Bytes())
		}
		return vector.Loaded{Index: made, Version: version, Owner: branch}, err
	})
	var none T
	switch {
	case errors.Is(err, errNoOutline), errors.Is(err, errCopy):
		return none, err
	case errors.Is(err, db.ErrNoRows): // it was deleted under the search
		return none, noContext(row.ID)
	case err != nil:
		return none, fmt.Errorf("load the index of context %d: %w", row.ID, err)
	}
	return x.(T), nil
}

// What loading an index of so many bytes leaves over is worth to be given back, and when: by then the search that
// asked for it has ended, which may have been the index's only one.
const (
	muchLoaded = 8 << 20
	giveAfter  = time.Second
)

// giveBack gives the memory that loading has left over back to the system, which the garbage collector would keep for what
// may come.
func (e *Engine) giveBack(loaded int64) {
	if loaded < muchLoaded || !e.giving.CompareAndSwap(false, true) {
		return
	}
	time.AfterFunc(giveAfter, func() {
		e.giving.Store(false)
		debug.FreeOSMemory()
	})
}

// wordsKey names the index of a context's words.
func wordsKey(row *db.Context) vector.Key {
	return vector.Key{Context: row.ID, Model: lexical.For(row.EmbeddingModel).Name, Kind: vector.KindSparse}
}

// load loads an index from a replica, and from the primary where that is lost before it is over.
func load[T any](ctx context.Context, from func(context.Context) (T, int64, error)) (index T, at int64, err error) {
	if index, at, err = from(db.ReadingMuch(ctx)); errors.Is(err, db.ErrReplica) {
		return from(db.Alone(ctx))
	}
	return index, at, err
}

// sparseIndex gives the index of a context's words.
func (e *Engine) sparseIndex(ctx context.Context, row *db.Context) (*vector.Sparse, error) {
	x, err := e.indexOfWords(ctx, row, false)
	if errors.Is(err, vector.ErrNoRoom) { // it was being loaded for another search, which can do without
		return e.indexOfWords(ctx, row, false)
	}
	return x, err
}

// indexOfWords is sparseIndex; a bounded one is only loaded where there is room to keep it, otherwise the error is vector.ErrNoRoom.
func (e *Engine) indexOfWords(ctx context.Context, row *db.Context, bounded bool) (*vector.Sparse, error) {
	model := lexical.For(row.EmbeddingModel)
	return index(ctx, e, row, wordsKey(row), func(ctx context.Context, from *vector.Sparse, at int64, room *vector.Room) (*vector.Sparse, int64, error) {
		if bounded {
			room.Bound()
		}
		return load(ctx, func(ctx context.Context) (*vector.Sparse, int64, error) {
			return e.loadSparse(ctx, row.ID, model, from, at, room)
		})
	})
}

// loadSparse reads what an index of a version lacks. The version is read before the chunks: what changes in
// between is read again at the next version.
func (e *Engine) loadSparse(ctx context.Context, contextID int64, model *lexical.Model, from *vector.Sparse, at int64, room *vector.Room) (*vector.Sparse, int64, error) {
	state, err := e.store.IndexState(ctx, contextID, "", at)
	if err != nil {
		return nil, 0, err
	}
	x, err := e.extendSparse(ctx, model, from, state, room)
	return x, state.Version, err
}

// extendSparse gives an index as it is to be at a state.
func (e *Engine) extendSparse(ctx context.Context, model *lexical.Model, from *vector.Sparse, state *db.IndexState, room *vector.Room) (*vector.Sparse, error) {
	add, remove := changes(from.Documents(), state)
	b := vector.NewSparseBuilder(model, from)
	b.SpillTo(room)
	b.Remove(remove...)
	packed, unpacked := pick(state, add)
	err := e.store.StreamBlocks(ctx, false, packed, func(s db.Block) error {
		// Of a model that the context had before: its document is processed anew.
		if err := b.AddBlock(s.Document, packed[s.Document], s.Chunks, s.Bytes); err != nil && !errors.Is(err, vector.ErrModel) {
			return fmt.Errorf("document %d: %w", s.Document, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if model != lexical.One {
		return b.Build(), nil // what is beside its chunks was made before there was another model
	}
	err = e.store.StreamVectors(ctx, false, unpacked, func(row db.VectorRow) error {
		var v lexical.Vector
		if err := v.UnmarshalBinary(row.Vector); err != nil {
			return fmt.Errorf("chunk %d: %w", row.Chunk, err)
		}
		b.Add(vector.SparseRow{Chunk: row.Chunk, Document: row.Document, Revision: unpacked[row.Document], Vector: v})
		return nil
	})
	return b.Build(), err
}

// denseKey names the index of a context's dense vectors.
func denseKey(row *db.Context) vector.Key {
	return vector.Key{Context: row.ID, Model: fmt.Sprintf("%s/%d", row.EmbeddingModel, row.Dimensions), Kind: vector.KindDense}
}

// denseIndex gives the index of a context's dense vectors; nil while it has none.
func (e *Engine) denseIndex(ctx context.Context, row *db.Context) (*vector.Dense, error) {
	if row.Dimensions == 0 {
		return nil, nil
	}
	return index(ctx, e, row, denseKey(row), func(ctx context.Context, from *vector.Dense, at int64, room *vector.Room) (*vector.Dense, int64, error) {
		return load(ctx, func(ctx context.Context) (*vector.Dense, int64, error) { return e.loadDense(ctx, row, from, at, room) })
	})
}

func (e *Engine) loadDense(ctx context.Context, row *db.Context, from *vector.Dense, at int64, room *vector.Room) (*vector.Dense, int64, error) {
	state, err := e.store.IndexState(ctx, row.ID, row.EmbeddingModel, at)
	if err != nil {
		return nil, 0, err
	}
	add, remove := changes(from.Documents(), state)
	x, err := e.extendDense(ctx, row, from, state, add, remove, room)
	return x, state.Version, err
}

// extendDense gives an index with the documents of a state to add, and without those to remove.
func (e *Engine) extendDense(ctx context.Context, row *db.Context, from *vector.Dense, state *db.IndexState, add, remove []int64, room *vector.Room) (*vector.Dense, error) {
	b, err := vector.NewDenseBuilder(row.Dimensions, from)
	if err != nil {
		return nil, err
	}
	b.SpillTo(room)
	b.Remove(remove...)
	packed, unpacked := pick(state, add)
	err = e.store.StreamBlocks(ctx, true, packed, func(s db.Block) error {
		// Of a length that the context had before: its document is processed anew.
		if err := b.AddBlock(s.Document, packed[s.Document], s.Chunks, s.Bytes); err != nil && !errors.Is(err, vector.ErrDimensions) {
			return fmt.Errorf("document %d: %w", s.Document, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	buffer := make([]float32, 0, row.Dimensions)
	err = e.store.StreamVectors(ctx, true, unpacked, func(v db.VectorRow) error {
		if len(v.Vector) != 4*row.Dimensions {
			return nil // as above
		}
		buffer = vector.AppendFloats(buffer[:0], v.Vector)
		return b.Add(vector.DenseRow{Chunk: v.Chunk, Document: v.Document, Revision: unpacked[v.Document], Vector: buffer})
	})
	return b.Build(), err
}

// changes tells which documents an index has to take in, and which it has to leave out.
func changes(have vector.Documents, state *db.IndexState) (add, remove []int64) {
	if state.Partial {
		have = have.Of(state.Changed)
	}
	return have.Changes(state.Documents)
}

// pick gives some documents with their revisions: those whose vectors are in blocks, and those where they are beside
// their chunks.
func pick(state *db.IndexState, ids []int64) (packed, unpacked map[int64]int64) {
	packed, unpacked = make(map[int64]int64, len(ids)), map[int64]int64{}
	for _, id := range ids {
		if state.Unpacked[id] {
			unpacked[id] = state.Documents[id]
		} else {
			packed[id] = state.Documents[id]
		}
	}
	return packed, unpacked
}
