package resolvers

import (
	"context"
	"encoding/json"
	"fmt"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/rule"
	"canopy/search"
)

// SearchContext finds the chunks of a context's ready documents that are closest to a prompt, best
// first.
func (q Query) SearchContext(ctx context.Context, contextID globalid.ID, prompt string, topN *int, scoreThreshold *float64,
	mode search.Mode, documentIDs []*globalid.ID, includeUnrelated bool, attributes json.RawMessage,
) ([]*search.Hit, error) {
	c, err := q.may(ctx, rule.SearchContext)
	if err != nil {
		return nil, err
	}
	row, err := q.aContext(ctx, c, contextID, "contextId")
	if err != nil {
		return nil, err
	}
	documents, err := documentsNamed(documentIDs)
	if err != nil {
		return nil, err
	}
	return q.Resolver.Search.Find(ctx, row, search.Query{
		Prompt: prompt, TopN: topN, ScoreThreshold: scoreThreshold, Mode: mode, Documents: documents, IncludeUnrelated: includeUnrelated,
		Attributes: given(attributes),
	})
}

// given is JSON that a caller has given; nil stands for null, too.
func given(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// documentsNamed reads the ids of the documents to search; nil stands for all.
func documentsNamed(ids []*globalid.ID) (list []int64, err error) {
	if ids != nil {
		list = make([]int64, len(ids))
	}
	for i, id := range ids {
		if list[i], err = id.Of("Document", fmt.Sprintf("documentIds[%d]", i)); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// SearchHitEdges resolves the edge of a hit.
type SearchHitEdges struct{ *Resolver }

// Document is the document that the hit is a piece of.
func (e SearchHitEdges) Document(ctx context.Context, obj *search.Hit) (*db.Document, error) {
	return e.documentOf(ctx, rule.SearchHitDocument, obj.Chunk)
}
