package contexts

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
)

// reranker is a server in the form of Cohere and Jina, which likes the texts best that speak of bees. broken has it fail.
type reranker struct {
	*httptest.Server
	asked  atomic.Int64
	most   atomic.Int64 // texts of one request
	broken atomic.Bool
}

func newReranker(t *testing.T) *reranker {
	r := &reranker{}
	r.Server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(r.Close)
	return r
}

func (s *reranker) serve(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Model, Query string
		Documents    []string
	}
	s.asked.Add(1)
	if json.NewDecoder(r.Body).Decode(&body) != nil || body.Model != "orders-1" || r.Header.Get("Authorization") != "Bearer secret" || r.URL.Path != "/v1/rerank" || s.broken.Load() {
		http.Error(w, `{"message":"no"}`, http.StatusBadRequest)
		return
	}
	s.most.Store(max(s.most.Load(), int64(len(body.Documents))))
	var results []map[string]any
	for i, text := range body.Documents {
		results = append(results, map[string]any{"index": i, "relevance_score": strings.Count(strings.ToLower(text), "bee")})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"results": results})
}

func (s *reranker) use(cfg *config.Config) {
	cfg.Rerank = config.Provider{URL: s.URL, APIKey: "secret", Model: "orders-1"}
}

// TestReranking: of more hits than are wanted those are given that the server likes best, in its order, at both doors; where it fails hits
// keep their own.
func TestReranking(t *testing.T) {
	t.Parallel()
	server := newReranker(t)
	s := platform.Start(t, server.use)
	s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Larder")
	for i := range 8 {
		s.Upload(token, id, fmt.Sprintf("honey%d.txt", i), fmt.Appendf(nil, "Honey keeps for years, as honey number %d does.", i))
	}
	s.Upload(token, id, "bees.txt", []byte("Bees, bees and bees make what is golden, and a jar of it, as of many other good things in the larder of a house, stands beside the honey."))
	s.Settle(token, id)
	first := func(body object) string {
		t.Helper()
		hits := s.Must(200, "POST", fmt.Sprintf("/context/relevant-docs/%d", id), token, body).JSON(t).([]any)
		if len(hits) != 2 {
			t.Fatalf("%d hits, want 2", len(hits))
		}
		return hits[0].(map[string]any)["content"].(string)
	}
	question := object{"prompt": "How long does honey keep?", "topN": 2}
	if got := first(question); !strings.HasPrefix(got, "Bees") || server.most.Load() != 9 {
		t.Errorf("first is %q, of %d", got, server.most.Load())
	}
	data := s.MustGQL(token, fmt.Sprintf(`{ searchContext(contextId: %d, prompt: "How long does honey keep?", topN: 1) { content } searchContexts(contextIds: [%d], prompt: "How long does honey keep?", topN: 1) { content } }`, id, id), nil)
	if got := fmt.Sprint(data); strings.Count(got, "Bees, bees") != 2 {
		t.Errorf("by the graph: %s", got)
	}
	server.broken.Store(true)
	if got := first(question); !strings.HasPrefix(got, "Honey") {
		t.Errorf("first is %q", got)
	}
	asked := server.asked.Load()
	if got := first(question); !strings.HasPrefix(got, "Honey") || server.asked.Load() != asked {
		t.Errorf("first is %q; asked %d times after it had failed", got, server.asked.Load()-asked)
	}
}
