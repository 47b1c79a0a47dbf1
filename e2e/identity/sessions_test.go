package identity

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/secret"
)

const mySessions = `{ me { sessions { id databaseId createdAt lastUsedAt userAgent address current } } }`

// later moves all that sessions have been through into the past.
func later(s *platform.Platform, by string) {
	s.SQL(`UPDATE sessions SET created_at = created_at - $1::interval, last_used_at = last_used_at - $1::interval, expires_at = expires_at - $1::interval,
		replaced_at = ARRAY(SELECT at - $1::interval FROM unnest(replaced_at) WITH ORDINALITY r(at, n) ORDER BY n)`, by)
}

func works(s *platform.Platform, token string) bool {
	return s.Do("GET", "/tenant", token, nil).Status == 200
}

// ended checks the refusal of a refresh token that is good for nothing.
func ended(t *testing.T, a platform.Answer) {
	t.Helper()
	platform.Scenario{Status: 401, Code: "session_ended"}.Judge(t, a)
}

func TestSessions(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	twin := s.Twin(t)
	open := func() platform.Session { return s.OpenSession(t, platform.DemoAdmin, s.Demo.AdminPassword) }
	t.Run("a program renews its token", func(t *testing.T) {
		a := s.Must(200, "POST", "/auth/session", "", map[string]any{"email": platform.DemoAdmin, "password": s.Demo.AdminPassword, "cookie": false})
		first := platform.SessionOf(t, a)
		if platform.Member(t, a.JSON(t), "expiresIn") != 900.0 || platform.Member(t, a.JSON(t), "customerOptions.#") == 0 ||
			a.Header.Get("Set-Cookie") != "" || a.Header.Get("Cache-Control") != "no-store" || !works(s, first.Token) {
			t.Errorf("%v %s", a.Header, a.Body)
		}
		b := twin.Refresh(first.Refresh)
		second := platform.SessionOf(t, b)
		if b.Status != 200 || second.Refresh == first.Refresh || platform.Member(t, b.JSON(t), "customerOptions.#") == 0 || !works(s, second.Token) || !works(twin, first.Token) {
			t.Errorf("%s", b.Body)
		}
	})
	t.Run("stored as nothing that opens it", func(t *testing.T) {
		refresh := open().Refresh
		if n := s.Number(`SELECT count(*) FROM sessions s WHERE s::text LIKE '%' || $1 || '%' OR position(convert_to($1, 'UTF8') IN key) > 0`, refresh[len(refresh)-43:]); n != 0 {
			t.Error("the row has the token")
		}
	})
	t.Run("a token that was replaced a moment ago gets the same one", func(t *testing.T) {
		first := open()
		second := platform.SessionOf(t, s.Refresh(first.Refresh))
		again := platform.SessionOf(t, twin.Refresh(first.Refresh))
		if again.Refresh != second.Refresh || !works(s, again.Token) {
			t.Error("the second tab has another refresh token")
		}
		third := platform.SessionOf(t, s.Refresh(second.Refresh))
		if old := platform.SessionOf(t, s.Refresh(first.Refresh)); old.Refresh != third.Refresh {
			t.Error("a third tab does not get the token in force")
		}
	})
	t.Run("one that comes back later ends the session on both processes", func(t *testing.T) {
		first := open()
		second := platform.SessionOf(t, s.Refresh(first.Refresh))
		later(s, "11 seconds")
		if !works(s, second.Token) {
			t.Fatal("the session has ended too early")
		}
		ended(t, twin.Refresh(first.Refresh))
		ended(t, s.Refresh(second.Refresh))
		if works(s, first.Token) || works(twin, second.Token) {
			t.Error("access tokens still work")
		}
		if n := s.Number(`SELECT count(*) FROM audit_events WHERE action = 'session.ended' AND details->'reason'->>'new' = 'a refresh token was used twice'`); n != 1 {
			t.Errorf("%d events", n)
		}
	})
	t.Run("twenty at once replace it once", func(t *testing.T) {
		first := open()
		var wait sync.WaitGroup
		var mu sync.Mutex
		var got []string
		for n := range 20 {
			wait.Go(func() {
				a := []*platform.Platform{s, twin}[n%2].Refresh(first.Refresh)
				mu.Lock()
				defer mu.Unlock()
				if a.Status == 200 {
					got = append(got, platform.SessionOf(t, a).Refresh)
				}
			})
		}
		wait.Wait()
		slices.Sort(got)
		if len(got) != 20 || len(slices.Compact(got)) != 1 {
			t.Errorf("%d answers, %d tokens", len(got), len(slices.Compact(slices.Clone(got))))
		}
		if n := s.Number(`SELECT generation FROM sessions ORDER BY id DESC LIMIT 1`); n != 2 {
			t.Errorf("the token in force is the %d.", n)
		}
	})
	t.Run("forged", func(t *testing.T) {
		good := open().Refresh
		head, mac := good[:strings.LastIndex(good, "_1_")], good[strings.LastIndex(good, "_1_")+3:]
		for _, bad := range []string{"", "x", good + "A", good[:len(good)-1], head + "_2_" + mac, secret.NewLinkToken(), "cnpys_999999_1_" + mac, head + "_-1_" + mac} {
			ended(t, s.Refresh(bad))
			s.Must(204, "DELETE", "/auth/session", "", map[string]any{"refreshToken": bad})
		}
		ended(t, s.Do("POST", "/auth/session/refresh", "", nil))
		s.Must(200, "POST", "/auth/session/refresh", "", map[string]any{"refreshToken": good})
	})
	t.Run("idle for 14 days", func(t *testing.T) {
		a := open()
		later(s, "13 days 23 hours")
		b := platform.SessionOf(t, s.Refresh(a.Refresh))
		later(s, "14 days 1 hour")
		ended(t, s.Refresh(b.Refresh))
	})
	t.Run("at most 90 days", func(t *testing.T) {
		a := open()
		for range 8 {
			later(s, "11 days")
			a = platform.SessionOf(t, s.Refresh(a.Refresh))
		}
		later(s, "1 day 23 hours 55 minutes")
		last := s.Refresh(a.Refresh)
		if left := platform.Member(t, last.JSON(t), "expiresIn").(float64); left > 300 || left < 240 {
			t.Errorf("the last access token lives for %v s", left)
		}
		later(s, "5 minutes")
		ended(t, s.Refresh(platform.SessionOf(t, last).Refresh))
	})
	t.Run("signing out", func(t *testing.T) {
		a, b := open(), open()
		s.Must(204, "DELETE", "/auth/session", "", map[string]any{"refreshToken": a.Refresh})
		ended(t, s.Refresh(a.Refresh))
		if works(twin, a.Token) || !works(twin, b.Token) {
			t.Error("the wrong session has ended")
		}
	})
	t.Run("a hundred at most", func(t *testing.T) {
		s.SQL(`UPDATE sessions SET ended_at = now() WHERE ended_at IS NULL`)
		s.SQL(`INSERT INTO sessions (user_id, customer_id, key, user_agent, address, expires_at)
			SELECT user_id, customer_id, key, '', '', now() + interval '1 day' FROM (SELECT * FROM sessions ORDER BY id DESC LIMIT 1) s, generate_series(1, 100)`)
		open()
		if n := s.Number(`SELECT count(*) FROM sessions WHERE ended_at IS NULL`); n != 100 {
			t.Errorf("%d sessions are alive", n)
		}
	})
	t.Run("old ones are forgotten", func(t *testing.T) {
		later(s, "16 days")
		open()
		if n, err := s.App.Store.ForgetSessions(t.Context(), 50); err != nil || n != 50 {
			t.Errorf("%d, %v", n, err)
		}
		if _, err := s.App.Store.ForgetSessions(t.Context(), 1000); err != nil || s.Number(`SELECT count(*) FROM sessions`) != 1 {
			t.Errorf("%v, %d are left", err, s.Number(`SELECT count(*) FROM sessions`))
		}
	})
}

