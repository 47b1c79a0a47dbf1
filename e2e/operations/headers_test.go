package operations

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
)

// everyKind are paths of every kind of answer.
var everyKind = []string{
	"/", "/console", "/console/", "/console/sign-in", "/console/assets/none.js", "/setup", "/graphiql", "/docs", "/favicon.ico", "/schema.graphql", "/openapi.json", "/openapi.yaml", "/openapi-3.0.json",
	"/monitoring", "/monitoring/", "/monitoring/queues/mail", "/monitoring/api/queues", "/metrics", "/debug/pprof/", "/debug/pprof/heap", "/healthz", "/readyz",
	"/graphql?query=%7B__typename%7D", "/graphql", "/tenant", "/nowhere", "//", "/.well-known/jwks.json",
}

// TestEveryAnswerIsForNoFrame: whatever is asked for, in whatever state, a browser hears that it may not be
// framed and loads nothing from elsewhere; and that there is only https where that is so.
func TestEveryAnswerIsForNoFrame(t *testing.T) {
	t.Parallel()
	for scheme, wanted := range map[string]bool{"http": false, "https": true} {
		s := platform.Start(t, func(c *config.Config) {
			c.PublicURL = &url.URL{Scheme: scheme, Host: "api.example.com"}
			c.MonitorUser, c.MonitorPassword = "operator", "password"
		})
		for _, path := range everyKind {
			for who, headers := range map[string]map[string]string{"nobody": nil, "the operator": {"Authorization": basic("operator", "password")}} {
				h := s.Raw(t, "GET", path, headers).Header
				policy := h.Get("Content-Security-Policy")
				if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "http") ||
					h.Get("X-Frame-Options") != "DENY" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
					t.Errorf("%s for %s: %v", path, who, h)
				}
				if got := h.Get("Strict-Transport-Security"); strings.HasPrefix(got, "max-age=31536000") != wanted || (got != "") != wanted {
					t.Errorf("%s for %s, by %s: Strict-Transport-Security %q", path, who, scheme, got)
				}
			}
		}
	}
}

// TestIntrospectionClosesWhatShowsTheGraph: where introspection is off, so are the schema and GraphiQL,
// and no page leads there.
func TestIntrospectionClosesWhatShowsTheGraph(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{true, false} {
		s := platform.Start(t, func(c *config.Config) { c.Introspection = open })
		want := map[bool]int{true: http.StatusOK, false: http.StatusNotFound}[open]
		for _, path := range []string{"/schema.graphql", "/graphiql"} {
			if a := s.Raw(t, "GET", path, nil); a.Status != want {
				t.Errorf("introspection %v: %s is %d", open, path, a.Status)
			}
		}
		for _, path := range []string{"/", "/docs"} {
			a := s.Raw(t, "GET", path, nil)
			if page := string(a.Body); a.Status != http.StatusOK || strings.Contains(page, `href="graphiql"`) != open || strings.Contains(page, `href="schema.graphql"`) != (open && path == "/") {
				t.Errorf("introspection %v: %s leads elsewhere than it should: %s", open, path, page)
			}
		}
	}
}

// TestTheFirstPageLeadsBrowsersToTheConsole: they ask for HTML by name. Programs get what they got.
func TestTheFirstPageLeadsBrowsersToTheConsole(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	for accept, led := range map[string]bool{
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": true, "*/*": false, "application/json": false, "": false,
	} {
		a := s.Raw(t, "GET", "/", map[string]string{"Accept": accept})
		if a.Header.Get("Vary") == "" || led != (a.Status == http.StatusSeeOther && a.Header.Get("Location") == "console/") || led == (a.Status == http.StatusOK) {
			t.Errorf("%q: %d %v", accept, a.Status, a.Header)
		}
	}
}

// TestGuessesAtTheOperatorsPassword: they are slowed down for the address that they come from, and for its
// neighbours of IPv6, and for nobody else.
func TestGuessesAtTheOperatorsPassword(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, near, far string }{
		{"192.0.2.7", "192.0.2.7", "192.0.2.8"},
		{"2001:db8:0:1::7", "2001:db8:0:1:ffff::8", "2001:db8:0:2::7"},
	} {
		s := platform.Start(t, func(c *config.Config) {
			c.MonitorUser, c.MonitorPassword = "operator", "password"
			c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
		})
		closed(t, s)
		ask := func(path, from, authorization string) platform.Answer {
			return s.Raw(t, "GET", path, map[string]string{"Authorization": authorization, "X-Forwarded-For": from})
		}
		// slowed guesses until it has to wait.
		slowed := func() bool {
			for n := range 100 {
				a := ask(operatorPages[n%len(operatorPages)], c.from, basic("operator", fmt.Sprint("guess ", n)))
				if a.Status == http.StatusTooManyRequests && a.Header.Get("Retry-After") != "" {
					return true
				}
				if a.Status != http.StatusUnauthorized {
					t.Fatalf("guess %d: %d %v", n, a.Status, a.Header)
				}
			}
			return false
		}
		near := 0 // the first wait is short: a slow machine may miss it
		for try := 0; try < 5 && near != http.StatusTooManyRequests; try++ {
			if !slowed() {
				t.Fatalf("a hundred guesses from %s are taken", c.from)
			}
			near = ask("/metrics", c.near, basic("operator", "password")).Status
		}
		if near != http.StatusTooManyRequests {
			t.Errorf("%s may go on beside %s: %d", c.near, c.from, near)
		}
		if a := ask("/metrics", c.from, ""); a.Status != http.StatusUnauthorized {
			t.Errorf("who guesses nothing is %d", a.Status)
		}
		if a := ask("/metrics", c.far, basic("operator", "password")); a.Status != http.StatusOK {
			t.Errorf("%s is kept out for %s: %d", c.far, c.from, a.Status)
		}
	}
}
