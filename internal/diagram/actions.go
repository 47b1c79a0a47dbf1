package diagram

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// action is what a step of one type does.
type action interface {
	run(ctx context.Context, ev *evaluation, tools Tools) (any, error)
}

// setAction gives its values as the result.
type setAction struct{ values value }

func readSet(f *fields) action {
	values, ok := f.take("values").(map[string]any)
	if !ok {
		f.fault("values", "must be an object")
		return nil
	}
	return &setAction{f.p.value(f.path("values"), values)}
}

func (a *setAction) run(_ context.Context, ev *evaluation, _ Tools) (any, error) {
	return ev.evalAt("values", a.values)
}

// maxTopN is the most hits that a search gives.
const maxTopN = 100

// lookup is what steps that look into a context have in common. least is the bound that leaves hits out, under the name that the step has for it.
type lookup struct {
	contextID, prompt, topN, least value
	leastName                      string
}

func readLookup(f *fields, least string) lookup {
	return lookup{
		contextID: f.typed("contextId", true, wholeTo(1<<53)),
		prompt:    f.text("prompt", true),
		topN:      f.typed("topN", false, wholeTo(maxTopN)),
		least:     f.typed(least, false, fraction), leastName: least,
	}
}

func (l *lookup) request(ev *evaluation) (r Lookup, least *float64, err error) {
	id, err := evalChecked(ev, "contextId", l.contextID, wholeTo(1<<53), asInt)
	if err != nil {
		return r, nil, err
	}
	r.ContextID = int64(*id)
	if r.Prompt, err = evalText(ev, "prompt", l.prompt); err != nil {
		return r, nil, err
	}
	if r.TopN, err = evalChecked(ev, "topN", l.topN, wholeTo(maxTopN), asInt); err != nil {
		return r, nil, err
	}
	least, err = evalChecked(ev, l.leastName, l.least, fraction, asFloat)
	return r, least, err
}

// members is what a step asks for, under the names that it has in the diagram.
func (r *Lookup) members(leastName string, least *float64) map[string]any {
	out := map[string]any{"contextId": int(r.ContextID), "prompt": r.Prompt}
	if r.TopN != nil {
		out["topN"] = *r.TopN
	}
	if least != nil {
		out[leastName] = *least
	}
	return out
}

// searchAction gives an array of hits {id, docId, content, similarity}, best first.
type searchAction struct{ lookup }

func readSearch(f *fields) action { return &searchAction{readLookup(f, "scoreThreshold")} }

func (a *searchAction) run(ctx context.Context, ev *evaluation, tools Tools) (any, error) {
	r, least, err := a.request(ev)
	if err != nil {
		return nil, err
	}
	if err := ev.give(r.members(a.leastName, least)); err != nil {
		return nil, err
	}
	hits, err := tools.Search(ctx, SearchRequest{r, least})
	if err != nil {
		return nil, toolError(CodeSearchError, err)
	}
	out := make([]any, len(hits))
	for i, h := range hits {
		out[i] = map[string]any{"id": int(h.ID), "docId": int(h.DocID), "content": h.Content, "similarity": h.Similarity}
	}
	return out, nil
}

// askAction gives {text, nothingFound, citations, warnings}: the answer that documents have.
type askAction struct{ lookup }

func readAsk(f *fields) action { return &askAction{readLookup(f, "minRelevance")} }

func (a *askAction) run(ctx context.Context, ev *evaluation, tools Tools) (any, error) {
	r, least, err := a.request(ev)
	if err != nil {
		return nil, err
	}
	if err := ev.give(r.members(a.leastName, least)); err != nil {
		return nil, err
	}
	answer, err := tools.Ask(ctx, AskRequest{r, least})
	if err != nil {
		return nil, toolError(CodeSearchError, err)
	}
	citations, warnings := make([]any, len(answer.Citations)), make([]any, len(answer.Warnings))
	for i, c := range answer.Citations {
		citations[i] = map[string]any{"start": c.Start, "end": c.End, "quote": c.Quote, "id": int(c.ID), "docId": int(c.DocID)}
	}
	for i, code := range answer.Warnings {
		warnings[i] = code
	}
	return map[string]any{"text": answer.Text, "nothingFound": answer.NothingFound, "citations": citations, "warnings": warnings}, nil
}

// chatAction gives {content, model}.
type chatAction struct{ model, system, prompt, messages value }

var roles = []string{"system", "user", "assistant"}

func readChat(f *fields) action {
	a := &chatAction{model: f.text("model", false)}
	if f.object["messages"] == nil {
		f.known = append(f.known, "messages")
		a.system, a.prompt = f.text("system", false), f.text("prompt", true)
		return a
	}
	for _, name := range []string{"system", "prompt"} {
		if f.take(name) != nil {
			f.fault(name, "can't be used together with messages")
		}
	}
	a.messages = f.typed("messages", true, func(v any) error {
		_, err := asMessages(v)
		return err
	})
	return a
}

