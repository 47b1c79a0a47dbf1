package contexts

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

func TestDenseModel(t *testing.T) {
	t.Parallel()
	model := platform.NewModelServer(t)
	s := platform.Start(t, model.Use)
	s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Letters")
	texts := map[string]string{"a.txt": "aaab", "b.txt": "bbbc", "c.txt": "zzz yyy", "d.md": "abc xyz"}
	for name, text := range texts {
		s.Upload(token, id, name, []byte(text))
	}
	names := map[float64]string{}
	for _, d := range s.Settle(token, id) {
		if d["status"] != "ready" {
			t.Fatalf("%v", d)
		}
		names[d["id"].(float64)] = d["originalName"].(string)
	}
	t.Run("the cosine is exact", func(t *testing.T) {
		hits := s.Search(token, id, "abb")
		var last float64 = 2
		for _, h := range hits {
			want, got := platform.Cosine(model.Vector("abb"), model.Vector(texts[names[h["docId"].(float64)]])), h["similarity"].(float64)
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
		hits := s.Must(200, "POST", fmt.Sprintf("/context/relevant-docs/%d", id), token, body).JSON(t).([]any)
		if len(hits) != 4 || platform.Member(t, hits[3], "similarity") != 0.0 {
			t.Errorf("REST: %v", hits)
		}
		for _, mode := range []string{"SEMANTIC", "LEXICAL", "HYBRID"} {
			query := fmt.Sprintf(`{ searchContext(contextId: %d, prompt: "xyz", mode: %s, includeUnrelated: true) { similarity document { originalName } } }`, id, mode)
			hits := s.MustGQL(token, query, nil)["searchContext"].([]any)
			if len(hits) != 4 || platform.Member(t, hits[0], "similarity") == 0.0 || platform.Member(t, hits[3], "similarity") != 0.0 {
				t.Errorf("%s: %v", mode, hits)
			}
		}
	})
	t.Run("the bounds of a search", func(t *testing.T) {
		search := func(arguments string) []any {
			data := s.MustGQL(token, fmt.Sprintf(`{ searchContext(contextId: %d, %s) { similarity document { databaseId originalName } } }`, id, arguments), nil)
			return data["searchContext"].([]any)
		}
		if hits := search(`prompt: "aab", topN: 1`); len(hits) != 1 || platform.Member(t, hits[0], "document.originalName") != "a.txt" {
			t.Errorf("topN: %v", hits)
		}
		if hits := search(`prompt: "zy", scoreThreshold: 0.9`); len(hits) != 1 || platform.Member(t, hits[0], "document.originalName") != "c.txt" {
			t.Errorf("scoreThreshold: %v", hits)
		}
		for docID, name := range names {
			if hits := search(fmt.Sprintf(`prompt: "abcz", documentIds: [%.0f]`, docID)); len(hits) != 1 || platform.Member(t, hits[0], "document.originalName") != name {
				t.Errorf("documentIds %s: %v", name, hits)
			}
		}
		if hits := search(`prompt: "abc", documentIds: []`); len(hits) != 0 {
			t.Errorf("no documentIds: %v", hits)
		}
		if hits := search(`prompt: "xyz", mode: LEXICAL`); len(hits) != 1 || platform.Member(t, hits[0], "document.originalName") != "d.md" {
			t.Errorf("LEXICAL: %v", hits)
		}
		// By letters c.txt is the closest; by both, the document that has the word.
		hybrid := search(`prompt: "xyz", mode: HYBRID`)
		best := 0.5*platform.Cosine(model.Vector("xyz"), model.Vector("abc xyz"))/platform.Cosine(model.Vector("xyz"), model.Vector("zzz yyy")) + 0.5
		if len(hybrid) != 2 || platform.Member(t, hybrid[0], "document.originalName") != "d.md" ||
			math.Abs(platform.Member(t, hybrid[0], "similarity").(float64)-best) > 1e-6 || platform.Member(t, hybrid[1], "similarity") != 0.5 {
			t.Errorf("HYBRID: %v, the best at %v", hybrid, best)
		}
		for arguments, want := range map[string]int{"scoreThreshold: 0.5": 2, "scoreThreshold: 0.51": 1, "scoreThreshold: 0.99": 0, "topN: 1": 1} {
			if hits := search(`prompt: "xyz", mode: HYBRID, ` + arguments); len(hits) != want || want > 0 && !platform.SameJSON(hits[0], hybrid[0]) {
				t.Errorf("HYBRID with %s: %v, want %d of %v", arguments, hits, want, hybrid)
			}
		}
		rest := func(body object) []any {
			body["prompt"] = "xyz"
			return s.Must(200, "POST", fmt.Sprintf("/context/relevant-docs/%d", id), token, body).JSON(t).([]any)
		}
		settings := func(body object) {
			s.Must(200, "PUT", fmt.Sprintf("/v1/contexts/%d/settings", id), token, body)
		}
		settings(object{"searchMode": "HYBRID", "denseWeight": 0.25})
		for name, hits := range map[string][]any{"REST": rest(object{}), "GraphQL": search(`prompt: "xyz"`)} {
			if len(hits) != 2 || platform.Member(t, hits[1], "similarity") != 0.25 {
				t.Errorf("the context's own mode and weight by %s: %v", name, hits)
			}
		}
		for name, c := range map[string]struct {
			body object
			want int
		}{
			"mode": {object{"mode": "LEXICAL"}, 1}, "topN": {object{"topN": 1}, 1}, "scoreThreshold": {object{"scoreThreshold": 0.26}, 1}, "minRelevance": {object{"minRelevance": 1}, 0},
			"documentIds": {object{"documentIds": []any{}}, 0}, "nulls": {object{"mode": nil, "topN": nil, "scoreThreshold": nil, "minRelevance": nil, "documentIds": nil}, 2},
		} {
			if hits := rest(c.body); len(hits) != c.want {
				t.Errorf("REST with %s: %v", name, hits)
			}
		}
		for _, bad := range []object{{"mode": "semantic"}, {"topN": 0}, {"scoreThreshold": -1}, {"minRelevance": 1.1}, {"documentIds": []any{"a"}}} {
			bad["prompt"] = "xyz"
			s.Must(400, "POST", fmt.Sprintf("/context/relevant-docs/%d", id), token, bad)
		}
		for _, bad := range []object{{"searchMode": "words"}, {"denseWeight": 1.5}} {
			s.Must(400, "PUT", fmt.Sprintf("/v1/contexts/%d/settings", id), token, bad)
		}
		settings(object{"searchMode": "SEMANTIC", "denseWeight": 0.5})
		for _, bad := range []string{`prompt: " "`, `prompt: "x", topN: 0`, `prompt: "x", topN: 101`, `prompt: "x", scoreThreshold: 1.5`, `prompt: "x", minRelevance: -0.1`, `prompt: "x", documentIds: ["Q29udGV4dDox"]`} {
			s.Refused(t, "BAD_REQUEST", token, fmt.Sprintf(`{ searchContext(contextId: %d, %s) { similarity } }`, id, bad), nil)
		}
		s.Must(400, "POST", fmt.Sprintf("/context/relevant-docs/%d", id), token, map[string]any{"prompt": ""})
	})
	t.Run("equal content is not embedded twice", func(t *testing.T) {
		before := model.Embedded()
		s.Upload(token, id, "again.txt", []byte("aaab"))
		other := s.NewContext(token, "Other")
		for i := range 5 {
			s.Upload(token, other, fmt.Sprintf("%d.txt", i), []byte("bbbc"))
		}
		for _, d := range slices.Concat(s.Settle(token, id), s.Settle(token, other)) {
			if d["status"] != "ready" || d["chunks"] != 1.0 {
				t.Errorf("%v", d)
			}
		}
		// Each document has the text of one that was embedded before.
		if after := model.Embedded(); after != before {
			t.Errorf("%d texts were embedded, before %d", after, before)
		}
		if hits := s.Search(token, other, "bc"); len(hits) != 5 {
			t.Errorf("%v", hits)
		}
	})
}

func TestModelServerAtFault(t *testing.T) {
	t.Parallel()
	model := platform.NewModelServer(t)
	s := platform.Start(t, model.Use)
	s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Letters")
	t.Run("it comes back", func(t *testing.T) {
		model.Failing(http.StatusServiceUnavailable, 2)
		s.Upload(token, id, "a.txt", []byte("some text"))
		if d := s.Settle(token, id)[0]; d["status"] != "ready" || d["error"] != nil {
			t.Errorf("%v", d)
		}
	})
	t.Run("it refuses the key", func(t *testing.T) {
		model.Failing(http.StatusUnauthorized, 1)
		s.Upload(token, id, "b.txt", []byte("other text"))
		devtest.Eventually(t, "the document says so", func() bool {
			d := s.Documents(token, id)[1]
			return d["status"] == "pending" && strings.Contains(fmt.Sprint(d["error"]), "401")
		})
		if d := s.Settle(token, id)[1]; d["status"] != "ready" || d["error"] != nil {
			t.Errorf("%v", d)
		}
	})
	t.Run("it refuses the text", func(t *testing.T) {
		model.Failing(http.StatusBadRequest, 1)
		s.Upload(token, id, "c.txt", []byte("a third text"))
		if d := s.Settle(token, id)[2]; d["status"] != "failed" || !strings.Contains(fmt.Sprint(d["error"]), "letters-1") {
			t.Errorf("%v", d)
		}
	})
	t.Run("it is away at a search", func(t *testing.T) {
		model.Failing(http.StatusUnauthorized, -1)
		s.Must(503, "POST", fmt.Sprintf("/context/relevant-docs/%d", id), token, map[string]any{"prompt": "text"})
		model.Failing(0, 0)
	})
	t.Run("another length of vectors", func(t *testing.T) {
		model.Resize(20)
		a := s.Must(400, "POST", fmt.Sprintf("/context/relevant-docs/%d", id), token, map[string]any{"prompt": "text"})
		if code := a.JSON(t).(map[string]any)["code"]; code != "model_changed" {
			t.Errorf("%s", a.Body)
		}
	})
}

func TestModelOfTheContext(t *testing.T) {
	t.Parallel()
	model := platform.NewModelServer(t)
	s := platform.Start(t, model.Use)
	s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Letters")
	s.Upload(token, id, "a.txt", []byte("bees make honey"))
	s.Settle(token, id)
	set := func(name string) (map[string]any, []string) {
		return s.GQL(token, `mutation($id: ID!, $model: String!) { updateContext(input: {id: $id, embeddingModel: $model}) { context { embeddingModel } } }`,
			map[string]any{"id": id, "model": name})
	}
	if _, codes := set("no-such-model"); !slices.Equal(codes, []string{"BAD_REQUEST"}) {
		t.Errorf("%v", codes)
	}
	if _, codes := set("canopy-lexical-1"); codes != nil {
		t.Errorf("%v", codes)
	}
	s.Settle(token, id)
	if hits := s.Search(token, id, "hhh"); len(hits) != 0 {
		t.Errorf("vectors of the model before are searched: %v", hits)
	}
	if n := s.Number(`SELECT count(*) FROM vector_blocks WHERE dense`); n != 0 {
		t.Errorf("%d vectors of the model before are left", n)
	}
	s.SQL(`UPDATE contexts SET embedding_model = 'gone-1'`)
	a := s.Must(400, "POST", fmt.Sprintf("/context/relevant-docs/%d", id), token, map[string]any{"prompt": "honey"})
	if !strings.Contains(string(a.Body), "gone-1") {
		t.Errorf("%s", a.Body)
	}
	s.Upload(token, id, "b.txt", []byte("more honey"))
	if d := s.Settle(token, id)[1]; d["status"] != "failed" || !strings.Contains(fmt.Sprint(d["error"]), "gone-1") {
		t.Errorf("%v", d)
	}
}
