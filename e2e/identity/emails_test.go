package identity

import (
	"regexp"
	"testing"

	"canopy/e2e/platform"
)

const requestEmailChange = `mutation($e: String!, $p: String!) { requestEmailChange(input: {email: $e, password: $p}) { user { email } } }`

// addressToken is that of the link of the last mail to an address, of a kind: email confirms, stop stops.
func addressToken(t *testing.T, s *platform.Platform, to, kind string) string {
	t.Helper()
	mails := s.Mails(to)
	if len(mails) == 0 {
		t.Fatalf("no mail to %s", to)
	}
	found := regexp.MustCompile(`\S+/setup#` + kind + `=([0-9A-Za-z]+)`).FindStringSubmatch(mails[len(mails)-1].Text)
	if found == nil {
		t.Fatalf("no link in %q", mails[len(mails)-1].Text)
	}
	return found[1]
}

func TestEmailChange(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.SetUp("greta@alpine.example")
	key := s.As("Alpine Energy", "greta@alpine.example")
	s.NoDemoMails()
	own := s.OpenSession(t, "greta@alpine.example", platform.NewPassword)
	ask := func(email, password string) map[string]any { return map[string]any{"e": email, "p": password} }
	settle := func(token string, status int) {
		t.Helper()
		s.Must(status, "POST", "/auth/email", "", map[string]any{"token": token})
	}
	login := func(email string, status int) {
		t.Helper()
		s.Must(status, "POST", "/auth/token", "", map[string]any{"email": email, "password": platform.NewPassword})
		s.App.Resolver.Throttle.Succeed(t.Context(), "account:"+email+"|127.0.0.0/24")
	}
	for name, in := range map[string]map[string]any{
		"a wrong password": ask("new@alpine.example", "wrong"), "no address": ask("new", platform.NewPassword), "the same": ask("greta@alpine.example", platform.NewPassword),
	} {
		t.Run(name, func(t *testing.T) { s.Refused(t, "BAD_REQUEST", own.Token, requestEmailChange, in) })
	}
	s.App.Resolver.Throttle.Succeed(t.Context(), "account:greta@alpine.example|127.0.0.0/24")
	s.Refused(t, "FORBIDDEN", key, requestEmailChange, ask("new@alpine.example", platform.NewPassword))

	s.MustGQL(own.Token, requestEmailChange, ask("new@alpine.example", platform.NewPassword))
	token := addressToken(t, s, "new@alpine.example", "email")
	stop := addressToken(t, s, "greta@alpine.example", "stop")
	login("greta@alpine.example", 200) // it counts once it is confirmed
	s.Must(400, "POST", "/auth/setup", "", map[string]any{"token": token, "password": platform.NewPassword + "2"})
	agree := addressToken(t, s, "greta@alpine.example", "email")
	settle(token, 202) // both have to confirm it
	settle(token, 202)
	login("greta@alpine.example", 200)
	settle(agree, 204)
	for _, used := range []string{token, agree, stop} {
		settle(used, 400)
	}
	login("greta@alpine.example", 401)
	login("new@alpine.example", 200)
	if got := s.MustGQL(own.Token, `{ me { email } }`, nil); platform.Member(t, got, "me.email") != "new@alpine.example" {
		t.Errorf("%v", got)
	}
	t.Run("stopped by the old address", func(t *testing.T) {
		s.MustGQL(own.Token, requestEmailChange, ask("foe@evil.example", platform.NewPassword))
		token := addressToken(t, s, "foe@evil.example", "email")
		stop := addressToken(t, s, "new@alpine.example", "stop")
		settle(token, 202)
		settle(stop, 204)
		settle(token, 400)
		login("new@alpine.example", 200)
	})
	t.Run("confirmed by the old address first", func(t *testing.T) {
		for _, to := range []string{"first@alpine.example", "new@alpine.example"} {
			from := platform.Member(t, s.MustGQL(own.Token, `{ me { email } }`, nil), "me.email").(string)
			s.MustGQL(own.Token, requestEmailChange, ask(to, platform.NewPassword))
			settle(addressToken(t, s, from, "email"), 202)
			settle(addressToken(t, s, to, "email"), 204)
			login(to, 200)
			s.SQL(`DELETE FROM mail_outbox`)
		}
	})
	t.Run("one at a time, for a day", func(t *testing.T) {
		s.MustGQL(own.Token, requestEmailChange, ask("a@alpine.example", platform.NewPassword))
		first := addressToken(t, s, "a@alpine.example", "email")
		s.MustGQL(own.Token, requestEmailChange, ask("b@alpine.example", platform.NewPassword))
		settle(first, 400)
		second := addressToken(t, s, "b@alpine.example", "email")
		s.SQL(`UPDATE email_changes SET expires_at = now() - interval '1 second'`)
		settle(second, 400)
		if err := s.App.Store.SweepEmailChanges(t.Context()); err != nil || s.Number(`SELECT count(*) FROM email_changes`) != 0 {
			t.Error(err)
		}
	})
	t.Run("to the address of somebody else", func(t *testing.T) {
		s.MustGQL(own.Token, requestEmailChange, ask("Jonas@alpine.example", platform.NewPassword)) // it is answered alike
		if n := len(s.Mails("jonas@alpine.example")); n != 0 {
			t.Errorf("%d mails", n)
		}
	})
	t.Run("taken meanwhile", func(t *testing.T) {
		s.SQL(`DELETE FROM mail_outbox`)
		s.MustGQL(own.Token, requestEmailChange, ask("late@alpine.example", platform.NewPassword))
		token := addressToken(t, s, "late@alpine.example", "email")
		s.Must(201, "POST", "/tenant/user", s.Root(), map[string]any{"email": "LATE@alpine.example"})
		settle(addressToken(t, s, "new@alpine.example", "email"), 202)
		settle(token, 400)
		login("new@alpine.example", 200)
	})
	t.Run("bounded", func(t *testing.T) {
		s.SQL(`DELETE FROM mail_outbox`)
		for n := range 5 {
			s.MustGQL(own.Token, requestEmailChange, ask(string(rune('a'+n))+"@many.example", platform.NewPassword))
		}
		s.Refused(t, "RATE_LIMITED", own.Token, requestEmailChange, ask("z@many.example", platform.NewPassword))
	})
	t.Run("told in the log", func(t *testing.T) {
		var told string
		s.Look(&told, `SELECT details->>'email' FROM audit_events WHERE action = 'user.emailChanged' ORDER BY id LIMIT 1`)
		if told != `{"new": "new@alpine.example", "old": "greta@alpine.example"}` {
			t.Error(told)
		}
		if n := s.Number(`SELECT count(DISTINCT action) FROM audit_events WHERE action IN ('user.emailChangeRequested', 'user.emailChangeConfirmed', 'user.emailChangeStopped')`); n != 3 {
			t.Errorf("%d kinds", n)
		}
	})
}

