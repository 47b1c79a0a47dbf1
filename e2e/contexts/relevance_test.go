package contexts

import (
	"fmt"
	"testing"

	"canopy/e2e/platform"
)

// TestRelevance: of a question that the documents answer and one that they don't, minRelevance keeps the hits of the first one, by
// each search at both doors.
func TestRelevance(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	for i, text := range []string{
		"Everybody has 28 days of vacation a year.", "Who is ill tells the office before nine.", "Laptops are replaced every four years.",
		"Visitors wear a badge on all floors.", "Overtime is taken as free time and is not paid out.", "Salaries arrive on the last day of the month.",
	} {
		s.Upload(token, id, fmt.Sprintf("%d.txt", i), []byte(text))
	}
	s.Settle(token, id)
	searches := map[string]func(prompt string, more object) []any{
		"GraphQL": func(prompt string, more object) []any {
			query := `query($id: ID!, $p: String!, $least: Float, $all: Boolean! = false) {
				v: searchContext(contextId: $id, prompt: $p, topN: 6, minRelevance: $least, includeUnrelated: $all) { relevance similarity content } }`
			return s.MustGQL(token, query, object{"id": id, "p": prompt, "least": more["minRelevance"], "all": more["includeUnrelated"] == true})["v"].([]any)
		},
		"GraphQL, several": func(prompt string, more object) []any {
			query := `query($id: ID!, $p: String!, $least: Float, $all: Boolean! = false) {
				v: searchContexts(contextIds: [$id], prompt: $p, topN: 6, minRelevance: $least, includeUnrelated: $all) { relevance similarity content } }`
			return s.MustGQL(token, query, object{"id": id, "p": prompt, "least": more["minRelevance"], "all": more["includeUnrelated"] == true})["v"].([]any)
		},
		"REST": func(prompt string, more object) []any {
			body := object{"prompt": prompt, "topN": 6, "minRelevance": more["minRelevance"], "includeUnrelated": more["includeUnrelated"] == true}
			return s.Must(200, "POST", fmt.Sprintf("/context/relevant-docs/%d", id), token, body).JSON(t).([]any)
		},
		"REST, several": func(prompt string, more object) []any {
			body := object{"contextIds": []int64{id}, "prompt": prompt, "topN": 6, "minRelevance": more["minRelevance"], "includeUnrelated": more["includeUnrelated"] == true}
			return s.Must(200, "POST", "/v1/contexts/search", token, body).JSON(t).([]any)
		},
	}
	const answered, unanswered = "How many days of vacation are there in a year?", "Who pays for the days in a hotel?"
	for name, search := range searches {
		t.Run(name, func(t *testing.T) {
			hits := search(answered, object{"minRelevance": 0.5})
			if len(hits) != 1 || platform.Member(t, hits[0], "content") != "Everybody has 28 days of vacation a year." {
				t.Errorf("answered: %v", hits)
			}
			if hits := search(unanswered, object{}); len(hits) == 0 {
				t.Error("nothing shares a word with the other question")
			}
			if hits := search(unanswered, object{"minRelevance": 0.5}); len(hits) != 0 {
				t.Errorf("not answered: %v", hits)
			}
			all := search(answered, object{"includeUnrelated": true})
			if len(all) != 6 || platform.Member(t, all[5], "similarity") != 0.0 || platform.Member(t, all[5], "relevance") != 0.0 {
				t.Errorf("all: %v", all)
			}
		})
	}
	s.Must(400, "POST", "/v1/contexts/search", token, object{"contextIds": []int64{id}, "prompt": "x", "minRelevance": 2})
	s.Refused(t, "BAD_REQUEST", token, fmt.Sprintf(`{ searchContexts(contextIds: [%d], prompt: "x", minRelevance: 2) { content } }`, id), nil)
}