func (a *chatAction) run(ctx context.Context, ev *evaluation, tools Tools) (any, error) {
	r, err := a.request(ev)
	if err != nil {
		return nil, err
	}
	if err := ev.give(a.given(ev)); err != nil {
		return nil, err
	}
	answer, err := tools.Chat(ctx, r)
	if err != nil {
		return nil, toolError(CodeChatError, err)
	}
	return map[string]any{"content": answer.Content, "model": answer.Model}, nil
}

func (a *chatAction) request(ev *evaluation) (r ChatRequest, err error) {
	if a.model != nil {
		if r.Model, err = evalText(ev, "model", a.model); err != nil {
			return r, err
		}
	}
	if a.messages != nil {
		v, err := ev.evalAt("messages", a.messages)
		if err != nil {
			return r, err
		}
		if r.Messages, err = asMessages(v); err != nil {
			return r, &evalError{"messages", err}
		}
		return r, nil
	}
	if a.system != nil {
		system, err := evalText(ev, "system", a.system)
		if err != nil {
			return r, err
		}
		r.Messages = append(r.Messages, Message{"system", system})
	}
	prompt, err := evalText(ev, "prompt", a.prompt)
	r.Messages = append(r.Messages, Message{"user", prompt})
	return r, err
}

// given is the conversation as it may be kept: always as messages.
func (a *chatAction) given(ev *evaluation) map[string]any {
	out := map[string]any{}
	if a.model != nil {
		out["model"] = ev.shownText(a.model)
	}
	if a.messages != nil {
		out["messages"] = ev.shown(a.messages)
		return out
	}
	var messages []any
	if a.system != nil {
		messages = append(messages, map[string]any{"role": "system", "content": ev.shownText(a.system)})
	}
	out["messages"] = append(messages, map[string]any{"role": "user", "content": ev.shownText(a.prompt)})
	return out
}

// asMessages reads an array of {role, content}. In a diagram's literal form contents may still be
// templates; they are texts either way.
func asMessages(v any) ([]Message, error) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, errors.New("must be an array of one or more {role, content}")
	}
	out := make([]Message, len(list))
	for i, item := range list {
		object, ok := item.(map[string]any)
		role, _ := object["role"].(string)
		switch {
		case !ok || len(object) != 2:
			return nil, fmt.Errorf("[%d] must be {role, content}", i)
		case !slices.Contains(roles, role):
			return nil, fmt.Errorf("[%d].role must be system, user or assistant", i)
		}
		content, err := asText(object["content"])
		if err != nil {
			return nil, fmt.Errorf("[%d].content %w", i, err)
		}
		out[i] = Message{role, content}
	}
	return out, nil
}

// failAction ends the run.
type failAction struct {
	code    string
	message value
}

func readFail(f *fields) action {
	a := &failAction{code: f.literalText("code", CodeFailed), message: f.text("message", true)}
	switch {
	case reservedCodes[a.code]:
		f.fault("code", "%q is a code of the platform's own", a.code)
	case !identifier.MatchString(a.code):
		f.fault("code", "must be letters, digits and underscores, at most 64, not beginning with a digit")
	}
	return a
}

func (a *failAction) run(_ context.Context, ev *evaluation, _ Tools) (any, error) {
	message, err := evalText(ev, "message", a.message)
	if err != nil {
		return nil, err
	}
	if err := ev.give(map[string]any{"message": message}); err != nil {
		return nil, err
	}
	return nil, newError(a.code, "%s", message)
}

// evalText works out a field that must be a text.
func evalText(ev *evaluation, field string, v value) (string, error) {
	out, err := ev.evalAt(field, v)
	if err != nil {
		return "", err
	}
	s, err := asText(out)
	if err != nil {
		return "", &evalError{field, err}
	}
	return s, nil
}

// evalChecked works out an optional field of another type, with the check that its literal form
// went through; nil where the field is missing or gives null.
func evalChecked[T any](ev *evaluation, field string, v value, check func(any) error, as func(any) (T, error)) (*T, error) {
	if v == nil {
		return nil, nil
	}
	out, err := ev.evalAt(field, v)
	if err != nil {
		return nil, err
	}
	if err := check(out); err != nil {
		return nil, &evalError{field, err}
	}
	typed, err := as(out)
	return &typed, err
}

// wholeTo checks for a whole number from 1 to high.
func wholeTo(high int) func(any) error {
	return func(v any) error {
		n, err := asInt(v)
		if err == nil && (n < 1 || n > high) {
			err = fmt.Errorf("must be from 1 to %d", high)
		}
		return err
	}
}

func fraction(v any) error {
	f, err := asFloat(v)
	if err == nil && (f < 0 || f > 1) {
		err = errors.New("must be from 0 to 1")
	}
	return err
}
