package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"canopy/internal/access"
	"canopy/internal/bus"
	"canopy/internal/devstack/devtest"
	"canopy/internal/limit"
	"canopy/internal/token"
	"canopy/internal/web"
	"canopy/resolvers"
)

// testDoor is the endpoint without a database behind it: the fields that read one panic, and
// whatever comes before them is real.
type testDoor struct {
	http.Handler
	log *devtest.Log
}

func newTestDoor(t testing.TB, change func(*resolvers.Resolver, *Options)) *testDoor {
	t.Helper()
	d := &testDoor{log: &devtest.Log{}}
	log := slog.New(slog.NewTextHandler(d.log, nil))
	own := &url.URL{Scheme: "https", Host: "canopy.example"}
	messages := bus.New(nil, log)
	t.Cleanup(messages.Close)
	r := &resolvers.Resolver{
		ClientAddress: web.ClientAddress,
		Verifier:      token.NewVerifier(own.String(), &token.KeyRing{}, nil), Rates: &resolvers.Rates{Limiter: limit.New(nil, limit.Patience)},
		Bus: messages, PublicURL: own, Log: log,
	}
	o := Options{Introspection: true, MaxCost: 50_000, CostPerMinute: 600_000, PublicURL: own, Log: log}
	if change != nil {
		change(r, &o)
	}
	d.Handler = New(r, o)
	return d
}

// owner is a caller with every right in the tenant application, for as long as given. There is no database to look it up in: it is one whom nobody looks at
// during a test.
func owner(life time.Duration) *access.Principal {
	id := int64(7)
	for resolvers.UntilRecheck(time.Now(), id) < 8*time.Second {
		id++
	}
	p := &access.Principal{UserID: id, Email: "ada@example.com", CustomerID: 1, Lineage: access.Lineage{1}, KeyID: 9, Expires: time.Now().Add(life)}
	p.Serves[access.Tenant] = true
	p.Grants[access.Tenant] = &access.Grant{PermissionID: 3, AccountID: 4, RoleName: "Owner", Owner: true, Features: access.AllFeatures}
	return p
}

// as serves every request for a caller who has been admitted.
func (d *testDoor) as(p *access.Principal) *testDoor {
	next := d.Handler
	return &testDoor{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(access.WithPrincipal(r.Context(), p)))
	}), d.log}
}

// answer is a response as a client reads it.
type answer struct {
	Status     int             `json:"-"`
	Header     http.Header     `json:"-"`
	Raw        string          `json:"-"`
	Data       json.RawMessage `json:"data"`
	Errors     gqlerror.List   `json:"errors"`
	Extensions struct {
		Cost *CostReport `json:"cost"`
	} `json:"extensions"`
}

// code is that of the first error; empty when there is none.
func (a *answer) code() string {
	if len(a.Errors) == 0 {
		return ""
	}
	return codeOf(a.Errors[0].Extensions)
}

func codeOf(extensions map[string]any) string {
	code, _ := extensions["code"].(string)
	return code
}

func (a *answer) message() string {
	if len(a.Errors) == 0 {
		return ""
	}
	return a.Errors[0].Message
}

func (d *testDoor) do(t testing.TB, r *http.Request) *answer {
	t.Helper()
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	a := &answer{Status: w.Code, Header: w.Header(), Raw: w.Body.String()}
	if strings.Contains(w.Header().Get("Content-Type"), "json") {
		if err := json.Unmarshal(w.Body.Bytes(), a); err != nil {
			t.Fatalf("status %d with %q: %v", w.Code, a.Raw, err)
		}
	}
	return a
}

func post(ctx context.Context, body io.Reader) *http.Request {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/graphql", body)
	r.Header.Set("Content-Type", "application/json")
	return r
}

// query posts a document with its variables.
func (d *testDoor) query(t testing.TB, document string, variables map[string]any) *answer {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	return d.do(t, post(t.Context(), bytes.NewReader(body)))
}

func toText(v any) string {
	raw, _ := json.Marshal(v)
	return string(raw)
}
