// Package search finds the chunks of a context that are closest to a prompt, and answers questions from them: for the doors, whose
// callers the resolvers have let in, and for the steps of runs.
package search

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/chunk"
	"canopy/internal/models/embed"
	"canopy/internal/models/lexical"
	"canopy/internal/models/static"
	"canopy/internal/passage"
	"canopy/internal/problem"
	"canopy/internal/quota"
	"canopy/internal/share"
	"canopy/internal/vector"
)

// Mode says what a search compares.
type Mode string

// The modes: the vectors of the context's model, shared words, or both together.
const (
	Semantic Mode = "SEMANTIC"
	Lexical  Mode = "LEXICAL"
	Hybrid   Mode = "HYBRID"
)

// Modes lists them.
var Modes = []Mode{Semantic, Lexical, Hybrid}

// Hit is a found chunk.
type Hit struct {
	// Similarity is the cosine with the prompt, 0 to 1; of a HYBRID search the weighted sum of both
	// likenesses, each relative to the greatest of its kind.
	Similarity float64
	// Relevance tells how likely it is that the hit answers the prompt, 0 to 1, whatever was compared.
	Relevance float64
	Content   string
	Chunk     *db.Chunk
	Passage   Passage
	// Highlights are the words of Content that were looked for, in order.
	Highlights []Span
	// ContextID is the context that the chunk was found in.
	ContextID int64
}

// Engine searches contexts. Find asks nobody who may: its callers have read the context within the
// scope of whom they search for.
type Engine struct {
	Models
	store   *db.Store
	vectors *vector.Cache
	loads   *share.Gate[int64]
	scans   *share.Gate[int64]
	answers *share.Gate[int64]
	journal *journal
	// answerTime is how long a model may take for an answer, with all waiting for it.
	answerTime time.Duration
	// rerankFrom is when the reranker is asked again that has failed, in nanoseconds of Unix time.
	rerankFrom atomic.Int64
	// giving tells that memory is about to be given back.
	giving atomic.Bool
	known  knownContexts
	behind behindSearches
	// largeContext is as the constant; tests have smaller ones.
	largeContext int64
	// compared counts the searches by meaning in which all was compared.
	compared atomic.Int64
	copies   copies
}

// New makes an engine with the models of a server. vectors bounds the memory of the indexes that are
// kept.
func New(store *db.Store, models Models, vectors *vector.Cache) *Engine {
	return &Engine{Models: models, store: store, vectors: vectors, loads: share.NewGate[int64](loadPlaces), scans: share.NewGate[int64](scanPlaces), answers: newAnswers(), journal: newJournal(store), answerTime: answerTime, largeContext: largeContext}
}

// Stats tells of the indexes that are kept.
func (e *Engine) Stats() vector.Stats { return e.vectors.Stats() }

// Forget drops what is kept of a deleted context.
func (e *Engine) Forget(contextID int64) { e.vectors.Forget(contextID) }

// Find gives the chunks of a context's ready documents that are closest to a prompt, best first. An
// error is a *problem.Error, or nothing for a caller to see.
func (e *Engine) Find(ctx context.Context, row *db.Context, q Query) ([]*Hit, error) {
	hits, err := e.find(ctx, row, q, e.chunksOf(row.ID))
	if err == nil {
		e.journal.note(ctx, row, q, hits)
	}
	return hits, err
}

func (e *Engine) find(ctx context.Context, row *db.Context, q Query, read reading) ([]*Hit, error) {
	filter, predicate, err := q.filter(row)
	if err == nil && predicate != "" {
		err = e.fit(ctx, []int64{row.ID}, predicate, &filter)
	}
	if err != nil {
		return nil, err
	}
	top := filter.Top
	filter.Top = e.candidates(top)
	hits, judge, err := e.rank(ctx, row, &sought{text: q.Prompt}, q.mode(row), filter)
	if err != nil || len(hits) == 0 {
		return []*Hit{}, err
	}
	list, err := e.read(ctx, q, hits, func(int64) found { return found{row, judge} }, read)
	if err != nil {
		return nil, err
	}
	return e.rerank(ctx, q, list, top), nil
}

// sought is what is looked for. It is embedded once by each model, in however many contexts it is.
type sought struct {
	text    string
	vectors map[string][]float32
	// asked is the text as the words of several contexts weigh it together, by their ids; nil where one context is searched.
	asked map[int64]*vector.Asked
}

// fit bounds a filter to the documents whose attributes fit a predicate: which documents count is known before any is ranked.
func (e *Engine) fit(ctx context.Context, contexts []int64, predicate string, f *vector.Filter) error {
	ids, err := e.store.FittingDocuments(ctx, contexts, predicate)
	if err != nil {
		return err
	}
	fitting := make(map[int64]struct{}, len(ids))
	for _, id := range ids {
		if f.Documents == nil {
			fitting[id] = struct{}{}
		} else if _, named := f.Documents[id]; named {
			fitting[id] = struct{}{}
		}
	}
	f.Documents = fitting
	return nil
}

