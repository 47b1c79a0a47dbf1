package contexts

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// TestDeletionLeavesNothing counts what is left of a document, and of a context.
func TestDeletionLeavesNothing(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Work(nil)
	token := s.Assistant()
	count := func(table string) int64 { return s.Number("SELECT count(*) FROM " + table) }
	id := s.NewContext(token, "Handbook")
	for i := range 3 {
		s.Upload(token, id, "a.txt", fmt.Appendf(nil, "bees and honey %d", i))
	}
	list := s.Settle(token, id)
	if len(s.Search(token, id, "honey")) != 3 || s.Blobs() != 3 || count("chunks") != 3 {
		t.Fatalf("%d blobs, %d chunks, %v", s.Blobs(), count("chunks"), list)
	}
	path := fmt.Sprintf("/context/documents/%d/%.0f", id, list[0]["id"])
	if a := s.Must(200, "DELETE", path, token, nil); a.JSON(t).(map[string]any)["deleted"] != true {
		t.Errorf("%s", a.Body)
	}
	s.Must(404, "DELETE", path, token, nil)
	other := s.NewContext(token, "Other")
	s.Must(404, "DELETE", fmt.Sprintf("/context/documents/%d/%.0f", other, list[1]["id"]), token, nil)
	if hits := s.Search(token, id, "honey"); len(hits) != 2 {
		t.Errorf("after the deletion: %v", hits)
	}
	devtest.Eventually(t, "the blob is gone", func() bool { return s.Blobs() == 2 })
	if a := s.Must(200, "DELETE", fmt.Sprintf("/context/%d", id), token, nil); a.JSON(t).(map[string]any)["deleted"] != true {
		t.Errorf("%s", a.Body)
	}
	for _, method := range []string{"GET", "DELETE"} {
		s.Must(404, method, fmt.Sprintf("/context/%d", id), token, nil)
	}
	devtest.Eventually(t, "the blobs are gone", func() bool { return s.Blobs() == 0 && count("blob_deletions") == 0 })
	for _, table := range []string{"documents", "chunks", "blob_deletions"} {
		if n := count(table); n != 0 {
			t.Errorf("%s: %d rows are left", table, n)
		}
	}
}

// TestLongAnswers: what one answer may have is bounded by its bytes, too, be it read for each name or once for all of them.
func TestLongAnswers(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	s.MustGQL(token, `mutation($id: ID!) { updateContext(input: {id: $id, chunkSize: 8192, overlap: 0}) { context { name } } }`, map[string]any{"id": id})
	s.Upload(token, id, "long.txt", []byte(strings.Repeat("Bees make honey. Ships need a harbour. ", 25_000))) // a megabyte
	s.Settle(token, id)
	named := func(field string) string {
		var all strings.Builder
		for i := range 40 {
			fmt.Fprintf(&all, "a%d: %s ", i, strings.ReplaceAll(field, "#", fmt.Sprint(i+1)))
		}
		return all.String()
	}
	for name, query := range map[string]string{
		"lists":  `query($id: ID!) { context(id: $id) { ` + named("documents(first: #) { nodes { chunks(first: 200) { nodes { overlapBytes content } } } }") + ` } }`,
		"fields": `query($id: ID!) { context(id: $id) { documents { nodes { chunks(first: 200) { nodes { ` + named("content") + ` } } } } } }`,
		"change": `mutation($id: ID!) { updateContext(input: {id: $id, name: "Handbook"}) { context { documents { nodes { chunks(first: 200) { nodes { ` + named("content") + ` } } } } } } }`,
	} {
		t.Run(name, func(t *testing.T) {
			answer := s.Do("POST", "/graphql", token, map[string]any{"query": query, "variables": map[string]any{"id": id}})
			if len(answer.Body) > 33<<20 || !strings.Contains(string(answer.Body[:min(len(answer.Body), 1000)]), `"reason":"cost_limit"`) {
				t.Errorf("%d bytes: %.300s", len(answer.Body), answer.Body)
			}
		})
	}
	s.MustGQL(token, `query($id: ID!) { context(id: $id) { documents { nodes { chunks(first: 200) { nodes { content } } } } } }`, map[string]any{"id": id})
}

