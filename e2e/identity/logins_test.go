package identity

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"canopy/e2e/platform"
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
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	s.SetUp("greta@alpine.example")
	alpine, hydro := s.Customer("Alpine Energy"), s.Customer("Alpine Hydro")
	body := func(email, password string, more ...any) map[string]any {
		m := map[string]any{"email": email, "password": password}
		for i := 0; i+1 < len(more); i += 2 {
			m[more[i].(string)] = more[i+1]
		}
		return m
	}
	s.Must(200, "POST", "/permission", root, map[string]any{
		"appAccountId": s.Account(hydro, "assistant"), "appRoleId": s.RoleID(hydro, "assistant", "Viewer"), "userIdentityId": s.UserID("greta@alpine.example"),
	})
	post := func(name string, in any, status int, code string, has map[string]any, not ...string) platform.Scenario {
		return platform.Scenario{Name: name, Method: "POST", Path: "/auth/token", Body: in, Status: status, Code: code, Has: has, Not: not}
	}
	s.Play(t, []platform.Scenario{
		post("in the default company", body("greta@alpine.example", platform.NewPassword), 200, "", map[string]any{
			"customerOptions.#": 2, "customerOptions.0": map[string]any{"customerId": alpine, "displayName": "Alpine Energy", "roleName": "Owner", "isOwner": true},
			"customerOptions.1": map[string]any{"customerId": hydro, "displayName": "Alpine Hydro", "roleName": "Viewer", "isOwner": false},
		}),
		post("in capitals", body("GRETA@Alpine.Example", platform.NewPassword), 200, "", nil),
		post("in another company", body("greta@alpine.example", platform.NewPassword, "customerId", hydro), 200, "", nil),
		post("in a foreign company", body("greta@alpine.example", platform.NewPassword, "customerId", 1), 403, "FORBIDDEN", nil, "Northwind"),
		post("without a password set", body("jonas@alpine.example", platform.NewPassword), 401, "UNAUTHENTICATED", nil, "token\""),
		post("by a stranger", body("nobody@nowhere.example", platform.NewPassword), 401, "UNAUTHENTICATED", nil),
		post("with a wrong password", body("greta@alpine.example", platform.NewPassword+"!"), 401, "UNAUTHENTICATED", nil),
		post("without a body's password", map[string]any{"email": "greta@alpine.example"}, 400, "BAD_REQUEST", nil),
	})
	t.Run("the three refusals read the same", func(t *testing.T) {
		a := s.Must(401, "POST", "/auth/token", "", body("greta@alpine.example", "wrong wrong wrong"))
		b := s.Must(401, "POST", "/auth/token", "", body("nobody@nowhere.example", "wrong wrong wrong"))
		if x, y := platform.Member(t, a.JSON(t), "detail"), platform.Member(t, b.JSON(t), "detail"); x != y {
			t.Errorf("%q and %q", x, y)
		}
	})
}

func TestLoginTokenServesEachApplicationByItsOwnRole(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	labs := s.Customer("Brightwater Labs")
	s.Must(200, "POST", "/permission", root, map[string]any{
		"appAccountId": s.Account(labs, "assistant"), "appRoleId": s.RoleID(labs, "assistant", "Owner"), "email": "mixed@labs.example", "name": "Mixed Roles",
	})
	s.SetUp("mixed@labs.example")
	token := s.Login("mixed@labs.example", platform.NewPassword)
	platform.Scenario{Method: "GET", Path: "/tenant", Status: 403}.Judge(t, s.Do("GET", "/tenant", token, nil))
	data := s.MustGQL(token, `{ me { grants { application } } }`, nil)
	if !platform.SameJSON(platform.Member(t, data, "me.grants"), []any{map[string]any{"application": "assistant"}}) {
		t.Errorf("%v", data)
	}
}