// FindFor is Find for a run, in a context of the run's company that its starter may read at this moment.
// Any other is not there.
func (e *Engine) FindFor(ctx context.Context, run *db.Run, contextID int64, q Query) ([]*Hit, error) {
	desk, err := e.store.DeskOfRun(ctx, run, contextID)
	var row *db.Context
	if err == nil {
		row, err = e.store.Context(ctx, desk, contextID)
	}
	if errors.Is(err, db.ErrNoRows) {
		return nil, noContext(contextID)
	}
	if err != nil {
		return nil, err
	}
	return e.Find(ctx, row, q)
}

// rank ranks the chunks of a context, and gives what tells how relevant they are.
func (e *Engine) rank(ctx context.Context, row *db.Context, p *sought, mode Mode, f vector.Filter) ([]vector.Hit, *judge, error) {
	if err := e.need(row.EmbeddingModel); err != nil && mode != Lexical {
		return nil, nil, err
	}
	switch {
	case mode == Lexical, lexical.Named(row.EmbeddingModel) != nil:
		return e.rankWords(ctx, row, p, f)
	case row.EmbeddingModel == static.Name:
		return e.rankBlend(ctx, row, p, f)
	case mode == Hybrid:
		return e.rankBoth(ctx, row, p, f)
	}
	hits, err := byMeaning(ctx, e, row, p, func(m finder, v []float32) ([]vector.Hit, error) { return m.Nearest(ctx, v, f) })
	return hits, &judge{odds: byMeanings}, err
}

func (e *Engine) rankWords(ctx context.Context, row *db.Context, p *sought, f vector.Filter) ([]vector.Hit, *judge, error) {
	hits, asked, err := e.byWords(ctx, row, p, func(a *vector.Asked) []vector.Hit { return a.Search(f) })
	return hits, &judge{byWords[lexical.For(row.EmbeddingModel)], asked}, err
}

// byWords searches the index of a context's words.
func (e *Engine) byWords(ctx context.Context, row *db.Context, p *sought, search func(*vector.Asked) []vector.Hit) (hits []vector.Hit, asked *vector.Asked, err error) {
	var x *vector.Sparse
	if asked = p.asked[row.ID]; asked == nil {
		if x, err = e.wordsFor(ctx, row, p.text); err != nil {
			return nil, nil, err
		}
	}
	hits, err = scan(ctx, e, func() ([]vector.Hit, error) {
		if asked == nil {
			asked = x.AskText(p.text)
		}
		return search(asked), nil
	})
	return hits, asked, err
}

// scanPlaces is how many indexes are searched through at the same time. Each keeps a processor busy, and one branch alone gets half of
// the places: as many as there are processors.
var scanPlaces = 2 * max(2, runtime.GOMAXPROCS(0))

// scan searches through an index, or looks through what was found in one, when it is the turn of the branch for which that is done.
func scan[T any](ctx context.Context, e *Engine, do func() (T, error)) (out T, err error) {
	if branch := access.BranchOf(ctx); branch != 0 {
		if err := e.scans.Enter(ctx, branch); err != nil {
			return out, err
		}
		defer e.scans.Leave(branch)
	}
	return do()
}

// byMeaning searches the dense vectors of a context, if it has any, for the prompt's.
func byMeaning[T any](ctx context.Context, e *Engine, row *db.Context, p *sought, search func(finder, []float32) (T, error)) (none T, err error) {
	m, err := e.finderOf(ctx, row)
	if err != nil || m == nil {
		return none, err
	}
	v, err := e.embed(ctx, row, p)
	if err == nil {
		var found T
		if found, err = search(m, v); err == nil {
			return found, nil
		}
	}
	var full *problem.Error
	switch {
	case ctx.Err() != nil:
		return none, ctx.Err()
	case errors.As(err, &full):
		return none, err
	case errors.Is(err, vector.ErrDimensions), errors.Is(err, embed.ErrDimensions):
		return none, problem.Bad("the embedding model %q gives vectors of another length than those of the context: process its documents anew (reprocessContext)",
			row.EmbeddingModel).With("model_changed")
	}
	return none, problem.Away("the embedding model "+row.EmbeddingModel, err)
}

// embed gives the vector of what is sought by a context's model.
func (e *Engine) embed(ctx context.Context, row *db.Context, p *sought) ([]float32, error) {
	model := e.Dense(row.EmbeddingModel)
	if v := p.vectors[model.Name()]; v != nil {
		return v, nil
	}
	if model.Metered() {
		if err := e.spend(ctx, row, p.text); err != nil {
			return nil, err
		}
	}
	vectors, err := model.Embed(ctx, []string{p.text})
	if err != nil {
		return nil, err
	}
	if p.vectors == nil {
		p.vectors = map[string][]float32{}
	}
	p.vectors[model.Name()] = vectors[0]
	return vectors[0], nil
}

