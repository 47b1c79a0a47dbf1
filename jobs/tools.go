package jobs

import (
	"context"
	"errors"
	"log/slog"

	"canopy/db"
	"canopy/internal/diagram"
	"canopy/internal/egress"
	"canopy/internal/models/chat"
	"canopy/internal/problem"
	"canopy/internal/secret"
	"canopy/internal/telemetry"
	"canopy/outbox"
	"canopy/search"
)

// Tools are what the steps of runs do to the world.
type Tools struct {
	// HTTP sends the requests of http steps, under the rules of webhook destinations.
	HTTP *egress.Client
	// Chat is the server's chat model; without one chat steps fail.
	Chat *chat.Client
	// Contexts searches contexts.
	Contexts *search.Engine
	// Store has the secrets of companies, and Box opens them.
	Store *db.Store
	Box   *secret.Box
	Log   *slog.Logger
}

// of gives the tools of a run.
func (t *Tools) of(run *db.Run) diagram.Tools { return &runTools{t, run} }

type runTools struct {
	*Tools
	run *db.Run
}

// Search implements diagram.Tools. It finds in the contexts of the run's company that its starter sees.
func (t *runTools) Search(ctx context.Context, r diagram.SearchRequest) ([]diagram.Hit, error) {
	found, err := t.Contexts.FindFor(ctx, t.run, r.ContextID, search.Query{Prompt: r.Prompt, TopN: r.TopN, ScoreThreshold: r.ScoreThreshold})
	if err != nil {
		return nil, errors.Join(t.searchError(ctx, r.ContextID, err), err)
	}
	hits := make([]diagram.Hit, len(found))
	for i, h := range found {
		hits[i] = diagram.Hit{ID: h.Chunk.ID, DocID: h.Chunk.DocumentID, Content: h.Content, Similarity: h.Similarity}
	}
	return hits, nil
}

// Ask implements diagram.Tools, as Search does. What the chat model did not do is told by the answer's warnings.
func (t *runTools) Ask(ctx context.Context, r diagram.AskRequest) (*diagram.Answer, error) {
	question, err := t.Contexts.AskFor(ctx, t.run, r.ContextID, search.Query{Prompt: r.Prompt, TopN: r.TopN, MinRelevance: r.MinRelevance})
	if err != nil {
		return nil, errors.Join(t.searchError(ctx, r.ContextID, err), err)
	}
	a, err := question.Answer(ctx, func(*search.Answer) {})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		t.Log.WarnContext(ctx, "the chat model did not answer a question as it should", "context", r.ContextID, "error", err)
	}
	out := &diagram.Answer{Text: a.Text, NothingFound: a.NothingFound}
	for _, c := range a.Citations {
		out.Citations = append(out.Citations, diagram.Citation{Start: c.Start, End: c.End, Quote: c.Quote, ID: c.Hit.Chunk.ID, DocID: c.Hit.Chunk.DocumentID})
	}
	for _, w := range a.Warnings {
		out.Warnings = append(out.Warnings, string(w.Code))
	}
	return out, nil
}

// searchError is what the owner of a run hears of a search that failed.
func (t *runTools) searchError(ctx context.Context, contextID int64, err error) *diagram.Error {
	failure := &diagram.Error{Code: diagram.CodeSearchError, Message: "The search failed."}
	var p *problem.Error
	switch {
	case errors.As(err, &p):
		failure.Message = p.Detail
	case ctx.Err() == nil:
		t.Log.ErrorContext(ctx, "a search failed", "context", contextID, "error", err)
	}
	return failure
}

// Secrets implements diagram.Tools. It finds those of the run's own company.
func (t *runTools) Secrets(ctx context.Context, names []string) (map[string]string, error) {
	rows, err := t.Store.SealedSecrets(ctx, t.run.CustomerID, names)
	if err != nil {
		return nil, err
	}
	found := make(map[string]string, len(rows))
	for _, row := range rows {
		if found[row.Name], err = outbox.OpenSecret(t.Box, row.ID, row.Value); err != nil {
			t.Log.ErrorContext(ctx, "a secret can't be opened", "secret", row.ID, "error", err)
			return nil, err
		}
	}
	return found, nil
}

// Chat implements diagram.Tools.
func (t *runTools) Chat(ctx context.Context, r diagram.ChatRequest) (*diagram.ChatAnswer, error) {
	if t.Tools.Chat == nil {
		return nil, &diagram.Error{Code: diagram.CodeChatError, Message: "No chat model is configured on this server."}
	}
	if r.Model != "" && r.Model != t.Tools.Chat.Model() {
		return nil, &diagram.Error{Code: diagram.CodeChatError, Message: "The chat model of this server is " + t.Tools.Chat.Model() + "; the step names another."}
	}
	messages := make([]chat.Message, len(r.Messages))
	for i, m := range r.Messages {
		messages[i] = chat.Message{Role: m.Role, Content: m.Content}
	}
	answer, err := t.Tools.Chat.Complete(ctx, chat.Request{Messages: messages})
	if err != nil {
		return nil, errors.Join(&diagram.Error{Code: diagram.CodeChatError, Message: "The chat model did not answer."}, err)
	}
	return &diagram.ChatAnswer{Content: answer.Content, Model: t.Tools.Chat.Model()}, nil
}

// HTTP implements diagram.Tools.
func (t *runTools) HTTP(ctx context.Context, r diagram.HTTPRequest) (*diagram.HTTPAnswer, error) {
	ctx, span := telemetry.Begin(ctx, "http", telemetry.Client, telemetry.Text("http.request.method", r.Method))
	telemetry.Inject(ctx, r.Header)
	resp, err := t.Tools.HTTP.Do(ctx, egress.Request{Method: r.Method, URL: r.URL, Header: r.Header, Body: r.Body})
	if resp != nil {
		span.Set(telemetry.Number("http.response.status_code", int64(resp.Status)))
	}
	span.End(err)
	if err != nil {
		return nil, err
	}
	return &diagram.HTTPAnswer{Status: resp.Status, Header: resp.Header, Body: resp.Body, Truncated: resp.Truncated, Broken: resp.BodyErr}, nil
}