// TestEmailChangeEndsWithThePassword: whoever has learnt a password may have begun a change of the address.
func TestEmailChangeEndsWithThePassword(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	const email, foe = platform.DemoAdmin, "foe@evil.example"
	own := s.OpenSession(t, email, s.Demo.AdminPassword)
	begin := func(password string) (token string) {
		s.MustGQL(own.Token, requestEmailChange, map[string]any{"e": foe, "p": password})
		token = addressToken(t, s, foe, "email")
		return token
	}
	over := func(token string) {
		t.Helper()
		s.Must(400, "POST", "/auth/email", "", map[string]any{"token": token})
		if n := s.Number(`SELECT count(*) FROM users WHERE email = $1`, foe); n != 0 {
			t.Error("the address has changed")
		}
	}
	token := begin(s.Demo.AdminPassword)
	s.Mutate(own.Token, "changePassword", "user { id }", map[string]any{"current": s.Demo.AdminPassword, "new": platform.NewPassword})
	over(token)
	token = begin(platform.NewPassword)
	s.Must(204, "POST", "/auth/reset", "", map[string]any{"email": email})
	s.Must(204, "POST", "/auth/setup", "", map[string]any{"token": s.Link(email), "password": platform.NewPassword + "2"})
	over(token)
}

// TestEmailChangeTellsOfNobody: neither what is counted nor when it is too much tells a free address from somebody else's.
func TestEmailChangeTellsOfNobody(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	own := s.OpenSession(t, platform.DemoAdmin, s.Demo.AdminPassword)
	s.NoDemoMails()
	ask := func(email string) map[string]any { return map[string]any{"e": email, "p": s.Demo.AdminPassword} }
	mails := func() int64 {
		return s.Number(`SELECT COALESCE(sum(n), 0) FROM usage_counts WHERE name = 'mailsPerDay'`)
	}
	before := mails()
	s.MustGQL(own.Token, requestEmailChange, ask("free@nobody.example"))
	for range 4 {
		s.MustGQL(own.Token, requestEmailChange, ask("greta@alpine.example"))
	}
	s.Refused(t, "RATE_LIMITED", own.Token, requestEmailChange, ask("greta@alpine.example"))
	if n := mails() - before; n != 0 { // people ask for themselves, not for a company that could count along
		t.Errorf("%d mails were counted", n)
	}
}
