package identity

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// TestSignInsAreAudited: what people do before they have a token is in the log of a company that they have
// accepted, with where it came from; and what strangers try with unknown addresses is in none.
func TestSignInsAreAudited(t *testing.T) {
	t.Parallel()
	s := behindProxy(t)
	const who, from = "greta@alpine.example", "203.0.113.9"
	greta, alpine, coral := s.UserID(who), s.Customer("Alpine Energy"), s.Customer("Coral Logistics")
	actions := func(customer int64) (list []string) {
		t.Helper()
		var raw string
		s.Look(&raw, `SELECT COALESCE(string_agg(concat_ws(' ', action, actor_user_id, details->'address'->>'new', details->'userAgent'->>'new'), ',' ORDER BY id), '')
			FROM audit_events WHERE customer_id = $1 AND object_type = 'User' AND object_id = $2 AND action NOT IN ('user.created', 'user.invited')`, customer, greta)
		s.SQL(`DELETE FROM audit_events`)
		return strings.FieldsFunc(raw, func(r rune) bool { return r == ',' })
	}
	told := func(customer int64, want ...string) {
		t.Helper()
		if got := actions(customer); !slices.Equal(got, want) {
			t.Errorf("the log of %d has %q, want %q", customer, got, want)
		}
	}
	by := fmt.Sprint(" ", greta, " ", from, " Go-http-client/1.1")
	unknown := " " + from + " Go-http-client/1.1"
	setUp := func(more map[string]any) {
		t.Helper()
		body := map[string]any{"token": s.Link(who), "password": platform.NewPassword}
		for k, v := range more {
			body[k] = v
		}
		wants(t, "set up", s.post(from, "/auth/setup", "", body), 204)
	}
	s.SQL(`DELETE FROM audit_events`)
	wants(t, "a wrong password before there is one", s.login(from, who, "a wrong password"), 401)
	if n := s.Number(`SELECT count(*) FROM audit_events`); n != 0 {
		t.Error("a company that was not accepted hears of a failure")
	}
	setUp(nil)
	told(alpine, "user.setUp"+by)
	wants(t, "a wrong password", s.login(from, who, "a wrong password"), 401)
	told(alpine, "user.signInFailed"+unknown)
	wants(t, "a stranger", s.login(from, "nobody@nowhere.example", "a wrong password"), 401)
	if n := s.Number(`SELECT count(*) FROM audit_events`); n != 0 {
		t.Error("an unknown address is in a log")
	}
	wants(t, "the right one", s.login(from, who, platform.NewPassword), 200)
	told(alpine, "user.signedIn"+by)
	wants(t, "a request", s.post(from, "/auth/reset", "", map[string]any{"email": who}), 204)
	told(alpine, "user.resetRequested"+unknown)
	setUp(nil)
	told(alpine, "user.passwordReset"+by)
	t.Run("to the company that the login is for", func(t *testing.T) {
		s.Must(200, "POST", "/permission", s.Root(), map[string]any{
			"appAccountId": s.Account(coral, "tenant"), "appRoleId": s.RoleID(coral, "tenant", "Viewer"), "userIdentityId": greta,
		})
		wants(t, "a wrong password", s.login(from, who, "a wrong password"), 401)
		told(coral)
		wants(t, "there", s.post(from, "/auth/token", "", map[string]any{"email": who, "password": platform.NewPassword, "customerId": coral}), 200)
		told(coral, "user.signedIn"+by)
	})
	t.Run("keys' tokens are not", func(t *testing.T) {
		s.Root()
		if n := s.Number(`SELECT count(*) FROM audit_events`); n != 0 {
			t.Errorf("%d events", n)
		}
	})
	t.Run("no more than are let through", func(t *testing.T) {
		for range 20 {
			s.login("198.18.0.1", who, "a wrong password")
		}
		if n := s.Number(`SELECT count(*) FROM audit_events`); n < 5 || n > 8 {
			t.Errorf("20 tries are %d events", n)
		}
	})
	t.Run("found by its action", func(t *testing.T) {
		a := s.Must(200, "GET", "/v1/audit?action=user.signInFailed&limit=1", s.Root(), nil)
		if got := platform.Member(t, a.JSON(t), "0.details.address.new"); got != "198.18.0.1" {
			t.Errorf("%s", a.Body)
		}
	})
}

// TestResetEndsKeys: with a person's password its API keys end, everywhere and told to each company; unless it
// asks to keep them. The first password ends none.
func TestResetEndsKeys(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	const who = "greta@alpine.example"
	alpine, hydro := s.Customer("Alpine Energy"), s.Customer("Alpine Hydro")
	s.Must(200, "POST", "/permission", s.Root(), map[string]any{
		"appAccountId": s.Account(hydro, "tenant"), "appRoleId": s.RoleID(hydro, "tenant", "Viewer"), "userIdentityId": s.UserID(who),
	})
	first, second, others := s.TokenOf(alpine, who, "tenant"), s.TokenOf(hydro, who, "tenant"), s.As("Alpine Hydro", "lukas@alpine-hydro.example")
	work := func(name string, status int) {
		t.Helper()
		for _, token := range []string{first, second} {
			wants(t, name, s.Do("GET", "/tenant", token, nil), status)
		}
		s.Must(200, "GET", "/tenant", others, nil)
	}
	setUp := func(more ...any) {
		t.Helper()
		body := map[string]any{"token": s.Link(who), "password": platform.NewPassword}
		if len(more) > 0 {
			body["revokeKeys"] = more[0]
		}
		s.Must(204, "POST", "/auth/setup", "", body)
	}
	reset := func(more ...any) {
		t.Helper()
		s.Must(204, "POST", "/auth/reset", "", map[string]any{"email": who})
		setUp(more...)
	}
	setUp(true)
	work("the first password", 200)
	reset(false)
	work("a reset that keeps them", 200)
	s.Must(204, "POST", "/auth/reset", "", map[string]any{"email": who})
	s.Must(400, "POST", "/auth/setup", "", map[string]any{"token": s.Link(who), "password": platform.NewPassword, "revokeKeys": "yes"})
	work("a refusal", 200)
	reset()
	work("a reset", 401)
	for _, customer := range []int64{alpine, hydro} {
		if n := s.Number(`SELECT count(*) FROM audit_events WHERE action = 'apiKey.revoked' AND customer_id = $1 AND actor_user_id = $2`, customer, s.UserID(who)); n != 1 {
			t.Errorf("%d events in the company %d", n, customer)
		}
	}
	if n := s.Number(`SELECT count(*) FROM audit_events WHERE action = 'user.passwordReset' AND details->'revokeKeys'->>'new' = 'true'`); n != 1 {
		t.Errorf("%d events of the reset", n)
	}
}