// TestSessionsOfLocalPages: in development a page that this machine serves at another port signs in, and asks.
func TestSessionsOfLocalPages(t *testing.T) {
	t.Parallel()
	const page = "http://localhost:5173"
	login := map[string]any{"email": platform.DemoAdmin, "password": "to be told"}
	for local, want := range map[bool]int{true: 200, false: 403} {
		s := platform.Start(t, func(c *config.Config) { c.LocalOrigins = local })
		login["password"] = s.Demo.AdminPassword
		a := s.AsPage(t, "POST", "/auth/session", page, "", login)
		allowed := a.Header.Get("Access-Control-Allow-Origin") == page && a.Header.Get("Access-Control-Allow-Credentials") == "true"
		if a.Status != want || allowed != local || (a.Header.Get("Set-Cookie") != "") != local {
			t.Errorf("local origins %t: %d %v %s", local, a.Status, a.Header, a.Body)
		}
		preflight := s.Raw(t, "OPTIONS", "/graphql", map[string]string{"Origin": page, "Access-Control-Request-Method": "POST"})
		if (preflight.Header.Get("Access-Control-Allow-Origin") == page) != local {
			t.Errorf("local origins %t: %v", local, preflight.Header)
		}
	}
}

func TestSessionsByCookie(t *testing.T) {
	t.Parallel()
	s := platform.Start(t, func(c *config.Config) { c.CORSOrigins, c.LocalOrigins = []string{"https://app.example.com"}, false })
	login := map[string]any{"email": platform.DemoAdmin, "password": s.Demo.AdminPassword}
	cookieOf := func(a platform.Answer) *http.Cookie {
		t.Helper()
		list := (&http.Response{Header: a.Header}).Cookies()
		if a.Status >= 300 || len(list) != 1 {
			t.Fatalf("%d: %d cookies: %s", a.Status, len(list), a.Body)
		}
		return list[0]
	}
	a := s.AsPage(t, "POST", "/auth/session", s.URL, "", login)
	first := cookieOf(a)
	if first.Name != "canopy_session" || !first.HttpOnly || first.SameSite != http.SameSiteStrictMode || first.Path != "/auth/session" ||
		first.Secure || first.MaxAge < 14*24*3600-60 || first.MaxAge > 14*24*3600 || strings.Contains(string(a.Body), "refreshToken") {
		t.Errorf("%s %s", first, a.Body)
	}
	with := func(c *http.Cookie) string { return c.Name + "=" + c.Value }
	second := cookieOf(s.AsPage(t, "POST", "/auth/session/refresh", s.URL, with(first), nil))
	if second.Value == first.Value || second.MaxAge < 14*24*3600-60 {
		t.Errorf("%s", second)
	}
	for name, origin := range map[string]string{"another site": "https://evil.example", "another port": "http://127.0.0.1:1", "no origin that could be told": "null"} {
		t.Run(name, func(t *testing.T) {
			for _, ask := range []struct {
				method, path string
				body         any
			}{{"POST", "/auth/session", login}, {"POST", "/auth/session/refresh", nil}, {"DELETE", "/auth/session", nil}} {
				got := s.AsPage(t, ask.method, ask.path, origin, with(second), ask.body)
				platform.Scenario{Status: 403, Code: "cross_origin", Not: []string{"token"}}.Judge(t, got)
				if got.Header.Get("Set-Cookie") != "" || got.Header.Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("%v", got.Header)
				}
			}
		})
	}
	t.Run("a web front end", func(t *testing.T) {
		got := s.AsPage(t, "POST", "/auth/session/refresh", "https://app.example.com", with(second), nil)
		if second = cookieOf(got); got.Header.Get("Access-Control-Allow-Credentials") != "true" {
			t.Errorf("%v", got.Header)
		}
		if got := s.AsPage(t, "POST", "/auth/token", "https://app.example.com", "", login); got.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("credentials are for other paths, too: %v", got.Header)
		}
	})
	t.Run("is useless elsewhere", func(t *testing.T) {
		for _, path := range []string{"/tenant", "/v1/sessions", "/graphql?query={me{email}}"} {
			if got := s.AsPage(t, "GET", path, "", with(second), nil); got.Status != 401 && !strings.Contains(string(got.Body), "UNAUTHENTICATED") {
				t.Errorf("%s: %d %s", path, got.Status, got.Body)
			}
		}
	})
	t.Run("the body goes first", func(t *testing.T) {
		program := s.OpenSession(t, platform.DemoAdmin, s.Demo.AdminPassword)
		got := s.AsPage(t, "POST", "/auth/session/refresh", s.URL, with(second), map[string]any{"refreshToken": program.Refresh})
		if platform.SessionOf(t, got).Refresh == program.Refresh || got.Header.Get("Set-Cookie") != "" {
			t.Errorf("%v %s", got.Header, got.Body)
		}
	})
	gone := cookieOf(s.AsPage(t, "DELETE", "/auth/session", s.URL, with(second), nil))
	if gone.MaxAge >= 0 || gone.Value != "" || gone.Path != "/auth/session" {
		t.Errorf("%s", gone)
	}
	ended(t, s.AsPage(t, "POST", "/auth/session/refresh", s.URL, with(second), nil))
	t.Run("over https it is for https alone", func(t *testing.T) {
		s := platform.Start(t, func(c *config.Config) { c.PublicURL.Scheme = "https" })
		if c := cookieOf(s.Must(200, "POST", "/auth/session", "", map[string]any{"email": platform.DemoAdmin, "password": s.Demo.AdminPassword})); !c.Secure {
			t.Errorf("%s", c)
		}
	})
}

