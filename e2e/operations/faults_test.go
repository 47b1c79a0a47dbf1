package operations

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
)

// load is what callers do all the time while something breaks.
type load struct {
	s     *platform.Platform
	name  string
	token string
	stop  chan struct{}
	all   sync.WaitGroup

	good, away atomic.Int64
	mu         sync.Mutex
	wrong      []string
	made       []string
}

// start has callers ask, each over and over, for different things.
func (l *load) start() {
	l.stop = make(chan struct{})
	var n atomic.Int64
	basic := map[string]any{"query": `{ customer { name users(first: 5) { nodes { email } } } }`}
	for _, call := range []func(){
		func() {
			l.judge("details", l.s.Do("GET", "/tenant/1", l.token, nil), `"name":"Northwind Group"`)
		},
		func() {
			l.judge("companies", l.s.Do("GET", "/tenant/customers", l.token, nil), `"path":"Northwind Group/Coral Logistics/Coral Ports/Harbour Robotics"`)
		},
		func() { l.judge("users", l.s.Do("GET", "/tenant/users", l.token, nil), platform.DemoAdmin) },
		func() { l.judge("graph", l.s.Do("POST", "/graphql", l.token, basic), platform.DemoAdmin) },
		func() { l.judge("exchange", l.s.Exchange(l.s.GrantForm(nil)), `"expires_in":900`) },
		func() {
			email := fmt.Sprintf("%s%d@load.example", l.name, n.Add(1))
			if l.judge("create", l.s.Do("POST", "/tenant/user", l.token, map[string]any{"email": email}), email) {
				l.mu.Lock()
				l.made = append(l.made, email)
				l.mu.Unlock()
			}
		},
	} {
		l.all.Go(func() {
			for {
				select {
				case <-l.stop:
					return
				default:
					call()
				}
			}
		})
	}
}

// judge takes a 2xx with the right content, and a 503 that says when to come back.
func (l *load) judge(what string, a platform.Answer, holds string) bool {
	switch {
	case a.Status/100 == 2 && strings.Contains(string(a.Body), holds):
		l.good.Add(1)
		return true
	case a.Status == 503:
		if n, err := strconv.Atoi(a.Header.Get("Retry-After")); err == nil && n >= 1 {
			l.away.Add(1)
			return false
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.wrong) < 10 {
		l.wrong = append(l.wrong, fmt.Sprintf("%s: %d %.300s", what, a.Status, a.Body))
	}
	return false
}

// more waits until a count has grown by so much.
func (l *load) more(t *testing.T, what string, count *atomic.Int64, by int64) {
	t.Helper()
	want := count.Load() + by
	devtest.Eventually(t, what, func() bool { return count.Load() >= want })
}

func (l *load) end(t *testing.T) {
	t.Helper()
	close(l.stop)
	l.all.Wait()
	for _, w := range l.wrong {
		t.Error(w)
	}
}

func TestPostgresRestarts(t *testing.T) {
	t.Parallel()
	p := platform.OwnPostgres(t)
	s := platform.Start(t, func(c *config.Config) { c.DatabaseURL = p.URL() })
	l := &load{s: s, name: "during", token: s.Root()}
	l.start()
	l.more(t, "all is well", &l.good, 50)
	for name, end := range map[string]func(){
		"stopped": func() { p.Stop(context.Background()) },
		"crashed": p.Kill,
	} {
		end()
		l.more(t, "callers are told to come back", &l.away, 50)
		if a := s.Do("GET", "/readyz", "", nil); a.Status != 503 || s.Do("GET", "/healthz", "", nil).Status != 200 {
			t.Errorf("%s: /readyz %d %s", name, a.Status, a.Body)
		}
		before := l.good.Load()
		if err := p.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		l.more(t, "service is back", &l.good, 100)
		t.Logf("%s: %d good before it was back, %d refused in all", name, before, l.away.Load())
	}
	l.end(t)
	t.Run("nothing that was answered for is lost", func(t *testing.T) {
		for _, email := range l.made {
			if s.Number(`SELECT count(*) FROM users WHERE email = $1`, email) != 1 {
				t.Errorf("%s is not there", email)
			}
		}
		if len(l.made) == 0 {
			t.Error("no write got through")
		}
	})
	t.Run("full service", func(t *testing.T) {
		refused := l.away.Load()
		again := &load{s: s, name: "after", token: l.token}
		again.start()
		again.more(t, "all is well", &again.good, 200)
		again.end(t)
		if again.away.Load() != 0 || refused == 0 {
			t.Errorf("%d refused after the restart", again.away.Load())
		}
		s.Must(200, "GET", "/readyz", "", nil)
	})
}

func TestRedisDies(t *testing.T) {
	t.Parallel()
	r := devtest.RedisServer(t)
	s := platform.Start(t, func(c *config.Config) { c.RedisURL, c.RateLimit, c.CostLimit = r.URL(), 1_000_000, 1_000_000_000 })
	s.NoDemoMails()
	box := &platform.Letterbox{}
	s.Work(box)
	root := s.Root()
	ready := func() (status int, word string) {
		a := s.Do("GET", "/readyz", "", nil)
		var body struct{ Status string }
		if err := json.Unmarshal(a.Body, &body); err != nil {
			t.Fatal(err)
		}
		return a.Status, body.Status
	}
	add := func(n int) {
		s.Must(201, "POST", "/tenant/user", root, map[string]any{"email": fmt.Sprintf("redis%d@x.example", n)})
	}
	add(0)
	devtest.Eventually(t, "the first mail is out", func() bool { return box.Count() == 1 })
	if status, word := ready(); status != 200 || word != "ok" {
		t.Errorf("%d %s", status, word)
	}
	r.Kill()
	start := time.Now()
	for n := range 20 {
		add(1 + n)
		s.Must(200, "GET", "/tenant/customers", root, nil)
		s.MustGQL(root, `{ customer { users { nodes { email } } } }`, nil)
		if a := s.Exchange(s.GrantForm(nil)); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	s.Login(platform.DemoAdmin, s.Demo.AdminPassword)
	t.Logf("80 calls without Redis took %s", time.Since(start))
	asked := time.Now()
	if status, word := ready(); status != 200 || word != "degraded" {
		t.Errorf("without Redis: %d %s", status, word)
	}
	if took := time.Since(asked); took > time.Second { // which is when a probe of Kubernetes gives up
		t.Errorf("readiness took %s without Redis", took)
	}
	if n := box.Count(); n != 1 {
		t.Errorf("%d mails went out without a queue", n)
	}
	r.Start()
	devtest.Eventually(t, "the mails that waited are out", func() bool { return box.Count() == 21 })
	devtest.Eventually(t, "all is well", func() bool { _, word := ready(); return word == "ok" })
}
