package contexts

import (
	"fmt"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// TestContextsMoveBetweenLexicalModels: only the second model, which new contexts have, finds a German word in another form.
// With another model all documents are read anew, and processing those of the first anew moves its context to the second.
func TestContextsMoveBetweenLexicalModels(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Haustechnik")
	s.Upload(token, id, "a.txt", []byte("Die Wärmepumpen werden alle sechs Monate von einem Techniker gewartet."))
	s.Upload(token, id, "b.txt", []byte("Das Museum zeigt Gemälde."))
	for _, step := range []struct {
		by, model string
		want      int
	}{
		{`query($id: ID!) { context(id: $id) { embeddingModel } }`, "canopy-lexical-2", 1},
		{`mutation($id: ID!) { updateContext(input: {id: $id, embeddingModel: "canopy-lexical-1"}) { context { embeddingModel } } }`, "canopy-lexical-1", 0},
		{`mutation($id: ID!) { reprocessContext(input: {id: $id}) { context { embeddingModel } } }`, "canopy-lexical-2", 1},
	} {
		data := s.MustGQL(token, step.by, map[string]any{"id": id})
		if got := fmt.Sprint(data); !strings.Contains(got, step.model) {
			t.Errorf("%s: %s", step.by, got)
		}
		s.Settle(token, id)
		for _, mode := range []string{"SEMANTIC", "LEXICAL", "HYBRID"} {
			data := s.MustGQL(token, fmt.Sprintf(`query($id: ID!) { searchContext(contextId: $id, prompt: "warmepumpe", mode: %s) { document { originalName } } }`, mode),
				map[string]any{"id": id})
			hits := platform.Member(t, data, "searchContext").([]any)
			if len(hits) != step.want || step.want > 0 && platform.Member(t, hits[0], "document.originalName") != "a.txt" {
				t.Errorf("%s, %s: %v", step.model, mode, hits)
			}
		}
	}
	var audited string
	s.Look(&audited, `SELECT details::text FROM audit_events WHERE action = 'context.reprocessed'`)
	if !strings.Contains(audited, `"canopy-lexical-1"`) || !strings.Contains(audited, `"canopy-lexical-2"`) {
		t.Errorf("the log has %s", audited)
	}
}
