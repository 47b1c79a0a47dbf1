package search

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"canopy/db"
	"canopy/db/pgvector"
	"canopy/internal/vector"
)

const (
	// lookedThrough is how many contexts are looked through by one statement for large ones.
	lookedThrough = 5000
	// addAtOnce is how many vectors are added to a copy in a transaction: an index takes some milliseconds for each.
	addAtOnce = 100
	// lookPatience is how long the database may take to tell which copies it has.
	lookPatience = 10 * time.Second
)

// CopyProgress tells how far copies are.
type CopyProgress struct {
	// Contexts are copied or to be copied; Whole are those of which all is there.
	Contexts, Whole int
	// Chunks are held, of those Wanted.
	Chunks, Wanted int64
	// Faults counts how often this process could not bring one up to date. Away tells that their database did not answer when it was asked last, for a search.
	Faults int64
	Away   bool
}

type progress struct {
	mu  sync.Mutex
	now CopyProgress
}

// CopyProgress tells how far the copies were when this process last looked.
func (e *Engine) CopyProgress() CopyProgress {
	e.copies.progress.mu.Lock()
	defer e.copies.progress.mu.Unlock()
	now := e.copies.progress.now
	now.Faults, now.Away = e.copies.working.faults.Load(), e.copies.known.isAway()
	return now
}

// FollowCopies begins to bring the copies up to date that are behind their contexts, of which FindLarge has made the first rows, and to forget those of
// contexts that are gone, or have become small. It does not wait for that (AwaitCopies). Any number of processes may do so.
func (e *Engine) FollowCopies(ctx context.Context) error {
	held, err := e.allCopies(ctx)
	if err != nil {
		return err
	}
	ids := make([]int64, len(held))
	for i, h := range held {
		ids[i] = h.Context
	}
	e.copies.progress.tell(held)
	there, err := e.store.VectorContexts(ctx, ids)
	if err != nil {
		return err
	}
	rows := make(map[int64]db.VectorContext, len(there))
	for _, row := range there {
		rows[row.ID] = row
	}
	first := e.copies.working.next(len(held))
	for i := range held { // each time from another on, as there may be more than there are places
		h := held[(first+i)%len(held)]
		row, is := rows[h.Context]
		switch {
		case !is, h.Version > 0 && h.Chunks < e.copies.From/2:
			e.begin(ctx, h.Context, row.AccountID, func(ctx context.Context) error { return e.dropCopy(ctx, h.Context) })
		case of(h, row) && h.Version == row.Searched && h.History == row.History && !h.Unchecked:
		default:
			e.begin(ctx, row.ID, row.AccountID, func(ctx context.Context) error { return e.copyContext(ctx, row, h.Unchecked) })
		}
	}
	return nil
}

func (e *Engine) allCopies(ctx context.Context) ([]pgvector.State, error) {
	held, err := within(ctx, lookPatience, e.copies.store.All)
	if err != nil {
		err = fmt.Errorf("CANOPY_VECTOR_URL: %w", err)
	}
	return held, err
}

// of tells whether a copy is whole, and of the vectors that its context has.
func of(held pgvector.State, row db.VectorContext) bool {
	return held.There && held.Version > 0 && held.Model == row.Model && held.Dimensions == row.Dimensions
}

func (p *progress) tell(held []pgvector.State) {
	now := CopyProgress{Contexts: len(held)}
	for _, h := range held {
		if h.Version > 0 {
			now.Whole++
		}
		now.Chunks += h.Chunks
		now.Wanted += max(h.Chunks, h.Wanted)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = now
}

// FindLarge looks for large contexts that have no copy, and makes the row of one, which FollowCopies fills; and it begins to forget copies that were never
// whole, of contexts that are not large any more.
func (e *Engine) FindLarge(ctx context.Context) error {
	held, err := e.allCopies(ctx)
	if err != nil {
		return err
	}
	left, known := map[int64]struct{}{}, make(map[int64]struct{}, len(held))
	for _, h := range held {
		known[h.Context] = struct{}{}
		if h.Version == 0 {
			left[h.Context] = struct{}{}
		}
	}
	for after := int64(0); ; {
		list, err := e.store.LargeContexts(ctx, after, lookedThrough, e.copies.From)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			break
		}
		for _, row := range list {
			after = row.ID
			if row.Chunks < e.copies.From || row.Dimensions > pgvector.MostDimensions {
				continue
			}
			delete(left, row.ID)
			if _, is := known[row.ID]; !is {
				if err := e.registerCopy(ctx, row); err != nil {
					return err
				}
			}
		}
	}
	for id := range left {
		e.begin(ctx, id, 0, func(ctx context.Context) error { return e.dropCopy(ctx, id) })
	}
	return nil
}

// registerCopy makes the row of a copy.
func (e *Engine) registerCopy(ctx context.Context, row db.VectorContext) error {
	_, err := within(ctx, lookPatience, func(ctx context.Context) (struct{}, error) {
		t, err := e.copies.store.Take(ctx, row.ID, row.Model, row.Dimensions)
		if err == nil {
			err = errors.Join(t.Want(ctx, row.Chunks), t.Release(context.WithoutCancel(ctx)))
		}
		return struct{}{}, err
	})
	return notMine(err)
}

