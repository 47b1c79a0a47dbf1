package main

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
)

// modelServer speaks OpenAI's interface and embeds a text by the letters in it.
type modelServer struct {
	*httptest.Server
	mu sync.Mutex
	// texts counts the texts that were embedded.
	texts int
	// fail gives the status of the next requests, 0 for none.
	fail func() int
	// dimensions of the vectors.
	dimensions int
	// pause is what each request takes.
	pause time.Duration
}

func newModelServer(t *testing.T) *modelServer {
	t.Helper()
	m := &modelServer{dimensions: 26, fail: func() int { return 0 }}
	m.Server = httptest.NewServer(http.HandlerFunc(m.embed))
	t.Cleanup(m.Close)
	return m
}

func (m *modelServer) embed(w http.ResponseWriter, r *http.Request) {
	time.Sleep(m.pause)
	m.mu.Lock()
	defer m.mu.Unlock()
	if status := m.fail(); status != 0 {
		http.Error(w, `{"error":{"message":"not now"}}`, status)
		return
	}
	var in struct {
		Model string
		Input []string
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer secret" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	var out struct {
		Data []map[string]any `json:"data"`
	}
	for i, text := range in.Input {
		m.texts++
		out.Data = append(out.Data, map[string]any{"index": i, "embedding": m.vector(text)})
	}
	_ = json.NewEncoder(w).Encode(out)
}

// vector counts letters.
func (m *modelServer) vector(text string) []float32 {
	v := make([]float32, m.dimensions)
	for _, c := range strings.ToLower(text) {
		if c >= 'a' && c <= 'z' && int(c-'a') < len(v) {
			v[c-'a']++
		}
	}
	return v
}

// embedded counts the texts that were embedded, each as often as it was.
func (m *modelServer) embedded() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.texts
}

// failing makes the next n requests fail with the status; n below 0 is all of them.
func (m *modelServer) failing(status, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = func() int {
		if n == 0 {
			return 0
		}
		n--
		return status
	}
}

func (m *modelServer) use(c *config.Config) {
	c.Embeddings = config.Provider{URL: m.URL, APIKey: "secret", Model: "letters-1"}
}

// cosine of two vectors, as the definition says.
func cosine(a, b []float32) float64 {
	var dot, x, y float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		x += float64(a[i]) * float64(a[i])
		y += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(x*y)
}

