package search

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/cite"
	"canopy/internal/models/chat"
	"canopy/internal/passage"
	"canopy/internal/share"
)

// NothingFound is the text of an answer where no document has one.
const NothingFound = "The documents don't say."

// The bounds of an answer: how long the model may take with all waiting for it, what it may write, in tokens and in bytes, how
// many are written at the same time in a process, and how many wait.
const (
	answerTime   = 50 * time.Second
	answerTokens = 1000
	answerBytes  = 16 << 10
	answerPlaces = 32
	answersWait  = 256
)

// Answer is what is told so far of what documents say. Places in Text are characters (code points).
type Answer struct {
	Text         string
	Done         bool
	NothingFound bool
	// Extractive says that the text is the best passages themselves, which no model has written.
	Extractive bool
	Citations  []*Citation
	Warnings   []*AnswerWarning
}

// Citation says that a part of an answer goes by a hit, of which Quote is the part that says most of it.
type Citation struct {
	Span
	Quote string
	Hit   *Hit
}

// Question is what was asked, and what was found for it.
type Question struct {
	engine *Engine
	prompt string
	hits   []*Hit
}

// Ask finds what a question in a context can be answered from. Errors are those of Find.
func (e *Engine) Ask(ctx context.Context, row *db.Context, q Query) (*Question, error) {
	hits, err := e.Find(ctx, row, e.asked(q))
	return &Question{e, q.Prompt, hits}, err
}

// AskFor is Ask for a run, as FindFor is Find.
func (e *Engine) AskFor(ctx context.Context, run *db.Run, contextID int64, q Query) (*Question, error) {
	hits, err := e.FindFor(ctx, run, contextID, e.asked(q))
	return &Question{e, q.Prompt, hits}, err
}

// The relevance of a hit to answer from, where a question does not say: a model passes over what does not help, and a person has to read it.
const (
	leastForModel  = 0.05
	leastForPerson = 0.2
)

// asked completes a query that is a question.
func (e *Engine) asked(q Query) Query {
	least := leastForPerson
	if e.Chat != nil {
		least = leastForModel
	}
	if q.MinRelevance == nil && !q.IncludeUnrelated {
		q.MinRelevance = &least
	}
	return q
}