func TestLoginThrottle(t *testing.T) {
	t.Parallel()
	t.Run("by account and address", func(t *testing.T) {
		s := platform.Start(t)
		s.SetUp("greta@alpine.example")
		for i := range 5 {
			s.Must(401, "POST", "/auth/token", "", map[string]any{"email": "greta@alpine.example", "password": fmt.Sprint("wrong ", i)})
		}
		waitLong(s, "account:greta@alpine.example", "127.0.0.0/24")
		wantsLongWait(t, s.Do("POST", "/auth/token", "", map[string]any{"email": "greta@alpine.example", "password": platform.NewPassword}))
		// Others behind the same address go on, until too much fails there; and then who has logged in from it.
		s.Must(200, "POST", "/auth/token", "", map[string]any{"email": platform.DemoAdmin, "password": s.Demo.AdminPassword})
		guesses := 0
		for guesses < 40 && s.Do("POST", "/auth/token", "", map[string]any{"email": fmt.Sprintf("guess%d@example.com", guesses), "password": "wrong password"}).Status == 401 {
			guesses++
		}
		if guesses < 30 || guesses > 35 {
			t.Errorf("%d guesses at other accounts", guesses)
		}
		s.Must(200, "POST", "/auth/token", "", map[string]any{"email": platform.DemoAdmin, "password": s.Demo.AdminPassword})
		// API keys are not guessed at, and go on.
		s.Must(200, "GET", "/tenant", s.Root(), nil)
	})
	t.Run("by reset requests, unsaid", func(t *testing.T) {
		s := platform.Start(t)
		for range 9 {
			s.Must(204, "POST", "/auth/reset", "", map[string]any{"email": platform.DemoAdmin})
		}
		if n := len(s.Mails(platform.DemoAdmin)); n != 5 {
			t.Errorf("%d mails, want 5", n)
		}
	})
}

