package search

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"canopy/db"
	"canopy/db/pgvector"
	"canopy/internal/share"
	"canopy/internal/vector"
)

// Large contexts can have copies of their dense vectors in a database that finds the closest by an index. What it lacks of a context's version is
// compared here, and both are merged: so a search is right whatever the copy is behind.
const (
	// toFuse is how many of the best, of either arm, are fused at least; a chunk that is among neither is not among the best of both.
	toFuse = 1000
	// mostLacking is how many documents may be compared here beside a copy.
	mostLacking = 1000
	// findPatience is how many times its patience a search waits for what is found, of which it waits once to hear what is held.
	findPatience = 5
)

// askPlaces is how many searches ask the database of vectors at the same time. One branch alone gets half of the places.
var askPlaces = 8 * max(2, runtime.GOMAXPROCS(0))

// Copies says what is copied, and how long a search waits for it.
type Copies struct {
	// From is how many chunks a context has at least that is copied.
	From int64
	// Patience is how long the database may take to tell what is held of a context; a search waits no longer for one that does not answer.
	Patience time.Duration
}

// copies are where the copies are; store is nil where none are kept.
type copies struct {
	Copies
	store *pgvector.Store
	// asks are the places of searches, turns those of contexts that are being copied, going those of contexts that are forgotten.
	asks, turns, going *share.Gate[int64]
	// answered counts searches by meaning, answeredWords those by words.
	answered, answeredWords atomic.Int64
	known                   knownCopies
	progress                progress
	working                 working
}

// KeepCopies has large contexts copied to a database of vectors, and searched there. It looks once which are copied already, and waits for that no longer
// than the patience says.
func (e *Engine) KeepCopies(ctx context.Context, store *pgvector.Store, what Copies) {
	c := &e.copies
	c.Copies, c.store = what, store
	c.asks, c.turns, c.going = share.NewGate[int64](askPlaces), share.NewGate[int64](turnPlaces), share.NewGate[int64](goingPlaces)
	c.look(ctx)
}

// copied gives what searches the copy of a context; nil where there is none that can be used.
func (e *Engine) copied(ctx context.Context, row *db.Context) finder {
	c := &e.copies
	if c.store == nil || row.Dimensions == 0 || row.Dimensions > pgvector.MostDimensions || !c.has(ctx, row.ID) {
		return nil
	}
	begun := time.Now()
	held, err := within(ctx, c.Patience, func(ctx context.Context) (pgvector.State, error) { return c.store.State(ctx, row.ID) })
	waited := time.Since(begun)
	if err != nil {
		c.failed(ctx, row.ID, err, true)
		return nil
	}
	m, err := e.openCopy(ctx, row, held)
	if err != nil {
		c.failed(ctx, row.ID, err, false)
		return nil
	}
	m.left = findPatience*c.Patience - waited
	return m
}

// openCopy loads what a copy lacks.
func (e *Engine) openCopy(ctx context.Context, row *db.Context, held pgvector.State) (*copied, error) {
	if !held.There || held.Version == 0 || held.Model != row.EmbeddingModel || held.Dimensions != row.Dimensions {
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

// within asks something of the database, and waits no longer than patience.
func within[T any](ctx context.Context, patience time.Duration, ask func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return await(ctx, ask)
}

// await asks something of the database, and waits no longer than ctx. Whoever is asked may be gone without a word: the connection is then left to its own
// deadline, which is a long one.
func await[T any](ctx context.Context, ask func(context.Context) (T, error)) (T, error) {
	type answer struct {
		out T
		err error
	}
	told := make(chan answer, 1)
	go func() {
		out, err := share.Guarded(func() (T, error) { return ask(ctx) })
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
	x, err := index(ctx, e, row, key, func(ctx context.Context, from lackingIndex, _ int64, room *vector.Room) (lackingIndex, int64, error) {
		add, remove := from.Documents().Changes(wanted.Documents)
		x, err := e.extendDense(ctx, row, from.Dense, &wanted.IndexState, add, remove, room)
		return lackingIndex{x}, wanted.Version, err
	})
	if err != nil || sameDocuments(x.Documents(), wanted.Documents) {
		return x.Dense, err
	}
	// Of another search, at another version of the context or of its copy.
	add, _ := vector.Documents(nil).Changes(wanted.Documents)
	return e.extendDense(ctx, row, nil, &wanted.IndexState, add, nil, nil)
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
	// left is how long a search may still wait for the database: for its turn and for what is found together.
	left time.Duration
}

func (m *copied) Nearest(ctx context.Context, v []float32, f vector.Filter) ([]vector.Hit, error) {
	hits, err := m.find(ctx, v, f, nil)
	if errors.Is(err, errCopy) {
		return instead(ctx, m, func(other finder) ([]vector.Hit, error) { return other.Nearest(ctx, v, f) })
	}
	return f.Best(hits), err
}

func (m *copied) ToFuse(ctx context.Context, v []float32, f vector.Filter, words []vector.Hit) (*vector.Compared, error) {
	some := f
	some.Top = max(toFuse, 2*f.Top)
	hits, err := m.find(ctx, v, some, some.Best(words))
	if errors.Is(err, errCopy) {
		return instead(ctx, m, func(other finder) (*vector.Compared, error) { return other.ToFuse(ctx, v, f, words) })
	}
	return vector.Exactly(hits), err
}

// errCopy says that the copy could not be searched.
var errCopy = errors.New("the copy of the vectors is not there")

// instead has all compared where the copy can't be searched.
func instead[T any](ctx context.Context, m *copied, search func(finder) (T, error)) (none T, err error) {
	other, err := m.engine.inProcess(ctx, m.row)
	if err != nil || other == nil {
		return none, err
	}
	return search(other)
}

// ask has the closest chunks found by the database.
func (m *copied) ask(ctx context.Context, ask pgvector.Ask) (pgvector.Found, error) {
	c := &m.engine.copies
	found, err := askCopies(ctx, c, m.left, func(ctx context.Context) (pgvector.Found, error) { return c.store.Search(ctx, ask) })
	if err != nil {
		if !errors.Is(err, errBusy) {
			c.failed(ctx, m.row.ID, err, false)
		}
		return found, fmt.Errorf("%w: %w", errCopy, err)
	}
	c.answered.Add(1)
	return found, nil
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
	found, err := m.ask(ctx, ask)
	if err != nil {
		return nil, err
	}
	hits, have := make([]vector.Hit, 0, len(found.Rows)), make(map[int64]struct{}, len(found.Rows))
	for _, r := range found.Rows {
		if _, twice := have[r.Chunk]; !twice {
			have[r.Chunk] = struct{}{}
			hits = append(hits, vector.Hit{Chunk: r.Chunk, Document: r.Document, Similarity: min(1, max(0, r.Similarity))})
		}
	}
	chunks := m.held.Chunks
	if m.lacking != nil {
		more, err := scan(ctx, m.engine, func() ([]vector.Hit, error) {
			all, err := m.lacking.All(v, f)
			return all.Hits(), err
		})
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
