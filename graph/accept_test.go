package graph

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAccepted(t *testing.T) {
	const urql = "application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed"
	for header, want := range map[string]accepted{
		"":                                   {typeJSON, false},
		urql:                                 {typeGraphQL, true},
		"*/*":                                {typeJSON, false},
		"text/event-stream, multipart/mixed": {"", true},
		"text/event-stream, */*;q=0.1":       {typeJSON, true},
		"text/*":                             {"", true},
		"text/event-stream;q=0":              {"", false},
		"text/*, text/event-stream;q=0":      {"", false},
		"text/html, application/xml":         {"", false},
		"application/json":                   {typeJSON, false},
		"Application/JSON; charset=utf-8":    {typeJSON, false},
		"application/*":                      {typeJSON, false},
		"application/json, application/graphql-response+json":            {typeJSON, false},
		"application/graphql-response+json, application/json":            {typeGraphQL, false},
		"application/graphql-response+json;q=0.5, application/json":      {typeJSON, false},
		"application/json;q=0.9, application/graphql-response+json":      {typeGraphQL, false},
		"application/graphql-response+json;q=0.5, */*;q=0.9":             {typeJSON, false},
		"*/*, application/graphql-response+json":                         {typeGraphQL, false},
		"application/json;q=0, */*":                                      {typeGraphQL, false},
		"application/json;q=0":                                           {"", false},
		"application/json;q=0, application/graphql-response+json;q=0":    {"", false},
		"application/json;q=2, application/graphql-response+json;q=0.1":  {typeGraphQL, false},
		"application/json;q=x, application/graphql-response+json;q=.001": {typeGraphQL, false},
		"what is this; application/json, application/json":               {typeJSON, false},
	} {
		r := &http.Request{Header: http.Header{"Accept": {header}}}
		if got := acceptedBy(r); got != want {
			t.Errorf("%q: %+v, want %+v", header, got, want)
		}
	}
	split := &http.Request{Header: http.Header{"Accept": {"text/html", "application/graphql-response+json"}}}
	if got := acceptedBy(split); got.media != typeGraphQL {
		t.Errorf("of two headers: %+v", got)
	}
}

// A stream is for subscriptions, and for whoever takes nothing else.
func TestStreamsAreForSubscriptions(t *testing.T) {
	const watch = `{"query":"subscription { auditEvent { id } }"}`
	for name, c := range map[string]struct{ accept, body, media string }{
		"a query of a client that takes all":         {"application/json, text/event-stream", typename, typeJSON},
		"a query of one that prefers streams":        {"application/json;q=0.1, text/event-stream", typename, typeJSON},
		"a query of one that takes streams only":     {"text/event-stream, multipart/mixed", typename, typeEvents},
		"a subscription of a client that takes all":  {"application/json, text/event-stream", watch, typeEvents},
		"a subscription of one that prefers JSON":    {"application/json, text/event-stream;q=0.1", watch, typeEvents},
		"a subscription of one that takes JSON only": {"application/json", watch, typeJSON},
		"a subscription of one that takes anything":  {"*/*", watch, typeJSON},
	} {
		t.Run(name, func(t *testing.T) {
			r := post(t.Context(), strings.NewReader(c.body))
			r.Header.Set("Accept", c.accept)
			w := httptest.NewRecorder()
			newTestDoor(t, nil).ServeHTTP(w, r)
			if got, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";"); got != c.media {
				t.Errorf("answered by %s: %s", got, w.Body)
			}
		})
	}
	t.Run("a query by GET", func(t *testing.T) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/graphql?query=%7B__typename%7D", nil)
		r.Header.Set("Accept", typeEvents)
		if a := newTestDoor(t, nil).do(t, r); a.Status != http.StatusOK || a.Header.Get("Content-Type") != typeEvents {
			t.Errorf("status %d: %s", a.Status, a.Raw)
		}
	})
}
