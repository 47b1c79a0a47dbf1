package rest

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// contextSettings are how a context's documents are cut, embedded and searched.
type contextSettings struct {
	TopN           int     `json:"topN" example:"5" doc:"Hits of a search"`
	ScoreThreshold float64 `json:"scoreThreshold" example:"0" doc:"The smallest similarity of a hit, 0 to 1"`
	SearchMode     string  `json:"searchMode" enum:"SEMANTIC,LEXICAL,HYBRID" doc:"What a search compares that does not say: the vectors of the model, shared words, or both together"`
	DenseWeight    float64 `json:"denseWeight" example:"0.5" doc:"The part that the model has in the similarity of a HYBRID search, 0 to 1; shared words have the rest"`
	ChunkSize      int     `json:"chunkSize" example:"1000" doc:"Tokens of a chunk"`
	Overlap        float64 `json:"overlap" example:"0.2" doc:"The part of a chunk that neighbours share, 0 to 1"`
	LogsQueries    bool    `json:"logsQueries" doc:"What is asked of it is kept: at most 10,000 of the last 30 days"`
	EmbeddingModel string  `json:"embeddingModel" example:"canopy-lexical-2" doc:"The model that the documents are embedded with"`
}

func settingsAnswer(ctx context.Context, c *db.Context) (*tagged[contextSettings], error) {
	return tag(ctx, c.Version, contextSettings{
		TopN: c.TopN, ScoreThreshold: c.ScoreThreshold, SearchMode: c.SearchMode, DenseWeight: c.DenseWeight,
		ChunkSize: c.ChunkSize, Overlap: c.Overlap, LogsQueries: c.LogsQueries, EmbeddingModel: c.EmbeddingModel,
	})
}

// SettingsPath names a context in the path.
type SettingsPath struct {
	ID int64 `path:"id" doc:"The context's id"`
}

func (p *SettingsPath) id() globalid.ID { return globalid.ID{Int: p.ID} }

type updateSettingsInput struct {
	SettingsPath
	Body struct {
		TopN           *int     `json:"topN,omitempty" doc:"Hits of a search"`
		ScoreThreshold *float64 `json:"scoreThreshold,omitempty" doc:"The smallest similarity of a hit, 0 to 1"`
		SearchMode     *string  `json:"searchMode,omitempty" enum:"SEMANTIC,LEXICAL,HYBRID" doc:"What a search compares that does not say"`
		DenseWeight    *float64 `json:"denseWeight,omitempty" doc:"The part that the model has in the similarity of a HYBRID search, 0 to 1"`
		ChunkSize      *int     `json:"chunkSize,omitempty" doc:"Tokens of a chunk, of documents processed from now on"`
		Overlap        *float64 `json:"overlap,omitempty" doc:"The part of a chunk that neighbours share, 0 to 1, of documents processed from now on"`
		LogsQueries    *bool    `json:"logsQueries,omitempty" doc:"Whether what is asked of it is kept. What was kept goes when it is turned off"`
		EmbeddingModel *string  `json:"embeddingModel,omitempty" doc:"The model that documents are embedded with. Another one has all documents processed anew at once"`
	} `nameHint:"ContextSettingsRequest"`
}

// DocumentPath names a document in the path.
type DocumentPath struct {
	ID int64 `path:"id" doc:"The document's id"`
}

func (p *DocumentPath) id() globalid.ID { return globalid.ID{Int: p.ID} }

type updateDocumentInput struct {
	DocumentPath
	Body struct {
		DisplayName *string    `json:"displayName,omitempty" doc:"The name to show"`
		Attributes  attributes `json:"attributes,omitempty" doc:"What is said of it: at most 32 strings, numbers and booleans"`
	} `nameHint:"UpdateDocumentRequest"`
}

// ChunkFilter are the parameters that bound a list of chunks.
type ChunkFilter struct {
	IDs           []int64 `query:"ids" doc:"Only those of these ids, separated by commas"`
	Search        string  `query:"search" doc:"Only those whose text has all words of this one, the last one as a beginning; where none has, within one edit"`
	Page          int     `query:"page" doc:"Only those that begin on this page"`
	PositionFrom  int     `query:"positionFrom" doc:"Only those from this position on"`
	PositionUntil int     `query:"positionUntil" doc:"Only those before this position"`
}

type chunksQuery struct {
	DocumentPath
	Pages
	OrderQuery
	ChunkFilter

	filter *resolvers.ChunkFilter
}

