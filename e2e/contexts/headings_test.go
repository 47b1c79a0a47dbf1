package contexts

import (
	"fmt"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// TestHeadingsFindWhatStandsBelow: a question that names only a heading finds all chunks below it, by words and by meaning, and no other; what
// the chunks say is as it was.
func TestHeadingsFindWhatStandsBelow(t *testing.T) {
	t.Parallel()
	model := platform.NewModelServer(t)
	s := platform.Start(t, model.Use)
	s.Work(nil)
	token := s.Assistant()
	body := strings.Repeat("A bad cab had a cad. ", 40)
	for _, mode := range []string{"SEMANTIC", "LEXICAL", "HYBRID"} {
		t.Run(mode, func(t *testing.T) {
			id := s.NewContext(token, mode)
			s.MustGQL(token, `mutation($id: ID!) { updateContext(input: {id: $id, chunkSize: 100, overlap: 0}) { context { id } } }`, object{"id": id})
			s.Upload(token, id, "a.md", []byte("# Zuzy\n\n## Syzy\n\n"+body+"\n\n# Bad\n\n"+body))
			s.Settle(token, id)
			hits := s.MustGQL(token, fmt.Sprintf(`{ v: searchContext(contextId: %d, prompt: "syzy", mode: %s, topN: 100) { relevance content passage { heading } } }`, id, mode), nil)["v"].([]any)
			below := 0
			for _, h := range hits {
				if heading := platform.Member(t, h, "passage.heading").(string); !strings.HasPrefix(heading, "Zuzy") {
					t.Errorf("found below another heading: %v", h)
				}
				if !strings.Contains(platform.Member(t, h, "content").(string), "Syzy") {
					below++
				}
			}
			if below < 2 {
				t.Errorf("%d chunks below the heading: %v", below, hits)
			}
			if mode != "SEMANTIC" && len(hits) > 0 && platform.Member(t, hits[len(hits)-1], "relevance").(float64) < 0.5 {
				t.Errorf("a chunk below the heading that was asked for is not relevant: %v", hits[len(hits)-1])
			}
		})
	}
}
