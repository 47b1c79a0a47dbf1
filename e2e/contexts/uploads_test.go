package contexts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
)

func TestUploadRefusals(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	good := []byte("some text")
	doc, err := os.ReadFile("../../internal/extract/testdata/report.doc")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path   string
		parts  []platform.Part
		status int
	}{
		"no such context":        {"/context/upload/999999", []platform.Part{{Field: "file", Name: "a.txt", Content: good}}, 404},
		"context 0":              {"/context/upload/0", []platform.Part{{Field: "file", Name: "a.txt", Content: good}}, 404},
		"no part":                {"", nil, 400},
		"another field":          {"", []platform.Part{{Field: "document", Name: "a.txt", Content: good}}, 400},
		"no file name":           {"", []platform.Part{{Field: "file", Name: "", Content: good}}, 400},
		"two files":              {"", []platform.Part{{Field: "file", Name: "a.txt", Content: good}, {Field: "file", Name: "b.txt", Content: good}}, 400},
		"a field after it":       {"", []platform.Part{{Field: "file", Name: "a.txt", Content: good}, {Field: "note", Name: "", Content: good}}, 400},
		"a field before it":      {"", []platform.Part{{Field: "note", Name: "", Content: good}, {Field: "file", Name: "a.txt", Content: good}}, 400},
		"another extension":      {"", []platform.Part{{Field: "file", Name: "a.exe", Content: good}}, 400},
		"no extension":           {"", []platform.Part{{Field: "file", Name: "pdf", Content: good}}, 400},
		"empty":                  {"", []platform.Part{{Field: "file", Name: "a.txt", Content: nil}}, 400},
		"text called PDF":        {"", []platform.Part{{Field: "file", Name: "a.pdf", Content: good}}, 400},
		"a picture called text":  {"", []platform.Part{{Field: "file", Name: "a.txt", Content: []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01")}}, 400},
		"a PDF called DOCX":      {"", []platform.Part{{Field: "file", Name: "a.docx", Content: []byte("%PDF-1.7\n")}}, 400},
		"a DOC called DOCX":      {"", []platform.Part{{Field: "file", Name: "a.docx", Content: doc}}, 400},
		"a name of the path":     {"", []platform.Part{{Field: "file", Name: "../../etc/passwd", Content: good}}, 400},
		"an empty PDF":           {"", []platform.Part{{Field: "file", Name: "a.pdf", Content: nil}}, 400},
		"a name that is too odd": {"", []platform.Part{{Field: "file", Name: "\x01\x02", Content: good}}, 400},
	} {
		t.Run(name, func(t *testing.T) {
			if c.path == "" {
				c.path = fmt.Sprintf("/context/upload/%d", id)
			}
			body, contentType := platform.Form(t, c.parts...)
			if a := s.Post(c.path, token, contentType, body); a.Status != c.status {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
	body, contentType := platform.Form(t, platform.Part{Field: "file", Name: "a.txt", Content: good})
	path := fmt.Sprintf("/context/upload/%d", id)
	boundary := contentType[strings.Index(contentType, "boundary=")+len("boundary="):]
	twice := bytes.ReplaceAll(body, []byte("--"+boundary+"--"), body)
	for name, c := range map[string]struct {
		contentType string
		body        []byte
		says        string
	}{
		"JSON":                {"application/json", []byte(`{}`), "the body must be multipart/form-data"},
		"no boundary":         {"multipart/form-data", body, "must name the boundary"},
		"another boundary":    {"multipart/form-data; boundary=x", body, "none begins with the boundary"},
		"another field":       {contentType, bytes.Replace(body, []byte(`"file"`), []byte(`"document"`), 1), `must be "file", and is "document"`},
		"no file name":        {contentType, bytes.Replace(body, []byte(`; filename="a.txt"`), nil, 1), "has no file name"},
		"two files":           {contentType, twice, `must end with its only file: the part "file" comes after it`},
		"no part":             {contentType, []byte("--" + boundary + "--"), "the body has no part"},
		"an empty body":       {contentType, nil, "the body is empty"},
		"cut off in the file": {contentType, body[:bytes.Index(body, good)+3], "the form ends too early"},
	} {
		t.Run(name, func(t *testing.T) {
			if a := s.Post(path, token, c.contentType, c.body); a.Status != 400 || !strings.Contains(a.JSON(t).(object)["detail"].(string), c.says) {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
	if n := s.Blobs(); n != 0 || len(s.Documents(token, id)) != 0 {
		t.Errorf("refused uploads left %d blobs", n)
	}
}

func TestEqualNamesAreToldApart(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	for range 3 {
		if a := s.Upload(token, id, `C:\files\Überblick "neu".md`, []byte("# Same")); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	for i, d := range s.Documents(token, id) {
		want := `Überblick "neu".md`
		if i > 0 {
			want = fmt.Sprintf(`Überblick "neu" (%d).md`, i)
		}
		if d["displayName"] != want || d["nameIndex"] != float64(i) || d["contentType"] != "text/markdown" || d["size"] != 6.0 {
			t.Errorf("%d: %v", i, d)
		}
	}
	long := s.NewContext(token, "Long names")
	for range 2 {
		s.Upload(token, long, strings.Repeat("a", 196)+".txt", []byte("text"))
	}
	// A name that a document has is one to give it, also of before long ones were cut.
	for _, d := range s.Documents(token, long) {
		s.Must(200, "PUT", fmt.Sprintf("/v1/documents/%.0f", d["id"]), token, object{"displayName": d["displayName"]})
		if n := len(d["displayName"].(string)); n != 200 {
			t.Errorf("a name of %d characters", n)
		}
	}
	s.SQL(`UPDATE documents SET display_name = repeat('a', 196) || ' (1).txt' WHERE context_id = $1 AND name_index = 1`, long)
	shown := s.Documents(token, long)[1]
	path := fmt.Sprintf("/v1/documents/%.0f", shown["id"])
	s.Must(200, "PUT", path, token, object{"displayName": shown["displayName"], "attributes": object{"a": 1}})
	s.Must(400, "PUT", path, token, object{"displayName": strings.Repeat("a", 201)})
}

// TestMaxSizeHolds uploads more at the same time than fits: what is stored never passes the limit,
// and what was refused leaves nothing.
func TestMaxSizeHolds(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	s.SQL(`UPDATE contexts SET max_size = 100000 WHERE id = $1`, id)
	content := bytes.Repeat([]byte("word "), 6000) // 30,000 bytes: three fit
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for i := range 12 {
		all.Go(func() {
			a := s.Upload(token, id, fmt.Sprintf("%d.txt", i), content)
			mu.Lock()
			statuses[a.Status]++
			mu.Unlock()
		})
	}
	all.Wait()
	if statuses[200] != 3 || statuses[413] != 9 {
		t.Errorf("statuses: %v", statuses)
	}
	if n := s.Blobs(); n != 3 || len(s.Documents(token, id)) != 3 {
		t.Errorf("%d blobs, %d documents", n, len(s.Documents(token, id)))
	}
	a := s.Upload(token, id, "large.txt", bytes.Repeat(content, 10))
	if p := a.JSON(t).(map[string]any); a.Status != 413 || p["code"] != "PAYLOAD_TOO_LARGE" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

func TestUploadByGraphQL(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	const mutation = `mutation($input: UploadDocumentInput!) { uploadDocument(input: $input) { document { databaseId originalName status size } } }`
	operations := func(file string) []byte {
		return fmt.Appendf(nil, `{"query": %q, "variables": {"input": {"contextId": %d, "file": %s}}}`, mutation, id, file)
	}
	usual := []platform.Part{{Field: "operations", Name: "", Content: operations("null")}, {Field: "map", Name: "", Content: []byte(`{"0":["variables.input.file"]}`)}, {Field: "0", Name: "a.txt", Content: []byte("some text")}}
	for name, c := range map[string]struct {
		header string
		parts  []platform.Part
		want   string
	}{
		"as specified":       {"GraphQL-Preflight", usual, `"originalName":"a.txt","status":"pending","size":9`},
		"no preflight":       {"", usual, `"FORBIDDEN"`},
		"two files":          {"GraphQL-Preflight", append(usual[:3:3], platform.Part{Field: "1", Name: "b.txt", Content: []byte("x")}), `"BAD_REQUEST"`},
		"no file":            {"GraphQL-Preflight", usual[:2], `"BAD_REQUEST"`},
		"the file first":     {"GraphQL-Preflight", []platform.Part{usual[2], usual[0], usual[1]}, `"BAD_REQUEST"`},
		"no such place":      {"GraphQL-Preflight", []platform.Part{usual[0], {Field: "map", Name: "", Content: []byte(`{"0":["variables.x.y"]}`)}, usual[2]}, `"BAD_REQUEST"`},
		"a place in a list":  {"GraphQL-Preflight", []platform.Part{usual[0], {Field: "map", Name: "", Content: []byte(`{"0":["variables.input.file.0"]}`)}, usual[2]}, `"BAD_REQUEST"`},
		"a place outside":    {"GraphQL-Preflight", []platform.Part{usual[0], {Field: "map", Name: "", Content: []byte(`{"0":["query"]}`)}, usual[2]}, `"BAD_REQUEST"`},
		"a taken place":      {"GraphQL-Preflight", []platform.Part{{Field: "operations", Name: "", Content: operations(`"x"`)}, usual[1], usual[2]}, `"BAD_REQUEST"`},
		"no JSON":            {"GraphQL-Preflight", []platform.Part{{Field: "operations", Name: "", Content: []byte("{")}, usual[1], usual[2]}, `"BAD_REQUEST"`},
		"operations too big": {"GraphQL-Preflight", []platform.Part{{Field: "operations", Name: "", Content: bytes.Repeat([]byte(" "), 2<<20)}, usual[1], usual[2]}, `"PAYLOAD_TOO_LARGE"`},
	} {
		t.Run(name, func(t *testing.T) {
			body, contentType := platform.Form(t, c.parts...)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/graphql", bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+token)
			req.Header.Set("Content-Type", contentType)
			if c.header != "" {
				req.Header.Set(c.header, "1")
			}
			if a := s.Send(req); !strings.Contains(string(a.Body), c.want) {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
	if list := s.Documents(token, id); len(list) != 1 || s.Blobs() != 1 {
		t.Errorf("%d blobs, %v", s.Blobs(), list)
	}
}

// TestNoStoreNoUpload: where there is no place for documents, none is promised for later.
func TestNoStoreNoUpload(t *testing.T) {
	t.Parallel()
	s := platform.Start(t, func(c *config.Config) { c.BlobURL = "" })
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	a := s.Upload(token, id, "a.txt", []byte("x"))
	if p := a.JSON(t).(map[string]any); a.Status != 400 || p["code"] != "no_document_store" || a.Header.Get("Retry-After") != "" {
		t.Errorf("%d %v %s", a.Status, a.Header, a.Body)
	}
	operations := fmt.Appendf(nil, `{"query": %q, "variables": {"input": {"contextId": %d, "file": null}}}`,
		`mutation($input: UploadDocumentInput!) { uploadDocument(input: $input) { document { id } } }`, id)
	body, contentType := platform.Form(t, platform.Part{Field: "operations", Name: "", Content: operations}, platform.Part{Field: "map", Name: "", Content: []byte(`{"0":["variables.input.file"]}`)}, platform.Part{Field: "0", Name: "a.txt", Content: []byte("x")})
	a = s.PostWith("/graphql", token, contentType, body, http.Header{"Graphql-Preflight": {"1"}})
	if text := string(a.Body); !strings.Contains(text, `"code":"BAD_REQUEST"`) || !strings.Contains(text, `"reason":"no_document_store"`) {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// letters is a text without end, the same each time.
type letters struct{ at int }

func (l *letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = "The harbour is deeper than the chart says.\n"[(l.at+i)%43]
	}
	l.at += len(p)
	return len(p), nil
}

// TestUploadsAreStreamed uploads as much as a context takes, and one byte more: neither is held in
// memory, the first is stored as it was sent, and of the second nothing is left.
func TestUploadsAreStreamed(t *testing.T) {
	const maxSize = 104857600
	s := platform.Start(t)
	token := s.Assistant()
	send := func(id, size int64) platform.Answer {
		frame, contentType := platform.Form(t, platform.Part{Field: "file", Name: "long.txt", Content: []byte("|")})
		head, tail, _ := bytes.Cut(frame, []byte("|"))
		body := io.MultiReader(bytes.NewReader(head), io.LimitReader(&letters{}, size), bytes.NewReader(tail))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+fmt.Sprintf("/context/upload/%d", id), body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", contentType)
		return s.Send(req)
	}
	id := s.NewContext(token, "Full")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if a := send(id, maxSize); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > maxSize/8 {
		t.Errorf("%d bytes were allocated for %d", n, maxSize)
	}
	hash := sha256.New()
	_, _ = io.CopyN(hash, &letters{}, maxSize)
	list := s.Documents(token, id)
	if d := list[0]; len(list) != 1 || d["size"] != float64(maxSize) || d["contentHash"] != hex.EncodeToString(hash.Sum(nil)) {
		t.Errorf("%v", list)
	}
	path, done, err := s.App.Resolver.Blobs.Local(t.Context(), "documents/"+list[0]["fileName"].(string))
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if info, err := os.Stat(path); err != nil || info.Size() != maxSize {
		t.Errorf("stored: %v, %v", info, err)
	}
	for name, c := range map[string]struct{ id, size int64 }{
		"one byte into a full context": {id, 1}, "one byte too many": {s.NewContext(token, "Other"), maxSize + 1},
	} {
		if a := send(c.id, c.size); a.Status != 413 {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	if n := s.Blobs(); n != 1 {
		t.Errorf("%d blobs are left", n)
	}
}
