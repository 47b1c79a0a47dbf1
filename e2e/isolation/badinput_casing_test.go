package isolation

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

	"canopy/e2e/platform"
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
func bodyAsker(s *platform.Platform) func(method, path, mediaType, body string) platform.Answer {
	assistant, builder, tenant := s.Assistant(), s.RootAs("builder"), s.Root()
	return func(method, path, mediaType, body string) platform.Answer {
		s.T.Helper()
		token := tenant
		for prefix, other := range map[string]string{
			"/context": assistant, "/v1/contexts": assistant, "/v1/documents": assistant, "/CognitiveDiagram": assistant,
			"/v1/secrets": builder, "/v1/agents": builder,
		} {
			if strings.HasPrefix(path, prefix) {
				token = other
			}
		}
		req, err := http.NewRequestWithContext(context.Background(), method, s.URL+pathParameter.ReplaceAllString(path, "1"), strings.NewReader(body))
		if err != nil {
			s.T.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", mediaType)
		return s.Send(req)
	}
}

var pathParameter = regexp.MustCompile(`\{\w+\}`)

// TestNamesAreExact sends every documented member of every body in capital letters.
func TestNamesAreExact(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	ask := bodyAsker(s)
	tried := 0
	for operation, names := range bodyNames() {
		method, path, _ := strings.Cut(operation, " ")
		for _, name := range names {
			wrong := strings.ToUpper(name)
			a := ask(method, path, "application/json", fmt.Sprintf(`{%q: null}`, wrong))
			want := []any{map[string]any{"location": "body." + wrong, "message": fmt.Sprintf("differs only in letter case from %q", name)}}
			if a.Status != http.StatusBadRequest || !platform.SameJSON(platform.Member(t, a.JSON(t), "errors"), want) {
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
	t.Parallel()
	s := platform.Start(t)
	ask := bodyAsker(s)
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
	t.Parallel()
	s := platform.Start(t)
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	path := fmt.Sprintf("/context/%d", id)
	s.Must(200, "PUT", path, token, map[string]any{"name": "Handbook", "description": "Answer.", "caption": "All of it"})
	share := fmt.Sprintf("/context/share/%d", id)
	s.Must(204, "PUT", share, token, map[string]any{"shareState": 1})
	before := s.Must(200, "GET", path, token, nil)
	s.Play(t, []platform.Scenario{
		{Name: "every fault is named", Token: token, Method: "PUT", Path: path, Status: 400, Says: `body.Caption: differs only in letter case from "caption"`, Body: map[string]any{"name": "X", "Description": "", "Caption": ""}},
		{Name: "beside the right one", Token: token, Method: "PUT", Path: share, Status: 400, Says: "body.SHARESTATE", Body: map[string]any{"shareState": 1, "SHARESTATE": 0}},
		{Name: "a company", Token: s.Root(), Method: "PUT", Path: "/tenant", Status: 400, Says: "body.CustomerId", Body: map[string]any{"CustomerId": 1}},
		{Name: "letters that fold to others", Token: token, Method: "PUT", Path: share, Status: 400, Says: "body.\u017FhareState", Body: map[string]any{"\u017FhareState": 0}},
		{Name: "without a right", Token: s.As("Alpine Energy", "mira@alpine.example"), Method: "PUT", Path: "/tenant", Status: 403, Body: map[string]any{"CustomerId": 1}},
		{Name: "other unknown names are passed over", Token: token, Method: "PUT", Path: share, Status: 204, Body: map[string]any{"shareState": 1, "share_state": 0, "x": map[string]any{"SHARESTATE": 0}}},
		{Name: "the input of a run is anything", Token: s.RootAs("builder"), Method: "POST", Path: "/CognitiveDiagram/1/ExecuteAsJob", Status: 404, Body: map[string]any{"Input": 1, "input": 2}},
	})
	if after := s.Must(200, "GET", path, token, nil); string(after.Body) != string(before.Body) {
		t.Errorf("%s, before %s", after.Body, before.Body)
	}
}

// TestMediaTypesIgnoreCase sends each kind of body under a type in other letters.
func TestMediaTypesIgnoreCase(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	upload, boundary := platform.Form(t, platform.Part{Field: "file", Name: "a.txt", Content: []byte("text")})
	grant := url.Values{"grant_type": {"client_credentials"}, "client_id": {s.Demo.ClientID}, "client_secret": {s.Demo.ClientSecret}, "target_app": {"tenant"}}
	for path, c := range map[string]struct{ mediaType, body string }{
		fmt.Sprintf("/context/relevant-docs/%d", id): {"Application/JSON; Charset=UTF-8", `{"prompt":"x"}`},
		fmt.Sprintf("/context/upload/%d", id):        {strings.Replace(boundary, "multipart/form-data", "Multipart/Form-Data", 1), string(upload)},
		"/connect/token":                             {"Application/X-WWW-Form-Urlencoded", grant.Encode()},
		"/graphql":                                   {"APPLICATION/JSON", `{"query":"{ __typename }"}`},
	} {
		if a := s.Post(path, token, c.mediaType, []byte(c.body)); a.Status != http.StatusOK {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}
