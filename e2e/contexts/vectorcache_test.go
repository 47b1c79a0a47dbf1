package contexts

import (
	"fmt"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
)

// TestSearchWithinBudget searches more contexts in turn than the memory for indexes holds: each
// answer is right, and no more is kept than was set.
func TestSearchWithinBudget(t *testing.T) {
	t.Parallel()
	const contexts = 3
	model := platform.NewModelServer(t)
	fill := func(budget int64) (s *platform.Platform, token string, ids []int64) {
		s = platform.Start(t, model.Use, func(c *config.Config) { c.VectorCache = budget })
		token = s.Assistant()
		stop := s.Work(nil)
		defer stop()
		for i := range contexts {
			id := s.NewContext(token, fmt.Sprint("Number ", i))
			s.Mutate(token, "updateContext", "context { id }", object{"id": id, "chunkSize": 40})
			s.Upload(token, id, "a.txt", []byte(fmt.Sprintf("Lighthouse number %d stands here. ", i)+platform.Sentences(i, 600)))
			s.Settle(token, id)
			ids = append(ids, id)
		}
		return s, token, ids
	}
	ask := func(s *platform.Platform, token string, id int64, i int) {
		t.Helper()
		for _, mode := range []string{"SEMANTIC", "LEXICAL"} {
			data := s.MustGQL(token, `query($c: ID!, $m: SearchMode!) { searchContext(contextId: $c, prompt: "Lighthouse number", topN: 1, mode: $m) { content } }`,
				object{"c": id, "m": mode})
			if got := fmt.Sprint(data["searchContext"]); mode == "LEXICAL" && !strings.Contains(got, fmt.Sprintf("Lighthouse number %d", i)) {
				t.Errorf("%s in context %d: %.100s", mode, i, got)
			}
		}
		if hits := s.Search(token, id, "stands here"); len(hits) == 0 {
			t.Errorf("nothing is found in context %d", i)
		}
	}
	s, token, ids := fill(1 << 30)
	for i, id := range ids {
		ask(s, token, id, i)
	}
	whole := s.App.Resolver.Search.Stats()
	if whole.Entries != 2*contexts || whole.Evictions != 0 {
		t.Fatalf("with room for all: %+v", whole)
	}

	budget := whole.Bytes / 2
	s, token, ids = fill(budget)
	for range 3 {
		for i, id := range ids {
			ask(s, token, id, i)
			if kept := s.App.Resolver.Search.Stats(); kept.Bytes > budget || kept.Entries == 0 {
				t.Errorf("kept are %d indexes of %d bytes, allowed %d bytes", kept.Entries, kept.Bytes, budget)
			}
		}
	}
	if end := s.App.Resolver.Search.Stats(); end.Evictions == 0 || end.Loads <= 2*contexts {
		t.Errorf("nothing was dropped: %+v", end)
	}
	if metrics := string(s.Must(200, "GET", "/metrics", "", nil).Body); !strings.Contains(metrics, fmt.Sprintf("canopy_search_index_evictions_total %d\n", s.App.Resolver.Search.Stats().Evictions)) {
		t.Error("/metrics does not tell of it")
	}
}