func TestTwoFactor(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	login := func(otp any) platform.Scenario {
		body := map[string]any{"email": platform.DemoAdmin, "password": s.Demo.AdminPassword}
		if otp != nil {
			body["otp"] = otp
		}
		return platform.Scenario{Method: "POST", Path: "/auth/token", Body: body}
	}
	try := func(t *testing.T, otp any, status int, code string) {
		t.Helper()
		c := login(otp)
		c.Status, c.Code = status, code
		c.Judge(t, s.Do(c.Method, c.Path, "", c.Body))
	}
	token := s.Login(platform.DemoAdmin, s.Demo.AdminPassword)
	confirm := func(code string) (map[string]any, []string) {
		return s.GQL(token, `mutation($c: String!) { confirmTotp(input: {code: $c}) { user { otpMethod } recoveryCodes } }`, map[string]any{"c": code})
	}
	if _, codes := confirm("123456"); !platform.SameJSON(codes, []string{"BAD_REQUEST"}) {
		t.Errorf("a code before the enrolment: %v", codes)
	}
	const enable = `mutation($p: String) { enableTotp(input: {password: $p}) { secret uri } }`
	const disable = `mutation($c: String!, $p: String) { disableTotp(input: {code: $c, password: $p}) { user { otpMethod } } }`
	const regenerate = `mutation($p: String) { regenerateRecoveryCodes(input: {password: $p}) { recoveryCodes } }`
	password := map[string]any{"p": s.Demo.AdminPassword}
	s.Refused(t, "BAD_REQUEST", token, enable, nil)
	s.Refused(t, "BAD_REQUEST", token, enable, map[string]any{"p": "wrong"})
	made := s.MustGQL(token, enable, password)["enableTotp"].(map[string]any)
	plain := made["secret"].(string)
	if uri := made["uri"].(string); !strings.HasPrefix(uri, "otpauth://totp/") || !strings.Contains(uri, "secret="+plain) {
		t.Errorf("uri %q", uri)
	}
	try(t, nil, 200, "") // enrolment has not been confirmed
	if n := s.Number(`SELECT count(*) FROM users WHERE position(convert_to($1, 'UTF8') IN otp_secret) > 0`, plain); n != 0 {
		t.Error("the secret lies open in the database")
	}
	first := code(t, plain, 0)
	data, codes := confirm(first)
	if len(codes) > 0 || platform.Member(t, data, "confirmTotp.user.otpMethod") != "totp" || platform.Member(t, data, "confirmTotp.recoveryCodes.#") != 10 {
		t.Fatalf("%v %v", data, codes)
	}
	recovery := platform.Member(t, data, "confirmTotp.recoveryCodes").([]any)
	try(t, nil, 401, "otp_required")
	try(t, "", 401, "otp_required")
	alone := s.Do("POST", "/auth/session", "", map[string]any{"email": platform.DemoAdmin, "password": s.Demo.AdminPassword})
	if told := platform.Member(t, alone.JSON(t), "errors"); !platform.SameJSON(told, []any{map[string]any{"location": "body.otp", "message": "is needed"}}) {
		t.Errorf("who has no passkey hears of %v", told)
	}
	try(t, first, 401, "UNAUTHENTICATED")                       // used by the confirmation
	s.SQL(`UPDATE users SET otp_last_step = otp_last_step - 1`) // as half a minute later
	now := code(t, plain, 0)
	try(t, now, 200, "")
	try(t, now, 401, "UNAUTHENTICATED") // replayed
	try(t, "12345", 401, "UNAUTHENTICATED")
	if a := s.Must(200, "GET", "/tenant/users", s.Root(), nil); platform.Member(t, a.JSON(t), "0.otpMethod") != "totp" {
		t.Errorf("%s", a.Body)
	}
	try(t, recovery[0], 200, "")
	try(t, recovery[0], 401, "UNAUTHENTICATED") // used
	try(t, strings.ToLower(recovery[1].(string)), 200, "")
	s.Refused(t, "BAD_REQUEST", token, regenerate, nil)
	anew := platform.Member(t, s.MustGQL(token, regenerate, password), "regenerateRecoveryCodes.recoveryCodes").([]any)
	try(t, recovery[2], 401, "UNAUTHENTICATED") // void
	try(t, anew[0], 200, "")
	next := code(t, plain, 1)
	if _, codes := s.GQL(token, enable, password); !platform.SameJSON(codes, []string{"BAD_REQUEST"}) {
		t.Errorf("enrolled twice: %v", codes)
	}
	s.Refused(t, "BAD_REQUEST", token, disable, map[string]any{"c": next})
	s.Refused(t, "BAD_REQUEST", token, disable, map[string]any{"c": next, "p": "wrong"})
	s.App.Resolver.Throttle.Succeed(t.Context(), "account:"+platform.DemoAdmin+"|127.0.0.0/24")
	data = s.MustGQL(token, disable, map[string]any{"c": next, "p": s.Demo.AdminPassword})
	if platform.Member(t, data, "disableTotp.user.otpMethod") != "none" {
		t.Errorf("%v", data)
	}
	try(t, nil, 200, "")
	var told string
	s.Look(&told, `SELECT string_agg(action || ' ' || (details - 'address' - 'userAgent')::text, E'\n' ORDER BY id) FROM audit_events
		WHERE (action LIKE 'user.totp%' OR action LIKE 'user.recovery%') AND details->'address'->>'new' = '127.0.0.1' AND details->'userAgent'->>'new' LIKE 'Go-http-client/%'`)
	if want := `user.totpStarted {"otpSecret": {"new": "changed"}}
user.totpEnabled {"otpMethod": {"new": "totp", "old": "none"}, "recoveryCodes": {"new": "changed"}}
user.recoveryCodesRegenerated {"recoveryCodes": {"new": "changed", "old": "changed"}}
user.totpDisabled {"otpMethod": {"new": "none", "old": "totp"}, "otpSecret": {"old": "changed"}, "recoveryCodes": {"old": "changed"}}`; told != want {
		t.Errorf("the audit log has\n%s", told)
	}
	if n := s.Number(`SELECT count(*) FROM recovery_codes`); n != 0 {
		t.Errorf("%d recovery codes are left", n)
	}
	s.Refused(t, "BAD_REQUEST", token, regenerate, password)
	t.Run("an operator turns it off", func(t *testing.T) {
		s.MustGQL(token, enable, password)
		s.SQL(`UPDATE users SET otp_method = 'totp' WHERE email = $1`, platform.DemoAdmin)
		try(t, nil, 401, "otp_required")
		if err := s.App.Resolver.OperatorResetTOTP(t.Context(), platform.DemoAdmin); err != nil {
			t.Fatal(err)
		}
		try(t, nil, 200, "")
		if n := s.Number(`SELECT count(*) FROM audit_events WHERE action = 'user.totpReset' AND actor_user_id IS NULL`); n != 1 {
			t.Errorf("%d events", n)
		}
	})
	t.Run("passwords are throttled", func(t *testing.T) {
		s := platform.Start(t)
		token := s.Login(platform.DemoAdmin, s.Demo.AdminPassword)
		for range 5 {
			s.Refused(t, "BAD_REQUEST", token, enable, map[string]any{"p": "wrong"})
		}
		waitLong(s, "account:"+platform.DemoAdmin, "127.0.0.0/24")
		wantsLongWait(t, s.Do("POST", "/graphql", token, map[string]any{"query": enable, "variables": map[string]any{"p": s.Demo.AdminPassword}}))
	})
	t.Run("codes are throttled", func(t *testing.T) {
		s := platform.Start(t)
		token := s.Login(platform.DemoAdmin, s.Demo.AdminPassword)
		s.MustGQL(token, enable, map[string]any{"p": s.Demo.AdminPassword})
		const wrong = `mutation { confirmTotp(input: {code: "000000"}) { user { id } } }`
		for range 5 {
			s.Refused(t, "BAD_REQUEST", token, wrong, nil)
		}
		waitLong(s, "code account:"+platform.DemoAdmin, "127.0.0.0/24")
		wantsLongWait(t, s.Do("POST", "/graphql", token, map[string]any{"query": wrong}))
	})
}