// TestListsBreakOff: a list whose context or document becomes another while it is read is not told as one that is over.
func TestListsBreakOff(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	s.Upload(token, id, "bees.txt", []byte("Bees make honey."))
	d := fmt.Sprintf("%.0f", s.Settle(token, id)[0]["id"])
	s.SQL(`INSERT INTO chunks (document_id, revision, position, content, overlap_bytes, tokens, sparse)
		SELECT document_id, revision, i, repeat('x', 20000), 0, 1, sparse FROM chunks, generate_series(1, 1600) i WHERE document_id = $1`, d)
	s.SQL(`INSERT INTO documents SELECT (jsonb_populate_record(d, jsonb_build_object('id', d.id + i, 'name_index', i, 'file_name', gen_random_uuid(), 'attributes', a.all))).*
		FROM documents d, generate_series(1, 1600) i, (SELECT jsonb_object_agg('a' || n, repeat('x', 1000)) AS all FROM generate_series(1, 30) n) a WHERE d.id = $1`, d)
	for _, c := range []struct{ path, change, mended string }{
		{"/v1/documents/" + d + "/chunks", `UPDATE documents SET revision = revision + 1 WHERE id = $1`, `UPDATE documents SET revision = revision - 1 WHERE id = $1`},
		{
			"/v1/documents?contextId=" + fmt.Sprint(id), `UPDATE contexts SET removed_at = now() WHERE id = (SELECT context_id FROM documents WHERE id = $1)`,
			`UPDATE contexts SET removed_at = NULL WHERE id = (SELECT context_id FROM documents WHERE id = $1)`,
		},
		{"/context/documents/" + fmt.Sprint(id), `UPDATE contexts SET removed_at = now() WHERE id = (SELECT context_id FROM documents WHERE id = $1)`, ""},
	} {
		if a := s.Must(200, "GET", c.path, token, nil); !json.Valid(a.Body) {
			t.Errorf("%s: %.100s", c.path, a.Body)
		}
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.ReadFull(resp.Body, make([]byte, 4096))
		s.SQL(c.change, d)
		rest, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err == nil {
			t.Errorf("%s ends after %d bytes with %q", c.path, len(rest), rest[max(0, len(rest)-20):])
		}
		if c.mended != "" {
			s.SQL(c.mended, d)
		}
	}
}

// TestPagesOfChunks: page by page a document's chunks come each once, in both directions, and a cursor of the time before it was processed anew is refused:
// its place says nothing of the chunks that there are.
func TestPagesOfChunks(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	s.Upload(token, id, "bees.txt", []byte("Bees make honey."))
	d := fmt.Sprintf("%.0f", s.Settle(token, id)[0]["id"])
	s.SQL(`INSERT INTO chunks (document_id, revision, position, content, overlap_bytes, tokens, sparse)
		SELECT document_id, revision, i, 'part ' || i, 0, 1, sparse FROM chunks, generate_series(1, 6) i WHERE document_id = $1`, d)
	path := "/v1/documents/" + d + "/chunks"
	contents := func(t *testing.T, a platform.Answer) (list []string) {
		for _, k := range a.JSON(t).([]any) {
			list = append(list, platform.Member(t, k, "content").(string))
		}
		return list
	}
	all := contents(t, s.Must(200, "GET", path, token, nil))
	if list, pages := s.Follow(t, path+"?limit=2", token, contents); len(all) != 7 || !slices.Equal(list, all) || pages != 4 {
		t.Errorf("%v on %d pages, not %v", list, pages, all)
	}
	if list, pages := s.Follow(t, path+"?last=7", token, contents); !slices.Equal(list, all) || pages != 1 {
		t.Errorf("%v on %d pages from the end", list, pages)
	}
	link := func(query string) string {
		found := regexp.MustCompile(`<([^>]+)>`).FindStringSubmatch(s.Must(200, "GET", path+query, token, nil).Header.Get("Link"))
		return strings.TrimPrefix(found[1], s.URL)
	}
	next, before := link("?limit=2"), link("?last=2")
	const query = `query($d: ID!, $after: String, $before: String) { node(id: $d) { ... on Document {
		next: chunks(first: 2, after: $after) { nodes { content } pageInfo { startCursor endCursor } } chunks(last: 2, before: $before) { nodes { content } } } } }`
	node := platform.Member(t, s.MustGQL(token, `query($id: ID!) { context(id: $id) { documents { nodes { id } } } }`, object{"id": id}), "context.documents.nodes.0.id")
	cursor := platform.Member(t, s.MustGQL(token, query, object{"d": node}), "node.next.pageInfo.endCursor")
	second := s.MustGQL(token, query, object{"d": node, "after": cursor, "before": cursor})
	if platform.Member(t, second, "node.next.nodes.0.content") != all[2] || platform.Member(t, second, "node.chunks.nodes.0.content") != all[0] {
		t.Errorf("%v", second)
	}
	refused := func(when string) {
		t.Helper()
		for _, page := range []string{next, before} {
			if a := s.Do("GET", page, token, nil); a.Status != 400 || !strings.Contains(string(a.Body), "processed anew") {
				t.Errorf("%s, %s: %d %.200s", when, page, a.Status, a.Body)
			}
		}
		for _, bound := range []string{"after", "before"} {
			if says := s.Refused(t, "BAD_REQUEST", token, query, object{"d": node, bound: cursor}); !strings.Contains(says, bound) || !strings.Contains(says, "processed anew") {
				t.Errorf("%s: %s", when, says)
			}
		}
	}
	s.SQL(`UPDATE documents SET revision = revision + 1, status = 'pending', next_attempt_at = now() + interval '1 hour' WHERE id = $1`, d)
	refused("while it is processed")
	s.Must(200, "POST", "/v1/documents/"+d+"/reprocess", token, nil)
	s.Settle(token, id)
	refused("afterwards")
	if list := contents(t, s.Must(200, "GET", path+"?limit=2", token, nil)); !slices.Equal(list, []string{"Bees make honey."}) {
		t.Errorf("%v", list)
	}
}

