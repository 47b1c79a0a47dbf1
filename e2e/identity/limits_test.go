package identity

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/config"
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
	t.Run("another key is another count", func(t *testing.T) { s.Must(200, "GET", "/tenant", s.Root(), nil) })
	t.Run("people are not counted", func(t *testing.T) {
		login := s.Login(platform.DemoAdmin, s.Demo.AdminPassword)
		for range 2*limit + 1 {
			s.Must(200, "GET", "/tenant", login, nil)
		}
	})
}

// TestSubscriptionEndsWithItsToken signs a token of a short life, as time would make of any.
func TestSubscriptionEndsWithItsToken(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	const life = 5 * time.Second
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
