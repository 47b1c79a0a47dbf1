package resolvers

import (
	"context"
	"encoding/json"
	"time"

	"canopy/internal/globalid"
	"canopy/internal/rule"
	"canopy/search"
)

// answerPause is how long an answer goes on before more of it is told: each event has all of it.
const answerPause = 200 * time.Millisecond

// AskContext answers a question from a context's ready documents, and gives the answer as it is written.
func (s Subscription) AskContext(ctx context.Context, contextID globalid.ID, prompt string, topN *int, scoreThreshold, minRelevance *float64,
	mode *string, documentIDs []*globalid.ID, includeUnrelated *bool, attributes json.RawMessage,
) (<-chan *search.Answer, error) {
	c, err := s.may(ctx, rule.AskContext)
	if err != nil {
		return nil, err
	}
	row, err := s.aContext(ctx, c, contextID, "contextId")
	if err != nil {
		return nil, err
	}
	documents, err := documentsNamed(documentIDs)
	if err != nil {
		return nil, err
	}
	question, err := s.Search.Ask(ctx, row, search.Query{
		Prompt: prompt, TopN: topN, ScoreThreshold: scoreThreshold, MinRelevance: minRelevance, Mode: search.Mode(or(mode, "")), Documents: documents,
		IncludeUnrelated: or(includeUnrelated, false), Attributes: given(attributes),
	})
	if err != nil {
		return nil, err
	}
	return follow(ctx, s.Resolver, feed[search.Answer]{
		own: func(ctx context.Context) <-chan *search.Answer { return s.answer(ctx, question) },
		load: func(ctx context.Context, _ []byte) ([]*search.Answer, error) {
			c, err := s.may(ctx, rule.AskContext)
			if err == nil {
				_, err = s.aContext(ctx, c, contextID, "contextId")
			}
			return nil, err
		},
		over: func(a *search.Answer) bool { return a.Done },
	})
}

// answer gives the states of an answer with a pause between two, until it is done. Of those that come meanwhile the latest is given.
func (r *Resolver) answer(ctx context.Context, question *search.Question) <-chan *search.Answer {
	latest, paced := make(chan *search.Answer, 1), make(chan *search.Answer)
	tell := func(a *search.Answer) {
		select {
		case <-latest:
		default:
		}
		latest <- a
	}
	go func() {
		a, err := question.Answer(ctx, tell)
		if err != nil && ctx.Err() == nil {
			r.Log.WarnContext(ctx, "the chat model did not answer a question as it should", "error", err)
		}
		tell(a)
	}()
	go func() {
		for {
			select {
			case a := <-latest:
				select {
				case paced <- a:
				case <-ctx.Done():
					return
				}
			case <-ctx.Done():
				return
			}
			select {
			case <-time.After(answerPause):
			case <-ctx.Done():
				return
			}
		}
	}()
	return paced
}