// Resolve tells what was given from what was left out.
func (q *chunksQuery) Resolve(hc huma.Context) []error {
	q.filter = filterGiven[resolvers.ChunkFilter](hc, &q.ChunkFilter)
	return nil
}

// documentChunk is a piece of a document, as a search finds it.
type documentChunk struct {
	ID           int64   `json:"id"`
	Position     int     `json:"position" doc:"Counts the document's chunks from 0"`
	Content      string  `json:"content"`
	OverlapBytes int     `json:"overlapBytes" doc:"How much of the content, from its beginning, stands in the chunks before it, too"`
	Tokens       int     `json:"tokens"`
	Page         *int    `json:"page" doc:"The page that it begins on; null where there are none"`
	Heading      *string `json:"heading" doc:"The heading that it begins under; null where there is none"`
	Row          *int    `json:"row" doc:"The row that it begins with; null where there are none"`
}

func chunkOf(k *db.Chunk) documentChunk {
	return documentChunk{
		ID: k.ID, Position: k.Position, Content: k.Content, OverlapBytes: k.OverlapBytes, Tokens: k.Tokens,
		Page: resolvers.Known(k.Page), Heading: resolvers.Known(k.Heading), Row: resolvers.Known(k.Row),
	}
}

// contextReprocessing is how far it is that the documents of a context are processed anew.
type contextReprocessing struct {
	Status    string     `json:"status" enum:"running,done,cancelled" doc:"How far it is. Of one that was cancelled, documents whose turn had not come are as they were"`
	Documents int        `json:"documents" doc:"How many documents there are"`
	Done      int        `json:"done" doc:"How many of them are processed, or have failed"`
	Progress  float64    `json:"progress" doc:"The part that is done, 0 to 1"`
	StartedAt time.Time  `json:"startedAt" doc:"When it began"`
	EndedAt   *time.Time `json:"endedAt" doc:"When it was done or cancelled; null while it goes on"`
}

func reprocessingAnswer(r *db.ContextReprocessing, err error) (*one[contextReprocessing], error) {
	if err != nil {
		return nil, err
	}
	return &one[contextReprocessing]{contextReprocessing{
		Status: strings.ToLower(r.Status), Documents: r.Documents, Done: r.Done, Progress: r.Progress(), StartedAt: r.StartedAt.UTC(), EndedAt: utc(r.EndedAt),
	}}, nil
}

// registerSettings registers how contexts and documents are processed.
func (a *api) registerSettings() {
	const path = "/v1/contexts/{id}"
	notFound := []int{http.StatusNotFound}
	add(a, operation{
		id: "getContextSettings", conditions: byNoneMatch, rule: rule.Context, method: http.MethodGet, path: path + "/settings", tag: tagContexts, errors: notFound,
		summary: "Get the settings of a context", description: "How the context's documents are cut, embedded and searched.",
	}, func(ctx context.Context, in *SettingsPath) (*tagged[contextSettings], error) {
		row, err := a.queries().Context(ctx, in.id())
		if err != nil {
			return nil, err
		}
		return settingsAnswer(ctx, row)
	})
	add(a, operation{
		id: "updateContextSettings", conditions: byMatch, rule: rule.UpdateContext, method: http.MethodPut, path: path + "/settings", tag: tagContexts, errors: notFound, status: http.StatusOK,
		summary: "Update the settings of a context", description: "Changes what is given.",
	}, a.updateSettings)
	add(a, operation{
		id: "reprocessContext", rule: rule.ReprocessContext, method: http.MethodPost, path: path + "/reprocess", tag: tagContexts, errors: notFound, status: http.StatusOK,
		summary: "Process the documents of a context anew", description: "Has all documents processed anew, with the context's present settings, 200 at a time: the others are found as before meanwhile, but those of `canopy-lexical-1`, which go over to `canopy-lexical-2`, one by one as they are done. Asked for again, it begins anew.",
	}, func(ctx context.Context, in *SettingsPath) (*tagged[contextBody], error) {
		out, err := a.mutations().ReprocessContext(ctx, resolvers.ReprocessContextInput{ID: in.id()})
		return contextAnswer(ctx, out.Context, err)
	})
	add(a, operation{
		id: "getReprocessing", rule: rule.Context, method: http.MethodGet, path: path + "/reprocess", tag: tagContexts, errors: notFound,
		summary: "Get how far a context is processed anew", description: "How many of the documents are processed anew, or were the last time; 404 where they never were.",
	}, func(ctx context.Context, in *SettingsPath) (*one[contextReprocessing], error) {
		return reprocessingAnswer(a.queries().GetReprocessing(ctx, in.id()))
	})
	add(a, operation{
		id: "cancelReprocessing", rule: rule.CancelReprocessing, method: http.MethodPost, path: path + "/reprocess/cancel", tag: tagContexts, errors: notFound, status: http.StatusOK,
		summary: "Cancel that a context is processed anew", description: "Documents whose turn has not come stay as they are, and those that were begun are processed. After a change of the model documents that stay as they are can't be found by it.",
	}, func(ctx context.Context, in *SettingsPath) (*one[contextReprocessing], error) {
		out, err := a.mutations().CancelReprocessing(ctx, resolvers.CancelReprocessingInput{ID: in.id()})
		if err != nil {
			return nil, err
		}
		return reprocessingAnswer(resolvers.ContextEdges{Resolver: a.r}.Reprocessing(ctx, out.Context))
	})
	a.registerDocument()
	a.registerOriginals()
	a.registerContextQueries()
}

