package search

import (
	"context"
	"errors"
	"fmt"
	"time"

	"canopy/db"
	"canopy/db/pgvector"
	"canopy/internal/access"
	"canopy/internal/models/lexical"
	"canopy/internal/vector"
)

// A context whose vectors are copied has its words in the database of vectors, too. Of these a process knows where the chunks stand, some twenty bytes of each,
// and a search reads the postings of its own words. What the database lacks, or has of documents that have changed since, is in memory: so what is found is
// the same to the last bit as in an index that has all.

const (
	// mostNear is how many vectors of words an index has in memory before it is looked whether the database has them by now.
	mostNear = 8 * vector.SegmentChunks
	// mostFarRows is how many rows of postings are read for a question; one of very many words has all compared in memory.
	mostFarRows = 200_000
)

// farIndex is an index of words of which a part is in the database, as that was at a batch.
type farIndex struct {
	*vector.Sparse
	batch int64
}

// farWords gives an index in which a text can be looked for, and nothing else, of a context whose words are in the database of vectors; nil for others, and
// where the database fails.
func (e *Engine) farWords(ctx context.Context, row *db.Context, text string) (*vector.Sparse, error) {
	c := &e.copies
	if c.store == nil {
		return nil, nil
	}
	batch := c.wordBatch(ctx, row.ID)
	for tries := 0; batch > 0 && tries < 2; tries++ {
		x, err := e.openFar(ctx, row, batch)
		if err != nil {
			return nil, c.passOver(ctx, row.ID, err)
		}
		segments, near := x.Far()
		groups := x.FarGroups(text)
		if len(segments)*len(groups) > mostFarRows {
			return nil, nil
		}
		if x.batch < batch && near > mostNear {
			e.vectors.Forget(row.ID)
			continue
		}
		read, err := askCopies(ctx, c, findPatience*c.Patience, func(ctx context.Context) ([]vector.FarGroup, error) {
			return c.store.WordGroups(ctx, row.ID, segments, groups)
		})
		if errors.Is(err, pgvector.ErrNone) { // a batch has gone meanwhile
			e.vectors.Forget(row.ID)
			continue
		}
		if err != nil {
			return nil, c.passOver(ctx, row.ID, fmt.Errorf("%w: %w", errCopy, err))
		}
		with, err := x.With(read)
		if err != nil {
			return nil, c.passOver(ctx, row.ID, fmt.Errorf("%w: %w", errCopy, err))
		}
		c.answeredWords.Add(1)
		return with, nil
	}
	return nil, nil
}

// passOver has all compared in memory where the database of vectors has failed, and gives other errors.
func (c *copies) passOver(ctx context.Context, contextID int64, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, pgvector.ErrNone), errors.Is(err, errBusy):
		return nil
	case !errors.Is(err, errCopy):
		return err
	}
	c.failed(ctx, contextID, err, false)
	return nil
}

// openFar gives the index of a context's words as far as it is in memory.
func (e *Engine) openFar(ctx context.Context, row *db.Context, batch int64) (farIndex, error) {
	key := wordsKey(row)
	key.Kind = vector.KindFar
	model := lexical.For(row.EmbeddingModel)
	var held pgvector.Words
	if !e.vectors.Has(key) { // nobody waits for the database with a place of those who load
		var err error
		held, err = askCopies(ctx, &e.copies, findPatience*e.copies.Patience, func(ctx context.Context) (pgvector.Words, error) { return e.copies.store.Words(ctx, row.ID) })
		if err != nil {
			return farIndex{}, fmt.Errorf("%w: %w", errCopy, err)
		}
	}
	return index(ctx, e, row, key, func(ctx context.Context, from farIndex, at int64, room *vector.Room) (farIndex, int64, error) {
		if from.Sparse != nil {
			x, version, err := load(ctx, func(ctx context.Context) (*vector.Sparse, int64, error) {
				return e.loadSparse(ctx, row.ID, model, from.Sparse, at, room)
			})
			return farIndex{x, from.batch}, version, err
		}
		if held.Segments == nil { // it was dropped from memory just now
			return farIndex{}, 0, fmt.Errorf("%w: %w", errCopy, pgvector.ErrNone)
		}
		wanted, err := e.store.Copied(ctx, row.ID, "", "", 0, false)
		if err != nil {
			return farIndex{}, 0, err
		}
		from.Sparse, err = farOf(model, held, wanted)
		if err != nil {
			return farIndex{}, 0, fmt.Errorf("%w: %w", errCopy, err)
		}
		x, err := e.extendSparse(ctx, model, from.Sparse, &wanted.IndexState, room)
		return farIndex{x, batch}, wanted.Version, err
	})
}

// farOf makes an index of what the database has of the documents as they are wanted.
func farOf(model *lexical.Model, held pgvector.Words, wanted *db.Copied) (*vector.Sparse, error) {
	batches := map[int64]map[int64]int64{}
	for _, d := range held.Documents {
		if revision, is := wanted.Documents[d.ID]; !is || revision != d.Revision || wanted.Stamps[d.ID] != d.Stamp || wanted.Unpacked[d.ID] {
			continue
		}
		if batches[d.Batch] == nil {
			batches[d.Batch] = map[int64]int64{}
		}
		batches[d.Batch][d.ID] = d.Revision
	}
	b := vector.NewSparseBuilder(model, nil)
	for _, s := range held.Segments {
		if batches[s.Batch] == nil {
			continue
		}
		places, err := vector.ReadPlaces(s.Places)
		if err != nil {
			return nil, fmt.Errorf("segment %d: %w", s.ID, err)
		}
		b.AddFar(s.ID, places, batches[s.Batch])
	}
	return b.Build(), nil
}

// askCopies asks the database of vectors for a search, when it is the turn of its branch, which then holds none of the places of those who search in this
// process; no longer than left.
func askCopies[T any](ctx context.Context, c *copies, left time.Duration, ask func(context.Context) (T, error)) (T, error) {
	waiting, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	if branch := access.BranchOf(ctx); branch != 0 {
		if err := c.asks.Enter(waiting, branch); err != nil {
			var none T
			return none, errors.Join(ctx.Err(), errBusy)
		}
		defer c.asks.Leave(branch)
	}
	return await(waiting, ask)
}

// errBusy says that a search's turn to ask did not come in time, which says nothing of the database.
var errBusy = errors.New("too many searches ask the database of vectors")
