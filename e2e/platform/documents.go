package platform

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// NewContext makes a context and gives its id.
func (s *Platform) NewContext(token, name string) int64 {
	s.T.Helper()
	a := s.Do("POST", "/context", token, map[string]any{"name": name, "description": "Answers questions.", "caption": "Help", "toolsJson": "[]"})
	if a.Status != 200 {
		s.T.Fatalf("%d %s", a.Status, a.Body)
	}
	return int64(a.JSON(s.T).(map[string]any)["id"].(float64))
}

// Part is one part of a form.
type Part struct {
	Field, Name string
	Content     []byte
}

// Form is a request's body of the parts, and its type.
func Form(t testing.TB, parts ...Part) (body []byte, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		h := textproto.MIMEHeader{}
		disposition := fmt.Sprintf(`form-data; name=%q`, p.Field)
		if p.Name != "" {
			disposition += fmt.Sprintf(`; filename=%q`, p.Name)
		}
		h.Set("Content-Disposition", disposition)
		out, err := w.CreatePart(h)
		if err == nil {
			_, err = out.Write(p.Content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), w.FormDataContentType()
}

// Upload uploads a document, and gives the answer.
func (s *Platform) Upload(token string, contextID int64, name string, content []byte) Answer {
	s.T.Helper()
	body, contentType := Form(s.T, Part{"file", name, content})
	return s.Post(fmt.Sprintf("/context/upload/%d", contextID), token, contentType, body)
}

// Documents lists the documents of a context.
func (s *Platform) Documents(token string, contextID int64) []map[string]any {
	s.T.Helper()
	a := s.Do("GET", fmt.Sprintf("/context/documents/%d", contextID), token, nil)
	if a.Status != 200 {
		s.T.Fatalf("%d %s", a.Status, a.Body)
	}
	var list []map[string]any
	for _, d := range a.JSON(s.T).([]any) {
		list = append(list, d.(map[string]any))
	}
	return list
}

// Settle waits until no document of a context is on its way, and lists them.
func (s *Platform) Settle(token string, contextID int64) []map[string]any {
	s.T.Helper()
	for end := time.Now().Add(Patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		list, open := s.Documents(token, contextID), 0
		for _, d := range list {
			if d["status"] == "pending" || d["status"] == "processing" {
				open++
			}
		}
		if open == 0 {
			return list
		}
	}
	s.T.Fatalf("the documents are not done: %v\n%s", s.Documents(token, contextID), s.Log)
	return nil
}

// Search asks by REST.
func (s *Platform) Search(token string, contextID int64, prompt string) []map[string]any {
	s.T.Helper()
	a := s.Do("POST", fmt.Sprintf("/context/relevant-docs/%d", contextID), token, map[string]any{"prompt": prompt})
	if a.Status != 200 {
		s.T.Fatalf("%d %s", a.Status, a.Body)
	}
	var list []map[string]any
	for _, h := range a.JSON(s.T).([]any) {
		list = append(list, h.(map[string]any))
	}
	return list
}

// Sample reads one of the files that the tests of extraction have.
func Sample(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile("../../internal/extract/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// Text puts a document's chunks together, without their overlaps.
func (s *Platform) Text(documentID any) string {
	s.T.Helper()
	var text string
	s.Look(&text, `SELECT string_agg(convert_from(substr(convert_to(content, 'UTF8'), overlap_bytes + 1), 'UTF8'), '' ORDER BY position)
		FROM chunks WHERE document_id = $1`, documentID)
	return text
}

// Sentences makes a text of n words, another one for each seed.
func Sentences(seed, n int) string {
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	words := strings.Fields("bees honey hive flower dance ship harbour captain anchor sail mountain river stone bridge road lamp window garden winter summer")
	var b strings.Builder
	for i := range n {
		b.WriteString(words[r.IntN(len(words))])
		if i%12 == 11 {
			b.WriteString(". ")
		} else {
			b.WriteByte(' ')
		}
	}
	return strings.TrimSpace(b.String())
}

// SampleContext makes a context of the documents that the README asks.
func (s *Platform) SampleContext(token string) int64 {
	s.T.Helper()
	id := s.NewContext(token, "Alder Creek")
	files, err := filepath.Glob("../../docs/samples/*")
	if err != nil || len(files) != 3 {
		s.T.Fatalf("%v %v", files, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			s.T.Fatal(err)
		}
		if a := s.Upload(token, id, filepath.Base(file), content); a.Status != http.StatusOK {
			s.T.Fatalf("%s: %d %s", file, a.Status, a.Body)
		}
	}
	for _, d := range s.Settle(token, id) {
		if d["status"] != "ready" {
			s.T.Errorf("%v", d)
		}
	}
	return id
}

// Blobs counts the files of the document store.
func (s *Platform) Blobs() (n int) {
	s.T.Helper()
	root := strings.TrimPrefix(s.App.Config.BlobURL, "file://")
	err := filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return n
}
