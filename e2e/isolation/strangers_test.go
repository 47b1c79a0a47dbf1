package isolation

import (
	"net/http"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// TestBodiesAreJudgedForCallersOnly: who has no token, or one that is for something else, hears that, and
// nothing of the size or the form of what they sent.
func TestBodiesAreJudgedForCallersOnly(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	const json, form = "application/json", "multipart/form-data; boundary=x"
	broken := "--x\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n{\"query\":\"mutation { uploadDocument(input: {contextId: 1, file: null}) { document { id } } }\"}\r\n--x--\r\n"
	for name, c := range map[string]struct{ path, contentType, body string }{
		"REST, too large":     {"/context", json, `{"name":"` + strings.Repeat("x", 2<<20) + `"}`},
		"REST, no JSON":       {"/context", json, "{"},
		"REST, another type":  {"/context", form, "--x--"},
		"an upload, no form":  {"/context/upload/1", json, "{}"},
		"an upload, broken":   {"/context/upload/1", form, "--x"},
		"GraphQL, a form":     {"/graphql", form, broken},
		"GraphQL, map broken": {"/graphql", form, strings.Replace(broken, "--x--", "--x\r\nContent-Disposition: form-data; name=\"map\"\r\n\r\n[]\r\n--x--", 1)},
	} {
		header := http.Header{"Graphql-Preflight": {"1"}}
		if a := s.PostWith(c.path, "", c.contentType, []byte(c.body), header); a.Status != http.StatusUnauthorized {
			t.Errorf("%s, without a token: %d %.200s", name, a.Status, a.Body)
		}
		a := s.PostWith(c.path, s.RootAs("builder"), c.contentType, []byte(c.body), header)
		if a.Status != http.StatusForbidden {
			t.Errorf("%s, with a token for another application: %d %.200s", name, a.Status, a.Body)
		}
	}
	large := []byte(`{"query":"{ me { id } }","x":"` + strings.Repeat("x", 2<<20) + `"}`)
	for token, want := range map[string]int{"": http.StatusUnauthorized, s.Root(): http.StatusRequestEntityTooLarge} {
		if a := s.PostWith("/graphql", token, json, large, nil); a.Status != want {
			t.Errorf("GraphQL, too large: %d, want %d: %.200s", a.Status, want, a.Body)
		}
	}
}