func TestSetUp(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	root := s.Root()
	setup := func(t *testing.T, token, password string, status int) {
		t.Helper()
		c := platform.Scenario{Method: "POST", Path: "/auth/setup", Body: map[string]any{"token": token, "password": password}, Status: status}
		a := s.Do(c.Method, c.Path, "", c.Body)
		c.Judge(t, a)
		if strings.Contains(string(a.Body), password) && password != "" {
			t.Error("the password comes back")
		}
	}
	link := s.Link("greta@alpine.example")
	t.Run("stored by its hash only", func(t *testing.T) {
		hash := secret.HashSecret(link)
		if s.Number(`SELECT count(*) FROM link_tokens WHERE hash = $1`, hash[:]) != 1 || s.Number(`SELECT count(*) FROM link_tokens WHERE hash = convert_to($1, 'UTF8')`, link) != 0 {
			t.Error("the link's row has another key than the hash")
		}
	})
	t.Run("refuses short passwords and keeps the link", func(t *testing.T) {
		setup(t, link, "9 letters", 400)
		setup(t, link, "", 400)
		setup(t, link, strings.Repeat("x", 10_000), 400)
	})
	t.Run("tells what it is for, and is not used up by that", func(t *testing.T) {
		want := map[string]any{"email": "greta@alpine.example", "customerId": s.Customer("Alpine Energy"), "customerName": "Alpine Energy"}
		if got := s.Must(200, "POST", "/auth/setup/link", "", map[string]any{"token": link}).JSON(t); !platform.SameJSON(got, want) {
			t.Errorf("%v", got)
		}
	})
	t.Run("works once", func(t *testing.T) {
		setup(t, link, platform.NewPassword, 204)
		setup(t, link, platform.NewPassword+"2", 400)
		platform.Scenario{Status: 400, Not: []string{"greta"}}.Judge(t, s.Do("POST", "/auth/setup/link", "", map[string]any{"token": link}))
		s.Login("greta@alpine.example", platform.NewPassword)
		users := s.Must(200, "GET", fmt.Sprintf("/tenant/users/%d", s.Customer("Alpine Energy")), root, nil)
		if platform.Member(t, users.JSON(t), "0.hasPassword") != true || platform.Member(t, users.JSON(t), "1.hasPassword") != false {
			t.Errorf("%s", users.Body)
		}
		if n := s.Number(`SELECT count(*) FROM users WHERE password_hash LIKE '$argon2id$%'`); n != 2 {
			t.Errorf("%d argon2id hashes", n)
		}
	})
	t.Run("unknown", func(t *testing.T) { setup(t, secret.NewLinkToken(), platform.NewPassword, 400) })
	t.Run("an invitation lives for a week", func(t *testing.T) {
		s.Must(204, "POST", "/tenant/user/init", root, map[string]any{"id": s.UserID("mira@alpine.example")})
		const life = `SELECT round(extract(epoch FROM expires_at - created_at)) FROM link_tokens WHERE kind = $1 ORDER BY created_at DESC LIMIT 1`
		if n := s.Number(life, "invitation"); n != 7*24*3600 {
			t.Errorf("%d s", n)
		}
		link := s.Link("mira@alpine.example")
		s.SQL(`UPDATE link_tokens SET expires_at = now() - interval '1 second' WHERE user_id = $1`, s.UserID("mira@alpine.example"))
		setup(t, link, platform.NewPassword, 400)
		s.Must(204, "POST", "/auth/reset", "", map[string]any{"email": "greta@alpine.example"})
		if n := s.Number(life, "reset"); n != 3600 {
			t.Errorf("a reset link lives for %d s", n)
		}
	})
	t.Run("a new invitation ends the old one", func(t *testing.T) {
		old := s.Link("jonas@alpine.example")
		s.Must(204, "POST", "/tenant/user/init", root, map[string]any{"id": s.UserID("jonas@alpine.example")})
		setup(t, old, platform.NewPassword, 400)
		setup(t, s.Link("jonas@alpine.example"), platform.NewPassword, 204)
	})
}

