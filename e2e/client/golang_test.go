package client

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	canopy "canopy/clients/go"
	"canopy/clients/go/schema"
	"canopy/e2e/platform"
	"canopy/internal/access"
)

// demoClient acts for the demo key at the tenant application.
func demoClient(p *platform.Platform) *canopy.Client {
	return &canopy.Client{URL: p.URL, App: access.Tenant.String(), Key: canopy.Key{ClientID: p.Demo.ClientID, ClientSecret: p.Demo.ClientSecret}}
}

// TestGoReadsLists reads all rows of a list, page after page, into the types of the schema.
func TestGoReadsLists(t *testing.T) {
	t.Parallel()
	p := platform.Start(t)
	type result struct{ Customers schema.CustomerConnection }
	var names []string
	for c, err := range canopy.Each(t.Context(), demoClient(p),
		`query($after: String) { customers(first: 1, after: $after) { nodes { databaseId name createdAt status } pageInfo { hasNextPage endCursor } } }`, nil,
		func(r *result) ([]*schema.Customer, *schema.PageInfo) { return r.Customers.Nodes, r.Customers.PageInfo }) {
		if err != nil {
			t.Fatal(err)
		}
		if c.DatabaseID == 0 || c.CreatedAt.IsZero() || c.Status != schema.CustomerStatusActive {
			t.Errorf("%+v", c)
		}
		names = append(names, c.Name)
	}
	slices.Sort(names)
	if n := p.Number("SELECT count(*) FROM customers"); n < 3 || int64(len(names)) != n {
		t.Errorf("%v of %d companies", names, n)
	}
}

// TestGoTellsErrors by what programs tell them by.
func TestGoTellsErrors(t *testing.T) {
	t.Parallel()
	p := platform.Start(t)
	c := demoClient(p)
	var data struct{ Me *schema.Me }
	err := c.GraphQL(t.Context(), `{ me { email } customer(id: 99999999) { id } }`, nil, &data)
	var all canopy.Errors
	if !errors.As(err, &all) || len(all) != 1 || all[0].Extensions.Code != "NOT_FOUND" || all[0].Extensions.RequestID == "" || data.Me == nil {
		t.Errorf("%+v %+v", err, data.Me)
	}
	var refusal *canopy.Refusal
	if err := c.Call(t.Context(), http.MethodGet, "/tenant/99999999", nil, nil); !errors.As(err, &refusal) || refusal.Status != 404 || refusal.RequestID == "" {
		t.Errorf("%+v", err)
	}
	c = demoClient(p)
	c.ClientSecret = "wrong"
	if _, err := c.Token(t.Context()); !errors.As(err, &refusal) || refusal.Status != 401 || refusal.Code != "invalid_client" {
		t.Errorf("%+v", err)
	}
}

// TestGoSessions: a session renews itself, tells each next refresh token, and ends.
func TestGoSessions(t *testing.T) {
	t.Parallel()
	p := platform.Start(t)
	ctx := t.Context()
	open := &canopy.Client{URL: p.URL}
	signed, err := open.Open(ctx, canopy.SignIn{Email: p.Demo.AdminEmail, Password: p.Demo.AdminPassword})
	if err != nil {
		t.Fatal(err)
	}
	var kept string
	session := &canopy.Session{Client: open, Keep: func(next string) error { kept = next; return nil }}
	session.Start(signed)
	ask := func(s *canopy.Session) error {
		var data struct{ Me *schema.Me }
		c := &canopy.Client{URL: p.URL, Login: s}
		return c.GraphQL(ctx, `{ me { email } }`, nil, &data)
	}
	for range 2 { // the first token is the one that it began with, the second one is new
		if err := ask(session); err != nil {
			t.Fatal(err)
		}
	}
	if kept == "" || kept == signed.RefreshToken {
		t.Errorf("kept is %q", kept)
	}
	again := &canopy.Session{Client: open, Keep: session.Keep}
	again.Resume(kept)
	if err := ask(again); err != nil {
		t.Error(err)
	}
	if err := open.End(ctx, kept); err != nil {
		t.Error(err)
	}
	var refusal *canopy.Refusal
	if err := ask(again); !errors.As(err, &refusal) || refusal.Code != "session_ended" {
		t.Errorf("%+v", err)
	}
}

// breaking loses the answer to the first request of each kind.
type breaking struct{ lost atomic.Int64 }

func (b *breaking) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && r.URL.Path == "/graphql" && b.lost.Add(1) == 1 {
		_ = resp.Body.Close()
		return nil, errors.New("the connection broke off")
	}
	return resp, err
}

// TestGoChangesOnce: what is sent again, as its answer was lost, is done once.
func TestGoChangesOnce(t *testing.T) {
	t.Parallel()
	p := platform.Start(t)
	const create = `mutation($in: CreateApiKeyInput!) { createApiKey(input: $in) { clientId } }`
	name := "once"
	in := map[string]any{"in": schema.CreateApiKeyInput{Name: &name}}
	c := demoClient(p)
	c.HTTP, c.Retries = &http.Client{Transport: &breaking{}}, 2
	var data struct{ CreateAPIKey schema.CreateApiKeyPayload }
	if err := c.GraphQL(t.Context(), create, in, &data); err != nil || data.CreateAPIKey.ClientID == "" {
		t.Errorf("%+v %v", data, err)
	}
	if n := p.Number("SELECT count(*) FROM api_keys WHERE name = 'once'"); n != 1 {
		t.Errorf("%d keys", n)
	}
	c = demoClient(p)
	c.HTTP = &http.Client{Transport: &breaking{}}
	if err := c.GraphQL(t.Context(), create, in, nil); err == nil || !strings.Contains(err.Error(), "broke off") {
		t.Errorf("without retries: %v", err)
	}
}

// TestGoSubscribes hears what happens, until it has heard enough.
func TestGoSubscribes(t *testing.T) {
	t.Parallel()
	p := platform.Start(t)
	c := demoClient(p)
	ctx, cancel := context.WithTimeout(t.Context(), platform.Patience)
	defer cancel()
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() { // until the subscription stands, nobody hears of changes
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
				_ = c.GraphQL(ctx, `mutation { createApiKey(input: {name: "heard"}) { clientId } }`, nil, nil)
			}
		}
	}()
	type told struct{ AuditEvent *schema.AuditEvent }
	heard := 0
	for event, err := range canopy.Subscribe[told](ctx, c, `subscription { auditEvent { action objectType } }`, nil) {
		if err != nil {
			t.Fatal(err)
		}
		if event.AuditEvent.ObjectType != "ApiKey" {
			t.Errorf("%+v", event.AuditEvent)
		}
		if heard++; heard == 2 {
			break
		}
	}
	close(stop)
	<-done
	for _, err := range canopy.Subscribe[told](ctx, c, `subscription { runUpdated(jobKey: "nonsense") { id } }`, nil) {
		if err == nil {
			t.Error("a job that is none is watched")
		}
	}
}
