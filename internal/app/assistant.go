package app

import (
	"context"
	"fmt"
	"time"

	"canopy/db"
	"canopy/db/pgvector"
	"canopy/internal/blob"
	"canopy/internal/chunk"
	"canopy/internal/extract"
	"canopy/internal/models/chat"
	"canopy/internal/models/embed"
	"canopy/internal/models/openai"
	"canopy/internal/models/rerank"
	"canopy/internal/vector"
	"canopy/jobs"
	"canopy/search"
)

// indexTimeout bounds the loading of one search index.
const indexTimeout = 60 * time.Second

// copyPatience is how long a search waits for the database of vectors to tell what it holds.
const copyPatience = 2 * time.Second

// wireAssistant gives the resolver what contexts need: the document store, the models, the indexes.
func (p *Platform) wireAssistant(ctx context.Context) (err error) {
	r := p.Resolver
	if p.Config.BlobURL != "" {
		if r.Blobs, err = blob.Open(ctx, p.Config.BlobURL); err != nil {
			return fmt.Errorf("CANOPY_BLOB_URL: %w", err)
		}
		if c := p.Store.Cell(); c != nil { // what a cell has is swept by that one alone, even where the home has the same store
			r.Blobs = blob.Below(r.Blobs, db.BlobsOfCell(c.Number))
		}
	}
	var models search.Models
	if e := p.Config.Embeddings; e.URL != "" {
		models.Embeddings, err = embed.NewRemote(embed.Options{
			Server: openai.Config{URL: e.URL, Key: e.APIKey}, Model: e.Model, CountTokens: countTokens,
		})
		if err != nil {
			return fmt.Errorf("CANOPY_EMBEDDINGS_URL: %w", err)
		}
	}
	if c := p.Config.Chat; c.URL != "" {
		if models.Chat, err = chat.New(openai.Config{URL: c.URL, Key: c.APIKey}, c.Model); err != nil {
			return fmt.Errorf("CANOPY_CHAT_URL: %w", err)
		}
	}
	if c := p.Config.Rerank; c.URL != "" {
		if models.Rerank, err = rerank.New(openai.Config{URL: c.URL, Key: c.APIKey}, c.Model); err != nil {
			return fmt.Errorf("CANOPY_RERANK_URL: %w", err)
		}
	}
	r.Chat = models.Chat
	indexes := vector.NewCache(p.Config.VectorCache, indexTimeout)
	if err := keepFiles(indexes, p.Config); err != nil {
		return err
	}
	r.Search = search.New(p.Store, models, indexes)
	if p.Config.VectorURL != "" {
		if p.vectors, err = pgvector.Open(p.Config.VectorURL, p.Config.DBMaxConns); err != nil {
			return err
		}
		r.Search.KeepCopies(ctx, p.vectors, search.Copies{From: int64(p.Config.VectorChunks), Patience: copyPatience})
	}
	return nil
}

// countTokens counts as the usual models do; a text that can't be counted is taken for too long.
func countTokens(text string) int {
	n, err := chunk.Count(text)
	if err != nil {
		return len(text)
	}
	return n
}

// FindOCR looks for the program that reads pictures, where one is configured, before there is a worker.
func (p *Platform) FindOCR(ctx context.Context) (err error) {
	if p.Config.OCRLanguages == "" {
		return nil
	}
	if p.ocr, err = extract.FindTesseract(ctx, p.Config.OCRLanguages); err != nil {
		return fmt.Errorf("CANOPY_OCR: %w", err)
	}
	return nil
}

// documents are the parts that a worker needs for documents; nil where there is no store for them.
func (p *Platform) documents() *jobs.Documents {
	if p.Resolver.Blobs == nil {
		return nil
	}
	runner := extract.NewRunner(extract.RunnerOptions{Parallel: jobs.DocumentPlaces, OCR: p.ocr, Logger: p.Log})
	return &jobs.Documents{Blobs: p.Resolver.Blobs, Extract: runner, Models: p.Resolver.Search.Models}
}
