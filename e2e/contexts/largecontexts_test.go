package contexts

import (
	"fmt"
	"net/http"
	"testing"

	"canopy/e2e/platform"
)

// TestLargeContextsGoByParts: a context that has more than goes in one statement is gone for everybody at once, and erased part by
// part by whichever worker comes along.
func TestLargeContextsGoByParts(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.Assistant()
	id, kept := s.NewContext(token, "Large"), s.NewContext(token, "Kept")
	s.Upload(token, id, "a.txt", []byte("The tide is high."))
	s.Upload(token, kept, "a.txt", []byte("The tide is low."))
	s.SQL(`INSERT INTO documents (context_id, file_name, original_name, display_name, name_index, format, content_type, content_hash, size, model, chunk_size, overlap, chunks, status)
		SELECT $1, gen_random_uuid(), 'n', 'n', n, 'txt', 'text/plain', 'h' || n, 1, 'canopy-lexical-2', 1000, 0, 1000, 'ready' FROM generate_series(1, 250) n`, id)
	count := func(what string) int64 {
		return s.Number(`SELECT COALESCE(sum(n), 0) FROM usage_counts WHERE name = $1 AND customer_id = (SELECT id FROM customers WHERE parent_id IS NULL)`, what)
	}
	contexts, documents := count("contexts"), count("documents")

	path := fmt.Sprint("/context/", id)
	if a := s.Do(http.MethodDelete, path, token, nil); a.Status != http.StatusOK {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	for _, c := range []struct {
		method, path string
		body         any
	}{
		{http.MethodGet, path, nil},
		{http.MethodDelete, path, nil},
		{http.MethodPost, fmt.Sprint("/context/relevant-docs/", id), map[string]any{"prompt": "tide"}},
		{http.MethodPost, fmt.Sprint("/context/answer/", id), map[string]any{"prompt": "tide"}},
	} {
		if a := s.Do(c.method, c.path, token, c.body); a.Status != http.StatusNotFound {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.Status, a.Body)
		}
	}
	if a := s.Upload(token, id, "b.txt", []byte("Late.")); a.Status != http.StatusNotFound {
		t.Errorf("an upload: %d %s", a.Status, a.Body)
	}
	if got := s.MustGQL(token, `{ contexts { nodes { name } totalCount } documents { totalCount } }`, nil); !platform.SameJSON(got, map[string]any{
		"contexts": map[string]any{"nodes": []any{map[string]any{"name": "Kept"}}, "totalCount": 1}, "documents": map[string]any{"totalCount": 1},
	}) {
		t.Errorf("lists: %v", got)
	}
	if n := count("contexts"); n != contexts-1 {
		t.Errorf("%d contexts are counted, %d before", n, contexts)
	}

	// Each part ends by itself.
	if done, err := s.App.Store.EraseContexts(t.Context()); done || err != nil {
		t.Fatal(done, err)
	}
	if n := s.Number(`SELECT count(*) FROM documents WHERE context_id = $1`, id); n == 0 || n >= 251 {
		t.Errorf("%d documents after the first part", n)
	}
	if err := s.App.Worker(nil).EraseDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := s.Number(`SELECT count(*) FROM contexts WHERE id = $1`, id) + s.Number(`SELECT count(*) FROM documents WHERE context_id = $1`, id); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	if n := count("documents"); n != documents-251 {
		t.Errorf("%d documents are counted, %d before", n, documents)
	}
	if n := s.Number(`SELECT count(*) FROM blob_deletions`); n != 251 {
		t.Errorf("%d originals go", n)
	}
}
