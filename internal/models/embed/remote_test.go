package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"canopy/internal/models/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// embedder is a server that embeds a text as (its length, 1) and keeps the sizes of its batches.
type embedder struct {
	mu      sync.Mutex
	batches []int
	bodies  []string
	// answer takes over where it is set and returns true.
	answer func(w http.ResponseWriter, input []string) bool
}

func (e *embedder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Model      string
		Input      []string
		Dimensions *int
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusTeapot)
		return
	}
	e.mu.Lock()
	e.batches = append(e.batches, len(body.Input))
	e.bodies = append(e.bodies, fmt.Sprintf("%s %s dimensions=%v", r.URL.Path, body.Model, body.Dimensions != nil))
	e.mu.Unlock()
	if e.answer != nil && e.answer(w, body.Input) {
		return
	}
	type item struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var data []item
	for i, text := range body.Input {
		data = append(data, item{i, []float32{float32(len(text)), 1}})
	}
	slices.Reverse(data) // an answer need not be in order
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
}

func newModel(t *testing.T, e *embedder, options Options) *Remote {
	t.Helper()
	server := httptest.NewServer(e)
	options.Server = openai.Config{URL: server.URL, Attempts: 2, Backoff: time.Millisecond}
	options.Model = "test-model"
	model, err := NewRemote(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	t.Cleanup(model.Close)
	return model
}

// lengths returns n texts of the lengths 1 to n.
func lengths(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = strings.Repeat("x", i+1)
	}
	return texts
}

func checkLengths(t *testing.T, vectors [][]float32, n int) {
	t.Helper()
	if len(vectors) != n {
		t.Fatalf("%d vectors, want %d", len(vectors), n)
	}
	for i, v := range vectors {
		if v[0] != float32(i+1) {
			t.Errorf("vector %d is of a text of length %v", i, v[0])
		}
	}
}

func TestBatchLimits(t *testing.T) {
	tests := []struct {
		name    string
		options Options
		want    []int
	}{
		{"one batch", Options{}, []int{10}},
		{"inputs", Options{MaxInputs: 4}, []int{4, 4, 2}},
		{"tokens of a request", Options{MaxRequestTokens: 21, CountTokens: func(s string) int { return len(s) }}, []int{6, 2, 2}},
		{"bytes of a request", Options{MaxRequestBytes: 24}, []int{4, 2, 2, 1, 1}},
		{"a text of its own batch", Options{MaxRequestBytes: 1}, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := &embedder{}
			vectors, err := newModel(t, e, tt.options).Embed(t.Context(), lengths(10))
			if err != nil {
				t.Fatal(err)
			}
			checkLengths(t, vectors, 10)
			if !slices.Equal(e.batches, tt.want) {
				t.Errorf("batches of %v, want %v", e.batches, tt.want)
			}
		})
	}
}

func TestRequestBody(t *testing.T) {
	for name, options := range map[string]Options{"false": {Dimensions: 2}, "true": {Dimensions: 2, SendDimensions: true}} {
		t.Run("dimensions="+name, func(t *testing.T) {
			e := &embedder{}
			if _, err := newModel(t, e, options).Embed(t.Context(), []string{"a"}); err != nil {
				t.Fatal(err)
			}
			if want := "/v1/embeddings test-model dimensions=" + name; e.bodies[0] != want {
				t.Errorf("request %q, want %q", e.bodies[0], want)
			}
		})
	}
}

func TestRefusedBatchesAreHalved(t *testing.T) {
	for _, code := range []int{400, 413, 422} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			e := &embedder{answer: func(w http.ResponseWriter, input []string) bool {
				if len(input) > 3 {
					w.WriteHeader(code)
				}
				return len(input) > 3
			}}
			vectors, err := newModel(t, e, Options{}).Embed(t.Context(), lengths(10))
			if err != nil {
				t.Fatal(err)
			}
			checkLengths(t, vectors, 10)
		})
	}
}

func TestOneRefusedTextIsNamed(t *testing.T) {
	e := &embedder{answer: func(w http.ResponseWriter, input []string) bool {
		poisoned := slices.Contains(input, "xxxxxx")
		if poisoned {
			w.WriteHeader(400)
			fmt.Fprint(w, `{"error":{"message":"bad text"}}`)
		}
		return poisoned
	}}
	var kept [][]float32
	err := newModel(t, e, Options{}).Batches(t.Context(), lengths(10), func(first int, vectors [][]float32) error {
		if first != len(kept) {
			t.Errorf("batch from %d after %d texts", first, len(kept))
		}
		kept = append(kept, vectors...)
		return nil
	})
	var text *TextError
	var partial *PartialError
	if !errors.As(err, &text) || text.Index != 5 || !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "bad text") {
		t.Errorf("error %v", err)
	}
	if !errors.As(err, &partial) || partial.Done != 5 || partial.Total != 10 {
		t.Errorf("partial failure %+v", partial)
	}
	checkLengths(t, kept, 5)
}

