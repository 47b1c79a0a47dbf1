package diagram

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// Run is one execution of a diagram: its input and the results of the steps that are finished.
// It keeps nothing else, so it can be put together again from a store in another process.
type Run struct {
	Diagram *Diagram
	// Branch is the tenant whose run it is: its expressions are worked out in turn with those of other tenants.
	Branch int64
	// Input is a JSON object; empty means {}.
	Input json.RawMessage
	// Results are the results of the first steps, in order.
	Results []json.RawMessage
	// Started is when the run began; RunTimeout counts from it. Zero sets no limit.
	Started time.Time
	// Given is told what a step's expressions gave it, without secrets, as far as is kept of it: before the step does anything with it, and so also where
	// the step then fails. It is not called for set steps, whose result it is, and where it came to none. May be nil.
	Given func(json.RawMessage)
}

// Next is the step that Step would execute, or false when only the output is left.
func (r *Run) Next() (Step, bool) {
	if len(r.Results) >= len(r.Diagram.Steps) {
		return Step{}, false
	}
	return r.Diagram.Steps[len(r.Results)], true
}

// ErrFinished is what Step returns when no step is left.
var ErrFinished = errors.New("every step is finished")

// Step executes the next step and returns its result as canonical JSON: null for a step whose
// condition was false. It changes nothing: the caller stores the result and then appends it to
// Results. An error is ErrFinished or an *Error, which ends the run.
func (r *Run) Step(ctx context.Context, tools Tools) (json.RawMessage, error) {
	s, ok := r.Next()
	if !ok {
		return nil, ErrFinished
	}
	out, failure := r.bounded(ctx, s.refs, func(ctx context.Context, ev *evaluation) (any, error) {
		return ev.redacted(s.execute(ctx, ev, tools, r.Diagram.secrets))
	})
	if failure == nil && r.stateSize()+len(out) > MaxState {
		failure = newError(CodeLimit, "the results of all steps together are larger than %d MiB", MaxState>>20)
	}
	if failure != nil {
		failure.Step = s.ID
		return nil, failure
	}
	return out, nil
}

