package search

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"canopy/db"
	"canopy/internal/models/lexical"
	"canopy/internal/problem"
	"canopy/internal/share"
	"canopy/internal/vector"
)

// The first search of a large context does not wait for its index: it reads where the words of its question are, and these alone, while the
// index is loaded behind it. One for which there is no room in memory and on the disk is searched like that each time.
const (
	// largeContext is from how many bytes of originals on a context is large: below, its index is there in some ten milliseconds.
	largeContext = 32 << 20
	// mostOutlined is how many documents an outline has at most: blocks of short ones are little more than what tells where everything is.
	mostOutlined = 5000
	// mostBehind is how many indexes are loaded behind searches, or wait for that; the search of another context after them begins anew.
	mostBehind = 64
	// mostSlices is how many parts of blocks are read for a question.
	mostSlices = 20_000
)

// startBytes is how much of a block is read to see where everything is in it; the second is for what needs more.
var startBytes = []int{64 << 10, 512 << 10}

// errNoOutline says that a question has to wait for the index.
var errNoOutline = errors.New("the index is not searched by parts")

// behindSearches are the indexes that are loaded while searches do without them; failed are those of which that did not work.
type behindSearches struct {
	mu            sync.Mutex
	under, failed map[vector.Key]bool
	// tooLarge is when there was no room for an index.
	tooLarge map[vector.Key]time.Time
}

// roomAgain is after how long it is looked again whether there is room for an index.
const roomAgain = 5 * time.Minute

// wordsFor gives an index of a context's words in which a text can be looked for.
func (e *Engine) wordsFor(ctx context.Context, row *db.Context, text string) (*vector.Sparse, error) {
	if x, err := e.farWords(ctx, row, text); err != nil || x != nil {
		return x, err
	}
	key := wordsKey(row)
	if e.vectors.Has(key) || e.behind.hasFailed(key) {
		return e.sparseIndex(ctx, row)
	}
	size, err := e.store.ContextSize(ctx, row.ID)
	if err == nil && size >= e.largeContext {
		x, err := e.someWords(ctx, row, text)
		if !errors.Is(err, errNoOutline) {
			return x, err
		}
	}
	if err != nil && !errors.Is(err, db.ErrNoRows) {
		return nil, err
	}
	return e.sparseIndex(ctx, row)
}

// someWords gives an index in which a text can be looked for, and nothing else.
func (e *Engine) someWords(ctx context.Context, row *db.Context, text string) (*vector.Sparse, error) {
	o, err := e.outline(ctx, row)
	if err != nil {
		return nil, err
	}
	list, ok := o.Slices(lexical.For(row.EmbeddingModel).Embed(text), mostSlices)
	if !ok {
		return nil, errNoOutline
	}
	wanted := make([]db.BlockSlice, len(list))
	for i, s := range list {
		wanted[i] = db.BlockSlice{Document: s.Document, Revision: s.Revision, First: s.First, From: s.From, Length: s.Length}
	}
	read, err := e.store.BlockSlices(ctx, wanted)
	if err != nil {
		return nil, err
	}
	for _, slice := range read {
		if slice == nil { // its document has changed meanwhile
			return nil, errNoOutline
		}
	}
	if e.vectors.Holds(o) {
		e.loadBehind(ctx, row)
	}
	return o.With(list, read)
}

// loadBehind loads the index of a context's words for the searches to come. Where that fails, the next one hears of it; that there is no room is
// found out before more is in memory than may be.
func (e *Engine) loadBehind(ctx context.Context, row *db.Context) {
	key := wordsKey(row)
	if !e.behind.begin(key) {
		return
	}
	ctx = context.WithoutCancel(ctx)
	go func() {
		err := share.Guard(func() error {
			_, err := e.indexOfWords(ctx, row, true)
			return err
		})
		if errors.Is(err, vector.ErrNoRoom) || err == nil && !e.vectors.Has(key) {
			e.behind.hasNoRoom(key)
			err = nil
		}
		e.behind.end(key, err)
	}()
}

// hasNoRoom remembers an index that could not be kept: it would be loaded again for each search.
func (b *behindSearches) hasNoRoom(key vector.Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.tooLarge) >= mostBehind {
		clear(b.tooLarge)
	}
	b.tooLarge[key] = time.Now()
}

func (b *behindSearches) begin(key vector.Key) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.under[key] || len(b.under) >= mostBehind || time.Since(b.tooLarge[key]) < roomAgain {
		return false
	}
	if b.under == nil {
		b.under, b.failed, b.tooLarge = map[vector.Key]bool{}, map[vector.Key]bool{}, map[vector.Key]time.Time{}
	}
	b.under[key] = true
	return true
}

func (b *behindSearches) end(key vector.Key, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.under, key)
	if err == nil || problem.From(err).Code == problem.NotFound { // nobody asks for a context that was deleted
		return
	}
	if len(b.failed) >= mostBehind {
		clear(b.failed) // nobody has asked for those since
	}
	b.failed[key] = true
}

// hasFailed tells once of an index whose loading has failed.
func (b *behindSearches) hasFailed(key vector.Key) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	failed := b.failed[key]
	delete(b.failed, key)
	return failed
}

// outline gives the outline of a context's words.
func (e *Engine) outline(ctx context.Context, row *db.Context) (*vector.Outline, error) {
	key := wordsKey(row)
	key.Kind = vector.KindOutline
	return index(ctx, e, row, key, func(ctx context.Context, from *vector.Outline, at int64, _ *vector.Room) (*vector.Outline, int64, error) {
		state, err := e.store.IndexState(ctx, row.ID, "", at)
		if err != nil {
			return nil, 0, err
		}
		add, remove := changes(from.Documents(), state)
		packed, unpacked := pick(state, add)
		if len(unpacked) > 0 || len(from.Documents())-len(remove)+len(add) > mostOutlined {
			return nil, 0, errNoOutline
		}
		b := vector.NewOutlineBuilder(lexical.For(row.EmbeddingModel), from, remove)
		if err := e.outlineBlocks(ctx, b, packed); err != nil {
			return nil, 0, err
		}
		return b.Build(), state.Version, nil
	})
}

// outlineBlocks takes in the blocks of documents at their revisions.
func (e *Engine) outlineBlocks(ctx context.Context, b *vector.OutlineBuilder, documents map[int64]int64) error {
	type place struct {
		document int64
		first    int
	}
	done := map[place]bool{}
	for _, size := range startBytes {
		longer := map[int64]int64{}
		err := e.store.StreamBlockStarts(ctx, size, documents, func(s db.BlockStart) error {
			at := place{s.Document, s.First}
			if done[at] {
				return nil
			}
			err := b.Add(vector.OutlinedBlock{
				Document: s.Document, Revision: documents[s.Document], First: s.First, Chunks: s.Chunks, Start: s.Bytes, Length: s.Length,
			})
			switch {
			case errors.Is(err, vector.ErrCut):
				longer[s.Document] = documents[s.Document]
			case err != nil && !errors.Is(err, vector.ErrModel): // of a model that the context had before: its document is processed anew
				return fmt.Errorf("document %d: %w", s.Document, err)
			default:
				done[at] = true
			}
			return nil
		})
		if err != nil || len(longer) == 0 {
			return err
		}
		documents = longer
	}
	return errNoOutline
}
