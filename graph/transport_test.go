package graph

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"canopy/internal/intake"
)

// typename asks for the one thing that needs no token.
const typename = `{"query":"{ __typename }"}`

// TestMembersAreExact: a member in other letters is not taken, and not passed over either.
func TestMembersAreExact(t *testing.T) {
	door := newTestDoor(t, nil)
	for body, want := range map[string]string{
		`{"Query":"{ __typename }"}`:                                                    `body.Query: differs only in letter case from "query"`,
		`{"query":"{ __typename }","Variables":{}}`:                                     `body.Variables: differs only in letter case from "variables"`,
		`{"query":"query A { __typename } query B { __typename }","OperationName":"A"}`: `body.OperationName: differs only in letter case from "operationName"`,
		`{"query":"{ __typename }","id":1,"doc_id":"x"}`:                                "",
	} {
		a := door.do(t, post(t.Context(), strings.NewReader(body)))
		if a.message() != want || (want == "") != (a.Status == http.StatusOK) {
			t.Errorf("%s: %d %s", body, a.Status, a.Raw)
		}
	}
}

// TestOperationsAreChosen: who does not say which operation of a document is meant, or names another one, hears which there are.
func TestOperationsAreChosen(t *testing.T) {
	door := newTestDoor(t, nil)
	many := ""
	for i := range 12 {
		many += fmt.Sprintf("query Q%d { __typename } ", i)
	}
	for body, want := range map[string]string{
		`{"query":"query A { __typename } query B { __typename }"}`:                     "the document has 2 operations, and operationName has to name one of them: A, B",
		`{"query":"query A { __typename } query B { __typename }","operationName":""}`:  "the document has 2 operations, and operationName has to name one of them: A, B",
		`{"query":"query A { __typename } query B { __typename }","operationName":"C"}`: `operationName is "C", and the document has no such operation, but A, B`,
		`{"query":"query A { __typename }","operationName":"a"}`:                        `operationName is "a", and the document has no such operation, but A`,
		`{"query":"{ __typename }","operationName":"A"}`:                                `operationName is "A", and the document's one operation has no name: leave operationName out`,
		`{"query":"` + many + `"}`:                                                      "the document has 12 operations, and operationName has to name one of them: Q0, Q1, Q2, Q3, Q4, Q5, Q6, Q7, Q8, Q9, and 2 more",
		`{"query":"query A { __typename } query B { __typename }","operationName":"B"}`: "",
	} {
		for range 2 { // the second time the document is known
			if a := door.do(t, post(t.Context(), strings.NewReader(body))); a.message() != want || (want != "") != (a.code() == "BAD_REQUEST") {
				t.Errorf("%s: %d %s", body, a.Status, a.Raw)
			}
		}
	}
}

