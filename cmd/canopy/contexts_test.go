package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"
	"time"
)

// assistant is a token of the root company's owner for the assistant.
func (s *stack) assistant() string {
	s.t.Helper()
	return s.rootAs("assistant")
}

// newContext makes a context and gives its id.
func (s *stack) newContext(token, name string) int64 {
	s.t.Helper()
	a := s.do("POST", "/context", token, map[string]any{"name": name, "description": "Answers questions.", "caption": "Help", "toolsJson": "[]"})
	if a.Status != 200 {
		s.t.Fatalf("%d %s", a.Status, a.Body)
	}
	return int64(a.json(s.t).(map[string]any)["id"].(float64))
}

// part is one part of a form.
type part struct {
	field, name string
	content     []byte
}

// form is a request's body of the parts, and its type.
func form(t testing.TB, parts ...part) (body []byte, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		h := textproto.MIMEHeader{}
		disposition := fmt.Sprintf(`form-data; name=%q`, p.field)
		if p.name != "" {
			disposition += fmt.Sprintf(`; filename=%q`, p.name)
		}
		h.Set("Content-Disposition", disposition)
		out, err := w.CreatePart(h)
		if err == nil {
			_, err = out.Write(p.content)
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

// send posts a body of a type.
func (s *stack) send(path, token, contentType string, body []byte) answerOf {
	s.t.Helper()
	return s.sendWith(path, token, contentType, body, nil)
}

// sendWith is send with further headers.
func (s *stack) sendWith(path, token, contentType string, body []byte, header http.Header) answerOf {
	s.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.url+path, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	req.Header.Set("Content-Type", contentType)
	return s.answer(req)
}

// mustJSON marshals a value.
func mustJSON(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// upload uploads a document, and gives the answer.
func (s *stack) upload(token string, contextID int64, name string, content []byte) answerOf {
	s.t.Helper()
	body, contentType := form(s.t, part{"file", name, content})
	return s.send(fmt.Sprintf("/context/upload/%d", contextID), token, contentType, body)
}

// documents lists the documents of a context.
func (s *stack) documents(token string, contextID int64) []map[string]any {
	s.t.Helper()
	a := s.do("GET", fmt.Sprintf("/context/documents/%d", contextID), token, nil)
	if a.Status != 200 {
		s.t.Fatalf("%d %s", a.Status, a.Body)
	}
	var list []map[string]any
	for _, d := range a.json(s.t).([]any) {
		list = append(list, d.(map[string]any))
	}
	return list
}

// settle waits until no document of a context is on its way, and lists them.
func (s *stack) settle(token string, contextID int64) []map[string]any {
	s.t.Helper()
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		list, open := s.documents(token, contextID), 0
		for _, d := range list {
			if d["status"] == "pending" || d["status"] == "processing" {
				open++
			}
		}
		if open == 0 {
			return list
		}
	}
	s.t.Fatalf("the documents are not done: %v\n%s", s.documents(token, contextID), s.log)
	return nil
}

// search asks by REST.
func (s *stack) search(token string, contextID int64, prompt string) []map[string]any {
	s.t.Helper()
	a := s.do("POST", fmt.Sprintf("/context/relevant-docs/%d", contextID), token, map[string]any{"prompt": prompt})
	if a.Status != 200 {
		s.t.Fatalf("%d %s", a.Status, a.Body)
	}
	var list []map[string]any
	for _, h := range a.json(s.t).([]any) {
		list = append(list, h.(map[string]any))
	}
	return list
}

func TestADocumentIsFound(t *testing.T) {
	s := newStack(t)
	s.work(nil)
	token := s.assistant()
	id := s.newContext(token, "Handbook")
	if hits := s.search(token, id, "anything"); len(hits) != 0 {
		t.Errorf("a context without documents has hits: %v", hits)
	}
	for name, text := range map[string]string{
		"bees.txt":  "Bees make honey in their hives.\n\nThey dance to show where flowers are.",
		"ships.md":  "# Ships\n\nA ship needs a captain and a harbour.",
		"stock.csv": "item,count\nhammer,3\nnail,400\n",
	} {
		if a := s.upload(token, id, name, []byte(text)); a.Status != 200 || len(strings.Trim(string(a.Body), "\"\n")) != 36 {
			t.Fatalf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	names := map[float64]string{}
	for _, d := range s.settle(token, id) {
		if d["status"] != "ready" || d["chunks"] != 1.0 || d["progress"] != 1.0 || d["error"] != nil || d["completed"] == nil {
			t.Errorf("%v", d)
		}
		names[d["id"].(float64)] = d["originalName"].(string)
	}
	for prompt, want := range map[string]string{"Where do bees dance?": "bees.txt", "captains of a ship": "ships.md", "how many nails": "stock.csv"} {
		hits := s.search(token, id, prompt)
		if len(hits) != 1 || names[hits[0]["docId"].(float64)] != want || hits[0]["similarity"].(float64) <= 0 {
			t.Errorf("%s: %v", prompt, hits)
		}
	}
	data, codes := s.gql(token, `query($id: ID!) { searchContext(contextId: $id, prompt: "honey", mode: LEXICAL) {
		similarity content document { originalName context { name } } chunk { position page heading tokens } } }`, map[string]any{"id": id})
	hits, _ := data["searchContext"].([]any)
	if len(codes) > 0 || len(hits) != 1 {
		t.Fatalf("%v %v", data, codes)
	}
	if d := hits[0].(map[string]any)["document"].(map[string]any); d["originalName"] != "bees.txt" {
		t.Errorf("%v", d)
	}
}