// Output works out the diagram's output, an object of at most MaxOutput bytes, once every step is
// finished. An error is an *Error.
func (r *Run) Output(ctx context.Context) (json.RawMessage, error) {
	out, err := r.bounded(ctx, r.Diagram.refs, func(_ context.Context, ev *evaluation) (any, error) {
		v, err := ev.evalAt("output", r.Diagram.output)
		if _, ok := v.(map[string]any); err == nil && !ok {
			return nil, &evalError{"output", errors.New("must be an object, not " + kind(v))}
		}
		return v, err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (s Step) execute(ctx context.Context, ev *evaluation, tools Tools, secrets []string) (any, error) {
	if s.when != nil {
		v, err := ev.evalAt("when", s.when)
		if err != nil {
			return nil, err
		}
		wanted, err := asBool(v)
		if err != nil {
			return nil, &evalError{"when", err}
		}
		if !wanted {
			return nil, nil
		}
	}
	if len(secrets) > 0 && (s.Type == HTTP || s.Type == Chat) {
		if err := ev.unseal(ctx, s.refs.secrets, tools, secrets); err != nil {
			return nil, err
		}
	}
	return s.action.run(ctx, ev, tools)
}

// unseal gives a step the secrets that it uses. What it gets back may hold those of the other steps, too:
// a remote may repeat what it was told before.
func (ev *evaluation) unseal(ctx context.Context, own names, tools Tools, all []string) error {
	values, err := tools.Secrets(ctx, all)
	if err != nil {
		return newError(CodeSecret, "the secrets can't be read").because(err)
	}
	size := 0
	for _, value := range values {
		size += len(value)
	}
	if size > maxSecrets {
		return newError(CodeSecret, "the secrets of the diagram are longer than %d KiB together", maxSecrets>>10)
	}
	if err := ev.meter.next(); err != nil {
		return err
	}
	ev.redactor = newRedactor(values)
	ev.meter.rest()
	used := make(map[string]any, len(own))
	for _, name := range slices.Sorted(maps.Keys(own)) {
		value, ok := values[name]
		if !ok {
			return newError(CodeSecret, "there is no secret %s", name)
		}
		used[name] = value
	}
	ev.env["secrets"] = used
	return nil
}

// redacted takes the secrets that a step was given out of what came of it.
func (ev *evaluation) redacted(v any, failure error) (any, error) {
	if ev.redactor == nil {
		return v, failure
	}
	if err := ev.meter.next(); err != nil {
		return nil, err
	}
	return ev.redactor.value(v), ev.redactor.failure(failure)
}

// bounded runs fn under the time limits and turns what comes out into JSON or an *Error. Nothing
// goes on after it returns.
func (r *Run) bounded(parent context.Context, refs refs, fn func(context.Context, *evaluation) (any, error)) (json.RawMessage, *Error) {
	whole, stop := r.untilTimeout(parent)
	defer stop()
	ctx, p, cancel := withPatience(whole, StepTimeout)
	defer cancel()
	if err := contextError(parent, ctx); err != nil {
		return nil, err
	}
	m := newMeter(ctx, r.Branch, p)
	defer m.rest()
	raw, failure := r.worked(ctx, m, refs, fn)
	if failure == nil {
		return raw, nil
	}
	if err := contextError(parent, ctx); err != nil {
		return nil, err
	}
	return nil, asError(failure)
}

// untilTimeout gives a context that ends with the time of the run.
func (r *Run) untilTimeout(parent context.Context) (context.Context, context.CancelFunc) {
	if r.Started.IsZero() {
		return parent, func() {}
	}
	return context.WithDeadline(parent, r.Started.Add(RunTimeout))
}

// worked gives what came of fn as JSON.
func (r *Run) worked(ctx context.Context, m *meter, refs refs, fn func(context.Context, *evaluation) (any, error)) (json.RawMessage, error) {
	env, err := r.environment(m, refs)
	if err != nil {
		return nil, err
	}
	m.rest()
	env[meterName] = m
	v, err := fn(ctx, &evaluation{meter: m, env: env, made: map[*expression]any{}, given: r.Given})
	if err != nil {
		return nil, err
	}
	return encode(v, MaxOutput)
}

// asError gives every failure inside a step its code.
func asError(err error) *Error {
	var known *Error
	message := describe(err)
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, errTooLarge):
		return newError(CodeTooLarge, "%sis larger than %d KiB", message, MaxOutput>>10)
	case errors.Is(err, errBudget), errors.Is(err, errMade):
		return newError(CodeLimit, "%s", message)
	}
	return newError(CodeExpression, "%s", message)
}

// describe writes the path of the field and the innermost message without the library's drawings.
func describe(err error) string {
	path := ""
	var at *evalError
	for errors.As(err, &at) {
		if path != "" && !strings.HasPrefix(at.at, "[") {
			path += "."
		}
		path += at.at
		err = at.err
	}
	message := shorten(err)
	switch {
	case errors.Is(err, errTooLarge) && path == "":
		return "the result "
	case errors.Is(err, errTooLarge):
		return path + " "
	case path == "":
		return message
	}
	return path + ": " + message
}

// environment decodes what the expressions read, and nothing else.
func (r *Run) environment(m *meter, refs refs) (map[string]any, error) {
	input := map[string]any{}
	if refs.input && len(r.Input) > 0 {
		v, err := decodeBounded(m, r.Input, MaxInput)
		object, ok := v.(map[string]any)
		if err != nil || !ok {
			return nil, newError(CodeFailed, "the input is not a JSON object of at most %d MiB", MaxInput>>20).because(err)
		}
		input = object
	}
	steps := map[string]any{}
	for i, raw := range r.Results {
		id := r.Diagram.Steps[i].ID
		if !refs.steps[id] {
			continue
		}
		v, err := decodeBounded(m, raw, MaxOutput)
		if err != nil {
			return nil, newError(CodeFailed, "the stored result of step %s can't be read", id).because(err)
		}
		steps[id] = v
	}
	return map[string]any{"input": input, "steps": steps}, nil
}

func decodeBounded(m *meter, raw []byte, limit int) (any, error) {
	if len(raw) > limit {
		return nil, errTooLarge
	}
	if err := m.pass(len(raw)); err != nil {
		return nil, err
	}
	return decode(raw)
}

func (r *Run) stateSize() int {
	size := 0
	for _, raw := range r.Results {
		size += len(raw)
	}
	return size
}