func TestSessionsChangeTheCompany(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	alpine, hydro := s.Customer("Alpine Energy"), s.Customer("Alpine Hydro")
	s.SetUp("greta@alpine.example")
	given := s.Must(200, "POST", "/permission", root, map[string]any{
		"appAccountId": s.Account(hydro, "tenant"), "appRoleId": s.RoleID(hydro, "tenant", "Viewer"), "userIdentityId": s.UserID("greta@alpine.example"),
	}).ID(t, "id")
	company := func(token string) int64 {
		return s.Must(200, "GET", "/tenant", token, nil).ID(t, "identity.customerId")
	}
	a := s.OpenSession(t, "greta@alpine.example", platform.NewPassword)
	b := platform.SessionOf(t, s.Refresh(a.Refresh, "customerId", hydro))
	c := platform.SessionOf(t, s.Refresh(b.Refresh))
	if company(a.Token) != alpine || company(b.Token) != hydro || company(c.Token) != hydro {
		t.Error("the session is in the wrong company")
	}
	if n := s.Number(`SELECT count(*) FROM audit_events WHERE action = 'user.signedIn' AND customer_id = $1`, hydro); n != 1 {
		t.Errorf("%d events", n)
	}
	if n := s.Number(`SELECT count(*) FROM memberships WHERE customer_id = $1 AND accepted_at IS NOT NULL AND user_id = $2`, hydro, s.UserID("greta@alpine.example")); n != 1 {
		t.Error("the company is not accepted")
	}
	platform.Scenario{Status: 403, Not: []string{"Northwind"}}.Judge(t, s.Refresh(c.Refresh, "customerId", 1))
	platform.Scenario{Status: 403}.Judge(t, s.Refresh(c.Refresh, "customerId", platform.AbsentID))
	s.Must(204, "DELETE", "/permission/"+platform.Decimal(given), root, nil)
	platform.Scenario{Status: 403}.Judge(t, s.Refresh(c.Refresh))
	d := platform.SessionOf(t, s.Refresh(c.Refresh, "customerId", alpine)) // what was refused has used nothing up
	if company(d.Token) != alpine {
		t.Error("the session is in the wrong company")
	}
	t.Run("a token of before ends it, whichever the company", func(t *testing.T) {
		later(s, "11 seconds")
		ended(t, s.Refresh(c.Refresh, "customerId", hydro))
		ended(t, s.Refresh(d.Refresh))
		if works(s, d.Token) {
			t.Error("the session goes on")
		}
	})
}

