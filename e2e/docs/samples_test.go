package docs

import (
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// TestSamples asks the README's documents what the README asks, and more.
func TestSamples(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Work(nil)
	token := s.Assistant()
	id := s.SampleContext(token)
	names := map[float64]string{}
	for _, d := range s.Documents(token, id) {
		names[d["id"].(float64)] = d["originalName"].(string)
	}
	for prompt, want := range map[string][2]string{
		"Where is the defibrillator?":         {"safety-handbook.pdf", "control room"},
		"How many days of paid holiday?":      {"shift-rules.docx", "thirty days"},
		"Who supplies the vibration sensors?": {"spare-parts.csv", "Tanaka Instruments"},
	} {
		hits := s.Search(token, id, prompt)
		if len(hits) == 0 || names[hits[0]["docId"].(float64)] != want[0] || !strings.Contains(hits[0]["content"].(string), want[1]) {
			t.Errorf("%s: %v", prompt, hits)
		}
	}
}
