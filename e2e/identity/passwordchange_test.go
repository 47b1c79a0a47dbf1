package identity

import (
	"sync"
	"testing"

	"canopy/e2e/platform"
)

const changePassword = `mutation($in: ChangePasswordInput!) { changePassword(input: $in) { user { email } } }`

func TestChangePassword(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.SetUp("greta@alpine.example")
	key := s.As("Alpine Energy", "greta@alpine.example")
	login := s.Login("greta@alpine.example", platform.NewPassword)
	other := s.OpenSession(t, "greta@alpine.example", platform.NewPassword)
	own := s.OpenSession(t, "greta@alpine.example", platform.NewPassword)
	const next = "another horse entirely"
	change := func(current, new string, more ...any) map[string]any {
		in := map[string]any{"current": current, "new": new}
		for i := 0; i+1 < len(more); i += 2 {
			in[more[i].(string)] = more[i+1]
		}
		return map[string]any{"in": in}
	}
	t.Run("refused", func(t *testing.T) {
		for name, in := range map[string]map[string]any{
			"a wrong one": change("wrong", next), "too short": change(platform.NewPassword, "9 letters"), "the same": change(platform.NewPassword, platform.NewPassword),
			"a common one": change(platform.NewPassword, "1234567890"), "her own name": change(platform.NewPassword, "greta.huber@alpine"), "none": change("", next),
		} {
			t.Run(name, func(t *testing.T) { s.Refused(t, "BAD_REQUEST", own.Token, changePassword, in) })
		}
		s.Refused(t, "FORBIDDEN", key, changePassword, change(platform.NewPassword, next))
	})
	s.App.Resolver.Throttle.Succeed(t.Context(), "account:greta@alpine.example|127.0.0.0/24")
	s.MustGQL(own.Token, changePassword, change(platform.NewPassword, next, "revokeKeys", false))
	if !works(s, own.Token) || works(s, other.Token) || works(s, login) || !works(s, key) {
		t.Errorf("own session %v, other session %v, login %v, key %v", works(s, own.Token), works(s, other.Token), works(s, login), works(s, key))
	}
	ended(t, s.Refresh(other.Refresh))
	own = platform.SessionOf(t, s.Refresh(own.Refresh))
	s.Must(401, "POST", "/auth/token", "", map[string]any{"email": "greta@alpine.example", "password": platform.NewPassword})
	s.App.Resolver.Throttle.Succeed(t.Context(), "account:greta@alpine.example|127.0.0.0/24")
	fresh := s.Login("greta@alpine.example", next)
	t.Run("keys end by default, and a login without a session ends every session", func(t *testing.T) {
		s.MustGQL(fresh, changePassword, change(next, platform.NewPassword))
		if works(s, fresh) || works(s, own.Token) || works(s, key) {
			t.Errorf("login %v, session %v, key %v", works(s, fresh), works(s, own.Token), works(s, key))
		}
	})
	t.Run("told in the log", func(t *testing.T) {
		var told string
		s.Look(&told, `SELECT string_agg((details - 'address' - 'userAgent')::text, ', ' ORDER BY id) FROM audit_events WHERE action = 'user.passwordChanged' AND details ? 'address'`)
		if told != `{"password": {"new": "changed", "old": "changed"}, "sessions": {"new": 1}, "revokeKeys": {"new": false}}, {"password": {"new": "changed", "old": "changed"}, "sessions": {"new": 1}, "revokeKeys": {"new": true}}` {
			t.Error(told)
		}
		if n := s.Number(`SELECT count(*) FROM audit_events WHERE action = 'apiKey.revoked'`); n == 0 {
			t.Error("the end of the key is not told of")
		}
	})
}

// TestPasswordsChangeOnce: of two changes at once one holds, and a sign-in with the old password never outlives it.
func TestPasswordsChangeOnce(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	own := s.OpenSession(t, platform.DemoAdmin, s.Demo.AdminPassword)
	var wait sync.WaitGroup
	var mu sync.Mutex
	var changed int
	var opened []platform.Session
	for n := range 4 {
		wait.Go(func() {
			in := map[string]any{"current": s.Demo.AdminPassword, "new": "another horse " + string(rune('a'+n))}
			if _, codes := s.GQL(own.Token, changePassword, map[string]any{"in": in}); len(codes) == 0 {
				mu.Lock()
				defer mu.Unlock()
				changed++
			}
		})
		wait.Go(func() {
			a := s.Do("POST", "/auth/session", "", map[string]any{"email": platform.DemoAdmin, "password": s.Demo.AdminPassword, "cookie": false})
			if a.Status == 200 {
				mu.Lock()
				defer mu.Unlock()
				opened = append(opened, platform.SessionOf(t, a))
			}
		})
	}
	wait.Wait()
	if changed != 1 {
		t.Errorf("%d changes of one password", changed)
	}
	for _, o := range opened {
		if works(s, o.Token) {
			t.Error("a session that was opened with the old password is alive")
		}
	}
	if !works(s, own.Token) {
		t.Error("the own session has ended")
	}
}
