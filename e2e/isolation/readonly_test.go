package isolation

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/app"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
	"canopy/rest"
)

// prepared is a request that is ready to be made.
type prepared struct {
	name   string
	writes bool
	make   func() platform.Answer
}

// prepare readies every row of the matrices that some caller may make.
func (w *world) prepare(restRows []restRow, graphRows []graphRow) (list []prepared) {
	_, registry := rest.New(w.App.Resolver, rest.Options{})
	endpoints := map[string]rest.Endpoint{}
	for _, e := range rest.Endpoints(registry) {
		endpoints[e.OperationID] = e
	}
	add := func(name string, writes bool, want answers, send func(*ask) func() platform.Answer) {
		for _, as := range []who{asOwner, asRoot} {
			if want.wants(as, false) == getsOK {
				list = append(list, prepared{name, writes, send(&ask{world: w, as: as})})
				return
			}
		}
	}
	for _, row := range restRows {
		name, _, _ := strings.Cut(row.op, "/")
		if e := endpoints[name]; !row.public {
			add(row.op, e.Method != http.MethodGet, w.answers(row.want, row.rules(e), row.assistant), row.sender(e))
		}
	}
	for _, row := range graphRows {
		add(row.fields, row.writes(), w.answers(row.want, row.rules(), row.assistant), row.sender())
	}
	return list
}

// readOnly has the server refuse writes, or take them again, also on connections that stand.
func readOnly(s *platform.Platform, on bool) {
	s.T.Helper()
	s.SQL(fmt.Sprintf(`ALTER SYSTEM SET default_transaction_read_only = %t`, on))
	s.SQL(`SELECT pg_reload_conf()`)
	status := 200
	if on {
		status = 503
	}
	for range 20 { // so that every connection has heard of it
		devtest.Eventually(s.T, "the server has read its settings", func() bool { return s.Do("GET", "/readyz", "", nil).Status == status })
	}
}

// passing tells whether an answer of either door says that the caller should come back.
func passing(t *testing.T, a platform.Answer) bool {
	t.Helper()
	if a.Status == http.StatusServiceUnavailable {
		n, err := strconv.Atoi(a.Header.Get("Retry-After"))
		return err == nil && n >= 1
	}
	var body struct {
		Errors []struct {
			Extensions struct {
				Code       string
				RetryAfter int
			}
		}
	}
	return a.Status == http.StatusOK && json.Unmarshal(a.Body, &body) == nil && len(body.Errors) == 1 &&
		body.Errors[0].Extensions.Code == "UNAVAILABLE" && body.Errors[0].Extensions.RetryAfter >= 1
}

// unwritten are requests that count as writes, and write nothing.
var unwritten = []string{"searchContext", "searchContexts", "askContext", "checkDiagram"}

// TestReadOnlyDatabase makes every request of the matrices while the database takes no writes: what
// reads is answered, what writes is refused as something that passes, and leaves no trace.
func TestReadOnlyDatabase(t *testing.T) {
	t.Parallel()
	server := platform.OwnPostgres(t)
	y := newYard(t, func(c *config.Config) { c.DatabaseURL = server.URL() })
	tables := newTables(t, y.DB)
	try := func(restRows []restRow, graphRows []graphRow) {
		list := y.prepare(restRows, graphRows)
		before := tables.state(t)
		readOnly(y.Platform, true)
		refused := 0
		for _, p := range list {
			switch a := p.make(); {
			case p.writes && passing(t, a):
				refused++
			case p.writes && !slices.Contains(unwritten, p.name), classOf(a) != getsOK:
				t.Errorf("%s: %d %v %.300s", p.name, a.Status, a.Header, a.Body)
			}
		}
		if after := tables.state(t); after != before {
			t.Errorf("something was written:\n%s\n%s", before, after)
		}
		readOnly(y.Platform, false)
		t.Logf("%d requests, %d of them refused", len(list), refused)
	}
	try(y.restRows(), y.graphRows())
	y.tokens = y.ofTenants
	try(restRows(), graphRows())
	y.quiet(t)
}

// beside serves the platform once more, on other settings.
func beside(t *testing.T, s *platform.Platform, change func(*config.Config)) *platform.Platform {
	t.Helper()
	cfg := *s.App.Config
	change(&cfg)
	other := &platform.Platform{T: t, Demo: s.Demo, Log: &devtest.Log{}}
	var err error
	if other.App, err = app.Open(context.Background(), &cfg, app.Options{Version: "test", Log: s.App.Log}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.App.Close)
	h, err := other.App.Handler(true)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	other.URL = server.URL
	return other
}

// TestStandby serves from a streaming standby, which becomes the primary.
func TestStandby(t *testing.T) {
	t.Parallel()
	primary := platform.OwnPostgres(t)
	s := platform.Start(t, func(c *config.Config) { c.DatabaseURL = primary.URL() })
	copied := devtest.Standby(t, primary)
	standby := beside(t, s, func(c *config.Config) { c.DatabaseURL = copied.URL() })
	token := s.Root()
	create := func() platform.Answer {
		return standby.Do("POST", "/tenant/user", token, map[string]any{"email": "late@x.example"})
	}
	t.Run("reads are answered", func(t *testing.T) {
		standby.Must(200, "GET", "/tenant/customers", token, nil)
		standby.MustGQL(token, `{ customer { users { nodes { email } } } }`, nil)
		if a := standby.Exchange(standby.GrantForm(nil)); a.Status != 200 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
	t.Run("writes are refused for the moment", func(t *testing.T) {
		mutation := map[string]any{"query": `mutation { createUser(input: {email: "late@x.example"}) { user { id } } }`}
		for _, a := range []platform.Answer{create(), standby.Do("POST", "/graphql", token, mutation)} {
			if !passing(t, a) {
				t.Errorf("%d %v %s", a.Status, a.Header, a.Body)
			}
		}
	})
	t.Run("it is not ready", func(t *testing.T) {
		if a := standby.Do("GET", "/readyz", "", nil); a.Status != 503 || !strings.Contains(string(a.Body), "read-only") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		standby.Must(200, "GET", "/healthz", "", nil)
	})
	primary.Kill()
	if err := copied.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Run("promoted, it is", func(t *testing.T) {
		devtest.Eventually(t, "it is ready", func() bool { return standby.Do("GET", "/readyz", "", nil).Status == 200 })
		devtest.Eventually(t, "writes are taken", func() bool { return create().Status == 201 })
	})
}