func TestTextsAreCheckedBeforeAnyIsSent(t *testing.T) {
	tests := []struct {
		name  string
		texts []string
		want  error
	}{
		{"empty", []string{"a", ""}, ErrEmpty},
		{"white space", []string{"a", " \n"}, ErrEmpty},
		{"too long", []string{"a", strings.Repeat("x", 100)}, ErrTooLong},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := &embedder{}
			_, err := newModel(t, e, Options{MaxInputTokens: 20}).Embed(t.Context(), tt.texts)
			var text *TextError
			if !errors.Is(err, tt.want) || !errors.As(err, &text) || text.Index != 1 || len(e.batches) != 0 {
				t.Errorf("error %v after %d requests", err, len(e.batches))
			}
		})
	}
}

func TestUnusableAnswers(t *testing.T) {
	tests := []struct {
		name, body string
		want       error
	}{
		{"too few", `{"data":[{"index":0,"embedding":[1,2]}]}`, ErrCount},
		{"too many", `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,2]},{"index":2,"embedding":[1,2]}]}`, ErrCount},
		{"index twice", `{"data":[{"index":0,"embedding":[1,2]},{"index":0,"embedding":[1,2]}]}`, ErrCount},
		{"index outside", `{"data":[{"index":0,"embedding":[1,2]},{"index":2,"embedding":[1,2]}]}`, ErrCount},
		{"dimensions", `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,2,3]}]}`, ErrDimensions},
		{"no vector", `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":null}]}`, ErrDimensions},
		{"component beyond float32", `{"data":[{"index":0,"embedding":[1,1e39]},{"index":1,"embedding":[1,2]}]}`, openai.ErrAnswer},
		{"error with status 200", `{"error":{"message":"x"}}`, ErrCount},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := &embedder{answer: func(w http.ResponseWriter, _ []string) bool {
				fmt.Fprint(w, tt.body)
				return true
			}}
			if vectors, err := newModel(t, e, Options{}).Embed(t.Context(), lengths(2)); !errors.Is(err, tt.want) || vectors != nil {
				t.Errorf("vectors %v, error %v, want %v", vectors, err, tt.want)
			}
		})
	}
}

func TestDimensionsArePinned(t *testing.T) {
	t.Run("by the first answer", func(t *testing.T) {
		model := newModel(t, &embedder{}, Options{})
		if model.Dimensions() != 0 {
			t.Errorf("%d dimensions before any answer", model.Dimensions())
		}
		if _, err := model.Embed(t.Context(), lengths(1)); err != nil || model.Dimensions() != 2 {
			t.Errorf("%d dimensions, %v", model.Dimensions(), err)
		}
	})
	t.Run("by the options", func(t *testing.T) {
		if _, err := newModel(t, &embedder{}, Options{Dimensions: 3}).Embed(t.Context(), lengths(1)); !errors.Is(err, ErrDimensions) {
			t.Errorf("error %v", err)
		}
	})
}

func TestFailureAfterSomeBatchesKeepsThem(t *testing.T) {
	e := &embedder{answer: func(w http.ResponseWriter, input []string) bool {
		late := len(input[0]) > 4
		if late {
			w.WriteHeader(503)
		}
		return late
	}}
	done := 0
	err := newModel(t, e, Options{MaxInputs: 2}).Batches(t.Context(), lengths(10), func(_ int, vectors [][]float32) error {
		done += len(vectors)
		return nil
	})
	var partial *PartialError
	var status *openai.StatusError
	if !errors.As(err, &partial) || partial.Done != 4 || done != 4 || !errors.As(err, &status) || !status.Temporary() {
		t.Errorf("error %v after %d texts", err, done)
	}
}

func TestCancelBetweenBatches(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := newModel(t, &embedder{}, Options{MaxInputs: 2}).Batches(ctx, lengths(10), func(first int, _ [][]float32) error {
		if first == 2 {
			cancel()
		}
		return nil
	})
	var partial *PartialError
	if !errors.Is(err, context.Canceled) || !errors.As(err, &partial) || partial.Done != 4 {
		t.Errorf("error %v", err)
	}
}

func TestNoTexts(t *testing.T) {
	e := &embedder{}
	if vectors, err := newModel(t, e, Options{}).Embed(t.Context(), nil); err != nil || len(vectors) != 0 || len(e.batches) != 0 {
		t.Errorf("vectors %v, %v, %d requests", vectors, err, len(e.batches))
	}
}
