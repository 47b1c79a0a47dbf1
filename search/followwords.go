package search

import (
	"context"
	"errors"
	"fmt"

	"canopy/db"
	"canopy/db/pgvector"
	"canopy/internal/models/lexical"
	"canopy/internal/vector"
)

// wordsAtOnce is from how many chunks without words on these are taken in: as many as a segment has, or as the smallest context that is copied.
func (c *Copies) wordsAtOnce() int64 { return min(vector.SegmentChunks, c.From) }

// words takes in the words of documents whose vectors are held. A few chunks wait for more: who searches has their words in memory meanwhile.
func (c *copying) words(ctx context.Context) error {
	t := c.turn
	if err := t.DropOutdatedWords(ctx); err != nil {
		return err
	}
	lacking, err := t.WithoutWords(ctx)
	if err != nil {
		return err
	}
	chunks := int64(0)
	for _, d := range lacking {
		chunks += d.Chunks
	}
	if chunks < c.engine.copies.wordsAtOnce() {
		return nil
	}
	w := wording{copying: c, packer: vector.NewFarPacker(lexical.For(t.Model))}
	for _, d := range lacking {
		if err := w.take(ctx, d); err != nil {
			return err
		}
	}
	if err := w.settle(ctx); err != nil || w.last == 0 {
		return err
	}
	if err := t.WordsReady(ctx); err != nil {
		return err
	}
	c.engine.copies.known.noteWords(t.Context, w.last)
	return nil
}

// wording takes documents into batches of words. A document is in one batch, which has a segment or more.
type wording struct {
	*copying
	packer    *vector.FarPacker
	documents []pgvector.Document
	// batch is the one under way, 0 for none; last is the last one that was settled.
	batch, last int64
}

// take takes in the words of a document. One that has none in blocks, as when it was changed meanwhile, is left out.
func (w *wording) take(ctx context.Context, d pgvector.Document) error {
	found := false
	err := w.engine.store.StreamBlocks(ctx, false, map[int64]int64{d.ID: d.Revision}, func(b db.Block) error {
		if !w.packer.Room(len(b.Chunks)) {
			if err := w.flush(ctx); err != nil {
				return err
			}
		}
		err := w.packer.Add(b.Document, b.Chunks, b.Bytes)
		if errors.Is(err, vector.ErrModel) { // of a model that the context had before: its document is processed anew
			return nil
		}
		found = found || err == nil
		return err
	})
	if err != nil {
		return fmt.Errorf("words of document %d: %w", d.ID, err)
	}
	if found {
		w.documents = append(w.documents, d)
	}
	if w.batch != 0 && !w.packer.Room(vector.SegmentChunks/2) {
		return w.settle(ctx)
	}
	return nil
}

// flush writes the segment under way.
func (w *wording) flush(ctx context.Context) (err error) {
	if w.packer.Len() == 0 {
		return nil
	}
	if w.batch == 0 {
		if w.batch, err = w.turn.NewBatch(ctx); err != nil {
			return err
		}
	}
	return w.turn.AddWords(ctx, w.batch, w.packer.Pack())
}

// settle ends the batch under way.
func (w *wording) settle(ctx context.Context) error {
	if err := w.flush(ctx); err != nil || w.batch == 0 {
		return err
	}
	if err := w.turn.SettleWords(ctx, w.batch, w.documents); err != nil {
		return err
	}
	w.last, w.batch, w.documents = w.batch, 0, nil
	return nil
}
