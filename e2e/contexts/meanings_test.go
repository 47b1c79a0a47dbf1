package contexts

import (
	"fmt"
	"testing"

	"canopy/e2e/platform"
)

const staticModel = "canopy-static-1"

// handbook has passages of which none shares a word with the questions below but the last one.
var handbook = []string{
	"Employees accrue twenty-five days of paid leave per calendar year, which managers approve in advance.",
	"The lift is out of service on Sundays while technicians inspect its cables.",
	"Parcels that arrive broken are replaced free of charge within a fortnight.",
	"Wages are transferred to the bank account on the last working day of each month.",
	"Form ZX-4411 is for expenses abroad.",
}

// TestEmbeddedMeanings: one setting of a context has what shares no word with the question found, by each search at both doors; words and codes are
// found as before.
func TestEmbeddedMeanings(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	for i, text := range handbook {
		s.Upload(token, id, fmt.Sprintf("%d.txt", i), []byte(text))
	}
	s.Settle(token, id)
	const question = "How much vacation does the staff get?"
	if hits := s.Search(token, id, question); len(hits) > 0 && hits[0]["content"] == handbook[0] {
		t.Fatalf("by words: %v", hits)
	}
	settings := s.Must(200, "PUT", fmt.Sprintf("/v1/contexts/%d/settings", id), token, object{"embeddingModel": staticModel}).JSON(t)
	if platform.Member(t, settings, "embeddingModel") != staticModel {
		t.Fatalf("%v", settings)
	}
	s.Settle(token, id)
	for text, want := range map[string]int{question: 0, "When can't I use the elevator?": 1, "zx4411": 4} {
		for _, mode := range []string{"SEMANTIC", "HYBRID"} {
			graph := s.MustGQL(token, fmt.Sprintf(`{ searchContext(contextId: %d, prompt: %q, mode: %s) { content similarity } }`, id, text, mode), nil)["searchContext"].([]any)
			rest := s.Must(200, "POST", "/v1/contexts/search", token, object{"contextIds": []int64{id}, "prompt": text, "mode": mode}).JSON(t).([]any)
			for door, hits := range map[string][]any{"graph": graph, "REST": rest} {
				if len(hits) == 0 || platform.Member(t, hits[0], "content") != handbook[want] {
					t.Errorf("%s, %s, %s: %v", text, mode, door, hits)
				}
			}
			if a, b := platform.Member(t, graph[0], "similarity").(float64), platform.Member(t, rest[0], "similarity").(float64); a != b || a <= 0 || a > 1 {
				t.Errorf("%s, %s: %v in the graph and %v in REST", text, mode, a, b)
			}
		}
	}
	if hits := s.MustGQL(token, fmt.Sprintf(`{ searchContext(contextId: %d, prompt: %q, mode: LEXICAL) { content } }`, id, "elevator"), nil)["searchContext"].([]any); len(hits) != 0 {
		t.Errorf("LEXICAL: %v", hits)
	}
	all := s.Must(200, "POST", fmt.Sprintf("/context/relevant-docs/%d", id), token, object{"prompt": question, "includeUnrelated": true}).JSON(t).([]any)
	if len(all) != len(handbook) {
		t.Errorf("%d of %d with what is like nothing", len(all), len(handbook))
	}
}

// TestMeaningsOfTwoModels: contexts of the embedded model and of a server's are searched at once, each by a vector of its own model.
func TestMeaningsOfTwoModels(t *testing.T) {
	t.Parallel()
	model := platform.NewModelServer(t)
	s := platform.Start(t, model.Use)
	s.Work(nil)
	token := s.Assistant()
	own, other := s.NewContext(token, "Own"), s.NewContext(token, "Server's")
	s.Must(200, "PUT", fmt.Sprintf("/v1/contexts/%d/settings", own), token, object{"embeddingModel": staticModel})
	s.Upload(token, own, "lift.txt", []byte(handbook[1]))
	s.Upload(token, other, "other.txt", []byte("elevator"))
	s.Settle(token, own)
	s.Settle(token, other)
	for _, mode := range []string{"SEMANTIC", "HYBRID"} {
		hits := s.Must(200, "POST", "/v1/contexts/search", token, object{"contextIds": []int64{own, other}, "prompt": "elevator", "mode": mode}).JSON(t).([]any)
		found := map[any]bool{}
		for _, h := range hits {
			found[platform.Member(t, h, "contextId")] = true
		}
		if !found[fmt.Sprint(own)] && !found[float64(own)] || len(found) != 2 {
			t.Errorf("%s: %v", mode, hits)
		}
	}
}
