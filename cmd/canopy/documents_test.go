package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
)

// TestDocumentSubscription follows a document through its processing, as every kind of caller, and by
// both transports.
func TestDocumentSubscription(t *testing.T) {
	w := newWorld(t)
	a := &ask{world: w, as: asOwner}
	contextID := a.freshContext()
	query := fmt.Sprintf(`subscription { documentUpdated(contextId: %d) { originalName status progress error } }`, contextID)
	row := subscriptionRow{field: "documentUpdated", query: query, assistant: true}
	want := onDesk(access.ContextRead)
	for _, as := range everybody {
		if c := want.wants(as, false); c != getsOK {
			t.Run("refused/"+string(as), func(t *testing.T) { w.isRefused(t, row, as, c) })
		}
	}
	w.work(nil)
	for _, as := range []who{asOwner, asViewer} {
		t.Run("heard/"+string(as), func(t *testing.T) {
			lines := w.stream(t, query, w.desk[as])
			w.hearsReady(t, contextID, func() string { return <-lines })
		})
	}
	t.Run("heard over a WebSocket", func(t *testing.T) {
		conn := w.dial(t, query, object{"Authorization": "Bearer " + w.desk[asOwner]}, nil)
		w.hearsReady(t, contextID, func() string {
			_, raw, err := conn.ReadMessage()
			if err != nil {
				t.Fatal(err)
			}
			return string(raw)
		})
	})
}

// hearsReady uploads documents until the listener, whose subscription takes a moment to begin, has
// heard of one that it is ready.
func (w *world) hearsReady(t *testing.T, contextID int64, next func() string) {
	t.Helper()
	heard := make(chan bool)
	go func() {
		for line := next(); line != "" && !strings.Contains(line, `"status":"ready","progress":1,"error":null`); line = next() {
		}
		close(heard)
	}()
	for i := range 100 {
		w.upload(w.desk[asOwner], contextID, fmt.Sprintf("%d.txt", i), fmt.Appendf(nil, "text %d", i))
		w.settle(w.desk[asOwner], contextID)
		select {
		case <-heard:
			return
		default:
		}
	}
	t.Fatal("nothing is heard of a ready document")
}

// TestDeletionLeavesNothing counts what is left of a document, and of a context.
func TestDeletionLeavesNothing(t *testing.T) {
	s := newStack(t)
	s.work(nil)
	token := s.assistant()
	count := func(table string) int64 { return s.number("SELECT count(*) FROM " + table) }
	id := s.newContext(token, "Handbook")
	for i := range 3 {
		s.upload(token, id, "a.txt", fmt.Appendf(nil, "bees and honey %d", i))
	}
	list := s.settle(token, id)
	if len(s.search(token, id, "honey")) != 3 || s.blobs() != 3 || count("chunks") != 3 {
		t.Fatalf("%d blobs, %d chunks, %v", s.blobs(), count("chunks"), list)
	}
	path := fmt.Sprintf("/context/documents/%d/%v", id, list[0]["id"])
	if a := s.must(200, "DELETE", path, token, nil); a.json(t).(map[string]any)["deleted"] != true {
		t.Errorf("%s", a.Body)
	}
	s.must(404, "DELETE", path, token, nil)
	other := s.newContext(token, "Other")
	s.must(404, "DELETE", fmt.Sprintf("/context/documents/%d/%v", other, list[1]["id"]), token, nil)
	if hits := s.search(token, id, "honey"); len(hits) != 2 {
		t.Errorf("after the deletion: %v", hits)
	}
	devtest.Eventually(t, "the blob is gone", func() bool { return s.blobs() == 2 })
	if a := s.must(200, "DELETE", fmt.Sprintf("/context/%d", id), token, nil); a.json(t).(map[string]any)["deleted"] != true {
		t.Errorf("%s", a.Body)
	}
	for _, method := range []string{"GET", "DELETE"} {
		s.must(404, method, fmt.Sprintf("/context/%d", id), token, nil)
	}
	devtest.Eventually(t, "the blobs are gone", func() bool { return s.blobs() == 0 && count("blob_deletions") == 0 })
	for _, table := range []string{"documents", "chunks", "blob_deletions"} {
		if n := count(table); n != 0 {
			t.Errorf("%s: %d rows are left", table, n)
		}
	}
}

// TestReprocess changes the chunking, and mends a failed document.
func TestReprocess(t *testing.T) {
	s := newStack(t)
	s.work(nil)
	token := s.assistant()
	id := s.newContext(token, "Handbook")
	s.upload(token, id, "long.txt", []byte(strings.Repeat("Bees make honey. Ships need a harbour. ", 60)))
	s.upload(token, id, "empty.txt", []byte("   \n  "))
	list := s.settle(token, id)
	byName := func(list []map[string]any, name string) map[string]any {
		i := slices.IndexFunc(list, func(d map[string]any) bool { return d["originalName"] == name })
		return list[i]
	}
	if d := byName(list, "long.txt"); d["chunks"] != 1.0 || d["status"] != "ready" {
		t.Fatalf("%v", d)
	}
	if d := byName(list, "empty.txt"); d["status"] != "failed" || d["error"] == nil || d["chunks"] != 0.0 {
		t.Fatalf("%v", d)
	}
	s.mustGQL(token, `mutation($id: ID!) { updateContext(input: {id: $id, chunkSize: 64, overlap: 0}) { context { chunkSize overlap } } }`, map[string]any{"id": id})
	if d := byName(s.documents(token, id), "long.txt"); d["chunks"] != 1.0 {
		t.Errorf("another chunk size changed documents by itself: %v", d)
	}
	s.mustGQL(token, `mutation($id: ID!) { reprocessContext(input: {id: $id}) { context { name } } }`, map[string]any{"id": id})
	n := byName(s.settle(token, id), "long.txt")["chunks"].(float64)
	if n < 8 || s.number(`SELECT count(*) FROM chunks`) != int64(n) {
		t.Errorf("%v chunks of a document, %d in all", n, s.number(`SELECT count(*) FROM chunks`))
	}
	data := s.mustGQL(token, `query($id: ID!) { context(id: $id) { documents { nodes { originalName chunks(first: 200) { nodes { position content overlapBytes } totalCount } } } } }`, map[string]any{"id": id})
	var text strings.Builder
	for i, k := range member(t, data, "context.documents.nodes.0.chunks.nodes").([]any) {
		chunk := k.(map[string]any)
		if chunk["position"] != float64(i) {
			t.Errorf("chunk %d: %v", i, chunk)
		}
		text.WriteString(chunk["content"].(string)[int(chunk["overlapBytes"].(float64)):])
	}
	if got := strings.TrimSpace(text.String()); got != strings.TrimSpace(strings.Repeat("Bees make honey. Ships need a harbour. ", 60)) {
		t.Errorf("the chunks are not the text: %q", got)
	}
	one := byName(s.documents(token, id), "empty.txt")
	d := s.mustGQL(token, `mutation($id: ID!) { reprocessDocument(input: {id: $id}) { document { status error started } } }`, map[string]any{"id": fmt.Sprint(one["id"])})
	if got := member(t, d, "reprocessDocument.document"); !sameJSON(got, map[string]any{"status": "pending", "error": nil, "started": nil}) {
		t.Errorf("%v", got)
	}
	s.settle(token, id)
}
