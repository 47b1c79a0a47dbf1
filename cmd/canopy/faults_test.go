package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"canopy/db"
	"canopy/internal/config"
	"canopy/internal/devstack"
	"canopy/internal/devstack/devtest"
)

// ownPostgres starts a server that the test may stop.
func ownPostgres(t *testing.T) *devstack.Postgres {
	t.Helper()
	p, err := devstack.StartPostgres(t.Context(), devstack.PostgresOptions{Dir: t.TempDir(), Durable: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Remove)
	if err := db.Migrate(t.Context(), p.URL()); err != nil {
		t.Fatal(err)
	}
	return p
}

// load is what callers do all the time while something breaks.
type load struct {
	s     *stack
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
			l.judge("details", l.s.do("GET", "/tenant/1", l.token, nil), `"name":"Northwind Group"`)
		},
		func() {
			l.judge("companies", l.s.do("GET", "/tenant/customers", l.token, nil), `"path":"Northwind Group/Coral Logistics/Coral Ports/Harbour Robotics"`)
		},
		func() { l.judge("users", l.s.do("GET", "/tenant/users", l.token, nil), demoAdmin) },
		func() { l.judge("graph", l.s.do("POST", "/graphql", l.token, basic), demoAdmin) },
		func() { l.judge("exchange", l.s.form(l.s.grantForm(nil)), `"expires_in":900`) },
		func() {
			email := fmt.Sprintf("%s%d@load.example", l.name, n.Add(1))
			if l.judge("create", l.s.do("POST", "/tenant/user", l.token, map[string]any{"email": email}), email) {
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
func (l *load) judge(what string, a answerOf, holds string) bool {
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
	p := ownPostgres(t)
	s := newStack(t, func(c *config.Config) { c.DatabaseURL = p.URL() })
	l := &load{s: s, name: "during", token: s.root()}
	l.start()
	l.more(t, "all is well", &l.good, 50)
	for name, end := range map[string]func(){
		"stopped": func() { p.Stop(context.Background()) },
		"crashed": p.Kill,
	} {
		end()
		l.more(t, "callers are told to come back", &l.away, 50)
		if a := s.do("GET", "/readyz", "", nil); a.Status != 503 || s.do("GET", "/healthz", "", nil).Status != 200 {
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
			if s.number(`SELECT count(*) FROM users WHERE email = $1`, email) != 1 {
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
		s.must(200, "GET", "/readyz", "", nil)
	})
}

func TestRedisDies(t *testing.T) {
	r := devtest.RedisServer(t)
	s := newStack(t, func(c *config.Config) { c.RedisURL, c.RateLimit, c.CostLimit = r.URL(), 1_000_000, 1_000_000_000 })
	s.noDemoMails()
	box := &collected{}
	s.work(box)
	root := s.root()
	ready := func() (status int, word string) {
		a := s.do("GET", "/readyz", "", nil)
		var body struct{ Status string }
		if err := json.Unmarshal(a.Body, &body); err != nil {
			t.Fatal(err)
		}
		return a.Status, body.Status
	}
	add := func(n int) {
		s.must(201, "POST", "/tenant/user", root, map[string]any{"email": fmt.Sprintf("redis%d@x.example", n)})
	}
	add(0)
	devtest.Eventually(t, "the first mail is out", func() bool { return box.count() == 1 })
	if status, word := ready(); status != 200 || word != "ok" {
		t.Errorf("%d %s", status, word)
	}
	r.Kill()
	start := time.Now()
	for n := range 20 {
		add(1 + n)
		s.must(200, "GET", "/tenant/customers", root, nil)
		s.mustGQL(root, `{ customer { users { nodes { email } } } }`, nil)
		if a := s.form(s.grantForm(nil)); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	s.login(demoAdmin, s.info.AdminPassword)
	t.Logf("80 calls without Redis took %s", time.Since(start))
	if status, word := ready(); status != 200 || word != "degraded" {
		t.Errorf("without Redis: %d %s", status, word)
	}
	if n := box.count(); n != 1 {
		t.Errorf("%d mails went out without a queue", n)
	}
	r.Start()
	devtest.Eventually(t, "the mails that waited are out", func() bool { return box.count() == 21 })
	devtest.Eventually(t, "all is well", func() bool { _, word := ready(); return word == "ok" })
}