// TestReprocess changes the chunking, and mends a failed document.
func TestReprocess(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	s.Upload(token, id, "long.txt", []byte(strings.Repeat("Bees make honey. Ships need a harbour. ", 60)))
	s.Upload(token, id, "empty.txt", []byte("   \n  "))
	list := s.Settle(token, id)
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
	s.MustGQL(token, `mutation($id: ID!) { updateContext(input: {id: $id, chunkSize: 64, overlap: 0}) { context { chunkSize overlap } } }`, map[string]any{"id": id})
	if d := byName(s.Documents(token, id), "long.txt"); d["chunks"] != 1.0 {
		t.Errorf("another chunk size changed documents by itself: %v", d)
	}
	s.MustGQL(token, `mutation($id: ID!) { reprocessContext(input: {id: $id}) { context { name } } }`, map[string]any{"id": id})
	n := byName(s.Settle(token, id), "long.txt")["chunks"].(float64)
	if n < 8 || s.Number(`SELECT count(*) FROM chunks`) != int64(n) {
		t.Errorf("%v chunks of a document, %d in all", n, s.Number(`SELECT count(*) FROM chunks`))
	}
	data := s.MustGQL(token, `query($id: ID!) { context(id: $id) { documents { nodes { originalName chunks(first: 200) { nodes { position content overlapBytes } totalCount } } } } }`, map[string]any{"id": id})
	var text strings.Builder
	for i, k := range platform.Member(t, data, "context.documents.nodes.0.chunks.nodes").([]any) {
		chunk := k.(map[string]any)
		if chunk["position"] != float64(i) {
			t.Errorf("chunk %d: %v", i, chunk)
		}
		text.WriteString(chunk["content"].(string)[int(chunk["overlapBytes"].(float64)):])
	}
	if got := strings.TrimSpace(text.String()); got != strings.TrimSpace(strings.Repeat("Bees make honey. Ships need a harbour. ", 60)) {
		t.Errorf("the chunks are not the text: %q", got)
	}
	one := byName(s.Documents(token, id), "empty.txt")
	d := s.MustGQL(token, `mutation($id: ID!) { reprocessDocument(input: {id: $id}) { document { status error started } } }`, map[string]any{"id": fmt.Sprintf("%.0f", one["id"])})
	if got := platform.Member(t, d, "reprocessDocument.document"); !platform.SameJSON(got, map[string]any{"status": "pending", "error": nil, "started": nil}) {
		t.Errorf("%v", got)
	}
	s.Settle(token, id)
}
