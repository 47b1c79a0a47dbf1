package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"canopy/internal/config"
	"canopy/rest"
)

// The fields of contexts and documents under the names that REST gives them.
const (
	parityContext = `id: databaseId name description caption userId embeddingModel maxSize topN scoreThreshold chunkSize overlap
		toolsJson starterPrompts shareState icon deleted created`
	parityDocument = `id: databaseId contextId fileName originalName displayName nameIndex contentType contentHash size status progress
		error chunks: chunkCount created createdBy started completed`
	parityHit = `similarity content document { databaseId } chunk { databaseId }`
)

// contextReads are the documented reads that TestParityOfContexts compares.
var contextReads = []string{"getContext", "listContexts", "listDocuments", "searchContext"}

// TestParityOfContextsIsWhole: a read of contexts that is documented is compared.
func TestParityOfContextsIsWhole(t *testing.T) {
	s := newStack(t)
	_, registry := rest.New(s.p.Resolver, rest.Options{})
	reads := []string{"searchContext"} // a POST, as it has a body
	for _, e := range rest.Endpoints(registry) {
		if e.Method == http.MethodGet && strings.HasPrefix(e.Path, "/context") {
			reads = append(reads, e.OperationID)
		}
	}
	slices.Sort(reads)
	if !slices.Equal(reads, contextReads) {
		t.Errorf("documented are %v, compared %v", reads, contextReads)
	}
}

// TestParityOfContexts compares what contexts hold, with the embedded model and with a dense one,
// and with documents in each of their states.
func TestParityOfContexts(t *testing.T) {
	for name, model := range map[string]func(*config.Config){"embedded model": func(*config.Config) {}, "dense model": newModelServer(t).use} {
		t.Run(name, func(t *testing.T) { newStack(t, model).compareContexts(t) })
	}
}

func (s *stack) compareContexts(t *testing.T) {
	token := s.assistant()
	full := s.newContext(token, "Handbook <&> \u2028")
	s.must(200, "PUT", fmt.Sprintf("/context/%d", full), token, object{
		"name": "Ünder", "description": "a\nb", "caption": "ⓒ", "toolsJson": ` [ ` + oneTool(7)[1:], "starterPrompts": []string{"Where is it?", "👩‍👧"},
	})
	s.must(204, "PUT", fmt.Sprintf("/context/share/%d", full), token, object{"shareState": 1, "icon": "📚"})
	s.newContext(token, "Empty")
	s.mutate(token, "updateContext", "context { id }", object{"id": full, "topN": 3, "scoreThreshold": 0.01, "chunkSize": 50, "overlap": 0.1})
	stop := s.work(nil)
	for i := range 3 {
		s.upload(token, full, "same name.txt", []byte(sentences(i, 400)))
	}
	s.upload(token, full, "encrypted.pdf", sample(t, "encrypted.pdf"))
	s.settle(token, full)
	stop()
	s.upload(token, full, "waiting.md", []byte("# Waits\n\nfor a worker"))

	graph := func(query string) any { return s.mustGQL(token, query, object{"c": full})["v"] }
	get := func(path string) any { return s.must(200, "GET", path, token, nil).json(t) }
	contexts := get("/context")
	sameAnswers(t, "contexts", contexts, graph(`{ v: contexts { nodes { `+parityContext+` } } }`))
	sameAnswers(t, "context", get(fmt.Sprintf("/context/%d", full)), graph(`query($c: ID!) { v: context(id: $c) { `+parityContext+` } }`))
	documents := get(fmt.Sprintf("/context/documents/%d", full))
	sameAnswers(t, "documents", documents, member(t, graph(`query($c: ID!) { v: context(id: $c) { documents { nodes { `+parityDocument+` } } } }`), "documents"))
	if a, b := len(contexts.([]any)), len(documents.([]any)); a != 2 || b != 5 {
		t.Errorf("%d contexts, %d documents", a, b)
	}

	hits := s.must(200, "POST", fmt.Sprintf("/context/relevant-docs/%d", full), token, object{"prompt": sentences(1, 12)}).json(t).([]any)
	found := s.mustGQL(token, `query($c: ID!, $p: String!) { v: searchContext(contextId: $c, prompt: $p) { `+parityHit+` } }`, object{"c": full, "p": sentences(1, 12)})["v"].([]any)
	same := make([]any, len(found))
	for i, h := range found {
		same[i] = object{"id": member(t, h, "chunk.databaseId"), "docId": member(t, h, "document.databaseId"), "content": member(t, h, "content"), "similarity": member(t, h, "similarity")}
	}
	sameAnswers(t, "hits", hits, same)
	if len(hits) != 3 {
		t.Errorf("%d hits, want topN of them", len(hits))
	}
}
