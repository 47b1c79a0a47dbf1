package contexts

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
)

// TestDeletedContextsComeBack: with their documents, as they were, at both doors, where they were deleted as restorable ones and as long
// as their time is not over; then nothing of them is left.
func TestDeletedContextsComeBack(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	stop := s.Work(nil)
	token := s.Assistant()
	id, other := s.NewContext(token, "Tides"), s.NewContext(token, "Other")
	s.Upload(token, id, "a.txt", []byte("The tide is high."))
	s.Settle(token, id)
	stop()
	count := func(what string) int64 {
		return s.Number(`SELECT COALESCE(sum(n), 0) FROM usage_counts WHERE name = $1 AND customer_id = (SELECT id FROM customers WHERE parent_id IS NULL)`, what)
	}
	contexts, documents, bytes := count("contexts"), count("documents"), count("storageBytes")
	path, in := fmt.Sprint("/context/", id), map[string]any{"id": id}
	before := s.Must(http.StatusOK, "GET", path, token, nil).JSON(t)

	s.Mutate(token, "deleteContext", "deletedId", map[string]any{"id": id, "restorable": true})
	s.Must(http.StatusNotFound, "GET", path, token, nil)
	s.Must(http.StatusNotFound, "POST", fmt.Sprint("/context/relevant-docs/", id), token, map[string]any{"prompt": "tide"})
	s.Must(http.StatusNotFound, "DELETE", path, token, nil)
	if got := s.MustGQL(token, `{ contexts { totalCount } documents { totalCount } }`, nil); !platform.SameJSON(got, map[string]any{
		"contexts": map[string]any{"totalCount": 1}, "documents": map[string]any{"totalCount": 0},
	}) {
		t.Errorf("lists: %v", got)
	}
	if err := s.App.Worker(nil).EraseDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c, d, b := count("contexts"), count("documents"), count("storageBytes"); c != contexts-1 || d != documents || b != bytes {
		t.Errorf("counted meanwhile: %d contexts, %d documents, %d bytes; before %d, %d, %d", c, d, b, contexts, documents, bytes)
	}

	const restore = `mutation($id: ID!) { restoreContext(input: {id: $id}) { context { name } } }`
	s.MustGQL(token, restore, in)
	if after := s.Must(http.StatusOK, "GET", path, token, nil).JSON(t); !platform.SameJSON(after, before) {
		t.Errorf("before %v, brought back %v", before, after)
	}
	if hits := s.Search(token, id, "tide"); len(hits) != 1 {
		t.Errorf("%d hits in a context that was brought back", len(hits))
	}
	if n := count("contexts"); n != contexts {
		t.Errorf("%d contexts are counted, %d before", n, contexts)
	}
	for _, one := range []int64{id, other} {
		if _, codes := s.GQL(token, restore, map[string]any{"id": one}); !slices.Equal(codes, []string{"NOT_FOUND"}) {
			t.Errorf("a context that is there was brought back: %v", codes)
		}
	}

	// By REST; no more than the company may have.
	s.Must(http.StatusOK, "DELETE", path+"?restorable=true", token, nil)
	s.SQL(`INSERT INTO customer_limits (customer_id, name, most) SELECT id, 'contexts', $1 FROM customers WHERE parent_id IS NULL`, contexts-1)
	if a := s.Do(http.MethodPost, fmt.Sprint("/context/restore/", id), token, nil); a.Status != http.StatusForbidden || !strings.Contains(string(a.Body), "limit_reached") {
		t.Errorf("one too many: %d %s", a.Status, a.Body)
	}
	s.SQL(`DELETE FROM customer_limits`)
	s.Must(http.StatusOK, "POST", fmt.Sprint("/context/restore/", id), token, nil)

	s.Must(http.StatusOK, "DELETE", path+"?restorable=true", token, nil)
	s.SQL(`UPDATE contexts SET erase_at = erase_at - interval '30 days' WHERE removed_at IS NOT NULL`)
	s.Must(http.StatusNotFound, "POST", fmt.Sprint("/context/restore/", id), token, nil)
	if err := s.App.Worker(nil).EraseDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := s.Number(`SELECT count(*) FROM contexts WHERE id = $1`, id) + s.Number(`SELECT count(*) FROM documents WHERE context_id = $1`, id); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	if c, d := count("contexts"), count("documents"); c != contexts-1 || d != documents-1 {
		t.Errorf("counted in the end: %d contexts, %d documents", c, d)
	}
	if n := s.Number(`SELECT count(*) FROM blob_deletions`); n != 1 {
		t.Errorf("%d originals go", n)
	}
}

// TestHiddenDocumentsWait: what is not processed yet of a context that can come back waits with it, and keeps no other document of the
// branch waiting; links to its originals end.
func TestHiddenDocumentsWait(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.Assistant()
	id, other := s.NewContext(token, "Hidden"), s.NewContext(token, "Other")
	for i := range 3 {
		s.Upload(token, id, fmt.Sprint(i, ".txt"), []byte("The tide is high."))
	}
	link := linkTo(s, token, int64(s.Documents(token, id)[0]["id"].(float64)))
	s.Must(http.StatusOK, "GET", link, "", nil)
	s.Mutate(token, "deleteContext", "deletedId", map[string]any{"id": id, "restorable": true})
	s.Must(http.StatusNotFound, "GET", link, "", nil)
	waiting := func() int64 {
		return s.Number(`SELECT count(*) FROM documents WHERE context_id = $1 AND status = 'pending' AND next_attempt_at > now() + interval '29 days'`, id)
	}
	if n := waiting(); n != 3 {
		t.Fatalf("%d documents wait", n)
	}
	// As if they had been handed out before.
	s.SQL(`UPDATE documents SET next_attempt_at = now() WHERE context_id = $1`, id)
	s.Work(nil)
	s.Upload(token, other, "a.txt", []byte("The tide is low."))
	s.Settle(token, other)
	for end := time.Now().Add(platform.Patience); waiting() != 3; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d documents wait again", waiting())
		}
	}
	s.Must(http.StatusOK, "POST", fmt.Sprint("/context/restore/", id), token, nil)
	for _, d := range s.Settle(token, id) {
		if d["status"] != "ready" {
			t.Errorf("%v", d)
		}
	}
}