// spend counts the tokens of a prompt against the day of the context's company.
func (e *Engine) spend(ctx context.Context, row *db.Context, prompt string) error {
	tokens, err := chunk.Count(prompt)
	if err != nil {
		return err
	}
	return e.store.Spend(ctx, row.AccountID, quota.EmbeddingTokensPerDay, int64(tokens))
}

// rankBoth ranks by the context's model and by shared words together.
func (e *Engine) rankBoth(ctx context.Context, row *db.Context, p *sought, f vector.Filter) ([]vector.Hit, *judge, error) {
	return e.rankSum(ctx, row, p, f, func(dense *vector.Compared, words []vector.Hit) []vector.Hit {
		return vector.Fuse(f, float32(row.DenseWeight), dense, words)
	})
}

// rankBlend ranks by the embedded models of meanings and of words together.
func (e *Engine) rankBlend(ctx context.Context, row *db.Context, p *sought, f vector.Filter) ([]vector.Hit, *judge, error) {
	return e.rankSum(ctx, row, p, f, func(dense *vector.Compared, words []vector.Hit) []vector.Hit {
		return vector.Blend(f, static.Share, dense, words)
	})
}

// rankSum ranks by the sum of what the context's model and shared words tell.
func (e *Engine) rankSum(ctx context.Context, row *db.Context, p *sought, f vector.Filter, sum func(*vector.Compared, []vector.Hit) []vector.Hit) ([]vector.Hit, *judge, error) {
	dense, words, judge, err := e.both(ctx, row, p, f)
	if err != nil {
		return nil, nil, err
	}
	hits, err := scan(ctx, e, func() ([]vector.Hit, error) { return sum(dense, words), nil })
	return hits, judge, err
}

// both gives all that the context's model finds, and all that shared words find: a chunk's similarity does not depend on how
// many hits are asked for.
func (e *Engine) both(ctx context.Context, row *db.Context, p *sought, f vector.Filter) (dense *vector.Compared, words []vector.Hit, j *judge, err error) {
	f.MinScore = 0 // the threshold bounds the sum
	j = &judge{odds: oddsOf(row.EmbeddingModel)}
	if words, j.asked, err = e.byWords(ctx, row, p, func(a *vector.Asked) []vector.Hit { return a.All(f) }); err != nil {
		return nil, nil, nil, err
	}
	if lexical.Named(row.EmbeddingModel) == nil {
		dense, err = byMeaning(ctx, e, row, p, func(m finder, v []float32) (*vector.Compared, error) { return m.ToFuse(ctx, v, f, words) })
	}
	return dense, words, j, err
}

// found is where a chunk was found, and what tells how relevant it is.
type found struct {
	row *db.Context
	*judge
}

// read gives the content of hits, in their order, with what the prompt looks for in each, but for those that are not relevant enough.
func (e *Engine) read(ctx context.Context, q Query, hits []vector.Hit, of func(chunk int64) found, read reading) ([]*Hit, error) {
	ids := make([]int64, len(hits))
	for i, h := range hits {
		ids[i] = h.Chunk
	}
	chunks, err := read(ctx, ids)
	if err != nil {
		return nil, err
	}
	return e.tell(ctx, q, hits, chunks, of)
}

// reading reads the chunks that were found by their ids.
type reading func(ctx context.Context, ids []int64) (map[int64]*db.Chunk, error)

// chunksOf reads chunks of some contexts.
func (e *Engine) chunksOf(contexts ...int64) reading {
	return func(ctx context.Context, ids []int64) (map[int64]*db.Chunk, error) {
		return e.store.FoundChunks(ctx, contexts, ids)
	}
}

// tell is lookThrough by turns of branches.
func (e *Engine) tell(ctx context.Context, q Query, hits []vector.Hit, chunks map[int64]*db.Chunk, of func(chunk int64) found) ([]*Hit, error) {
	return scan(ctx, e, func() ([]*Hit, error) { return q.lookThrough(ctx, hits, chunks, of) })
}

// lookThrough tells of each hit what the prompt looks for in it, and how relevant it is. That can be more work than finding it.
func (q Query) lookThrough(ctx context.Context, hits []vector.Hit, chunks map[int64]*db.Chunk, of func(chunk int64) found) ([]*Hit, error) {
	list, looked := make([]*Hit, 0, len(hits)), passage.For(q.Prompt)
	for _, h := range hits {
		k := chunks[h.Chunk]
		if k == nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		in := of(k.ID)
		hit := &Hit{Similarity: float64(h.Similarity), Content: k.Content, Chunk: k, ContextID: in.row.ID}
		mark(hit, looked)
		hit.Relevance = in.relevance(h, &hit.Passage)
		if q.MinRelevance == nil || hit.Relevance >= *q.MinRelevance {
			list = append(list, hit)
		}
	}
	return list, nil
}

func noContext(id int64) error { return problem.Missing("there is no context %d", id) }