func TestSessionsAreListedAndRevoked(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.SetUp("greta@alpine.example")
	greta := s.OpenSession(t, "greta@alpine.example", platform.NewPassword)
	open := func() platform.Session { return s.OpenSession(t, platform.DemoAdmin, s.Demo.AdminPassword) }
	a, b, c := open(), open(), open()
	list := s.MustGQL(b.Token, mySessions, nil)
	for path, want := range map[string]any{
		"me.sessions.#": 3, "me.sessions.0.current": false, "me.sessions.1.current": true, "me.sessions.2.current": false,
		"me.sessions.0.address": "127.0.0.1",
	} {
		if got := platform.Member(t, list, path); !platform.SameJSON(got, want) {
			t.Errorf("%s is %v", path, got)
		}
	}
	id := func(n string) float64 { return platform.Member(t, list, "me.sessions."+n+".databaseId").(float64) }
	rest := s.Must(200, "GET", "/v1/sessions?limit=2", b.Token, nil)
	if platform.Member(t, rest.JSON(t), "1.id") != id("1") || platform.Member(t, rest.JSON(t), "1.current") != true || rest.Header.Get("Link") == "" {
		t.Errorf("%v %s", rest.Header, rest.Body)
	}
	one := func(n string) string { return "/v1/sessions/" + platform.Decimal(int64(id(n))) }
	s.Must(200, "GET", one("0"), b.Token, nil)
	t.Run("of nobody else", func(t *testing.T) {
		platform.Scenario{Status: 404}.Judge(t, s.Do("GET", one("0"), greta.Token, nil))
		platform.Scenario{Status: 404}.Judge(t, s.Do("DELETE", one("0"), greta.Token, nil))
		platform.Scenario{Status: 404}.Judge(t, s.Do("GET", one("0"), s.Root(), nil))
		platform.Scenario{Status: 403}.Judge(t, s.Do("DELETE", one("0"), s.Root(), nil))
		s.Refused(t, "NOT_FOUND", greta.Token, `mutation($id: ID!) { revokeSession(input: {id: $id}) { session { id } } }`, map[string]any{"id": id("0")})
		s.Refused(t, "NOT_FOUND", greta.Token, `query($id: ID!) { node(id: $id) { id } }`, map[string]any{"id": platform.Member(t, list, "me.sessions.0.id")})
		if got := s.MustGQL(s.Root(), mySessions, nil); platform.Member(t, got, "me.sessions.#") != 0 {
			t.Errorf("%v", got)
		}
	})
	s.Mutate(b.Token, "revokeSession", "session { id }", map[string]any{"id": id("0")})
	if works(s, a.Token) || !works(s, b.Token) || !works(s, c.Token) {
		t.Error("the wrong session has ended")
	}
	ended(t, s.Refresh(a.Refresh))
	platform.Scenario{Status: 404}.Judge(t, s.Do("DELETE", one("0"), b.Token, nil))
	d := open()
	s.Must(204, "DELETE", "/v1/sessions", b.Token, nil)
	if works(s, c.Token) || works(s, d.Token) || !works(s, b.Token) || !works(s, greta.Token) {
		t.Error("the wrong sessions have ended")
	}
	e := open()
	payload := s.Mutate(b.Token, "revokeOtherSessions", "sessions { current }", map[string]any{"includeCurrent": true})
	if platform.Member(t, payload, "sessions.#") != 2 || works(s, b.Token) || works(s, e.Token) {
		t.Errorf("%v", payload)
	}
	t.Run("told in the log", func(t *testing.T) {
		var told string
		s.Look(&told, `SELECT string_agg(action || ' ' || object_type, ', ' ORDER BY id) FROM audit_events WHERE action LIKE '%ession%'`)
		if told != "session.ended Session, user.sessionsEnded User, user.sessionsEnded User" {
			t.Error(told)
		}
	})
}

