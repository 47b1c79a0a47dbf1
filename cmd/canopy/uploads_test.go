package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"canopy/internal/config"
)

// blobs counts the files of the document store.
func (s *stack) blobs() (n int) {
	s.t.Helper()
	root := strings.TrimPrefix(s.p.Config.BlobURL, "file://")
	err := filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func TestUploadRefusals(t *testing.T) {
	s := newStack(t)
	token := s.assistant()
	id := s.newContext(token, "Handbook")
	good := []byte("some text")
	doc, err := os.ReadFile("../../internal/extract/testdata/report.doc")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path   string
		parts  []part
		status int
	}{
		"no such context":        {"/context/upload/999999", []part{{"file", "a.txt", good}}, 404},
		"context 0":              {"/context/upload/0", []part{{"file", "a.txt", good}}, 404},
		"no part":                {"", nil, 400},
		"another field":          {"", []part{{"document", "a.txt", good}}, 400},
		"no file name":           {"", []part{{"file", "", good}}, 400},
		"two files":              {"", []part{{"file", "a.txt", good}, {"file", "b.txt", good}}, 400},
		"a field after it":       {"", []part{{"file", "a.txt", good}, {"note", "", good}}, 400},
		"a field before it":      {"", []part{{"note", "", good}, {"file", "a.txt", good}}, 400},
		"another extension":      {"", []part{{"file", "a.exe", good}}, 400},
		"no extension":           {"", []part{{"file", "pdf", good}}, 400},
		"empty":                  {"", []part{{"file", "a.txt", nil}}, 400},
		"text called PDF":        {"", []part{{"file", "a.pdf", good}}, 400},
		"a picture called text":  {"", []part{{"file", "a.txt", []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01")}}, 400},
		"a PDF called DOCX":      {"", []part{{"file", "a.docx", []byte("%PDF-1.7\n")}}, 400},
		"a DOC called DOCX":      {"", []part{{"file", "a.docx", doc}}, 400},
		"a name of the path":     {"", []part{{"file", "../../etc/passwd", good}}, 400},
		"an empty PDF":           {"", []part{{"file", "a.pdf", nil}}, 400},
		"a name that is too odd": {"", []part{{"file", "\x01\x02", good}}, 400},
	} {
		t.Run(name, func(t *testing.T) {
			if c.path == "" {
				c.path = fmt.Sprintf("/context/upload/%d", id)
			}
			body, contentType := form(t, c.parts...)
			if a := s.send(c.path, token, contentType, body); a.Status != c.status {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
	body, contentType := form(t, part{"file", "a.txt", good})
	path := fmt.Sprintf("/context/upload/%d", id)
	for name, c := range map[string]struct {
		contentType string
		body        []byte
	}{
		"JSON":                {"application/json", []byte(`{}`)},
		"no boundary":         {"multipart/form-data", body},
		"another boundary":    {"multipart/form-data; boundary=x", body},
		"cut off in the file": {contentType, body[:bytes.Index(body, good)+3]},
	} {
		t.Run(name, func(t *testing.T) {
			if a := s.send(path, token, c.contentType, c.body); a.Status != 400 {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
	if n := s.blobs(); n != 0 || len(s.documents(token, id)) != 0 {
		t.Errorf("refused uploads left %d blobs", n)
	}
}

func TestEqualNamesAreToldApart(t *testing.T) {
	s := newStack(t)
	token := s.assistant()
	id := s.newContext(token, "Handbook")
	for range 3 {
		if a := s.upload(token, id, `C:\files\Überblick "neu".md`, []byte("# Same")); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	for i, d := range s.documents(token, id) {
		want := `Überblick "neu".md`
		if i > 0 {
			want = fmt.Sprintf(`Überblick "neu" (%d).md`, i)
		}
		if d["displayName"] != want || d["nameIndex"] != float64(i) || d["contentType"] != "text/markdown" || d["size"] != 6.0 {
			t.Errorf("%d: %v", i, d)
		}
	}
}

// TestMaxSizeHolds uploads more at the same time than fits: what is stored never passes the limit,
// and what was refused leaves nothing.
func TestMaxSizeHolds(t *testing.T) {
	s := newStack(t)
	token := s.assistant()
	id := s.newContext(token, "Handbook")
	s.sql(`UPDATE contexts SET max_size = 100000 WHERE id = $1`, id)
	content := bytes.Repeat([]byte("word "), 6000) // 30,000 bytes: three fit
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for i := range 12 {
		all.Go(func() {
			a := s.upload(token, id, fmt.Sprintf("%d.txt", i), content)
			mu.Lock()
			statuses[a.Status]++
			mu.Unlock()
		})
	}
	all.Wait()
	if statuses[200] != 3 || statuses[413] != 9 {
		t.Errorf("statuses: %v", statuses)
	}
	if n := s.blobs(); n != 3 || len(s.documents(token, id)) != 3 {
		t.Errorf("%d blobs, %d documents", n, len(s.documents(token, id)))
	}
	a := s.upload(token, id, "large.txt", bytes.Repeat(content, 10))
	if p := a.json(t).(map[string]any); a.Status != 413 || p["code"] != "PAYLOAD_TOO_LARGE" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

func TestUploadByGraphQL(t *testing.T) {
	s := newStack(t)
	token := s.assistant()
	id := s.newContext(token, "Handbook")
	const mutation = `mutation($input: UploadDocumentInput!) { uploadDocument(input: $input) { document { databaseId originalName status size } } }`
	operations := func(file string) []byte {
		return fmt.Appendf(nil, `{"query": %q, "variables": {"input": {"contextId": %d, "file": %s}}}`, mutation, id, file)
	}
	usual := []part{{"operations", "", operations("null")}, {"map", "", []byte(`{"0":["variables.input.file"]}`)}, {"0", "a.txt", []byte("some text")}}
	for name, c := range map[string]struct {
		header string
		parts  []part
		want   string
	}{
		"as specified":       {"GraphQL-Preflight", usual, `"originalName":"a.txt","status":"pending","size":9`},
		"no preflight":       {"", usual, `"FORBIDDEN"`},
		"two files":          {"GraphQL-Preflight", append(usual[:3:3], part{"1", "b.txt", []byte("x")}), `"BAD_REQUEST"`},
		"no file":            {"GraphQL-Preflight", usual[:2], `"BAD_REQUEST"`},
		"the file first":     {"GraphQL-Preflight", []part{usual[2], usual[0], usual[1]}, `"BAD_REQUEST"`},
		"no such place":      {"GraphQL-Preflight", []part{usual[0], {"map", "", []byte(`{"0":["variables.x.y"]}`)}, usual[2]}, `"BAD_REQUEST"`},
		"a place in a list":  {"GraphQL-Preflight", []part{usual[0], {"map", "", []byte(`{"0":["variables.input.file.0"]}`)}, usual[2]}, `"BAD_REQUEST"`},
		"a place outside":    {"GraphQL-Preflight", []part{usual[0], {"map", "", []byte(`{"0":["query"]}`)}, usual[2]}, `"BAD_REQUEST"`},
		"a taken place":      {"GraphQL-Preflight", []part{{"operations", "", operations(`"x"`)}, usual[1], usual[2]}, `"BAD_REQUEST"`},
		"no JSON":            {"GraphQL-Preflight", []part{{"operations", "", []byte("{")}, usual[1], usual[2]}, `"BAD_REQUEST"`},
		"operations too big": {"GraphQL-Preflight", []part{{"operations", "", bytes.Repeat([]byte(" "), 2<<20)}, usual[1], usual[2]}, `"PAYLOAD_TOO_LARGE"`},
	} {
		t.Run(name, func(t *testing.T) {
			body, contentType := form(t, c.parts...)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/graphql", bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+token)
			req.Header.Set("Content-Type", contentType)
			if c.header != "" {
				req.Header.Set(c.header, "1")
			}
			if a := s.answer(req); !strings.Contains(string(a.Body), c.want) {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
	if list := s.documents(token, id); len(list) != 1 || s.blobs() != 1 {
		t.Errorf("%d blobs, %v", s.blobs(), list)
	}
}

// TestNoStoreNoUpload: where there is no place for documents, none is promised for later.
func TestNoStoreNoUpload(t *testing.T) {
	s := newStack(t, func(c *config.Config) { c.BlobURL = "" })
	token := s.assistant()
	id := s.newContext(token, "Handbook")
	a := s.upload(token, id, "a.txt", []byte("x"))
	if p := a.json(t).(map[string]any); a.Status != 400 || p["code"] != "no_document_store" || a.Header.Get("Retry-After") != "" {
		t.Errorf("%d %v %s", a.Status, a.Header, a.Body)
	}
	operations := fmt.Appendf(nil, `{"query": %q, "variables": {"input": {"contextId": %d, "file": null}}}`,
		`mutation($input: UploadDocumentInput!) { uploadDocument(input: $input) { document { id } } }`, id)
	body, contentType := form(t, part{"operations", "", operations}, part{"map", "", []byte(`{"0":["variables.input.file"]}`)}, part{"0", "a.txt", []byte("x")})
	a = s.sendWith("/graphql", token, contentType, body, http.Header{"Graphql-Preflight": {"1"}})
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
	s := newStack(t)
	token := s.assistant()
	send := func(id, size int64) answerOf {
		frame, contentType := form(t, part{"file", "long.txt", []byte("|")})
		head, tail, _ := bytes.Cut(frame, []byte("|"))
		body := io.MultiReader(bytes.NewReader(head), io.LimitReader(&letters{}, size), bytes.NewReader(tail))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+fmt.Sprintf("/context/upload/%d", id), body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", contentType)
		return s.answer(req)
	}
	id := s.newContext(token, "Full")
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
	list := s.documents(token, id)
	if d := list[0]; len(list) != 1 || d["size"] != float64(maxSize) || d["contentHash"] != hex.EncodeToString(hash.Sum(nil)) {
		t.Errorf("%v", list)
	}
	path, done, err := s.p.Resolver.Blobs.Local(t.Context(), "documents/"+list[0]["fileName"].(string))
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if info, err := os.Stat(path); err != nil || info.Size() != maxSize {
		t.Errorf("stored: %v, %v", info, err)
	}
	for name, c := range map[string]struct{ id, size int64 }{
		"one byte into a full context": {id, 1}, "one byte too many": {s.newContext(token, "Other"), maxSize + 1},
	} {
		if a := send(c.id, c.size); a.Status != 413 {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	if n := s.blobs(); n != 1 {
		t.Errorf("%d blobs are left", n)
	}
}