func TestDenseModel(t *testing.T) {
	model := newModelServer(t)
	s := newStack(t, model.use)
	s.work(nil)
	token := s.assistant()
	id := s.newContext(token, "Letters")
	texts := map[string]string{"a.txt": "aaab", "b.txt": "bbbc", "c.txt": "zzz yyy", "d.md": "abc xyz"}
	for name, text := range texts {
		s.upload(token, id, name, []byte(text))
	}
	names := map[float64]string{}
	for _, d := range s.settle(token, id) {
		if d["status"] != "ready" {
			t.Fatalf("%v", d)
		}
		names[d["id"].(float64)] = d["originalName"].(string)
	}
	t.Run("the cosine is exact", func(t *testing.T) {
		hits := s.search(token, id, "abb")
		var last float64 = 2
		for _, h := range hits {
			want, got := cosine(model.vector("abb"), model.vector(texts[names[h["docId"].(float64)]])), h["similarity"].(float64)
			if math.Abs(want-got) > 1e-6 || got > last {
				t.Errorf("%v: %v, want %v", h, got, want)
			}
			last = got
		}
		if len(hits) != 3 {
			t.Errorf("%v, want all but what has no letter of the prompt", hits)
		}
	})
	t.Run("what is like nothing is asked for", func(t *testing.T) {
		body := map[string]any{"prompt": "abb", "includeUnrelated": true}
		hits := s.must(200, "POST", fmt.Sprintf("/context/relevant-docs/%d", id), token, body).json(t).([]any)
		if len(hits) != 4 || member(t, hits[3], "similarity") != 0.0 {
			t.Errorf("REST: %v", hits)
		}
		for _, mode := range []string{"SEMANTIC", "LEXICAL", "HYBRID"} {
			query := fmt.Sprintf(`{ searchContext(contextId: %d, prompt: "xyz", mode: %s, includeUnrelated: true) { similarity document { originalName } } }`, id, mode)
			hits := s.mustGQL(token, query, nil)["searchContext"].([]any)
			if len(hits) != 4 || member(t, hits[0], "similarity") == 0.0 || member(t, hits[3], "similarity") != 0.0 {
				t.Errorf("%s: %v", mode, hits)
			}
		}
	})
	t.Run("the bounds of a search", func(t *testing.T) {
		search := func(arguments string) []any {
			data := s.mustGQL(token, fmt.Sprintf(`{ searchContext(contextId: %d, %s) { similarity document { databaseId originalName } } }`, id, arguments), nil)
			return data["searchContext"].([]any)
		}
		if hits := search(`prompt: "aab", topN: 1`); len(hits) != 1 || member(t, hits[0], "document.originalName") != "a.txt" {
			t.Errorf("topN: %v", hits)
		}
		if hits := search(`prompt: "zy", scoreThreshold: 0.9`); len(hits) != 1 || member(t, hits[0], "document.originalName") != "c.txt" {
			t.Errorf("scoreThreshold: %v", hits)
		}
		for docID, name := range names {
			if hits := search(fmt.Sprintf(`prompt: "abcz", documentIds: [%v]`, docID)); len(hits) != 1 || member(t, hits[0], "document.originalName") != name {
				t.Errorf("documentIds %s: %v", name, hits)
			}
		}
		if hits := search(`prompt: "abc", documentIds: []`); len(hits) != 0 {
			t.Errorf("no documentIds: %v", hits)
		}
		if hits := search(`prompt: "xyz", mode: LEXICAL`); len(hits) != 1 || member(t, hits[0], "document.originalName") != "d.md" {
			t.Errorf("LEXICAL: %v", hits)
		}
		// By letters c.txt is the closest; by both, the document that has the word.
		hybrid := search(`prompt: "xyz", mode: HYBRID`)
		best := 0.5*cosine(model.vector("xyz"), model.vector("abc xyz"))/cosine(model.vector("xyz"), model.vector("zzz yyy")) + 0.5
		if len(hybrid) != 2 || member(t, hybrid[0], "document.originalName") != "d.md" ||
			math.Abs(member(t, hybrid[0], "similarity").(float64)-best) > 1e-6 || member(t, hybrid[1], "similarity") != 0.5 {
			t.Errorf("HYBRID: %v, the best at %v", hybrid, best)
		}
		for arguments, want := range map[string]int{"scoreThreshold: 0.5": 2, "scoreThreshold: 0.51": 1, "scoreThreshold: 0.99": 0, "topN: 1": 1} {
			if hits := search(`prompt: "xyz", mode: HYBRID, ` + arguments); len(hits) != want || want > 0 && !sameJSON(hits[0], hybrid[0]) {
				t.Errorf("HYBRID with %s: %v, want %d of %v", arguments, hits, want, hybrid)
			}
		}
		for _, bad := range []string{`prompt: " "`, `prompt: "x", topN: 0`, `prompt: "x", topN: 101`, `prompt: "x", scoreThreshold: 1.5`, `prompt: "x", documentIds: ["Q29udGV4dDox"]`} {
			s.refused(t, "BAD_REQUEST", token, fmt.Sprintf(`{ searchContext(contextId: %d, %s) { similarity } }`, id, bad), nil)
		}
		s.must(400, "POST", fmt.Sprintf("/context/relevant-docs/%d", id), token, map[string]any{"prompt": ""})
	})
	t.Run("equal content is not embedded twice", func(t *testing.T) {
		before := model.embedded()
		s.upload(token, id, "again.txt", []byte("aaab"))
		other := s.newContext(token, "Other")
		for i := range 5 {
			s.upload(token, other, fmt.Sprintf("%d.txt", i), []byte("bbbc"))
		}
		for _, d := range slices.Concat(s.settle(token, id), s.settle(token, other)) {
			if d["status"] != "ready" || d["chunks"] != 1.0 {
				t.Errorf("%v", d)
			}
		}
		// Each document has the text of one that was embedded before.
		if after := model.embedded(); after != before {
			t.Errorf("%d texts were embedded, before %d", after, before)
		}
		if hits := s.search(token, other, "bc"); len(hits) != 5 {
			t.Errorf("%v", hits)
		}
	})
}