func (e *Engine) dropCopy(ctx context.Context, id int64) error {
	t, err := e.copies.store.TakeHeld(ctx, id)
	if err != nil {
		return notMine(err)
	}
	return notMine(t.Drop(ctx))
}

// notMine passes over what somebody else is at.
func notMine(err error) error {
	if errors.Is(err, pgvector.ErrBusy) || errors.Is(err, pgvector.ErrLost) {
		return nil
	}
	return err
}

// copyContext brings the copy of a context up to date.
func (e *Engine) copyContext(ctx context.Context, row db.VectorContext, all bool) error {
	t, err := e.copies.store.Take(ctx, row.ID, row.Model, row.Dimensions)
	if err == nil {
		e.copies.known.note(row.ID)
		c := &copying{engine: e, turn: t}
		err = errors.Join(c.run(ctx, all), t.Release(context.WithoutCancel(ctx)))
	}
	if errors.Is(err, db.ErrNoRows) { // it was deleted meanwhile: the next look forgets it
		return nil
	}
	return notMine(err)
}

// copying is one turn of bringing a copy up to date.
type copying struct {
	engine *Engine
	turn   *pgvector.Turn
	wanted *db.Copied
	// rows are those of the document at work that are not added yet.
	document pgvector.Document
	rows     pgvector.Rows
}

func (c *copying) run(ctx context.Context, all bool) (err error) {
	t, since := c.turn, c.turn.Version
	if all {
		since = 0
	}
	if c.wanted, err = c.engine.store.Copied(ctx, t.Context, t.Model, t.History, since, false); err != nil {
		return err
	}
	add, remove, err := c.differences(ctx)
	if err != nil {
		return err
	}
	begun := time.Now()
	if !c.wanted.Partial && len(add) > 0 {
		if err := t.Want(ctx, c.wanted.Chunks); err != nil {
			return err
		}
		slog.InfoContext(ctx, "vectors are copied", "context", t.Context, "documents", len(add), "chunks", c.wanted.Chunks)
	}
	if err := t.Remove(ctx, remove); err != nil {
		return err
	}
	for _, id := range add {
		if err := c.add(ctx, id); err != nil {
			return err
		}
	}
	if !c.wanted.Partial && len(add) > 0 {
		slog.InfoContext(ctx, "vectors were copied", "context", t.Context, "documents", len(add), "took", time.Since(begun).Round(time.Millisecond))
	}
	if err := t.Settle(ctx, c.wanted.History, c.wanted.Version, !c.wanted.Partial); err != nil {
		return err
	}
	return c.words(ctx)
}

// differences tells which documents the copy lacks, and which it holds that it should not, or only a part of.
func (c *copying) differences(ctx context.Context) (add, remove []int64, err error) {
	var some []int64
	if c.wanted.Partial {
		if some = unique(c.wanted.Changed); len(some) == 0 {
			return nil, nil, nil
		}
	}
	held, err := c.turn.Documents(ctx, some)
	if err != nil {
		return nil, nil, err
	}
	have := make(map[int64]struct{}, len(held))
	for _, d := range held {
		if revision, is := c.wanted.Documents[d.ID]; is && d.Whole && d.Revision == revision && d.Stamp == c.wanted.Stamps[d.ID] {
			have[d.ID] = struct{}{}
		} else {
			remove = append(remove, d.ID)
		}
	}
	for id := range c.wanted.Documents {
		if _, is := have[id]; !is {
			add = append(add, id)
		}
	}
	return unique(add), unique(remove), nil
}

// add copies the vectors of a document.
func (c *copying) add(ctx context.Context, id int64) error {
	revision, dimensions := c.wanted.Documents[id], c.turn.Dimensions
	c.document, c.rows = pgvector.Document{ID: id, Revision: revision, Stamp: c.wanted.Stamps[id]}, pgvector.Rows{}
	one, each := map[int64]int64{id: revision}, func(chunk int64, v []float32) error { return c.take(ctx, chunk, v) }
	var err error
	if c.wanted.Unpacked[id] {
		err = c.engine.store.StreamVectors(ctx, true, one, func(v db.VectorRow) error {
			unit, err := vector.Unit(vector.AppendFloats(nil, v.Vector), dimensions)
			if errors.Is(err, vector.ErrDimensions) {
				return nil // of a length that the context had before: its document is processed anew
			}
			if err != nil {
				return err
			}
			return each(v.Chunk, unit)
		})
	} else {
		err = c.engine.store.StreamBlocks(ctx, true, one, func(b db.Block) error {
			if err := vector.EachDense(b.Bytes, b.Chunks, dimensions, each); !errors.Is(err, vector.ErrDimensions) {
				return err
			}
			return nil // as above
		})
	}
	if err != nil {
		return err
	}
	c.document.Whole = true
	return c.turn.Add(ctx, c.document, c.rows)
}

func (c *copying) take(ctx context.Context, chunk int64, v []float32) error {
	c.rows.Add(chunk, v)
	if len(c.rows.Chunks) < addAtOnce {
		return nil
	}
	err := c.turn.Add(ctx, c.document, c.rows)
	c.rows = pgvector.Rows{}
	return err
}
