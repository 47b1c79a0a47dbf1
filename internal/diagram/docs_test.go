package diagram

import (
	"os"
	"regexp"
	"testing"
)

// TestDocumentedDiagrams: what the page for authors shows can be published.
func TestDocumentedDiagrams(t *testing.T) {
	page, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(page, -1)
	if len(blocks) == 0 {
		t.Fatal("no diagram is shown")
	}
	for _, block := range blocks {
		if _, faults := Parse(block[1]); len(faults) > 0 {
			t.Errorf("%s\nhas the faults %v", block[1], faults)
		}
	}
}
