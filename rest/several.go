package rest

import (
	"context"
	"encoding/json"
	"net/http"

	"canopy/internal/globalid"
	"canopy/internal/rule"
	"canopy/search"
)

// foundHit is a found chunk of one of several contexts.
type foundHit struct {
	ContextID int64 `json:"contextId" doc:"The id of the context that it was found in"`
	SearchHit
}

type searchContextsInput struct {
	Body struct {
		ContextIDs       []int64          `json:"contextIds" minItems:"1" maxItems:"20" doc:"The ids of the contexts" nullable:"false"`
		Prompt           string           `json:"prompt" doc:"What to look for"`
		TopN             *int             `json:"topN,omitempty" doc:"How many hits at most, 1 to 100; the largest number of the contexts when left out"`
		ScoreThreshold   *float64         `json:"scoreThreshold,omitempty" doc:"The smallest similarity of a hit, 0 to 1; each context's own when left out"`
		Mode             string           `json:"mode,omitempty" enum:"SEMANTIC,LEXICAL,HYBRID" default:"SEMANTIC" doc:"What to compare"`
		IncludeUnrelated *bool            `json:"includeUnrelated,omitempty" default:"false" doc:"Lists chunks without any likeness too, after all others, where there is room and the threshold is 0"`
		Attributes       attributesFilter `json:"attributes,omitempty" doc:"Only documents whose attributes fit" example:"{\"lang\":{\"eq\":\"de\"}}"`
	} `nameHint:"SearchContextsRequest"`
}

// registerSeveral registers what is asked of several contexts at once.
func (a *api) registerSeveral() {
	add(a, operation{
		id: "searchContexts", rule: rule.SearchContexts, method: http.MethodPost, path: "/v1/contexts/search", tag: tagContexts,
		errors: []int{http.StatusNotFound}, status: http.StatusOK,
		summary: "Search several contexts", description: "The chunks of the ready documents of several contexts that are closest to the prompt, best first. " +
			"Where the contexts have several models, whose likenesses don't compare, hits are ordered by their part of the greatest that their own model has found.",
	}, a.searchContexts)
}

func (a *api) searchContexts(ctx context.Context, in *searchContextsInput) (*one[[]foundHit], error) {
	b := &in.Body
	ids := mapped(b.ContextIDs, func(id int64) *globalid.ID { return &globalid.ID{Int: id} })
	hits, err := a.queries().SearchContexts(ctx, ids, b.Prompt, b.TopN, b.ScoreThreshold, search.Mode(b.Mode), b.IncludeUnrelated != nil && *b.IncludeUnrelated, json.RawMessage(b.Attributes))
	if err != nil {
		return nil, err
	}
	return &one[[]foundHit]{mapped(hits, func(h *search.Hit) foundHit { return foundHit{h.ContextID, hitOf(h)} })}, nil
}
