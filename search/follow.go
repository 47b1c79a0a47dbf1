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
)

// CopyProgress tells how far copies are.
type CopyProgress struct {
	// Contexts are copied or to be copied; Whole are those of which all is there.
	Contexts, Whole int
	// Chunks are held, of those Wanted.
	Chunks, Wanted int64
}

type progress struct {
	mu  sync.Mutex
	now CopyProgress
}

// CopyProgress tells how far the copies were when this process last looked.
func (e *Engine) CopyProgress() CopyProgress {
	e.copies.progress.mu.Lock()
	defer e.copies.progress.mu.Unlock()
	return e.copies.progress.now
}

// FollowCopies brings the copies that there are up to date with the changes of their contexts, and forgets those of contexts that are gone, or have become
// small. What is wrong with one keeps no other. Any number of processes may do so.
func (e *Engine) FollowCopies(ctx context.Context) error { return e.follow(ctx, false) }

// CheckCopies compares the copies that there are with all that they are to hold.
func (e *Engine) CheckCopies(ctx context.Context) error { return e.follow(ctx, true) }

func (e *Engine) follow(ctx context.Context, all bool) (failed error) {
	held, err := e.copies.store.All(ctx)
	if err != nil {
		return fmt.Errorf("CANOPY_VECTOR_URL: %w", err)
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
	for _, h := range held {
		row, is := rows[h.Context]
		switch {
		case !is, h.Version > 0 && h.Chunks < e.copies.from/2:
			err = e.dropCopy(ctx, h.Context)
		case !of(h, row), !all && h.Version == row.Searched: // the first takes its time: FindLarge does it
			continue
		default:
			err = e.copyContext(ctx, row, all)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// of tells whether a copy is whole, and of the vectors that its context has.
func of(held pgvector.State, row db.VectorContext) bool {
	return held.Version > 0 && held.Model == row.Model && held.Dimensions == row.Dimensions
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

// FindLarge looks for large contexts that have no copy, or not a whole one, and copies them.
func (e *Engine) FindLarge(ctx context.Context) (failed error) {
	for after := int64(0); ; {
		list, err := e.store.LargeContexts(ctx, after, lookedThrough, e.copies.from)
		if err != nil || len(list) == 0 {
			return errors.Join(failed, err)
		}
		for _, row := range list {
			after = row.ID
			if row.Chunks < e.copies.from || row.Dimensions > pgvector.MostDimensions {
				continue
			}
			held, err := e.copies.store.State(ctx, row.ID)
			if errors.Is(err, pgvector.ErrNone) || err == nil && !of(held, row) {
				err = e.copyContext(ctx, row, false)
			}
			failed = errors.Join(failed, err)
		}
	}
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
	if err = notMine(err); err != nil {
		err = fmt.Errorf("copy the vectors of context %d: %w", row.ID, err)
	}
	return err
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
	return t.Settle(ctx, c.wanted.History, c.wanted.Version)
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
