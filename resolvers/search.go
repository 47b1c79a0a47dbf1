package resolvers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/embed"
	"canopy/internal/embed/lexical"
	"canopy/internal/problem"
	"canopy/internal/relay"
	"canopy/internal/vector"
)

// SearchMode says what a search compares.
type SearchMode string

// The modes: the vectors of the context's model, shared words, or both rankings fused.
const (
	SearchSemantic SearchMode = "SEMANTIC"
	SearchLexical  SearchMode = "LEXICAL"
	SearchHybrid   SearchMode = "HYBRID"
)

// MarshalGQL writes the enum's value.
func (m SearchMode) MarshalGQL(w io.Writer) { _, _ = io.WriteString(w, strconv.Quote(string(m))) }

// UnmarshalGQL reads the enum's value, which the schema has checked.
func (m *SearchMode) UnmarshalGQL(v any) error {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("a search mode is a string")
	}
	*m = SearchMode(s)
	return nil
}

// The bounds of a search: the prompt in characters, the documents it may name, and how deep the two
// rankings of a fusion go for each hit asked for.
const (
	maxSearchPrompt    = 32_000
	maxSearchDocuments = 1000
	fusionDepth        = 4
)

// SearchHit is a found chunk.
type SearchHit struct {
	// Similarity is the cosine with the prompt, 0 to 1; of a HYBRID search the sum of the reciprocal
	// ranks.
	Similarity float64
	Content    string
	Chunk      *db.Chunk
}

// SearchQuery is a search of one context; nil stands for the context's own setting, for the mode
// SEMANTIC, and for all documents.
type SearchQuery struct {
	ContextID      relay.ID
	Prompt         string
	TopN           *int
	ScoreThreshold *float64
	Mode           *SearchMode
	DocumentIDs    []*relay.ID
}

// SearchContext finds the chunks of a context's ready documents that are closest to a prompt, best
// first.
func (q Query) SearchContext(ctx context.Context, contextID relay.ID, prompt string, topN *int, scoreThreshold *float64,
	mode SearchMode, documentIDs []*relay.ID,
) ([]*SearchHit, error) {
	return q.Search(ctx, SearchQuery{contextID, prompt, topN, scoreThreshold, &mode, documentIDs})
}

// Search is SearchContext for callers in Go.
func (q Query) Search(ctx context.Context, in SearchQuery) ([]*SearchHit, error) {
	c, err := q.assistant(ctx, access.ContextRead)
	if err != nil {
		return nil, err
	}
	row, err := q.aContext(ctx, c, in.ContextID, "contextId")
	if err != nil {
		return nil, err
	}
	filter, err := searchFilter(row, in)
	if err != nil {
		return nil, err
	}
	hits, err := q.find(ctx, row, in.Prompt, or(in.Mode, SearchSemantic), filter)
	if err != nil || len(hits) == 0 {
		return []*SearchHit{}, err
	}
	return q.read(ctx, row, hits)
}

// searchFilter checks a search and completes it with the context's settings.
func searchFilter(row *db.Context, in SearchQuery) (f vector.Filter, err error) {
	var v check
	if strings.TrimSpace(in.Prompt) == "" {
		v.fault("prompt", "must not be empty")
	}
	v.text("prompt", in.Prompt, maxSearchPrompt)
	if n := or(in.TopN, 1); n < 1 || n > maxTopN {
		v.fault("topN", "must be 1 to %d", maxTopN)
	}
	v.fraction("scoreThreshold", in.ScoreThreshold)
	if len(in.DocumentIDs) > maxSearchDocuments {
		v.fault("documentIds", "has more than %d entries", maxSearchDocuments)
	}
	if in.DocumentIDs != nil {
		f.Documents = make(map[int64]struct{}, len(in.DocumentIDs))
	}
	for i, id := range in.DocumentIDs {
		n, err := id.Of("Document", fmt.Sprintf("documentIds[%d]", i))
		if err != nil {
			return f, err
		}
		f.Documents[n] = struct{}{}
	}
	f.Top = or(in.TopN, row.TopN)
	f.MinScore = float32(or(in.ScoreThreshold, row.ScoreThreshold))
	return f, v.err()
}

