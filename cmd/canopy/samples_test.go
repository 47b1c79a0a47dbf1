package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSamples asks the README's documents what the README asks, and more.
func TestSamples(t *testing.T) {
	s := newStack(t)
	s.work(nil)
	token := s.assistant()
	id := s.sampleContext(token)
	names := map[float64]string{}
	for _, d := range s.documents(token, id) {
		names[d["id"].(float64)] = d["originalName"].(string)
	}
	for prompt, want := range map[string][2]string{
		"Where is the defibrillator?":         {"safety-handbook.pdf", "control room"},
		"How many days of paid holiday?":      {"shift-rules.docx", "thirty days"},
		"Who supplies the vibration sensors?": {"spare-parts.csv", "Tanaka Instruments"},
	} {
		hits := s.search(token, id, prompt)
		if len(hits) == 0 || names[hits[0]["docId"].(float64)] != want[0] || !strings.Contains(hits[0]["content"].(string), want[1]) {
			t.Errorf("%s: %v", prompt, hits)
		}
	}
}

// sampleContext makes a context of the documents that the README asks.
func (s *stack) sampleContext(token string) int64 {
	s.t.Helper()
	id := s.newContext(token, "Alder Creek")
	files, err := filepath.Glob("../../docs/samples/*")
	if err != nil || len(files) != 3 {
		s.t.Fatalf("%v %v", files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			s.t.Fatal(err)
		}
		if a := s.upload(token, id, filepath.Base(file), content); a.Status != http.StatusOK {
			s.t.Fatalf("%s: %d %s", file, a.Status, a.Body)
		}
	}
	for _, d := range s.settle(token, id) {
		if d["status"] != "ready" {
			s.t.Errorf("%v", d)
		}
	}
	return id
}
