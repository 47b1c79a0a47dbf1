package contexts

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/blob"
	"canopy/internal/devstack/devtest"
)

// TestDeletedDocumentsComeBack: with their chunks, at both doors, where they were deleted as restorable ones and as long as their time is not
// over. Meanwhile no search, list or link leads to them; then nothing of them is left.
func TestDeletedDocumentsComeBack(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Tides")
	s.Upload(token, id, "high.txt", []byte("The tide is high."))
	s.Upload(token, id, "low.txt", []byte("The tide is low."))
	document := int64(s.Settle(token, id)[0]["id"].(float64))
	at, in := fmt.Sprint("/v1/documents/", document), object{"id": document}
	link := linkTo(s, token, document)
	hits := func(want int) {
		t.Helper()
		if got := s.Search(token, id, "tide"); len(got) != want {
			t.Errorf("%d hits, want %d", len(got), want)
		}
	}
	counted := func() (n [4]int64) {
		for i, what := range []string{"contexts", "documents", "storageBytes", "chunks"} {
			n[i] = s.Number(`SELECT COALESCE(sum(n), 0) FROM usage_counts WHERE name = $1 AND customer_id = (SELECT id FROM customers WHERE parent_id IS NULL)`, what)
		}
		return n
	}
	size := func() int64 { return s.Number(`SELECT size FROM context_sizes WHERE context_id = $1`, id) }
	hits(2)
	before, usage, bytes := s.Must(http.StatusOK, "GET", at, token, nil), counted(), size()
	chunk := platform.Member(t, s.Must(http.StatusOK, "GET", at+"/chunks", token, nil).JSON(t), "0.id")

	s.Mutate(token, "deleteDocument", "deletedId", object{"id": document, "restorable": true})
	hits(1)
	for _, path := range []string{at, at + "/chunks", fmt.Sprintf("/context/document/%d/original", document), link} {
		s.Must(http.StatusNotFound, "GET", path, token, nil)
	}
	s.Must(http.StatusNotFound, "DELETE", fmt.Sprintf("/context/documents/%d/%d", id, document), token, nil)
	if got := s.MustGQL(token, `{ contexts { totalCount } documents { totalCount } deletedContexts { name } }`, nil); !platform.SameJSON(got, object{
		"contexts": object{"totalCount": 1}, "documents": object{"totalCount": 1}, "deletedContexts": []any{},
	}) {
		t.Errorf("lists: %v", got)
	}
	// What the document waits in is nothing that anybody can bring back.
	kept := s.Number(`SELECT id FROM contexts WHERE home_id = $1`, id)
	s.Must(http.StatusNotFound, "POST", fmt.Sprint("/context/restore/", kept), token, nil)
	s.Must(http.StatusNotFound, "GET", fmt.Sprint("/context/", kept), token, nil)
	if err := s.App.Worker(nil).EraseDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := counted(); n != usage || size() != bytes-17 {
		t.Errorf("counted meanwhile %v, before %v; the context has %d bytes of %d", n, usage, size(), bytes)
	}
	listed := s.Must(http.StatusOK, "GET", fmt.Sprintf("/context/documents/%d/deleted", id), token, nil).JSON(t)
	if platform.Member(t, listed, "#") != 1 || platform.Member(t, listed, "0.name") != "high.txt" {
		t.Errorf("deleted: %v", listed)
	}

	const restore = `mutation($id: ID!) { restoreDocument(input: {id: $id}) { document { displayName context { name } } } }`
	if back := s.MustGQL(token, restore, in); platform.Member(t, back, "restoreDocument.document.context.name") != "Tides" {
		t.Errorf("brought back %v", back)
	}
	hits(2)
	after := s.Must(http.StatusOK, "GET", at, token, nil)
	if string(after.Body) != string(before.Body) || after.Header.Get("ETag") != before.Header.Get("ETag") || counted() != usage || size() != bytes {
		t.Errorf("before %s, brought back %s; counted %v, %d bytes", before.Body, after.Body, counted(), size())
	}
	if again := platform.Member(t, s.Must(http.StatusOK, "GET", at+"/chunks", token, nil).JSON(t), "0.id"); again != chunk {
		t.Errorf("chunk %v is %v now", chunk, again)
	}
	s.Must(http.StatusOK, "GET", link, "", nil)
	if _, codes := s.GQL(token, restore, in); !slices.Equal(codes, []string{"NOT_FOUND"}) {
		t.Errorf("a document that is there was brought back: %v", codes)
	}

	// One of its name came meanwhile, and then there is no room.
	gone := fmt.Sprintf("/context/documents/%d/%d?restorable=true", id, document)
	s.Must(http.StatusOK, "DELETE", gone, token, nil)
	s.Upload(token, id, "high.txt", []byte("The tide is higher."))
	s.Settle(token, id)
	s.SQL(`UPDATE contexts SET max_size = $2 WHERE id = $1`, id, size())
	s.Must(http.StatusRequestEntityTooLarge, "POST", at+"/restore", token, nil)
	s.SQL(`UPDATE contexts SET max_size = $2 WHERE id = $1`, id, size()+17)
	if back := s.Must(http.StatusOK, "POST", at+"/restore", token, nil).JSON(t); platform.Member(t, back, "nameIndex") != float64(1) || platform.Member(t, back, "displayName") == "high.txt" {
		t.Errorf("brought back beside one of its name: %v", back)
	}
	hits(3)

	s.Must(http.StatusOK, "DELETE", gone, token, nil)
	s.SQL(`UPDATE contexts SET erase_at = now() WHERE home_id = $1`, id)
	s.Must(http.StatusNotFound, "POST", at+"/restore", token, nil)
	if err := s.App.Worker(nil).EraseDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := s.Number(`SELECT count(*) FROM documents WHERE id = $1`, document) + s.Number(`SELECT count(*) FROM contexts WHERE home_id = $1`, id); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	key := fmt.Sprint("documents/", platform.Member(t, before.JSON(t), "fileName"))
	devtest.Eventually(t, "its original is gone", func() bool {
		_, done, err := s.App.Resolver.Blobs.Local(t.Context(), key)
		if err == nil {
			done()
		}
		return errors.Is(err, blob.ErrNotFound)
	})
}