func TestReset(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	before := s.Login(platform.DemoAdmin, s.Demo.AdminPassword)
	for _, email := range []string{platform.DemoAdmin, strings.ToUpper(platform.DemoAdmin), "nobody@nowhere.example"} {
		a := s.Must(204, "POST", "/auth/reset", "", map[string]any{"email": email})
		if len(a.Body) > 0 {
			t.Errorf("%s: %s", email, a.Body)
		}
	}
	mails := s.Mails(platform.DemoAdmin)
	if len(mails) != 2 || len(s.Mails("nobody@nowhere.example")) != 0 {
		t.Fatalf("%d mails", len(mails))
	}
	if old := platform.LinkPattern.FindStringSubmatch(mails[0].Text)[1]; s.Do("POST", "/auth/setup", "", map[string]any{"token": old, "password": platform.NewPassword}).Status != 400 {
		t.Error("the first of two reset links still works")
	}
	s.Must(200, "GET", "/tenant", before, nil)
	want := map[string]any{"email": platform.DemoAdmin, "customerId": nil, "customerName": nil}
	if got := s.Must(200, "POST", "/auth/setup/link", "", map[string]any{"token": s.Link(platform.DemoAdmin)}).JSON(t); !platform.SameJSON(got, want) {
		t.Errorf("%v", got)
	}
	key := s.Root()
	s.Must(204, "POST", "/auth/setup", "", map[string]any{"token": s.Link(platform.DemoAdmin), "password": platform.NewPassword})
	t.Run("ends logins made before, even a moment ago", func(t *testing.T) {
		platform.Scenario{Status: 401, Code: "invalid_token", Not: []string{"Northwind"}}.Judge(t, s.Do("GET", "/tenant", before, nil))
	})
	t.Run("a login right after it works", func(t *testing.T) {
		s.Must(200, "GET", "/tenant", s.Login(platform.DemoAdmin, platform.NewPassword), nil)
	})
	t.Run("ends API keys", func(t *testing.T) {
		platform.Scenario{Status: 401, Code: "invalid_token"}.Judge(t, s.Do("GET", "/tenant", key, nil))
		if got := s.Exchange(s.GrantForm(nil)); got.Status != 401 {
			t.Errorf("the exchange: %d %s", got.Status, got.Body)
		}
	})
	t.Run("the old password is gone", func(t *testing.T) {
		s.Must(401, "POST", "/auth/token", "", map[string]any{"email": platform.DemoAdmin, "password": s.Demo.AdminPassword})
	})
}

// An API key acts for its user in one company; an owner there may hold one of another member. It must
// not decide how that user logs in anywhere.
func TestTwoFactorIsNotForAPIKeys(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	for _, op := range []string{`enableTotp(input: {}) { secret }`, `confirmTotp(input: {code: "123456"}) { user { id } }`, `disableTotp(input: {code: "123456"}) { user { id } }`, `regenerateRecoveryCodes(input: {}) { recoveryCodes }`} {
		s.Refused(t, "FORBIDDEN", s.Root(), "mutation { "+op+" }", nil)
	}
}
