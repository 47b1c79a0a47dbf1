package identity

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/quota"
)

// TestRateLimit: a minute's requests are counted by API key. A test may see two minutes, so twice
// the limit and one more is certain to be past it.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	const limit = 6
	s := platform.Start(t, func(c *config.Config) { c.RateLimit = limit })
	greta := s.TokenOf(s.Number(`SELECT id FROM customers WHERE name = 'Alpine Energy'`), "greta@alpine.example", "tenant")
	count := map[int]int{}
	for i := range 2*limit + 1 {
		path := []string{"/tenant", "/region/available"}[i%2]
		a := s.Do("GET", path, greta, nil)
		if count[a.Status]++; a.Status != 429 {
			continue
		}
		n, err := strconv.Atoi(a.Header.Get("Retry-After"))
		if err != nil || n < 1 || n > 60 {
			t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
		}
		platform.Scenario{Status: 429, Code: "RATE_LIMITED"}.Judge(t, a)
	}
	if count[429] == 0 || count[200] < limit || count[200]+count[429] != 2*limit+1 {
		t.Errorf("%v", count)
	}
	t.Run("through the other door", func(t *testing.T) {
		for range 2*limit + 1 {
			a := s.Do("POST", "/graphql", greta, map[string]any{"query": `{ me { email } }`})
			if a.Status == 429 {
				if a.Header.Get("Retry-After") == "" || platform.Member(t, a.JSON(t), "errors.0.extensions.code") != "RATE_LIMITED" {
					t.Errorf("%v %s", a.Header, a.Body)
				}
				return
			}
		}
		t.Error("never past the limit")
	})
	t.Run("tokens are counted apart", func(t *testing.T) {
		const few = 120 // however few requests are allowed
		alpine := s.Number(`SELECT id FROM customers WHERE name = 'Alpine Energy'`)
		key, plain, err := s.App.Resolver.OperatorCreateKey(t.Context(), alpine, "greta@alpine.example", "test")
		if err != nil {
			t.Fatal(err)
		}
		count := map[int]int{}
		for range 2*few + 1 {
			a := s.Exchange(s.GrantForm(map[string]string{"client_id": key.ClientID, "client_secret": plain}))
			if count[a.Status]++; a.Status == 429 {
				platform.Scenario{Status: 429, Code: "RATE_LIMITED"}.Judge(t, a)
				if a.Header.Get("Retry-After") == "" || a.Header.Get("RateLimit") == "" {
					t.Errorf("%v", a.Header)
				}
			}
		}
		if count[429] == 0 || count[200] < few || count[200]+count[429] != 2*few+1 {
			t.Errorf("%v", count)
		}
	})
	t.Run("another key is another count", func(t *testing.T) { s.Must(200, "GET", "/tenant", s.Root(), nil) })
	t.Run("people are counted, too", func(t *testing.T) {
		login := s.Login(platform.DemoAdmin, s.Demo.AdminPassword)
		past := 0
		for range 2*limit + 1 {
			if s.Do("GET", "/tenant", login, nil).Status == 429 {
				past++
			}
		}
		if past == 0 {
			t.Error("never past the limit")
		}
	})
}

// TestBranchesRate: more keys, of a company and of those below it, are not more budget; other companies keep
// theirs.
func TestBranchesRate(t *testing.T) {
	t.Parallel()
	const limit = 3
	s := platform.Start(t, func(c *config.Config) {
		c.RateLimit, c.Limits = limit, map[quota.Name]int64{quota.RequestsPerMinute: 10 * limit}
	})
	find := func(name string) int64 { return s.Number(`SELECT id FROM customers WHERE name = $1`, name) }
	alpine, hydro := find("Alpine Energy"), find("Alpine Hydro")
	user := s.Number(`SELECT p.user_id FROM permissions p WHERE p.account_id = $1 LIMIT 1`, s.Account(hydro, "tenant"))
	var email string
	s.Look(&email, `SELECT email FROM users WHERE id = $1`, user)
	count := map[int]int{}
	for i := range 21 { // twice the ten budgets of three, and one more
		token := ""
		if i%2 == 0 {
			token = s.TokenOf(alpine, "greta@alpine.example", "tenant")
		} else {
			token = s.TokenOf(hydro, email, "tenant")
		}
		for range limit {
			a := s.Do("GET", "/tenant", token, nil)
			count[a.Status]++
			if a.Status == 429 && !strings.Contains(string(a.Body), "with all companies below it") {
				t.Errorf("%s", a.Body)
			}
		}
	}
	if count[429] == 0 || count[200] < 10*limit {
		t.Errorf("%v", count)
	}
	coral := find("Coral Logistics")
	s.Must(200, "GET", "/tenant", s.TokenOf(coral, "wei@coral.example", "tenant"), nil)
}

// TestSubscriptionEndsWithItsToken signs a token of a short life, as time would make of any.
func TestSubscriptionEndsWithItsToken(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	const life = 15 * time.Second
	now := time.Now()
	short := signer(s)(s.Demo.ClientID, life)
	socket := s.OverSocket(t, map[string]any{"authorization": "Bearer " + short}, nil)
	events := s.OverSSE(t, short)
	root := s.Root()
	change := func(n int) {
		s.Must(204, "POST", "/tenant/billing", root, map[string]any{"city": fmt.Sprint(n)})
	}
	streams := map[string]<-chan platform.Heard{"socket": socket, "events": events}
	for _, stream := range streams {
		s.Until(t, stream, change)
	}
	for name, stream := range streams {
		for h := (platform.Heard{}); !h.Over && h.Err == nil; {
			h = platform.Next(t, stream, name+": the end")
			if h.Over || h.Err != nil && !strings.Contains(h.Err.Error(), "expired") {
				t.Errorf("%s: it ended with %+v", name, h)
			}
		}
		if time.Now().Before(now.Add(life - time.Second)) {
			t.Errorf("%s: over before the token", name)
		}
	}
}
