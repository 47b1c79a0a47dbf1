package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"canopy/internal/secret"
)

// code is an authenticator's code, so many steps from now.
func code(t *testing.T, plain string, steps int) string {
	t.Helper()
	c, err := totp.GenerateCode(plain, time.Now().Add(time.Duration(steps)*30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLogin(t *testing.T) {
	s := newStack(t)
	root := s.root()
	s.setUp("greta@alpine.example")
	alpine, hydro := s.company("Alpine Energy"), s.company("Alpine Hydro")
	body := func(email, password string, more ...any) map[string]any {
		m := map[string]any{"email": email, "password": password}
		for i := 0; i+1 < len(more); i += 2 {
			m[more[i].(string)] = more[i+1]
		}
		return m
	}
	s.must(200, "POST", "/permission", root, map[string]any{
		"appAccountId": s.account(hydro, "assistant"), "appRoleId": s.roleID(hydro, "assistant", "Viewer"), "userIdentityId": s.userID("greta@alpine.example"),
	})
	post := func(name string, in any, status int, code string, has map[string]any, not ...string) scenario {
		return scenario{name: name, method: "POST", path: "/auth/token", body: in, status: status, code: code, has: has, not: not}
	}
	s.play(t, []scenario{
		post("in the default company", body("greta@alpine.example", newPassword), 200, "", map[string]any{
			"customerOptions.#": 2, "customerOptions.0": map[string]any{"customerId": alpine, "displayName": "Alpine Energy", "roleName": "Owner", "isOwner": true},
			"customerOptions.1": map[string]any{"customerId": hydro, "displayName": "Alpine Hydro", "roleName": "Viewer", "isOwner": false},
		}),
		post("in capitals", body("GRETA@Alpine.Example", newPassword), 200, "", nil),
		post("in another company", body("greta@alpine.example", newPassword, "customerId", hydro), 200, "", nil),
		post("in a foreign company", body("greta@alpine.example", newPassword, "customerId", 1), 403, "FORBIDDEN", nil, "Northwind"),
		post("without a password set", body("jonas@alpine.example", newPassword), 401, "UNAUTHENTICATED", nil, "token\""),
		post("by a stranger", body("nobody@nowhere.example", newPassword), 401, "UNAUTHENTICATED", nil),
		post("with a wrong password", body("greta@alpine.example", newPassword+"!"), 401, "UNAUTHENTICATED", nil),
		post("without a body's password", map[string]any{"email": "greta@alpine.example"}, 400, "BAD_REQUEST", nil),
	})
	t.Run("the three refusals read the same", func(t *testing.T) {
		a := s.must(401, "POST", "/auth/token", "", body("greta@alpine.example", "wrong wrong wrong"))
		b := s.must(401, "POST", "/auth/token", "", body("nobody@nowhere.example", "wrong wrong wrong"))
		if x, y := member(t, a.json(t), "detail"), member(t, b.json(t), "detail"); x != y {
			t.Errorf("%q and %q", x, y)
		}
	})
}

func TestLoginTokenServesEachApplicationByItsOwnRole(t *testing.T) {
	s := newStack(t)
	root := s.root()
	labs := s.company("Brightwater Labs")
	s.must(200, "POST", "/permission", root, map[string]any{
		"appAccountId": s.account(labs, "assistant"), "appRoleId": s.roleID(labs, "assistant", "Owner"), "email": "mixed@labs.example", "name": "Mixed Roles",
	})
	s.setUp("mixed@labs.example")
	token := s.login("mixed@labs.example", newPassword)
	scenario{method: "GET", path: "/tenant", status: 403}.judge(t, s.do("GET", "/tenant", token, nil))
	data := s.mustGQL(token, `{ me { grants { application } } }`, nil)
	if !sameJSON(member(t, data, "me.grants"), []any{map[string]any{"application": "assistant"}}) {
		t.Errorf("%v", data)
	}
}

func TestLoginThrottle(t *testing.T) {
	t.Run("by account and address", func(t *testing.T) {
		s := newStack(t)
		s.setUp("greta@alpine.example")
		for i := range 5 {
			s.must(401, "POST", "/auth/token", "", map[string]any{"email": "greta@alpine.example", "password": fmt.Sprint("wrong ", i)})
		}
		a := s.must(429, "POST", "/auth/token", "", map[string]any{"email": "greta@alpine.example", "password": newPassword})
		if n, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || n < 1 || member(t, a.json(t), "code") != "RATE_LIMITED" {
			t.Errorf("Retry-After %q: %s", a.Header.Get("Retry-After"), a.Body)
		}
		// Others behind the same address go on, until too much fails there.
		s.must(200, "POST", "/auth/token", "", map[string]any{"email": demoAdmin, "password": s.info.AdminPassword})
		for i := range 25 {
			s.must(401, "POST", "/auth/token", "", map[string]any{"email": fmt.Sprintf("guess%d@example.com", i), "password": "wrong password"})
		}
		s.must(429, "POST", "/auth/token", "", map[string]any{"email": demoAdmin, "password": s.info.AdminPassword})
		// API keys are not guessed at, and go on.
		s.must(200, "GET", "/tenant", s.root(), nil)
	})
	t.Run("by reset requests, unsaid", func(t *testing.T) {
		s := newStack(t)
		for range 9 {
			s.must(204, "POST", "/auth/reset", "", map[string]any{"email": demoAdmin})
		}
		if n := len(s.mails(demoAdmin)); n != 5 {
			t.Errorf("%d mails, want 5", n)
		}
	})
}

func TestTwoFactor(t *testing.T) {
	s := newStack(t)
	login := func(otp any) scenario {
		body := map[string]any{"email": demoAdmin, "password": s.info.AdminPassword}
		if otp != nil {
			body["otp"] = otp
		}
		return scenario{method: "POST", path: "/auth/token", body: body}
	}
	try := func(t *testing.T, otp any, status int, code string) {
		t.Helper()
		c := login(otp)
		c.status, c.code = status, code
		c.judge(t, s.do(c.method, c.path, "", c.body))
	}
	token := s.login(demoAdmin, s.info.AdminPassword)
	confirm := func(code string) (map[string]any, []string) {
		return s.gql(token, `mutation($c: String!) { confirmTotp(input: {code: $c}) { user { otpMethod } } }`, map[string]any{"c": code})
	}
	if _, codes := confirm("123456"); !sameJSON(codes, []string{"BAD_REQUEST"}) {
		t.Errorf("a code before the enrolment: %v", codes)
	}
	made := s.mustGQL(token, `mutation { enableTotp(input: {}) { secret uri } }`, nil)["enableTotp"].(map[string]any)
	plain := made["secret"].(string)
	if uri := made["uri"].(string); !strings.HasPrefix(uri, "otpauth://totp/") || !strings.Contains(uri, "secret="+plain) {
		t.Errorf("uri %q", uri)
	}
	try(t, nil, 200, "") // enrolment has not been confirmed
	if n := s.number(`SELECT count(*) FROM users WHERE position(convert_to($1, 'UTF8') IN otp_secret) > 0`, plain); n != 0 {
		t.Error("the secret lies open in the database")
	}
	first := code(t, plain, -1)
	if data, codes := confirm(first); len(codes) > 0 || member(t, data, "confirmTotp.user.otpMethod") != "totp" {
		t.Fatalf("%v %v", data, codes)
	}
	try(t, nil, 401, "otp_required")
	try(t, "", 401, "otp_required")
	try(t, first, 401, "UNAUTHENTICATED") // used by the confirmation
	now := code(t, plain, 0)
	try(t, now, 200, "")
	try(t, now, 401, "UNAUTHENTICATED") // replayed
	try(t, "12345", 401, "UNAUTHENTICATED")
	if a := s.must(200, "GET", "/tenant/users", s.root(), nil); member(t, a.json(t), "0.otpMethod") != "totp" {
		t.Errorf("%s", a.Body)
	}
	next := code(t, plain, 1)
	if _, codes := s.gql(token, `mutation { enableTotp(input: {}) { secret } }`, nil); !sameJSON(codes, []string{"BAD_REQUEST"}) {
		t.Errorf("enrolled twice: %v", codes)
	}
	data := s.mustGQL(token, `mutation($c: String!) { disableTotp(input: {code: $c}) { user { otpMethod } } }`, map[string]any{"c": next})
	if member(t, data, "disableTotp.user.otpMethod") != "none" {
		t.Errorf("%v", data)
	}
	try(t, nil, 200, "")
	t.Run("codes are throttled", func(t *testing.T) {
		s := newStack(t)
		token := s.login(demoAdmin, s.info.AdminPassword)
		s.mustGQL(token, `mutation { enableTotp(input: {}) { secret } }`, nil)
		for range 5 {
			s.refused(t, "BAD_REQUEST", token, `mutation { confirmTotp(input: {code: "000000"}) { user { id } } }`, nil)
		}
		s.refused(t, "RATE_LIMITED", token, `mutation { confirmTotp(input: {code: "000000"}) { user { id } } }`, nil)
	})
}

func TestSetUp(t *testing.T) {
	s := newStack(t)
	root := s.root()
	setup := func(t *testing.T, token, password string, status int) {
		t.Helper()
		c := scenario{method: "POST", path: "/auth/setup", body: map[string]any{"token": token, "password": password}, status: status}
		a := s.do(c.method, c.path, "", c.body)
		c.judge(t, a)
		if strings.Contains(string(a.Body), password) && password != "" {
			t.Error("the password comes back")
		}
	}
	link := s.link("greta@alpine.example")
	t.Run("stored by its hash only", func(t *testing.T) {
		hash := secret.HashSecret(link)
		if s.number(`SELECT count(*) FROM link_tokens WHERE hash = $1`, hash[:]) != 1 || s.number(`SELECT count(*) FROM link_tokens WHERE hash = convert_to($1, 'UTF8')`, link) != 0 {
			t.Error("the link's row has another key than the hash")
		}
	})
	t.Run("refuses short passwords and keeps the link", func(t *testing.T) {
		setup(t, link, "9 letters", 400)
		setup(t, link, "", 400)
		setup(t, link, strings.Repeat("x", 10_000), 400)
	})
	t.Run("works once", func(t *testing.T) {
		setup(t, link, newPassword, 204)
		setup(t, link, newPassword+"2", 400)
		s.login("greta@alpine.example", newPassword)
		users := s.must(200, "GET", fmt.Sprintf("/tenant/users/%d", s.company("Alpine Energy")), root, nil)
		if member(t, users.json(t), "0.hasPassword") != true || member(t, users.json(t), "1.hasPassword") != false {
			t.Errorf("%s", users.Body)
		}
		if n := s.number(`SELECT count(*) FROM users WHERE password_hash LIKE '$argon2id$%'`); n != 2 {
			t.Errorf("%d argon2id hashes", n)
		}
	})
	t.Run("unknown", func(t *testing.T) { setup(t, secret.NewLinkToken(), newPassword, 400) })
	t.Run("an invitation lives for a week", func(t *testing.T) {
		const life = `SELECT round(extract(epoch FROM expires_at - created_at)) FROM link_tokens WHERE kind = $1 ORDER BY created_at DESC LIMIT 1`
		if n := s.number(life, "invitation"); n != 7*24*3600 {
			t.Errorf("%d s", n)
		}
		link := s.link("mira@alpine.example")
		s.sql(`UPDATE link_tokens SET expires_at = now() - interval '1 second' WHERE user_id = $1`, s.userID("mira@alpine.example"))
		setup(t, link, newPassword, 400)
		s.must(204, "POST", "/auth/reset", "", map[string]any{"email": "greta@alpine.example"})
		if n := s.number(life, "reset"); n != 3600 {
			t.Errorf("a reset link lives for %d s", n)
		}
	})
	t.Run("a new invitation ends the old one", func(t *testing.T) {
		old := s.link("jonas@alpine.example")
		s.must(204, "POST", "/tenant/user/init", root, map[string]any{"id": s.userID("jonas@alpine.example")})
		setup(t, old, newPassword, 400)
		setup(t, s.link("jonas@alpine.example"), newPassword, 204)
	})
}

func TestReset(t *testing.T) {
	s := newStack(t)
	before := s.login(demoAdmin, s.info.AdminPassword)
	for _, email := range []string{demoAdmin, strings.ToUpper(demoAdmin), "nobody@nowhere.example"} {
		a := s.must(204, "POST", "/auth/reset", "", map[string]any{"email": email})
		if len(a.Body) > 0 {
			t.Errorf("%s: %s", email, a.Body)
		}
	}
	mails := s.mails(demoAdmin)
	if len(mails) != 2 || len(s.mails("nobody@nowhere.example")) != 0 {
		t.Fatalf("%d mails", len(mails))
	}
	if old := linkPattern.FindStringSubmatch(mails[0].Text)[1]; s.do("POST", "/auth/setup", "", map[string]any{"token": old, "password": newPassword}).Status != 400 {
		t.Error("the first of two reset links still works")
	}
	s.must(200, "GET", "/tenant", before, nil)
	key := s.root()
	s.must(204, "POST", "/auth/setup", "", map[string]any{"token": s.link(demoAdmin), "password": newPassword})
	t.Run("ends logins made before, even a moment ago", func(t *testing.T) {
		scenario{status: 401, code: "invalid_token", not: []string{"Northwind"}}.judge(t, s.do("GET", "/tenant", before, nil))
	})
	t.Run("a login right after it works", func(t *testing.T) { s.must(200, "GET", "/tenant", s.login(demoAdmin, newPassword), nil) })
	t.Run("leaves API keys alone", func(t *testing.T) { s.must(200, "GET", "/tenant", key, nil) })
	t.Run("the old password is gone", func(t *testing.T) {
		s.must(401, "POST", "/auth/token", "", map[string]any{"email": demoAdmin, "password": s.info.AdminPassword})
	})
}

// An API key acts for its user in one company; an owner there may hold one of another member. It must
// not decide how that user logs in anywhere.
func TestTwoFactorIsNotForAPIKeys(t *testing.T) {
	s := newStack(t)
	for _, op := range []string{`enableTotp(input: {}) { secret }`, `confirmTotp(input: {code: "123456"}) { user { id } }`, `disableTotp(input: {code: "123456"}) { user { id } }`} {
		s.refused(t, "FORBIDDEN", s.root(), "mutation { "+op+" }", nil)
	}
}
