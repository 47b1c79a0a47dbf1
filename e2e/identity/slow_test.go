package identity

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// waitLonger is more than what is known of a caller may be old.
const waitLonger = 2200 * time.Millisecond

// TestWhoHasLeftBeginsNothing: a request whose body comes slowly does nothing that its caller may no longer do when it has come.
func TestWhoHasLeftBeginsNothing(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	contextID := s.NewContext(s.Assistant(), "Slow")
	upload := `{"query": "mutation($f: Upload!) { uploadDocument(input: {contextId: \"` + platform.Decimal(contextID) + `\", file: $f}) { document { id } }` +
		` createUser(input: {email: \"late@example.com\"}) { user { id } } }", "variables": {"f": null}}`
	form, formType := platform.Form(t, platform.Part{Field: "operations", Content: []byte(upload)},
		platform.Part{Field: "map", Content: []byte(`{"0": ["variables.f"]}`)}, platform.Part{Field: "0", Name: "a.txt", Content: []byte("some HERE text")})
	plain, plainType := platform.Form(t, platform.Part{Field: "file", Name: "a.txt", Content: []byte("some HERE text")})
	const jsonType = "application/json"
	for name, c := range map[string]struct{ path, contentType, body string }{
		"GraphQL":                  {"/graphql", jsonType, `{"query": "mutation { createUser(input: {email: \"late@example.com\"}) { user { id } } }" HERE}`},
		"REST":                     {"/tenant/user", jsonType, `{"email": "late@example.com", "firstName": "A", "lastName": "B" HERE}`},
		"a file, and what follows": {"/graphql", formType, string(form)},
		"a file":                   {"/context/upload/" + platform.Decimal(contextID), plainType, string(plain)},
	} {
		t.Run(name, func(t *testing.T) {
			session := s.OpenSession(t, platform.DemoAdmin, s.Demo.AdminPassword)
			before, after, _ := strings.Cut(c.body, "HERE")
			in, out := io.Pipe()
			admitted := make(chan struct{})
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(admitted) }})
			req := devtest.Must[*http.Request](t)(http.NewRequestWithContext(ctx, http.MethodPost, s.URL+c.path, in))
			for header, value := range map[string]string{
				"Authorization": "Bearer " + session.Token, "Content-Type": c.contentType, "Expect": "100-continue", "GraphQL-Preflight": "1",
			} {
				req.Header.Set(header, value)
			}
			client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute}}
			go func() {
				<-admitted
				_, _ = io.WriteString(out, before)
				s.Must(204, "DELETE", "/auth/session", "", map[string]any{"refreshToken": session.Refresh})
				time.Sleep(waitLonger)
				_, _ = io.WriteString(out, after)
				_ = out.Close()
			}()
			resp := devtest.Must[*http.Response](t)(client.Do(req))
			answer := devtest.Must[[]byte](t)(io.ReadAll(resp.Body))
			_ = resp.Body.Close()
			if !bytes.Contains(answer, []byte("invalid_token")) {
				t.Errorf("%d %s", resp.StatusCode, answer)
			}
			if n := s.Number(`SELECT count(*) FROM users WHERE email = 'late@example.com'`) + s.Number(`SELECT count(*) FROM documents`); n != 0 {
				t.Errorf("%d users and documents were made", n)
			}
		})
	}
}

// TestListsEndWithTheirCaller: who takes a list slowly does not have the rest of it when they have lost their access.
func TestListsEndWithTheirCaller(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	contextID := s.NewContext(s.Assistant(), "Asked")
	s.SQL(`INSERT INTO context_queries (context_id, text, mode, hits, relevance) SELECT $1, repeat('x', 1000), 'LEXICAL', 0, 0 FROM generate_series(1, 30000)`, contextID)
	session := s.OpenSession(t, platform.DemoAdmin, s.Demo.AdminPassword)
	req := devtest.Must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/v1/contexts/"+platform.Decimal(contextID)+"/queries", nil))
	req.Header.Set("Authorization", "Bearer "+session.Token)
	resp := devtest.Must[*http.Response](t)(http.DefaultClient.Do(req))
	defer func() { _ = resp.Body.Close() }()
	s.Must(204, "DELETE", "/auth/session", "", map[string]any{"refreshToken": session.Refresh})
	time.Sleep(waitLonger)
	if n, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Errorf("all of the list came, %d bytes", n)
	}
}