func TestTransport(t *testing.T) {
	long := `{"query":"{ __typename }","x":"` + strings.Repeat("x", intake.MaxBody) + `"}`
	get := "/graphql?" + url.Values{"query": {"{ __typename }"}}.Encode()
	for _, c := range []struct {
		name         string
		method, path string
		headers      map[string]string
		body         string
		status       int
		code         string
		answer       http.Header
	}{
		{name: "a query by POST", body: typename, status: 200},
		{name: "a query by GET", method: "GET", path: get, status: 200},
		{name: "as graphql-response", body: typename, headers: map[string]string{"Accept": typeGraphQL}, status: 200, answer: http.Header{"Content-Type": {typeGraphQL + "; charset=utf-8"}}},
		{name: "as plain JSON", body: typename, headers: map[string]string{"Accept": "*/*"}, status: 200, answer: http.Header{"Content-Type": {typeJSON + "; charset=utf-8"}}},
		{name: "as a page", body: typename, headers: map[string]string{"Accept": "text/html"}, status: 406, code: "BAD_REQUEST"},
		{name: "members that are null", body: `{"query":"{ __typename }","operationName":null,"variables":null,"extensions":null}`, status: 200},
		{name: "members that are not ours", body: `{"query":"{ __typename }","id":5}`, status: 200},
		{name: "another charset", body: typename, headers: map[string]string{"Content-Type": "application/json; charset=utf-16"}, status: 415, code: "BAD_REQUEST"},
		{name: "a form", body: "query=%7B__typename%7D", headers: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, status: 415, code: "BAD_REQUEST"},
		{name: "multipart", body: "--x--", headers: map[string]string{"Content-Type": "multipart/form-data; boundary=x"}, status: 403, code: "FORBIDDEN"},
		{name: "no Content-Type", body: typename, headers: map[string]string{"Content-Type": ""}, status: 415, code: "BAD_REQUEST"},
		{name: "an empty body", status: 400, code: "BAD_REQUEST"},
		{name: "cut JSON", body: `{"query":`, status: 400, code: "BAD_REQUEST"},
		{name: "a batch", body: `[` + typename + `]`, status: 400, code: "BAD_REQUEST"},
		{name: "two values", body: typename + typename, status: 400, code: "BAD_REQUEST"},
		{name: "a member twice", body: `{"query":"{ __typename }","query":"{ me { email } }"}`, status: 400, code: "BAD_REQUEST"},
		{name: "a variable twice", body: `{"query":"{ __typename }","variables":{"a":1,"a":2}}`, status: 400, code: "BAD_REQUEST"},
		{name: "no query", body: `{}`, status: 400, code: "BAD_REQUEST"},
		{name: "a query of another type", body: `{"query":7}`, status: 400, code: "BAD_REQUEST"},
		{name: "variables that are a list", body: `{"query":"{ __typename }","variables":[]}`, status: 400, code: "BAD_REQUEST"},
		{name: "extensions that are a text", body: `{"query":"{ __typename }","extensions":"x"}`, status: 400, code: "BAD_REQUEST"},
		{name: "a text that is not UTF-8", body: "{\"query\":\"{ __typename }\",\"variables\":{\"a\":\"\xff\"}}", status: 400, code: "BAD_REQUEST"},
		{name: "half a surrogate", body: `{"query":"{ __typename }","variables":{"a":"\ud800"}}`, status: 400, code: "BAD_REQUEST"},
		{name: "deep JSON", body: `{"query":"{ __typename }","variables":{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}}`, status: 400, code: "BAD_REQUEST"},
		{name: "a body that is too large, without a token", body: long, status: 401, code: "UNAUTHENTICATED"},
		{name: "a form without a token", body: "--x--", headers: map[string]string{"Content-Type": "multipart/form-data; boundary=x", "GraphQL-Preflight": "1"}, status: 401, code: "UNAUTHENTICATED"},
		{name: "GET without a query", method: "GET", status: 400, code: "BAD_REQUEST"},
		{name: "GET with bad variables", method: "GET", path: get + "&variables=%7B", status: 400, code: "BAD_REQUEST"},
		{name: "GET with a query that is not UTF-8", method: "GET", path: "/graphql?query=%7B__typename%7D%23%FF", status: 400, code: "BAD_REQUEST"},
		{name: "a mutation by GET", method: "GET", path: "/graphql?query=mutation%7B__typename%7D", status: 405, code: "BAD_REQUEST", answer: http.Header{"Allow": {"POST"}}},
		{name: "a subscription by POST", body: `{"query":"subscription { auditEvent { id } }"}`, status: 400, code: "BAD_REQUEST"},
		{name: "PUT", method: "PUT", body: typename, status: 405, code: "BAD_REQUEST", answer: http.Header{"Allow": {"GET, POST, OPTIONS"}}},
		{name: "OPTIONS", method: "OPTIONS", status: 204, answer: http.Header{"Allow": {"GET, POST, OPTIONS"}}},
		{name: "a document that does not parse", body: `{"query":"{"}`, status: 200, code: "BAD_REQUEST"},
		{name: "the same as graphql-response", body: `{"query":"{"}`, headers: map[string]string{"Accept": typeGraphQL}, status: 400, code: "BAD_REQUEST"},
		{name: "a document that is not valid", body: `{"query":"{ nothing }"}`, headers: map[string]string{"Accept": typeGraphQL}, status: 400, code: "BAD_REQUEST"},
		{name: "an operation that is not there", body: `{"query":"query a { __typename }","operationName":"b"}`, headers: map[string]string{"Accept": typeGraphQL}, status: 400, code: "BAD_REQUEST"},
		{name: "one of several unnamed", body: `{"query":"query a { __typename } query b { __typename }"}`, headers: map[string]string{"Accept": typeGraphQL}, status: 400, code: "BAD_REQUEST"},
		{name: "a field without a token", body: `{"query":"{ me { email } }"}`, headers: map[string]string{"Accept": typeGraphQL}, status: 200, code: "UNAUTHENTICATED"},
		{name: "a mutation without a token", body: `{"query":"mutation { revokeApiKey(input: {id: 1}) { apiKey { id } } }"}`, status: 200, code: "UNAUTHENTICATED"},
		{name: "a malformed id without a token", body: `{"query":"{ customer(id: \"abc\") { name } }"}`, status: 200, code: "UNAUTHENTICATED"},
		{name: "another one", body: `{"query":"mutation { deletePermission(input: {id: \"x\"}) { deletedId } }"}`, status: 200, code: "UNAUTHENTICATED"},
		{name: "a bad token", body: typename, headers: map[string]string{"Authorization": "Bearer x.y.z"}, status: 401, code: "UNAUTHENTICATED"},
		{name: "another scheme", body: typename, headers: map[string]string{"Authorization": "Basic eDp5"}, status: 401, code: "UNAUTHENTICATED"},
		{name: "GET from another site", method: "GET", path: get, headers: map[string]string{"Sec-Fetch-Site": "cross-site"}, status: 403, code: "FORBIDDEN"},
		{name: "the same with a preflight header", method: "GET", path: get, headers: map[string]string{"Sec-Fetch-Site": "cross-site", "GraphQL-Preflight": "1"}, status: 200},
		{name: "GET from the own site", method: "GET", path: get, headers: map[string]string{"Sec-Fetch-Site": "same-origin"}, status: 200},
		{name: "POST of JSON from another site", body: typename, headers: map[string]string{"Sec-Fetch-Site": "cross-site"}, status: 200},
		{name: "POST of text from another site", body: typename, headers: map[string]string{"Sec-Fetch-Site": "cross-site", "Content-Type": "text/plain"}, status: 403, code: "FORBIDDEN"},
		{name: "a deferred part comes at once", body: `{"query":"{ __typename ... @defer { __schema { queryType { name } } } }"}`, status: 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.method == "" {
				c.method = http.MethodPost
			}
			if c.path == "" {
				c.path = "/graphql"
			}
			r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, strings.NewReader(c.body))
			if c.method != http.MethodGet {
				r.Header.Set("Content-Type", "application/json")
			}
			for k, v := range c.headers {
				r.Header.Set(k, v)
			}
			a := newTestDoor(t, nil).do(t, r)
			if a.Status != c.status || a.code() != c.code {
				t.Errorf("status %d code %q, want %d %q: %.300s", a.Status, a.code(), c.status, c.code, a.Raw)
			}
			for k := range c.answer {
				if a.Header.Get(k) != c.answer.Get(k) {
					t.Errorf("%s: %q, want %q", k, a.Header.Get(k), c.answer.Get(k))
				}
			}
			if !slices.Contains(a.Header.Values("Vary"), "Accept") {
				t.Errorf("Vary: %q", a.Header.Values("Vary"))
			}
			if challenge := a.Header.Get("WWW-Authenticate"); (challenge != "") != (c.status == http.StatusUnauthorized) {
				t.Errorf("WWW-Authenticate: %q", challenge)
			}
		})
	}
}