// TestDeletedDocumentsGoWithTheirContext: where it is deleted for good, they go as well; where it comes back, they can. What waits to be
// processed waits with them.
func TestDeletedDocumentsGoWithTheirContext(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.Assistant()
	id := s.NewContext(token, "Tides")
	s.Upload(token, id, "a.txt", []byte("The tide is high."))
	document := int64(s.Documents(token, id)[0]["id"].(float64))
	at := fmt.Sprintf("/v1/documents/%d/restore", document)
	s.Must(http.StatusOK, "DELETE", fmt.Sprintf("/context/documents/%d/%d?restorable=true", id, document), token, nil)
	if n := s.Number(`SELECT count(*) FROM documents WHERE id = $1 AND status = 'pending' AND next_attempt_at > now() + interval '29 days'`, document); n != 1 {
		t.Error("it does not wait")
	}
	s.Must(http.StatusOK, "DELETE", fmt.Sprintf("/context/%d?restorable=true", id), token, nil)
	s.Must(http.StatusNotFound, "POST", at, token, nil)
	s.Must(http.StatusOK, "POST", fmt.Sprint("/context/restore/", id), token, nil)
	s.Must(http.StatusOK, "POST", at, token, nil)
	s.Work(nil)
	if d := s.Settle(token, id); len(d) != 1 || d[0]["status"] != "ready" {
		t.Errorf("%v", d)
	}
	if hits := s.Search(token, id, "tide"); len(hits) != 1 {
		t.Errorf("%d hits", len(hits))
	}
	s.Must(http.StatusOK, "DELETE", fmt.Sprintf("/context/documents/%d/%d?restorable=true", id, document), token, nil)
	s.Must(http.StatusOK, "DELETE", fmt.Sprint("/context/", id), token, nil)
	for end := time.Now().Add(platform.Patience); s.Number(`SELECT count(*) FROM documents WHERE id = $1`, document) != 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it outlives its context")
		}
	}
	var told string
	s.Look(&told, `SELECT string_agg(action, ' ' ORDER BY id) FROM audit_events WHERE object_type = 'Document'`)
	if !strings.HasSuffix(told, "document.deleted document.restored document.deleted") {
		t.Errorf("the log tells %s", told)
	}
}