// TestTheEndOfASessionIsHeardOf: whoever listens to themselves, and to nothing else, hears what they may do now, and that their session ended elsewhere.
func TestTheEndOfASessionIsHeardOf(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.SetUp("greta@alpine.example")
	here, elsewhere := s.OpenSession(t, "greta@alpine.example", platform.NewPassword), s.OpenSession(t, "greta@alpine.example", platform.NewPassword)
	lines := s.Stream(t, `subscription { meUpdated { email grants { application } } }`, here.Token)
	me := platform.Told(t, lines, "meUpdated")
	if me["email"] != "greta@alpine.example" {
		t.Fatalf("%v", me)
	}
	grants := len(me["grants"].([]any))
	permission := s.Number(`SELECT p.id FROM permissions p JOIN roles r ON r.id = p.role_id JOIN applications x ON x.id = r.application_id
		WHERE p.user_id = $1 AND x.code = 'builder'`, s.UserID("greta@alpine.example"))
	s.Mutate(s.Root(), "setPermissionDisabled", "permission { disabled }", map[string]any{"id": permission, "disabled": true})
	if me = platform.Told(t, lines, "meUpdated"); len(me["grants"].([]any)) != grants-1 {
		t.Errorf("%v", me)
	}
	began := time.Now()
	s.Mutate(elsewhere.Token, "revokeOtherSessions", "sessions { current }", map[string]any{})
	if end := platform.Told(t, lines, "meUpdated"); end != nil {
		t.Errorf("%v", end)
	}
	t.Logf("heard after %s", time.Since(began))
}