// What was refused before it ran has no data at all, as the draft asks.
func TestRefusalHasNoData(t *testing.T) {
	a := newTestDoor(t, nil).query(t, `{ nothing }`, nil)
	if a.code() != "BAD_REQUEST" || strings.Contains(a.Raw, `"data"`) {
		t.Errorf("answered %s", a.Raw)
	}
}

// The answer to a client that has hung up goes nowhere, and is nobody's fault.
func TestClientHangsUp(t *testing.T) {
	d := newTestDoor(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d.do(t, post(ctx, strings.NewReader(typename)))
	if log := d.log.String(); strings.Contains(log, "ERROR") {
		t.Errorf("logged: %.300s", log)
	}
}

func TestNumbersAreKept(t *testing.T) {
	raw, status, p := params(httptest.NewRecorder(), post(t.Context(), strings.NewReader(`{"query":"{ __typename }","variables":{"n":9007199254740993}}`)))
	if p != nil {
		t.Fatal(status, p)
	}
	if n, ok := raw.Variables["n"].(interface{ String() string }); !ok || n.String() != "9007199254740993" {
		t.Errorf("n is %v", raw.Variables["n"])
	}
}

func FuzzParams(f *testing.F) {
	for _, seed := range []string{typename, `{"query":"{","variables":{"a":[1,{"b":null}]}}`, `{"extensions":{"persistedQuery":{"version":1}}}`, "{\"query\":\"\xff\"}", `[]`, `{"query":1}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		raw, status, p := params(httptest.NewRecorder(), post(context.Background(), strings.NewReader(body)))
		switch {
		case p == nil && (raw == nil || raw.Query == "" && raw.Extensions["persistedQuery"] == nil):
			t.Errorf("%q was taken without a query", body)
		case p != nil && (status < 400 || status >= 500):
			t.Errorf("%q: status %d", body, status)
		}
	})
}
