package contexts

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
)

// TestDocumentsKeepNobodyWaiting: while documents of one branch wait, and one takes for ever, the document of
// another gets ready; of one branch's own, a small one passes a large one.
func TestDocumentsKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	begun, end := make(chan struct{}, 100), make(chan struct{})
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		var out struct {
			Data []map[string]any `json:"data"`
		}
		for i, text := range in.Input {
			if strings.Contains(text, "slow") {
				begun <- struct{}{}
				<-end
			}
			out.Data = append(out.Data, map[string]any{"index": i, "embedding": []float32{1, 2, 3}})
		}
		_ = json.NewEncoder(w).Encode(out)
	}))
	defer model.Close()
	defer close(end)
	s := platform.Start(t, func(c *config.Config) {
		c.Embeddings = config.Provider{URL: model.URL, APIKey: "secret", Model: "letters-1"}
	})
	modest, greedy := s.Assistant(), s.TokenOf(s.Customer("Alpine Hydro"), "lukas@alpine-hydro.example", "assistant")
	for i := range 8 {
		id := s.NewContext(greedy, fmt.Sprint("Busy ", i))
		s.Upload(greedy, id, "slow.txt", fmt.Appendf(nil, "a slow document %d", i))
	}
	s.Work(nil)
	<-begun
	id := s.NewContext(modest, "Quiet")
	s.Upload(modest, id, "line.txt", []byte("one line"))
	if list := s.Settle(modest, id); len(list) != 1 || list[0]["status"] != "ready" {
		t.Errorf("%v", list)
	}
	if n := s.Number(`SELECT count(*) FROM documents WHERE status = 'ready'`); n != 1 {
		t.Errorf("%d documents are ready", n)
	}
}

// TestSmallDocumentsGoFirst: of what a branch has waiting, small documents are handed out before a large one.
func TestSmallDocumentsGoFirst(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	s.Upload(token, id, "large.txt", []byte(strings.Repeat("bees and honey. ", 10_000)))
	for i := range 3 {
		s.Upload(token, id, "small.txt", fmt.Appendf(nil, "bees and honey %d", i))
	}
	for i, want := range []string{"small.txt", "small.txt", "small.txt", "large.txt"} {
		due, err := s.App.Store.LeaseDocuments(t.Context(), 2, 1<<40)
		if err != nil || len(due) != 1 {
			t.Fatal(due, err)
		}
		var name string
		s.Look(&name, `UPDATE documents SET status = 'ready' WHERE id = $1 RETURNING original_name`, due[0].ID)
		if name != want {
			t.Errorf("%d: %s is handed out, want %s", i, name, want)
		}
	}
}
