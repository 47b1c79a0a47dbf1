package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"canopy/internal/intake"
	"canopy/resolvers"
	"canopy/rest"
)

// bodyNames lists the documented members of each operation's JSON body, by "METHOD path".
func bodyNames() map[string][]string {
	_, registry := rest.New(&resolvers.Resolver{}, rest.Options{})
	doc, names := registry.OpenAPI(), map[string][]string{}
	for path, item := range doc.Paths {
		for method, op := range map[string]*huma.Operation{"POST": item.Post, "PUT": item.Put, "PATCH": item.Patch} {
			if op == nil || op.RequestBody == nil || op.RequestBody.Content["application/json"] == nil {
				continue
			}
			schema := op.RequestBody.Content["application/json"].Schema
			for schema.Ref != "" {
				schema = doc.Components.Schemas.SchemaFromRef(schema.Ref)
			}
			names[method+" "+path] = slices.Sorted(maps.Keys(schema.Properties))
		}
	}
	return names
}

// bodyAsker sends a body to an operation of the documents, as the root company's owner.
func (s *stack) bodyAsker() func(method, path, mediaType, body string) answerOf {
	assistant, tenant := s.assistant(), s.root()
	return func(method, path, mediaType, body string) answerOf {
		s.t.Helper()
		token := tenant
		if strings.HasPrefix(path, "/context") || strings.HasPrefix(path, "/CognitiveDiagram") {
			token = assistant
		}
		req, err := http.NewRequestWithContext(context.Background(), method, s.url+pathParameter.ReplaceAllString(path, "1"), strings.NewReader(body))
		if err != nil {
			s.t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", mediaType)
		return s.answer(req)
	}
}

var pathParameter = regexp.MustCompile(`\{\w+\}`)

// TestNamesAreExact sends every documented member of every body in capital letters.
func TestNamesAreExact(t *testing.T) {
	s := newStack(t)
	ask := s.bodyAsker()
	tried := 0
	for operation, names := range bodyNames() {
		method, path, _ := strings.Cut(operation, " ")
		for _, name := range names {
			wrong := strings.ToUpper(name)
			a := ask(method, path, "application/json", fmt.Sprintf(`{%q: null}`, wrong))
			want := []any{map[string]any{"location": "body." + wrong, "message": fmt.Sprintf("differs only in letter case from %q", name)}}
			if a.Status != http.StatusBadRequest || !sameJSON(member(t, a.json(t), "errors"), want) {
				t.Errorf("%s: %d %s", operation, a.Status, a.Body)
			}
			tried++
		}
	}
	if tried < 60 {
		t.Errorf("only %d members were tried", tried)
	}
}

// TestBodiesAreRefusedAsDocumented sends every operation that takes JSON what is not, and too much of it.
func TestBodiesAreRefusedAsDocumented(t *testing.T) {
	s := newStack(t)
	ask := s.bodyAsker()
	large := `{"x":"` + strings.Repeat("x", intake.MaxBody) + `"}`
	for operation := range bodyNames() {
		method, path, _ := strings.Cut(operation, " ")
		if a := ask(method, path, "application/json", large); a.Status != http.StatusRequestEntityTooLarge {
			t.Errorf("%s, too large: %d %s", operation, a.Status, a.Body)
		}
		if a := ask(method, path, "text/plain", "{}"); a.Status != http.StatusUnsupportedMediaType {
			t.Errorf("%s, of another type: %d %s", operation, a.Status, a.Body)
		}
	}
}

// TestMiscasedNamesChangeNothing sends what would have erased something.
func TestMiscasedNamesChangeNothing(t *testing.T) {
	s := newStack(t)
	token := s.assistant()
	id := s.newContext(token, "Handbook")
	path := fmt.Sprintf("/context/%d", id)
	s.must(200, "PUT", path, token, map[string]any{"name": "Handbook", "description": "Answer.", "caption": "All of it"})
	share := fmt.Sprintf("/context/share/%d", id)
	s.must(204, "PUT", share, token, map[string]any{"shareState": 1})
	before := s.must(200, "GET", path, token, nil)
	s.play(t, []scenario{
		{name: "every fault is named", token: token, method: "PUT", path: path, status: 400, says: `body.Caption: differs only in letter case from "caption"`, body: map[string]any{"name": "X", "Description": "", "Caption": ""}},
		{name: "beside the right one", token: token, method: "PUT", path: share, status: 400, says: "body.SHARESTATE", body: map[string]any{"shareState": 1, "SHARESTATE": 0}},
		{name: "a company", token: s.root(), method: "PUT", path: "/tenant", status: 400, says: "body.CustomerId", body: map[string]any{"CustomerId": 1}},
		{name: "letters that fold to others", token: token, method: "PUT", path: share, status: 400, says: "body.\u017FhareState", body: map[string]any{"\u017FhareState": 0}},
		{name: "without a right", token: s.as("Alpine Energy", "mira@alpine.example"), method: "PUT", path: "/tenant", status: 403, body: map[string]any{"CustomerId": 1}},
		{name: "other unknown names are passed over", token: token, method: "PUT", path: share, status: 204, body: map[string]any{"shareState": 1, "share_state": 0, "x": map[string]any{"SHARESTATE": 0}}},
		{name: "the input of a run is anything", token: s.rootAs("builder"), method: "POST", path: "/CognitiveDiagram/1/ExecuteAsJob", status: 404, body: map[string]any{"Input": 1, "input": 2}},
	})
	if after := s.must(200, "GET", path, token, nil); string(after.Body) != string(before.Body) {
		t.Errorf("%s, before %s", after.Body, before.Body)
	}
}

// TestMediaTypesIgnoreCase sends each kind of body under a type in other letters.
func TestMediaTypesIgnoreCase(t *testing.T) {
	s := newStack(t)
	token := s.assistant()
	id := s.newContext(token, "Handbook")
	upload, boundary := form(t, part{"file", "a.txt", []byte("text")})
	grant := url.Values{"grant_type": {"client_credentials"}, "client_id": {s.info.ClientID}, "client_secret": {s.info.ClientSecret}, "target_app": {"tenant"}}
	for path, c := range map[string]struct{ mediaType, body string }{
		fmt.Sprintf("/context/relevant-docs/%d", id): {"Application/JSON; Charset=UTF-8", `{"prompt":"x"}`},
		fmt.Sprintf("/context/upload/%d", id):        {strings.Replace(boundary, "multipart/form-data", "Multipart/Form-Data", 1), string(upload)},
		"/connect/token":                             {"Application/X-WWW-Form-Urlencoded", grant.Encode()},
		"/graphql":                                   {"APPLICATION/JSON", `{"query":"{ __typename }"}`},
	} {
		if a := s.send(path, token, c.mediaType, []byte(c.body)); a.Status != http.StatusOK {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}
