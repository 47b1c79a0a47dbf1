package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"canopy/db"
	"canopy/db/pgvector"
	"canopy/internal/vector"
)

// Large contexts can have copies of their dense vectors in a database that finds the closest by an index. What it lacks of a context's version is
// compared here, and both are merged: so a search is right whatever the copy is behind.
const (
	// toFuse is how many of the best, of either arm, are fused at least; a chunk that is among neither is not among the best of both.
	toFuse = 1000
	// mostLacking is how many documents may be compared here beside a copy.
	mostLacking = 1000
	// copyRest is how long the database is left alone when it has failed, copyPatience how long it may take to tell what is held, and findPatience to find:
	// a search waits no longer for one that does not answer.
	copyRest, copyPatience, findPatience = 5 * time.Second, 2 * time.Second, 10 * time.Second
)

// copies are where the copies are; store is nil where none are kept.
type copies struct {
	store *pgvector.Store
	// from is how many chunks a context has at least that is copied.
	from int64
	// answered counts searches, askFrom is when the database is asked again, in nanoseconds of Unix time.
	answered, askFrom atomic.Int64
	known             knownCopies
	progress          progress
}

// KeepCopies has contexts of so many chunks or more copied to a database of vectors, and searched there.
func (e *Engine) KeepCopies(store *pgvector.Store, from int64) {
	e.copies.store, e.copies.from = store, from
}

// failed tells of the database, and leaves it alone for a while.
func (c *copies) failed(ctx context.Context, row *db.Context, err error) {
	if errors.Is(err, pgvector.ErrNone) || ctx.Err() != nil {
		return
	}
	c.askFrom.Store(time.Now().Add(copyRest).UnixNano())
	slog.WarnContext(ctx, "the database of vectors fails: all vectors are compared", "context", row.ID, "error", err, "pause", copyRest)
}

// copied gives what searches the copy of a context; nil where there is none that can be used.
func (e *Engine) copied(ctx context.Context, row *db.Context) finder {
	c := &e.copies
	if c.store == nil || row.Dimensions == 0 || row.Dimensions > pgvector.MostDimensions || time.Now().UnixNano() < c.askFrom.Load() {
		return nil
	}
	m, err := e.openCopy(ctx, row)
	if err != nil {
		c.failed(ctx, row, err)
		return nil
	}
	return m
}

// openCopy sees what is held of a context, and loads what that lacks.
func (e *Engine) openCopy(ctx context.Context, row *db.Context) (*copied, error) {
	if known, err := e.copies.has(ctx, row.ID); err != nil || !known {
		return nil, cmp.Or(err, pgvector.ErrNone)
	}
	held, err := within(ctx, copyPatience, func(ctx context.Context) (pgvector.State, error) { return e.copies.store.State(ctx, row.ID) })
	if err != nil {
		return nil, err
	}
	if held.Version == 0 || held.Model != row.EmbeddingModel || held.Dimensions != row.Dimensions {
		return nil, pgvector.ErrNone
	}
	wanted, err := e.store.Copied(ctx, row.ID, row.EmbeddingModel, held.History, held.Version, true)
	if err != nil {
		return nil, err
	}
	if !wanted.Partial || len(wanted.Documents) > mostLacking {
		return nil, pgvector.ErrNone
	}
	m := &copied{engine: e, row: row, held: held, changed: unique(wanted.Changed)}
	if len(wanted.Documents) > 0 {
		m.lacking, err = e.lacking(ctx, row, wanted)
	}
	return m, err
}

