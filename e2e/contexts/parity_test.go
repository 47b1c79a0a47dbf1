package contexts

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/globalid"
	"canopy/rest"
)

// The fields of contexts and documents under the names that REST gives them.
const (
	parityContext = `id: databaseId name description caption userId embeddingModel maxSize topN scoreThreshold chunkSize overlap
		toolsJson starterPrompts shareState icon deleted created`
	parityDocument = `id: databaseId contextId fileName originalName displayName nameIndex contentType contentHash size attributes status progress
		error warnings { code message page } chunks: chunkCount created createdBy started completed`
	paritySettings = `topN scoreThreshold searchMode denseWeight logsQueries chunkSize overlap embeddingModel`
	parityGone     = `id: databaseId name deletedAt restorableUntil`
	parityChunk    = `id: databaseId position content overlapBytes tokens page heading row`
	parityHit      = `similarity relevance content passage { content page heading row start end } highlights { start end } document { databaseId } chunk { databaseId }`
)

// contextReads are the documented reads that TestParityOfContexts compares.
var contextReads = []string{"askContext", "getContext", "getContextDocument", "getContextSettings", "getDocument", "getLinkedOriginal", "getOriginal", "getReprocessing", "listAllDocuments", "listChunks", "listContextErasures", "listContextQueries", "listContexts", "listDeletedContexts", "listDeletedDocuments", "listDocuments", "searchContext"}

