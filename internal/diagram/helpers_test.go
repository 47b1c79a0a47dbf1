package diagram

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder answers every tool from a function and keeps what it was asked.
type recorder struct {
	search func(context.Context, SearchRequest) ([]Hit, error)
	ask    func(context.Context, AskRequest) (*Answer, error)
	chat   func(context.Context, ChatRequest) (*ChatAnswer, error)
	http   func(context.Context, HTTPRequest) (*HTTPAnswer, error)
	asked  []any
	// secrets are those that there are.
	secrets map[string]string
}

func (r *recorder) Search(ctx context.Context, q SearchRequest) ([]Hit, error) {
	r.asked = append(r.asked, q)
	return r.search(ctx, q)
}

func (r *recorder) Ask(ctx context.Context, q AskRequest) (*Answer, error) {
	r.asked = append(r.asked, q)
	return r.ask(ctx, q)
}

func (r *recorder) Chat(ctx context.Context, q ChatRequest) (*ChatAnswer, error) {
	r.asked = append(r.asked, q)
	return r.chat(ctx, q)
}

func (r *recorder) HTTP(ctx context.Context, q HTTPRequest) (*HTTPAnswer, error) {
	r.asked = append(r.asked, q)
	return r.http(ctx, q)
}

func (r *recorder) Secrets(_ context.Context, names []string) (map[string]string, error) {
	found := map[string]string{}
	for _, name := range names {
		if value, ok := r.secrets[name]; ok {
			found[name] = value
		}
	}
	return found, nil
}

func mustParse(tb testing.TB, raw string) *Diagram {
	tb.Helper()
	d, faults, _ := Parse(tb.Context(), 1, []byte(raw))
	if faults != nil {
		tb.Fatalf("%s: %v", raw, faults)
	}
	return d
}

// runAll executes every step and the output, as a caller with a store would: each step by a new Run.
func runAll(ctx context.Context, d *Diagram, input string, tools Tools) (string, error) {
	var results []json.RawMessage
	for range d.Steps {
		r := &Run{Diagram: d, Input: json.RawMessage(input), Results: results}
		out, err := r.Step(ctx, tools)
		if err != nil {
			return "", err
		}
		results = append(results, out)
	}
	r := &Run{Diagram: d, Input: json.RawMessage(input), Results: results}
	out, err := r.Output(ctx)
	return string(out), err
}

// outputOf evaluates one template over an input.
func outputOf(tb testing.TB, template, input string) (string, error) {
	tb.Helper()
	quoted, err := json.Marshal(template)
	if err != nil {
		tb.Fatal(err)
	}
	d := mustParse(tb, fmt.Sprintf(`{"steps":[],"output":{"v":%s}}`, quoted))
	return runAll(tb.Context(), d, input, nil)
}
