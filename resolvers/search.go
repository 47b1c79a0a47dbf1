package resolvers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/rule"
	"canopy/search"
)

// SearchContext finds the chunks of a context's ready documents that are closest to a prompt, best
// first.
func (q Query) SearchContext(ctx context.Context, contextID globalid.ID, prompt string, topN *int, scoreThreshold, minRelevance *float64,
	mode *string, documentIDs []*globalid.ID, includeUnrelated *bool, attributes json.RawMessage,
) ([]*search.Hit, error) {
	c, err := q.may(ctx, rule.SearchContext)
	if err != nil {
		return nil, err
	}
	n, err := contextID.Of("Context", "contextId")
	if err != nil {
		return nil, err
	}
	documents, err := documentsNamed(documentIDs)
	if err != nil {
		return nil, err
	}
	hits, err := q.Resolver.Search.FindOn(ctx, c.desk(), n, search.Query{
		Prompt: prompt, TopN: topN, ScoreThreshold: scoreThreshold, MinRelevance: minRelevance, Mode: search.Mode(or(mode, "")), Documents: documents,
		IncludeUnrelated: or(includeUnrelated, false), Attributes: given(attributes),
	})
	return orEmpty(hits, missing(err, "context", n))
}

// SearchContexts finds the chunks of the ready documents of several contexts that are closest to a prompt, best first.
func (q Query) SearchContexts(ctx context.Context, contextIDs []*globalid.ID, prompt string, topN *int, scoreThreshold, minRelevance *float64,
	mode *string, includeUnrelated *bool, attributes json.RawMessage,
) ([]*search.Hit, error) {
	c, err := q.may(ctx, rule.SearchContexts)
	if err != nil {
		return nil, err
	}
	rows, err := q.someContexts(ctx, c, contextIDs)
	if err != nil {
		return nil, err
	}
	return orEmpty(q.Resolver.Search.FindAmong(ctx, rows, search.Query{
		Prompt: prompt, TopN: topN, ScoreThreshold: scoreThreshold, MinRelevance: minRelevance, Mode: search.Mode(or(mode, "")),
		IncludeUnrelated: or(includeUnrelated, false), Attributes: given(attributes),
	}))
}

// someContexts reads contexts, each once, in the order in which they are named. One that the caller can't read is not there.
func (q Query) someContexts(ctx context.Context, c *caller, named []*globalid.ID) (rows []*db.Context, err error) {
	var v check
	if len(named) == 0 || len(named) > search.MaxContexts {
		v.fault("contextIds", "must be 1 to %d contexts", search.MaxContexts)
		return nil, v.err()
	}
	var ids []int64
	for i, id := range named {
		n, err := id.Of("Context", fmt.Sprintf("contextIds[%d]", i))
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ids, n) {
			ids = append(ids, n)
		}
	}
	found, err := q.Store.ContextsOf(ctx, c.desk(), ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		row := found[id]
		if row == nil {
			return nil, missing(db.ErrNoRows, "context", id)
		}
		rows = append(rows, row)
	}
	return rows, nil
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

// PassageEdges resolves what may be unknown of a passage.
type PassageEdges struct{ *Resolver }

// Page is where the passage begins; nil where there are none.
func (e PassageEdges) Page(_ context.Context, obj *search.Passage) (*int, error) {
	return Known(obj.Page), nil
}

// Heading is the path to the passage; nil where there is none.
func (e PassageEdges) Heading(_ context.Context, obj *search.Passage) (*string, error) {
	return Known(obj.Heading), nil
}

// Row is where the passage begins; nil where there are none.
func (e PassageEdges) Row(_ context.Context, obj *search.Passage) (*int, error) {
	return Known(obj.Row), nil
}