// TestParityOfContextsIsWhole: a read of contexts that is documented is compared.
func TestParityOfContextsIsWhole(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	_, registry := rest.New(s.App.Resolver, rest.Options{})
	reads := []string{"askContext", "searchContext"} // a POST, as it has a body
	for _, e := range rest.Endpoints(registry) {
		mine := strings.HasPrefix(e.Path, "/context") || strings.HasPrefix(e.Path, "/v1/contexts") || strings.HasPrefix(e.Path, "/v1/documents")
		if e.Method == http.MethodGet && mine {
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
	t.Parallel()
	for name, model := range map[string]func(*config.Config){"embedded model": func(*config.Config) {}, "dense model": platform.NewModelServer(t).Use} {
		t.Run(name, func(t *testing.T) { compareContexts(t, platform.Start(t, model)) })
	}
}

func compareContexts(t *testing.T, s *platform.Platform) {
	token := s.Assistant()
	full := s.NewContext(token, "Handbook <&> \u2028")
	s.Must(200, "PUT", fmt.Sprintf("/context/%d", full), token, object{
		"name": "Ünder", "description": "a\nb", "caption": "ⓒ", "toolsJson": ` [ ` + platform.OneTool(7)[1:], "starterPrompts": []string{"Where is it?", "👩‍👧"},
	})
	s.Must(204, "PUT", fmt.Sprintf("/context/share/%d", full), token, object{"shareState": 1, "icon": "📚"})
	s.NewContext(token, "Empty")
	s.Mutate(token, "updateContext", "context { id }", object{"id": full, "topN": 3, "scoreThreshold": 0.01, "searchMode": "HYBRID", "denseWeight": 0.25, "chunkSize": 50, "overlap": 0.1})
	stop := s.Work(nil)
	for i := range 3 {
		s.Upload(token, full, "same name.txt", []byte(platform.Sentences(i, 400)))
	}
	s.Upload(token, full, "encrypted.pdf", platform.Sample(t, "encrypted.pdf"))
	s.Settle(token, full)
	stop()
	s.Upload(token, full, "waiting.md", []byte("# Waits\n\nfor a worker"))

	graph := func(query string) any { return s.MustGQL(token, query, object{"c": full})["v"] }
	get := func(path string) any { return s.Must(200, "GET", path, token, nil).JSON(t) }
	contexts := get("/context")
	platform.SameAnswers(t, "contexts", contexts, graph(`{ v: contexts { nodes { `+parityContext+` } } }`))
	platform.SameAnswers(t, "context", get(fmt.Sprintf("/context/%d", full)), graph(`query($c: ID!) { v: context(id: $c) { `+parityContext+` } }`))
	documents := get(fmt.Sprintf("/context/documents/%d", full))
	platform.SameAnswers(t, "documents", documents, platform.Member(t, graph(`query($c: ID!) { v: context(id: $c) { documents { nodes { `+parityDocument+` } } } }`), "documents"))
	platform.SameAnswers(t, "settings", get(fmt.Sprintf("/v1/contexts/%d/settings", full)), graph(`query($c: ID!) { v: context(id: $c) { `+paritySettings+` } }`))
	compareQueries(t, s, token, full)
	compareReprocessing(t, s, token, full)
	compareDocuments(t, s, token, documents.([]any))
	platform.SameAnswers(t, "all documents", get("/v1/documents?orderBy=-name"), graph(`{ v: documents(orderBy: [{field: NAME, direction: DESC}]) { nodes { `+parityDocument+` } } }`))
	if a, b := len(contexts.([]any)), len(documents.([]any)); a != 2 || b != 5 {
		t.Errorf("%d contexts, %d documents", a, b)
	}

	hits := s.Must(200, "POST", fmt.Sprintf("/context/relevant-docs/%d", full), token, object{"prompt": platform.Sentences(1, 12)}).JSON(t).([]any)
	found := s.MustGQL(token, `query($c: ID!, $p: String!) { v: searchContext(contextId: $c, prompt: $p) { `+parityHit+` } }`, object{"c": full, "p": platform.Sentences(1, 12)})["v"].([]any)
	same := make([]any, len(found))
	for i, h := range found {
		same[i] = hitByREST(t, h)
	}
	platform.SameAnswers(t, "hits", hits, same)
	if len(hits) != 3 {
		t.Errorf("%d hits, want topN of them", len(hits))
	}
	compareAnswers(t, s, token, full)

	s.Mutate(token, "deleteDocument", "deletedId", object{"id": documents.([]any)[0].(object)["id"], "restorable": true})
	s.Mutate(token, "deleteContext", "deletedId", object{"id": s.NewContext(token, "Gone"), "restorable": true})
	platform.SameAnswers(t, "deleted documents", get(fmt.Sprintf("/context/documents/%d/deleted", full)), platform.Member(t, graph(`query($c: ID!) { v: context(id: $c) { deletedDocuments { `+parityGone+` } } }`), "deletedDocuments"))
	platform.SameAnswers(t, "deleted contexts", get("/context/deleted"), graph(`{ v: deletedContexts { `+parityGone+` } }`))
	s.SQL(`UPDATE contexts SET erase_at = now() + interval '50 seconds', erase_rows = 40, erased_rows = 30 WHERE name = 'Gone'`)
	erased := get("/context/erasures")
	platform.SameAnswers(t, "contexts that are being erased", erased, graph(`{ v: contextErasures { id: databaseId name deletedAt progress } }`))
	if p := platform.Member(t, erased, "0.progress"); p != 0.75 {
		t.Errorf("30 of 40 rows are erased: %v", p)
	}
	platform.SameAnswers(t, "contexts that can be brought back no more", get("/context/deleted"), []any{})
}

// hitByREST is a hit of the graph as REST shows it.
func hitByREST(t *testing.T, h any) object {
	return object{
		"id": platform.Member(t, h, "chunk.databaseId"), "docId": platform.Member(t, h, "document.databaseId"), "content": platform.Member(t, h, "content"), "similarity": platform.Member(t, h, "similarity"),
		"relevance": platform.Member(t, h, "relevance"),
		"passage":   platform.Member(t, h, "passage"), "highlights": platform.Member(t, h, "highlights"),
	}
}

// compareAnswers compares what both doors answer, and that nothing answers, member by member.
func compareAnswers(t *testing.T, s *platform.Platform, token string, id int64) {
	t.Helper()
	prompt := platform.Sentences(1, 12)
	for least, found := range map[float64]bool{0.01: true, 1: false} { // nothing is certain
		query := fmt.Sprintf(`subscription { askContext(contextId: %d, prompt: %q, minRelevance: %v) { text done nothingFound extractive warnings { code message start end } citations { quote start end hit { `+parityHit+` } } } }`, id, prompt, least)
		var last map[string]any
		for lines := s.Stream(t, query, token); ; {
			event := platform.Told(t, lines, "askContext")
			if event == nil {
				break
			}
			last = event
		}
		if last == nil || last["done"] != true {
			t.Fatalf("the last event is %v", last)
		}
		delete(last, "done")
		for _, c := range last["citations"].([]any) {
			one := c.(map[string]any)
			one["hit"] = hitByREST(t, one["hit"])
		}
		answer := askREST(s, token, id, object{"prompt": prompt, "minRelevance": least})
		platform.SameAnswers(t, "answer", answer, last)
		if answer["nothingFound"] == found || len(answer["citations"].([]any)) > 0 != found {
			t.Errorf("of a relevance from %v on: %v", least, answer)
		}
	}
}

// compareReprocessing compares how far it is that a context is processed anew, and how it is cancelled by either door.
func compareReprocessing(t *testing.T, s *platform.Platform, token string, id int64) {
	t.Helper()
	path, variables := fmt.Sprintf("/v1/contexts/%d/reprocess", id), object{"id": id}
	cancel := `mutation($id: ID!) { cancelReprocessing(input: {id: $id}) { context { name } } }`
	same := func() map[string]any {
		t.Helper()
		shown := platform.Member(t, s.MustGQL(token, `query($id: ID!) { context(id: $id) { reprocessing { status documents done progress startedAt endedAt } } }`, variables), "context.reprocessing").(map[string]any)
		shown["status"] = strings.ToLower(shown["status"].(string))
		platform.SameAnswers(t, path, s.Must(http.StatusOK, "GET", path, token, nil).JSON(t), shown)
		return shown
	}
	s.Must(http.StatusNotFound, "GET", path, token, nil)
	s.Must(http.StatusBadRequest, "POST", path+"/cancel", token, nil)
	documents := s.Number(`SELECT count(*) FROM documents WHERE context_id = $1`, id)
	// Documents whose turn does not come, as no worker sees when it would.
	for _, byREST := range []bool{true, false} {
		s.SQL(`INSERT INTO context_reprocessings (context_id, until_id, documents, next_at) SELECT $1, max(id), count(*), 'infinity' FROM documents WHERE context_id = $1
			ON CONFLICT (context_id) DO UPDATE SET status = 'RUNNING', ended_at = NULL`, id)
		if shown := same(); shown["status"] != "running" || fmt.Sprint(shown["documents"]) != fmt.Sprint(documents) {
			t.Errorf("%v", shown)
		}
		if byREST {
			s.Must(http.StatusOK, "POST", path+"/cancel", token, nil)
		} else {
			s.MustGQL(token, cancel, variables)
		}
		if shown := same(); shown["status"] != "cancelled" {
			t.Errorf("%v", shown)
		}
		if _, codes := s.GQL(token, cancel, variables); !slices.Equal(codes, []string{"BAD_REQUEST"}) {
			t.Errorf("cancelled again: %v", codes)
		}
	}
	if n := s.Number(`SELECT count(*) FROM audit_events WHERE action = 'context.reprocessingCancelled' AND object_id = $1
		AND details->'status' = '{"old": "RUNNING", "new": "CANCELLED"}'`, id); n != 2 {
		t.Errorf("%d events tell that it was cancelled", n)
	}
}

// compareQueries compares what was asked of a context, in both orders, and what of it found nothing.
func compareQueries(t *testing.T, s *platform.Platform, token string, id int64) {
	t.Helper()
	s.SQL(`INSERT INTO context_queries (context_id, user_id, text, mode, hits, relevance) VALUES ($1, $2, 'Wie?', 'HYBRID', 2, .25), ($1, NULL, 'Ünder', 'LEXICAL', 0, 0)`, id, s.UserID(s.Demo.AdminEmail))
	for query, arguments := range map[string]string{"": "first: 9", "?orderBy=createdAt": "orderBy: [{field: CREATED_AT}]", "?maxRelevance=0.1": "filter: {maxRelevance: 0.1}"} {
		nodes := platform.Member(t, s.MustGQL(token, `query($c: ID!) { v: context(id: $c) { queries(`+arguments+`) { nodes { id: databaseId text mode hits relevance createdAt user { databaseId } } } } }`, object{"c": id}), "v.queries.nodes").([]any)
		for _, n := range nodes {
			row := n.(map[string]any)
			row["userId"] = nil
			if row["user"] != nil {
				row["userId"] = platform.Member(t, row, "user.databaseId")
			}
			delete(row, "user")
		}
		platform.SameAnswers(t, "queries"+query, s.Must(200, "GET", fmt.Sprintf("/v1/contexts/%d/queries%s", id, query), token, nil).JSON(t), nodes)
		if want := 2 - strings.Count(query, "max"); len(nodes) != want {
			t.Errorf("%d queries%s, want %d", len(nodes), query, want)
		}
	}
}

// compareDocuments compares the documents of a list one by one, with their chunks.
func compareDocuments(t *testing.T, s *platform.Platform, token string, documents []any) {
	t.Helper()
	chunks := 0
	for _, row := range documents {
		id := int64(platform.Member(t, row, "id").(float64))
		path := "/v1/documents/" + platform.Decimal(id)
		node := s.MustGQL(token, `query($id: ID!) { node(id: $id) { ... on Document { `+parityDocument+` originalUrl pieces: chunks(first: 200) { nodes { `+parityChunk+` } } } } }`,
			object{"id": globalid.ID{Type: "Document", Int: id}.Global()})["node"].(map[string]any)
		shown := platform.Member(t, node, "pieces.nodes").([]any)
		delete(node, "pieces")
		link := platform.Member(t, node, "originalUrl").(string)
		delete(node, "originalUrl")
		platform.SameAnswers(t, "a document", s.Must(200, "GET", path, token, nil).JSON(t), node)
		platform.SameAnswers(t, "an entry", s.Must(200, "GET", "/context/document/"+platform.Decimal(id), token, nil).JSON(t), node)
		linked := s.Must(200, "GET", strings.TrimPrefix(link, s.App.Resolver.PublicURL.String()), "", nil)
		if own := s.Must(200, "GET", "/context/document/"+platform.Decimal(id)+"/original", token, nil); !bytes.Equal(own.Body, linked.Body) || len(own.Body) == 0 {
			t.Errorf("the original of %d: %d bytes by its path, %d by a link", id, len(own.Body), len(linked.Body))
		}
		platform.SameAnswers(t, "its chunks", s.Must(200, "GET", path+"/chunks", token, nil).JSON(t), shown)
		chunks += len(shown)
	}
	if chunks < 30 {
		t.Errorf("%d chunks were compared", chunks)
	}
}