// find ranks the chunks of a context. A chunk without any likeness is listed only where the threshold
// is 0, and by shared words never.
func (q Query) find(ctx context.Context, row *db.Context, prompt string, mode SearchMode, f vector.Filter) ([]vector.Hit, error) {
	if err := q.needModel(row.EmbeddingModel); err != nil && mode != SearchLexical {
		return nil, err
	}
	if mode == SearchHybrid && row.EmbeddingModel == lexical.Name {
		mode = SearchSemantic // one model, one ranking
	}
	switch mode {
	case SearchLexical:
		return q.findWords(ctx, row, prompt, f)
	case SearchHybrid:
		return q.findBoth(ctx, row, prompt, f)
	}
	f.Zeros = true
	if row.EmbeddingModel == lexical.Name {
		return q.findWords(ctx, row, prompt, f)
	}
	return q.findMeaning(ctx, row, prompt, f)
}

func (q Query) findWords(ctx context.Context, row *db.Context, prompt string, f vector.Filter) ([]vector.Hit, error) {
	x, err := q.sparseIndex(ctx, row)
	if err != nil {
		return nil, err
	}
	return x.Search(lexical.Embed(prompt), f), nil
}

func (q Query) findMeaning(ctx context.Context, row *db.Context, prompt string, f vector.Filter) ([]vector.Hit, error) {
	x, err := q.denseIndex(ctx, row)
	if err != nil || x == nil || x.Len() == 0 {
		return nil, err
	}
	vectors, err := q.Embeddings.Embed(ctx, []string{prompt})
	if err == nil {
		var hits []vector.Hit
		if hits, err = x.Search(vectors[0], f); err == nil {
			return hits, nil
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, vector.ErrDimensions), errors.Is(err, embed.ErrDimensions):
		return nil, problem.Bad("the embedding model %q gives vectors of another length than those of the context: process its documents anew (reprocessContext)",
			clip(row.EmbeddingModel)).With("model_changed")
	}
	return nil, problem.Away("the embedding model "+row.EmbeddingModel, err)
}

// findBoth fuses the two rankings. The threshold is the dense model's.
func (q Query) findBoth(ctx context.Context, row *db.Context, prompt string, f vector.Filter) ([]vector.Hit, error) {
	top := f.Top
	f.Top = max(50, top*fusionDepth)
	dense, err := q.findMeaning(ctx, row, prompt, f)
	if err != nil {
		return nil, err
	}
	f.MinScore = 0
	words, err := q.findWords(ctx, row, prompt, f)
	return vector.Fuse(top, dense, words), err
}

// read gives the content of hits, in their order.
func (q Query) read(ctx context.Context, row *db.Context, hits []vector.Hit) ([]*SearchHit, error) {
	ids := make([]int64, len(hits))
	for i, h := range hits {
		ids[i] = h.Chunk
	}
	found, err := q.Store.FoundChunks(ctx, row.ID, ids)
	if err != nil {
		return nil, err
	}
	list := make([]*SearchHit, 0, len(hits))
	for _, h := range hits {
		if k := found[h.Chunk]; k != nil {
			list = append(list, &SearchHit{Similarity: float64(h.Similarity), Content: k.Content, Chunk: k})
		}
	}
	return list, nil
}

// SearchHitEdges resolves the edge of a hit.
type SearchHitEdges struct{ *Resolver }

// Document is the document that the hit is a piece of.
func (e SearchHitEdges) Document(ctx context.Context, obj *SearchHit) (*db.Document, error) {
	return ChunkEdges(e).Document(ctx, obj.Chunk)
}
