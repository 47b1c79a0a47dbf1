package contexts

import (
	"fmt"
	"testing"

	"canopy/e2e/platform"
)

// TestContextsMoveBetweenLexicalModels: with the other model all documents are read anew, and only that one finds a German
// word in another form.
func TestContextsMoveBetweenLexicalModels(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Haustechnik")
	s.Upload(token, id, "a.txt", []byte("Die Wärmepumpen werden alle sechs Monate von einem Techniker gewartet."))
	s.Upload(token, id, "b.txt", []byte("Das Museum zeigt Gemälde."))
	for model, want := range map[string]int{"canopy-lexical-2": 1, "canopy-lexical-1": 0} {
		s.MustGQL(token, `mutation($id: ID!, $model: String!) { updateContext(input: {id: $id, embeddingModel: $model}) { context { name } } }`,
			map[string]any{"id": id, "model": model})
		s.Settle(token, id)
		for _, mode := range []string{"SEMANTIC", "LEXICAL", "HYBRID"} {
			data := s.MustGQL(token, fmt.Sprintf(`query($id: ID!) { searchContext(contextId: $id, prompt: "warmepumpe", mode: %s) { document { originalName } } }`, mode),
				map[string]any{"id": id})
			hits := platform.Member(t, data, "searchContext").([]any)
			if len(hits) != want || want > 0 && platform.Member(t, hits[0], "document.originalName") != "a.txt" {
				t.Errorf("%s, %s: %v", model, mode, hits)
			}
		}
	}
}
