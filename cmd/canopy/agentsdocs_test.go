package main

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

// TestShownDiagram runs the diagram of docs/agents.md, on the README's documents.
func TestShownDiagram(t *testing.T) {
	page, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "\n```json\n")
	shown, _, _ := strings.Cut(rest, "\n```\n")
	s := newStack(t)
	s.noDemoMails()
	s.workOnDocuments()
	builder, assistant := s.rootAs("builder"), s.assistant()
	agent, known := s.publish(builder, shown), s.sampleContext(assistant)
	a := s.lookUp(builder, agent, known, "Where is the defibrillator?")
	if out := a.json(t); a.Status != http.StatusOK || !strings.Contains(member(t, out, "outputData.answer").(string), "control room") || member(t, out, "outputData.sources.#") == 0 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	a = s.lookUp(builder, agent, s.newContext(assistant, "Empty"), "life")
	want := map[string]any{"code": "nothing_found", "message": "Nothing was found.", "step": "none"}
	if got := member(t, a.json(t), "errorData"); a.Status != http.StatusBadRequest || !sameJSON(got, want) {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}
