package rest

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"canopy/internal/intake"
	"canopy/internal/problem"
	"canopy/resolvers"
)

type echoInput struct {
	Body struct {
		ID    int64   `json:"id"`
		Name  string  `json:"name"`
		Other *string `json:"other,omitempty"`
		Flag  *bool   `json:"flag,omitempty" default:"true"`
		// Below is for what happens to names further down.
		Below *[]echoBelow `json:"below,omitempty"`
	} `nameHint:"EchoRequest"`
}

type echoBelow struct {
	Name *string `json:"name,omitempty"`
}

type echoAnswer struct {
	ID    int64   `json:"id"`
	Name  string  `json:"name"`
	Other *string `json:"other"`
	Flag  bool    `json:"flag"`
}

// echoDoor has a public operation that answers what it read, and one that fails as it is told.
func echoDoor(t testing.TB, fail error) *handler {
	t.Helper()
	a, h := open(&resolvers.Resolver{Log: slog.New(slog.DiscardHandler)}, Options{Version: "1"})
	add(a, operation{id: "echo", method: http.MethodPost, path: "/echo", tag: tagUsers, status: http.StatusOK, public: true},
		func(_ context.Context, in *echoInput) (*one[echoAnswer], error) {
			return &one[echoAnswer]{echoAnswer{in.Body.ID, in.Body.Name, in.Body.Other, *in.Body.Flag}}, nil
		})
	add(a, operation{
		id: "fail", method: http.MethodPost, path: "/fail/{cid}", tag: tagUsers, public: true,
		names: map[string]string{"userId": "userIdentityId", "customerId": "cid"},
	}, func(context.Context, *saveBillingOf) (*struct{}, error) { return nil, fail })
	add(a, operation{id: "panic", method: http.MethodGet, path: "/panic", tag: tagUsers, public: true},
		func(context.Context, *struct{}) (*struct{}, error) { panic("a secret") })
	return h
}

func send(t *testing.T, h http.Handler, method, path, contentType, body string) (*httptest.ResponseRecorder, Problem) {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var p Problem
	if strings.HasPrefix(w.Header().Get("Content-Type"), problemType) {
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
			t.Fatalf("not a problem: %v: %s", err, w.Body)
		}
		if p.Status != w.Code || p.Type != "about:blank" || p.Title == "" || p.Detail == "" || p.Code == "" || p.Errors == nil {
			t.Fatalf("an incomplete problem: %s", w.Body)
		}
	}
	return w, p
}