// TestSessionsEndWithThePassword: a reset ends every session, at once and wherever something is open.
func TestSessionsEndWithThePassword(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	twin := s.Twin(t)
	a := s.OpenSession(t, platform.DemoAdmin, s.Demo.AdminPassword)
	heard := twin.OverSSE(t, a.Token)
	twin.Until(t, heard, func(int) { s.Login(platform.DemoAdmin, s.Demo.AdminPassword) })
	s.Must(204, "POST", "/auth/reset", "", map[string]any{"email": platform.DemoAdmin})
	link := s.Link(platform.DemoAdmin)
	began := time.Now()
	s.Must(204, "POST", "/auth/setup", "", map[string]any{"token": link, "password": platform.NewPassword})
	answered := time.Now()
	for h := platform.Next(t, heard, "the end"); h.Err == nil && !h.Over; h = platform.Next(t, heard, "the end") {
		continue
	}
	if took := time.Since(answered); took > platform.AtOnce {
		t.Errorf("the subscription ended %v after the answer, %v after the request", took, time.Since(began))
	}
	ended(t, s.Refresh(a.Refresh))
	if works(twin, a.Token) {
		t.Error("the access token still works")
	}
}

func TestSessionsAreThrottledAndTakeCodes(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.SetUp("greta@alpine.example")
	body := func(password string) map[string]any {
		return map[string]any{"email": "greta@alpine.example", "password": password}
	}
	for range 5 {
		s.Must(401, "POST", "/auth/session", "", body("wrong"))
	}
	waitLong(s, "account:greta@alpine.example", "127.0.0.0/24")
	wantsLongWait(t, s.Do("POST", "/auth/session", "", body(platform.NewPassword)))
	s.SQL(`UPDATE users SET otp_method = 'totp', otp_secret = 'x' WHERE email = $1`, platform.DemoAdmin)
	platform.Scenario{Status: 401, Code: "otp_required"}.Judge(t, s.Do("POST", "/auth/session", "", map[string]any{"email": platform.DemoAdmin, "password": s.Demo.AdminPassword}))
	if n := s.Number(`SELECT count(*) FROM sessions`); n != 0 {
		t.Errorf("%d sessions", n)
	}
}
