package rest

import (
	"context"
	"mime"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"canopy/internal/rule"
	"canopy/internal/web"
	"canopy/resolvers"
	"canopy/search"
)

// eventsType is that of an answer piece by piece.
const eventsType = "text/event-stream"

// Answer is what documents say to a question.
type Answer struct {
	Text         string          `json:"text" doc:"The answer"`
	Citations    []citation      `json:"citations" doc:"What the sentences of the answer go by, in their order" nullable:"false"`
	NothingFound bool            `json:"nothingFound" doc:"No document that was searched has an answer: text says so"`
	Extractive   bool            `json:"extractive" doc:"The text is the passages that fit best, word for word: no chat model is configured, or it gave nothing"`
	Warnings     []answerWarning `json:"warnings" doc:"What is wrong with the answer" nullable:"false"`
}

// citation is what a part of an answer goes by.
type citation struct {
	Quote string    `json:"quote" doc:"The sentences of the hit that say most of it, as they stand in the document"`
	Start int       `json:"start" doc:"Where the part begins in the answer's text, in characters (code points)"`
	End   int       `json:"end" doc:"Where it ends"`
	Hit   SearchHit `json:"hit" doc:"The chunk that the quote is from"`
}

// answerWarning is what is wrong with an answer.
type answerWarning struct {
	Code    string `json:"code" doc:"What it is about: citation_removed, where the model cited a passage that it was not given; uncited, where it cited none for a sentence; cut_off, where it did not come to an end; model_failed, where it gave nothing, and the answer is the best passages"`
	Message string `json:"message" doc:"A sentence for a person"`
	Start   *int   `json:"start" doc:"Where the sentence that it is about begins in the answer's text, in characters (code points); null where it is about the whole"`
	End     *int   `json:"end" doc:"Where it ends"`
}

func answerOf(a *search.Answer) *Answer {
	return &Answer{
		Text: a.Text, NothingFound: a.NothingFound, Extractive: a.Extractive, Citations: mapped(a.Citations, citationOf),
		Warnings: mapped(a.Warnings, func(w *search.AnswerWarning) answerWarning { return answerWarning(*w) }),
	}
}

func citationOf(c *search.Citation) citation {
	return citation{Quote: c.Quote, Start: c.Start, End: c.End, Hit: hitOf(c.Hit)}
}

type askInput struct {
	SearchInput
	Accept string `header:"Accept" doc:"text/event-stream for the answer piece by piece"`
}

// registerAnswers registers what is answered from the documents of contexts.
func (a *api) registerAnswers() {
	answer := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Answer](), true, "Answer")
	add(a, operation{
		id: "askContext", rule: rule.AskContext, method: http.MethodPost, path: "/context/answer/{contextId}", tag: tagContexts,
		errors: []int{http.StatusNotFound}, status: http.StatusOK,
		summary: "Answer a question", description: "An answer from the context's ready documents. It is written by the server's chat model from what searchContext finds, and cites it; " +
			"without a model it is the passages that fit best. With Accept: text/event-stream it comes as it is written: events text, each a piece of the text; citation, each a citation; and in the end done, the JSON, " +
			"or error, a problem. Where minRelevance is left out it is 0.05 with a model, and 0.2 without one.",
		responses: map[string]*huma.Response{"200": {Description: "The answer", Content: map[string]*huma.MediaType{
			jsonType: {Schema: answer}, eventsType: {Schema: &huma.Schema{Type: huma.TypeString}},
		}}},
	}, a.ask)
}

func (a *api) ask(ctx context.Context, in *askInput) (*huma.StreamResponse, error) {
	ctx, listener := resolvers.Listen(ctx)
	b := &in.Body
	states, err := a.subscriptions().AskContext(ctx, in.id(), b.Prompt, b.TopN, b.ScoreThreshold, b.MinRelevance, b.Mode, ids(b.DocumentIDs), b.IncludeUnrelated, b.Attributes.RawMessage)
	if err != nil {
		return nil, err
	}
	if takesEvents(in.Accept) {
		return &huma.StreamResponse{Body: func(hc huma.Context) { a.streamAnswer(hc, states, listener) }}, nil
	}
	last, err := ended(states, listener)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", jsonType)
		_ = jsonFormat.Marshal(hc.BodyWriter(), answerOf(last)) // the client has gone, if anything
	}}, nil
}

// ended waits for the last state of an answer.
func ended(states <-chan *search.Answer, listener *resolvers.Listener) (last *search.Answer, err error) {
	for state := range states {
		last = state
	}
	switch {
	case listener.End() != nil:
		return nil, listener.End()
	case last == nil || !last.Done:
		return nil, context.Canceled // the client has gone
	}
	return last, nil
}

// streamAnswer sends what each state of an answer adds to the one before.
func (a *api) streamAnswer(hc huma.Context, states <-chan *search.Answer, listener *resolvers.Listener) {
	_, w := humago.Unwrap(hc)
	events := web.OpenEvents(w)
	defer events.Close()
	send := func(name string, value any) {
		body, err := marshal(value)
		if err == nil {
			events.Send(name, string(body))
		}
	}
	var told search.Answer
	for state := range states {
		if state.Text != told.Text {
			events.Send("text", strings.TrimPrefix(state.Text, told.Text))
		}
		for _, c := range state.Citations[len(told.Citations):] {
			send("citation", citationOf(c))
		}
		if told = *state; state.Done {
			send("done", answerOf(state))
		}
	}
	if err := listener.End(); err != nil {
		send("error", a.failure(hc.Context(), err))
	}
}

// takesEvents tells whether an Accept header asks for a stream by its name.
func takesEvents(accept string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		mediaType, params, err := mime.ParseMediaType(part)
		if err == nil && mediaType == eventsType && params["q"] != "0" {
			return true
		}
	}
	return false
}
