package rest

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"canopy/internal/globalid"
	"canopy/internal/rule"
	"canopy/resolvers"
	"canopy/search"
)

// SearchHit is a found chunk.
type SearchHit struct {
	ID         int64       `json:"id" doc:"The chunk's id"`
	DocID      int64       `json:"docId" doc:"The id of the document that it is a piece of"`
	Content    string      `json:"content"`
	Similarity float64     `json:"similarity" doc:"The cosine similarity, 0 to 1; of a HYBRID search the weighted sum of both likenesses, each relative to the greatest of its kind"`
	Relevance  float64     `json:"relevance" doc:"How likely it is that the hit answers the prompt, 0 to 1, which compares between modes and contexts: of hits at 0.5 about every second one does"`
	Passage    passage     `json:"passage" doc:"The sentences in it that say most of what was looked for"`
	Highlights []highlight `json:"highlights" doc:"The words in it that were looked for, in order; at most 200" nullable:"false"`
}

// passage is a part of a hit's content, and where in the document it stands.
type passage struct {
	Content string  `json:"content"`
	Page    *int    `json:"page" doc:"The page that it begins on; null where there are none"`
	Heading *string `json:"heading" doc:"The headings that it stands under, from the top, joined by \" > \"; null where there are none"`
	Row     *int    `json:"row" doc:"The row that it begins with; null where there are none"`
	Start   int     `json:"start" doc:"Where it begins in the hit's content, in characters (code points)"`
	End     int     `json:"end" doc:"Where it ends"`
}

// highlight is a word in a hit's content.
type highlight struct {
	Start int `json:"start" doc:"Where it begins in the hit's content, in characters (code points)"`
	End   int `json:"end" doc:"Where it ends"`
}

func hitOf(h *search.Hit) SearchHit {
	p := &h.Passage
	return SearchHit{
		ID: h.Chunk.ID, DocID: h.Chunk.DocumentID, Content: h.Content, Similarity: h.Similarity, Relevance: h.Relevance,
		Passage: passage{
			Content: p.Content, Page: resolvers.Known(p.Page), Heading: resolvers.Known(p.Heading), Row: resolvers.Known(p.Row), Start: p.Start, End: p.End,
		},
		Highlights: mapped(h.Highlights, func(s search.Span) highlight { return highlight(s) }),
	}
}

// foundHit is a found chunk of one of several contexts.
type foundHit struct {
	ContextID int64 `json:"contextId" doc:"The id of the context that it was found in"`
	SearchHit
}

// SearchOptions is what to look for, and how.
type SearchOptions struct {
	Prompt           string           `json:"prompt" doc:"What to look for"`
	TopN             *int             `json:"topN,omitempty" doc:"How many hits at most, 1 to 100; the context's own number when left out, of several contexts the largest"`
	ScoreThreshold   *float64         `json:"scoreThreshold,omitempty" doc:"The smallest similarity of a hit, 0 to 1; the context's own when left out"`
	MinRelevance     *float64         `json:"minRelevance,omitempty" doc:"The smallest relevance of a hit, 0 to 1, in every mode; 0 when left out"`
	Mode             *string          `json:"mode,omitempty" enum:"SEMANTIC,LEXICAL,HYBRID" doc:"What to compare; the context's own searchMode when left out, or HYBRID where several contexts differ"`
	Attributes       attributesFilter `json:"attributes,omitempty" doc:"Only documents whose attributes fit" example:"{\"lang\":{\"eq\":\"de\"},\"year\":{\"gte\":2024}}"`
	IncludeUnrelated *bool            `json:"includeUnrelated,omitempty" default:"false" doc:"Lists chunks without any likeness too, after all others, where there is room and the threshold is 0"`
}

// SearchInput is a search of one context.
type SearchInput struct {
	ContextPath
	Body struct {
		SearchOptions
		DocumentIDs []int64 `json:"documentIds,omitempty" doc:"Only these documents; all when left out" nullable:"true"`
	} `nameHint:"SearchRequest"`
}

type searchContextsInput struct {
	Body struct {
		ContextIDs []int64 `json:"contextIds" minItems:"1" maxItems:"20" doc:"The ids of the contexts" nullable:"false"`
		SearchOptions
	} `nameHint:"SearchContextsRequest"`
}

// registerContextSearch registers what is asked of the documents of contexts.
func (a *api) registerContextSearch() {
	add(a, operation{
		id: "searchContext", rule: rule.SearchContext, method: http.MethodPost, path: "/context/relevant-docs/{contextId}", tag: tagContexts,
		errors: []int{http.StatusNotFound}, status: http.StatusOK,
		summary: "Search the documents", description: "The chunks of the context's ready documents that are closest to the prompt, best first; those without any likeness are left out.",
	}, a.search)
	add(a, operation{
		id: "searchContexts", rule: rule.SearchContexts, method: http.MethodPost, path: "/v1/contexts/search", tag: tagContexts,
		errors: []int{http.StatusNotFound}, status: http.StatusOK,
		summary: "Search several contexts", description: "The chunks of the ready documents of several contexts that are closest to the prompt, best first. " +
			"Where the contexts have several models, whose likenesses don't compare, hits are ordered by their part of the greatest that their own model has found.",
	}, a.searchContexts)
}

func (a *api) search(ctx context.Context, in *SearchInput) (*one[[]SearchHit], error) {
	b := &in.Body
	hits, err := a.queries().SearchContext(ctx, in.id(), b.Prompt, b.TopN, b.ScoreThreshold, b.MinRelevance, b.Mode, ids(b.DocumentIDs), b.IncludeUnrelated, b.Attributes.RawMessage)
	if err != nil {
		return nil, err
	}
	return &one[[]SearchHit]{mapped(hits, hitOf)}, nil
}

func (a *api) searchContexts(ctx context.Context, in *searchContextsInput) (*one[[]foundHit], error) {
	b := &in.Body
	hits, err := a.queries().SearchContexts(ctx, ids(b.ContextIDs), b.Prompt, b.TopN, b.ScoreThreshold, b.MinRelevance, b.Mode, b.IncludeUnrelated, b.Attributes.RawMessage)
	if err != nil {
		return nil, err
	}
	return &one[[]foundHit]{mapped(hits, func(h *search.Hit) foundHit { return foundHit{h.ContextID, hitOf(h)} })}, nil
}

// ids are numbers of nodes; nil stays nil.
func ids(list []int64) []*globalid.ID {
	if list == nil {
		return nil
	}
	return mapped(list, func(id int64) *globalid.ID { return &globalid.ID{Int: id} })
}

// attributesFilter is a filter on attributes, which is checked where it is used.
type attributesFilter struct{ json.RawMessage }

// Schema documents it.
func (attributesFilter) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}