func TestModelServerAtFault(t *testing.T) {
	model := newModelServer(t)
	s := newStack(t, model.use)
	s.work(nil)
	token := s.assistant()
	id := s.newContext(token, "Letters")
	t.Run("it comes back", func(t *testing.T) {
		model.failing(http.StatusServiceUnavailable, 2)
		s.upload(token, id, "a.txt", []byte("some text"))
		if d := s.settle(token, id)[0]; d["status"] != "ready" || d["error"] != nil {
			t.Errorf("%v", d)
		}
	})
	t.Run("it refuses the key", func(t *testing.T) {
		model.failing(http.StatusUnauthorized, 1)
		s.upload(token, id, "b.txt", []byte("other text"))
		devtest.Eventually(t, "the document says so", func() bool {
			d := s.documents(token, id)[1]
			return d["status"] == "pending" && strings.Contains(fmt.Sprint(d["error"]), "401")
		})
		if d := s.settle(token, id)[1]; d["status"] != "ready" || d["error"] != nil {
			t.Errorf("%v", d)
		}
	})
	t.Run("it refuses the text", func(t *testing.T) {
		model.failing(http.StatusBadRequest, 1)
		s.upload(token, id, "c.txt", []byte("a third text"))
		if d := s.settle(token, id)[2]; d["status"] != "failed" || !strings.Contains(fmt.Sprint(d["error"]), "letters-1") {
			t.Errorf("%v", d)
		}
	})
	t.Run("it is away at a search", func(t *testing.T) {
		model.failing(http.StatusUnauthorized, -1)
		s.must(503, "POST", fmt.Sprintf("/context/relevant-docs/%d", id), token, map[string]any{"prompt": "text"})
		model.failing(0, 0)
	})
	t.Run("another length of vectors", func(t *testing.T) {
		model.mu.Lock()
		model.dimensions = 20
		model.mu.Unlock()
		a := s.must(400, "POST", fmt.Sprintf("/context/relevant-docs/%d", id), token, map[string]any{"prompt": "text"})
		if code := a.json(t).(map[string]any)["code"]; code != "model_changed" {
			t.Errorf("%s", a.Body)
		}
	})
}

func TestModelOfTheContext(t *testing.T) {
	model := newModelServer(t)
	s := newStack(t, model.use)
	s.work(nil)
	token := s.assistant()
	id := s.newContext(token, "Letters")
	s.upload(token, id, "a.txt", []byte("bees make honey"))
	s.settle(token, id)
	set := func(name string) (map[string]any, []string) {
		return s.gql(token, `mutation($id: ID!, $model: String!) { updateContext(input: {id: $id, embeddingModel: $model}) { context { embeddingModel } } }`,
			map[string]any{"id": id, "model": name})
	}
	if _, codes := set("no-such-model"); !slices.Equal(codes, []string{"BAD_REQUEST"}) {
		t.Errorf("%v", codes)
	}
	if _, codes := set("canopy-lexical-1"); codes != nil {
		t.Errorf("%v", codes)
	}
	s.settle(token, id)
	if hits := s.search(token, id, "hhh"); len(hits) != 0 {
		t.Errorf("vectors of the model before are searched: %v", hits)
	}
	if n := s.number(`SELECT count(*) FROM chunks WHERE dense IS NOT NULL`); n != 0 {
		t.Errorf("%d vectors of the model before are left", n)
	}
	s.sql(`UPDATE contexts SET embedding_model = 'gone-1'`)
	a := s.must(400, "POST", fmt.Sprintf("/context/relevant-docs/%d", id), token, map[string]any{"prompt": "honey"})
	if !strings.Contains(string(a.Body), "gone-1") {
		t.Errorf("%s", a.Body)
	}
	s.upload(token, id, "b.txt", []byte("more honey"))
	if d := s.settle(token, id)[1]; d["status"] != "failed" || !strings.Contains(fmt.Sprint(d["error"]), "gone-1") {
		t.Errorf("%v", d)
	}
}