func TestBodies(t *testing.T) {
	h := echoDoor(t, nil)
	for name, c := range map[string]struct {
		contentType, body string
		status            int
		want              string
	}{
		"read":                      {jsonType, `{"id":1,"name":"x"}`, 200, `{"id":1,"name":"x","other":null,"flag":true}`},
		"no content type":           {"", `{"id":1,"name":"x"}`, 200, `{"id":1,"name":"x","other":null,"flag":true}`},
		"charset":                   {"application/json; charset=UTF-8", `{"id":1,"name":"x"}`, 200, `{"id":1,"name":"x","other":null,"flag":true}`},
		"an explicit false":         {jsonType, `{"id":1,"name":"x","flag":false}`, 200, `{"id":1,"name":"x","other":null,"flag":false}`},
		"optional null":             {jsonType, `{"id":1,"name":"x","other":null,"flag":null}`, 200, `{"id":1,"name":"x","other":null,"flag":true}`},
		"unknown members":           {jsonType, `{"id":1,"name":"x","what":{"a":[]}}`, 200, `{"id":1,"name":"x","other":null,"flag":true}`},
		"a type in capitals":        {"Application/JSON", `{"id":1,"name":"x"}`, 200, `{"id":1,"name":"x","other":null,"flag":true}`},
		"unknown members below":     {jsonType, `{"id":1,"name":"x","below":[{"nom":1}],"what":{"ID":2}}`, 200, `{"id":1,"name":"x","other":null,"flag":true}`},
		"another case":              {jsonType, `{"id":1,"name":"x","ID":"9"}`, 400, "body.ID"},
		"another case of each":      {jsonType, `{"Other":1,"ID":1,"Name":"x"}`, 400, "body.ID body.Name body.Other"},
		"another case below":        {jsonType, `{"id":1,"name":"x","below":[{"name":"y"},{"NAME":"y"}]}`, 400, "body.below[1].NAME"},
		"the largest integer":       {jsonType, `{"id":9223372036854775807,"name":"x"}`, 200, `{"id":9223372036854775807,"name":"x","other":null,"flag":true}`},
		"an integer as 1.0":         {jsonType, `{"id":1.0,"name":"x"}`, 200, `{"id":1,"name":"x","other":null,"flag":true}`},
		"text is kept":              {jsonType, `{"id":1,"name":"<ü> \u2028"}`, 200, "{\"id\":1,\"name\":\"<ü> \u2028\",\"other\":null,\"flag\":true}"},
		"an integer beyond 64 bits": {jsonType, `{"id":9223372036854775808,"name":"x"}`, 400, "body.id"},
		"a fraction":                {jsonType, `{"id":1.5,"name":"x"}`, 400, "body.id"},
		"an integer as text":        {jsonType, `{"id":"1","name":"x"}`, 400, "body.id"},
		"required null":             {jsonType, `{"id":1,"name":null}`, 400, "body.name"},
		"missing":                   {jsonType, `{"id":1}`, 400, "body.name"},
		"two faults":                {jsonType, `{"name":1}`, 400, "body.id body.name"},
		"no object":                 {jsonType, `[]`, 400, "body"},
		"empty":                     {jsonType, ``, 400, "body"},
		"only space":                {jsonType, "  \n", 400, "body"},
		"no JSON":                   {jsonType, `{"id":`, 400, "body.id"},
		"twice":                     {jsonType, `{"id":1,"name":"x","name":"y"}`, 400, "body.name"},
		"something after":           {jsonType, `{"id":1,"name":"x"} 1`, 400, "body"},
		"too large":                 {jsonType, `{"id":1,"name":"` + strings.Repeat("x", intake.MaxBody) + `"}`, 413, "body.name"},
		"text/plain":                {"text/plain", `{"id":1,"name":"x"}`, 415, ""},
		"another charset":           {"application/json; charset=utf-16", `{"id":1,"name":"x"}`, 415, ""},
		"a broken content type":     {"application/json; x", `{"id":1,"name":"x"}`, 415, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, p := send(t, h, http.MethodPost, "/echo", c.contentType, c.body)
			if w.Code != c.status {
				t.Fatalf("status %d: %s", w.Code, w.Body)
			}
			got := w.Body.String()
			if w.Code != http.StatusOK {
				var at []string
				for _, f := range p.Errors {
					at = append(at, f.Location)
				}
				slices.Sort(at)
				got = strings.Join(at, " ")
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestRefusalsOfResolvers(t *testing.T) {
	for name, c := range map[string]struct {
		err      error
		status   int
		code     string
		detail   string
		location string
		header   [2]string
	}{
		"a fault in the body": {
			problem.Invalid(problem.Fault{Location: "billingName", Message: "is too long"}), 400, "BAD_REQUEST",
			"body.billingName: is too long", "body.billingName",
			[2]string{},
		},
		"a fault under another name": {
			problem.Invalid(problem.Fault{Location: "userId", Message: "goes in place of userId, not beside it"}), 400, "BAD_REQUEST",
			"body.userIdentityId: goes in place of userIdentityId, not beside it", "body.userIdentityId",
			[2]string{},
		},
		"a fault in the path": {
			problem.Invalid(problem.Fault{Location: "customerId", Message: "is odd"}), 400, "BAD_REQUEST", "path.cid: is odd", "path.cid", [2]string{},
		},
		"a reason": {problem.Bad("it is there").With("permission_exists"), 400, "permission_exists", "it is there", "", [2]string{}},
		"denied":   {problem.Denied("not yours"), 403, "FORBIDDEN", "not yours", "", [2]string{}},
		"missing":  {problem.Missing("there is none"), 404, "NOT_FOUND", "there is none", "", [2]string{}},
		"unauthorized": {
			problem.Unauthorized("who are you"), 401, "UNAUTHENTICATED", "who are you", "", [2]string{"WWW-Authenticate", `Bearer realm="canopy"`},
		},
		"too many": {
			&problem.Error{Code: problem.RateLimited, Detail: "slow down", RetryAfter: 1500 * time.Millisecond}, 429, "RATE_LIMITED",
			"slow down", "",
			[2]string{"Retry-After", "2"},
		},
		"away":     {problem.Away("the database", io.EOF), 503, "UNAVAILABLE", "the database is not available at the moment", "", [2]string{"Retry-After", "1"}},
		"internal": {io.ErrUnexpectedEOF, 500, "INTERNAL", internalDetail, "", [2]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			w, p := send(t, echoDoor(t, c.err), http.MethodPost, "/fail/7", jsonType, `{}`)
			if w.Code != c.status || p.Code != c.code || p.Detail != c.detail {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			if c.location != "" && (len(p.Errors) != 1 || p.Errors[0].Location != c.location) {
				t.Errorf("faults: %+v", p.Errors)
			}
			if c.header[0] != "" && w.Header().Get(c.header[0]) != c.header[1] {
				t.Errorf("%s: %q", c.header[0], w.Header().Get(c.header[0]))
			}
		})
	}
}

func TestRefusalsOfTheDoor(t *testing.T) {
	h, _ := testDoor(t)
	for name, c := range map[string]struct {
		method, path string
		status       int
		code         string
	}{
		"an unknown path":     {"GET", "/nothing", 404, "NOT_FOUND"},
		"a slash at the end":  {"GET", "/tenant/", 404, "NOT_FOUND"},
		"another method":      {"DELETE", "/tenant", 405, "METHOD_NOT_ALLOWED"},
		"no token":            {"GET", "/tenant/1", 401, "UNAUTHENTICATED"},
		"no token, bad input": {"GET", "/tenant/x", 401, "UNAUTHENTICATED"},
	} {
		t.Run(name, func(t *testing.T) {
			w, p := send(t, h, c.method, c.path, "", "")
			if w.Code != c.status || p.Code != c.code {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			switch c.status {
			case http.StatusMethodNotAllowed:
				if got := w.Header().Get("Allow"); got != "GET, HEAD, PUT" {
					t.Errorf("Allow: %q", got)
				}
			case http.StatusUnauthorized:
				if got := w.Header().Get("WWW-Authenticate"); got != realm {
					t.Errorf("WWW-Authenticate: %q", got)
				}
			}
		})
	}
	t.Run("a token that is none", func(t *testing.T) {
		r := httptest.NewRequest(http.MethodGet, "/tenant", nil)
		r.Header.Set("Authorization", "Basic eDp5")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Header().Get("WWW-Authenticate"); w.Code != 401 || !strings.Contains(got, `error="invalid_token"`) {
			t.Errorf("%d, WWW-Authenticate: %q", w.Code, got)
		}
	})
	t.Run("a panic", func(t *testing.T) {
		w, p := send(t, echoDoor(t, nil), http.MethodGet, "/panic", "", "")
		if w.Code != 500 || p.Detail != internalDetail || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

func TestStatusCodesFollowTheProblems(t *testing.T) {
	for _, code := range []problem.Code{
		problem.BadRequest, problem.Unauthenticated, problem.Forbidden, problem.NotFound, problem.PayloadTooLarge,
		problem.RateLimited, problem.Unavailable, problem.Internal,
	} {
		if got := statusCode(problem.New(code, "x").Status()); got != string(code) {
			t.Errorf("%s: %s", code, got)
		}
	}
}