// within asks something of the database, and waits no longer than patience. Whoever is asked may be gone without a word: the connection is then left to its
// own deadline, which is a long one.
func within[T any](ctx context.Context, patience time.Duration, ask func(context.Context) (T, error)) (T, error) {
	type answer struct {
		out T
		err error
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	told := make(chan answer, 1)
	go func() {
		out, err := ask(ctx)
		told <- answer{out, err}
	}()
	select {
	case a := <-told:
		return a.out, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

func unique(ids []int64) []int64 {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// lackingIndex is the index of documents that a copy lacks.
type lackingIndex struct{ *vector.Dense }

// lacking gives the index of the documents that a copy lacks. The one of before is extended.
func (e *Engine) lacking(ctx context.Context, row *db.Context, wanted *db.Copied) (*vector.Dense, error) {
	key := denseKey(row)
	key.Kind = vector.KindLacking
	x, err := index(ctx, e, row, key, func(ctx context.Context, from lackingIndex, _ int64) (lackingIndex, int64, error) {
		add, remove := from.Documents().Changes(wanted.Documents)
		x, err := e.extendDense(ctx, row, from.Dense, &wanted.IndexState, add, remove)
		return lackingIndex{x}, wanted.Version, err
	})
	if err != nil || sameDocuments(x.Documents(), wanted.Documents) {
		return x.Dense, err
	}
	// Of another search, at another version of the context or of its copy.
	add, _ := vector.Documents(nil).Changes(wanted.Documents)
	return e.extendDense(ctx, row, nil, &wanted.IndexState, add, nil)
}

func sameDocuments(have vector.Documents, wanted map[int64]int64) bool {
	add, remove := have.Changes(wanted)
	return len(add) == 0 && len(remove) == 0
}

// copied searches the copy of a context, and what it lacks.
type copied struct {
	engine *Engine
	row    *db.Context
	held   pgvector.State
	// changed are the documents that are others than in the copy, or gone; lacking has those of them that are to be found.
	changed []int64
	lacking *vector.Dense
}

func (m *copied) Nearest(ctx context.Context, v []float32, f vector.Filter) ([]vector.Hit, error) {
	hits, err := m.find(ctx, v, f, nil)
	if errors.Is(err, errCopy) {
		return m.instead(ctx, func(other finder) ([]vector.Hit, error) { return other.Nearest(ctx, v, f) })
	}
	return f.Best(hits), err
}

func (m *copied) ToFuse(ctx context.Context, v []float32, f vector.Filter, words []vector.Hit) ([]vector.Hit, error) {
	some := f
	some.Top = max(toFuse, 2*f.Top)
	hits, err := m.find(ctx, v, some, some.Best(words))
	if errors.Is(err, errCopy) {
		return m.instead(ctx, func(other finder) ([]vector.Hit, error) { return other.ToFuse(ctx, v, f, words) })
	}
	return hits, err
}

// errCopy says that the copy could not be searched.
var errCopy = errors.New("the copy of the vectors is not there")

// instead has all compared where the copy can't be searched.
func (m *copied) instead(ctx context.Context, search func(finder) ([]vector.Hit, error)) ([]vector.Hit, error) {
	other, err := m.engine.inProcess(ctx, m.row)
	if err != nil || other == nil {
		return nil, err
	}
	return search(other)
}

// find gives the closest chunks of the copy and of what it lacks, each once, and those that are named by what words have found.
func (m *copied) find(ctx context.Context, v []float32, f vector.Filter, words []vector.Hit) ([]vector.Hit, error) {
	unit, err := vector.Unit(v, m.row.Dimensions)
	if err != nil {
		return nil, err
	}
	ask := pgvector.Ask{State: m.held, Vector: unit, Top: f.Top, Without: m.changed, Documents: listed(f.Documents)}
	for _, h := range words {
		ask.Chunks = append(ask.Chunks, h.Chunk)
	}
	found, err := within(ctx, findPatience, func(ctx context.Context) (pgvector.Found, error) { return m.engine.copies.store.Search(ctx, ask) })
	if err != nil {
		m.engine.copies.failed(ctx, m.row, err)
		return nil, fmt.Errorf("%w: %w", errCopy, err)
	}
	m.engine.copies.answered.Add(1)
	hits, have := make([]vector.Hit, 0, len(found.Rows)), make(map[int64]struct{}, len(found.Rows))
	for _, r := range found.Rows {
		if _, twice := have[r.Chunk]; !twice {
			have[r.Chunk] = struct{}{}
			hits = append(hits, vector.Hit{Chunk: r.Chunk, Document: r.Document, Similarity: min(1, max(0, r.Similarity))})
		}
	}
	chunks := m.held.Chunks
	if m.lacking != nil {
		more, err := m.lacking.All(v, f)
		if err != nil {
			return nil, err
		}
		hits, chunks = append(hits, more...), chunks+int64(m.lacking.Len())
	}
	vector.Raise(hits, chunks, found.Mean, found.Squares)
	return hits, nil
}

// listed gives the documents of a filter; nil for all.
func listed(set map[int64]struct{}) []int64 {
	if set == nil {
		return nil
	}
	ids := make([]int64, 0, len(set))
	for id := range set {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