func (a *api) updateSettings(ctx context.Context, in *updateSettingsInput) (*tagged[contextSettings], error) {
	b := &in.Body
	out, err := a.mutations().UpdateContext(ctx, resolvers.UpdateContextInput{
		ID: in.id(), TopN: b.TopN, ScoreThreshold: b.ScoreThreshold, SearchMode: b.SearchMode, DenseWeight: b.DenseWeight, ChunkSize: b.ChunkSize, Overlap: b.Overlap, LogsQueries: b.LogsQueries, EmbeddingModel: b.EmbeddingModel,
		IfVersion: ifMatch(ctx),
	})
	if err != nil {
		return nil, err
	}
	return settingsAnswer(ctx, out.Context)
}

// registerDocument registers what is done with one document by its id alone.
func (a *api) registerDocument() {
	const path = "/v1/documents/{id}"
	notFound := []int{http.StatusNotFound}
	add(a, operation{
		id: "getDocument", conditions: byNoneMatch, rule: rule.ContextDocuments, method: http.MethodGet, path: path, tag: tagContexts, errors: notFound,
		summary: "Get a document", description: "A document of the token's contexts, as the list shows it.",
	}, a.document)
	add(a, operation{
		id: "updateDocument", conditions: byMatch, rule: rule.UpdateDocument, method: http.MethodPut, path: path, tag: tagContexts, errors: notFound, status: http.StatusOK,
		summary: "Update a document", description: "Changes the name that the document is shown by, and its attributes, of which those that are given replace all.",
	}, func(ctx context.Context, in *updateDocumentInput) (*tagged[trainingDocument], error) {
		out, err := a.mutations().UpdateDocument(ctx, resolvers.UpdateDocumentInput{
			ID: in.id(), DisplayName: in.Body.DisplayName, Attributes: in.Body.Attributes.RawMessage, IfVersion: ifMatch(ctx),
		})
		if err != nil {
			return nil, err
		}
		return tag(ctx, out.Document.Version, documentOf(out.Document))
	})
	addList(a, operation{
		id: "listChunks", rule: rule.DocumentChunks, orders: db.Chunks, path: path + "/chunks", tag: tagContexts, errors: notFound,
		summary: "List the chunks of a document", description: "The pieces that a search finds, in their order unless asked for otherwise. A document that is not ready has none.",
	}, anyOrder, func(ctx context.Context, in *chunksQuery, _ query, each emit[documentChunk]) error {
		return a.queries().ListChunks(ctx, in.id(), in.filter, in.listing(&in.Pages), func(k *db.Chunk, at paging.Cursor) error {
			return each(chunkOf(k), at)
		})
	})
	add(a, operation{
		id: "reprocessDocument", rule: rule.ReprocessDocument, method: http.MethodPost, path: path + "/reprocess", tag: tagContexts, errors: notFound, status: http.StatusOK,
		summary: "Process a document anew", description: "Has a document processed anew, with its context's present settings.",
	}, func(ctx context.Context, in *DocumentPath) (*tagged[trainingDocument], error) {
		out, err := a.mutations().ReprocessDocument(ctx, resolvers.ReprocessDocumentInput{ID: in.id()})
		if err != nil {
			return nil, err
		}
		return tag(ctx, out.Document.Version, documentOf(out.Document))
	})
}
