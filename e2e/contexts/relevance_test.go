package contexts

import (
	"fmt"
	"slices"
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

// TestSeveralAreLikeOne: a search of several contexts finds what one of the same documents in one context does, in the same order and with the same
// figures, however common a word is in each.
func TestSeveralAreLikeOne(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Work(nil)
	token := s.Assistant()
	bills, fines, all := s.NewContext(token, "Bills"), s.NewContext(token, "Fines"), s.NewContext(token, "All")
	add := func(id int64, name, text string) {
		s.Upload(token, id, name, []byte(text))
		s.Upload(token, all, name, []byte(text))
	}
	for i := range 12 {
		add(bills, fmt.Sprintf("bill %d.txt", i), fmt.Sprintf("invoice number%d about something%d ordinary", i, i))
		add(fines, fmt.Sprintf("fine %d.txt", i), fmt.Sprintf("penalty report%d for item%d plain", i, i))
	}
	add(bills, "both.txt", "invoice penalty clause")
	add(fines, "apples.txt", "invoice for apples")
	for _, id := range []int64{bills, fines, all} {
		s.Settle(token, id)
	}
	found := func(hits any) (list []string) {
		for _, h := range hits.([]any) {
			list = append(list, fmt.Sprintf("%.6f %.6f %v", platform.Member(t, h, "similarity"), platform.Member(t, h, "relevance"), platform.Member(t, h, "content")))
		}
		slices.Sort(list)
		return list
	}
	for _, model := range []string{"", staticModel} {
		if model != "" {
			for _, id := range []int64{bills, fines, all} {
				s.Must(200, "PUT", fmt.Sprintf("/v1/contexts/%d/settings", id), token, object{"embeddingModel": model})
				s.Settle(token, id)
			}
		}
		for _, mode := range []string{"SEMANTIC", "LEXICAL", "HYBRID"} {
			for _, prompt := range []string{"invoice penalty", "invoice", "report3 of a penalty"} {
				one := s.Must(200, "POST", fmt.Sprintf("/context/relevant-docs/%d", all), token, object{"prompt": prompt, "topN": 100, "mode": mode}).JSON(t)
				several := s.Must(200, "POST", "/v1/contexts/search", token, object{"contextIds": []int64{bills, fines}, "prompt": prompt, "topN": 100, "mode": mode}).JSON(t)
				graph := s.MustGQL(token, fmt.Sprintf(`{ v: searchContexts(contextIds: [%d, %d], prompt: %q, topN: 100, mode: %s) { similarity relevance content } }`, bills, fines, prompt, mode), nil)["v"]
				want := found(one)
				if got := found(several); len(want) == 0 || !slices.Equal(got, want) || !slices.Equal(found(graph), want) {
					t.Errorf("%s %s, %q: %v, not %v", model, mode, prompt, got, want)
				}
				if prompt == "invoice penalty" && platform.Member(t, several, "0.content") != "invoice penalty clause" {
					t.Errorf("%s %s: %v", model, mode, platform.Member(t, several, "0"))
				}
			}
		}
	}
}