// Answer answers a question, and tells each state of it but the last, which it gives. Without a model, and where that
// gives nothing, the best passages are the answer. The error is why the model did not do its part, for the log: the answer holds in spite of it.
func (q *Question) Answer(ctx context.Context, tell func(*Answer)) (*Answer, error) {
	switch {
	case len(q.hits) == 0:
		return nothing(), nil
	case q.engine.Chat == nil:
		return q.extract(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, q.engine.answerTime)
	defer cancel()
	w := &writer{question: q, tell: tell}
	reason, err := share.Guarded(func() (string, error) { return w.write(ctx) })
	switch {
	case errors.Is(err, errNothing):
		return nothing(), nil
	case err != nil && !w.begun():
		a := q.extract()
		a.warn(ModelFailed, nil, "The chat model gave no answer: these are the passages that fit best.")
		return a, err
	case errors.Is(err, errEnough):
		err, reason = nil, chat.CutOff
	}
	return w.close(err == nil && reason != chat.CutOff), err
}

func nothing() *Answer {
	return &Answer{Text: NothingFound, Done: true, NothingFound: true}
}

// Why a model is not listened to any longer: it has said that there is nothing, or enough.
var (
	errNothing = errors.New("the model finds no answer in the passages")
	errEnough  = errors.New("the model's answer is too long")
)

// writer is one answer of a model.
type writer struct {
	question *Question
	sources  []*Hit
	text     cite.Reader
	answer   Answer
	tell     func(*Answer)
}

// write asks the model when the branch has a place.
func (w *writer) write(ctx context.Context) (reason string, err error) {
	e := w.question.engine
	if branch := access.BranchOf(ctx); branch != 0 {
		if err := e.answers.Enter(ctx, branch); err != nil {
			return "", err
		}
		defer e.answers.Leave(branch)
	}
	messages, sources, err := w.question.conversation()
	if err != nil {
		return "", err
	}
	w.sources = sources
	reason, err = e.Chat.Stream(ctx, chat.Request{Messages: messages, MaxTokens: answerTokens}, w.take)
	switch {
	case err != nil:
		return "", err
	case w.silent(true):
		return "", errNothing
	case strings.TrimSpace(w.text.Text()) == "":
		return "", chat.ErrNoContent
	}
	return reason, nil
}

// take takes a piece of what the model writes.
func (w *writer) take(piece string) error {
	w.settle(w.text.Write(piece))
	switch {
	case w.text.Len() > answerBytes:
		return errEnough
	case strings.HasPrefix(w.text.Text(), silence):
		return errNothing
	case w.begun():
		a := w.answer
		a.Text = w.text.Text()
		w.tell(&a)
	}
	return nil
}

// begun tells whether there is something to tell: what may become the word for nothing is none.
func (w *writer) begun() bool { return w.text.Len() > 0 && !w.silent(false) }

// silent tells whether the model has said the word for nothing, or, unless it has ended, may be about to.
func (w *writer) silent(ended bool) bool {
	text := w.text.Text()
	return !ended && strings.HasPrefix(silence, text) || strings.HasPrefix(text, silence)
}

// settle adds the citations of sentences that are over. The lists are never changed, as they have been told.
func (w *writer) settle(list []cite.Sentence) {
	citations, warnings := w.answer.Citations, w.answer.Warnings
	w.answer.Citations, w.answer.Warnings = citations[:len(citations):len(citations)], warnings[:len(warnings):len(warnings)]
	for _, s := range list {
		at := Span{s.Start, s.End}
		cited := false
		for _, n := range s.Cited {
			if n < 1 || n > len(w.sources) {
				w.answer.warn(CitationRemoved, &at, "The chat model cited passage %d, which it was not given: the citation was removed.", n)
				continue
			}
			cited = true
			w.answer.Citations = append(w.answer.Citations, &Citation{at, w.sources[n-1].quote(s.Text), w.sources[n-1]})
		}
		if !cited && passage.Says(s.Text) {
			w.answer.warn(Uncited, &at, "The chat model cited no passage for this.")
		}
	}
}

// close gives the last state of an answer, which may not be whole.
func (w *writer) close(whole bool) *Answer {
	w.settle(w.text.Close())
	a := w.answer
	a.Text, a.Done = w.text.Text(), true
	if !whole {
		a.warn(CutOff, nil, "The chat model did not end its answer: it became too long, took too long, or broke off.")
	}
	return &a
}

// Of an answer without a model: at most so many passages, none of which has less than a part of the likeness of the best.
const (
	maxExtracts = 3
	leastPart   = 0.5
)

// extract answers by the best passages themselves.
func (q *Question) extract() *Answer {
	a := &Answer{Done: true, Extractive: true}
	var text strings.Builder
	at := 0
	for _, h := range q.hits {
		quote := strings.TrimSpace(h.Passage.Content)
		switch {
		case len(a.Citations) == maxExtracts, h.Similarity < leastPart*q.hits[0].Similarity:
			a.Text = text.String()
			return a
		case quote == "", strings.Contains(text.String(), quote):
			continue // an overlap, or the same in another document
		case text.Len() > 0:
			text.WriteString("\n\n")
			at += 2
		}
		text.WriteString(quote)
		end := at + utf8.RuneCountInString(quote)
		a.Citations = append(a.Citations, &Citation{Span{at, end}, quote, h})
		at = end
	}
	a.Text = text.String()
	return a
}

// newAnswers makes room for answers of models. What waits longer than it may is refused by its own time.
func newAnswers() *share.Gate[int64] {
	return share.NewBoundedGate[int64](answerPlaces, answersWait)
}
