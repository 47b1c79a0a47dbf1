package identity

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// inTurn has calls come one after the other while a person is held, each when those before it wait, and then lets the person go: so each meets what the one before it
// has done, though it came before that was done.
func inTurn(t *testing.T, s *platform.Platform, email string, calls ...func() platform.Answer) []platform.Answer {
	t.Helper()
	tx, err := s.DB.Begin()
	devtest.Check(t, err)
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.Exec(`SELECT FROM users WHERE email = $1 FOR UPDATE`, email); err != nil {
		t.Fatal(err)
	}
	answers := make([]platform.Answer, len(calls))
	var all sync.WaitGroup
	for i, call := range calls {
		all.Go(func() { answers[i] = call() })
		s.UntilWaiting(t, int64(i+1))
	}
	devtest.Check(t, tx.Rollback())
	all.Wait()
	return answers
}

// TestNothingIsMadeBehindAPasswordChange: who asks for a key or a token while the password changes, with a session that it ends, gets none.
func TestNothingIsMadeBehindAPasswordChange(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	const email = "greta@alpine.example"
	s.SetUp(email)
	own, stolen := s.OpenSession(t, email, platform.NewPassword), s.OpenSession(t, email, platform.NewPassword)
	login := s.Login(email, platform.NewPassword)
	key := s.Must(201, "POST", "/v1/keys", own.Token, map[string]any{"name": "her own"}).ID(t, "id")
	answers := inTurn(t, s, email,
		func() platform.Answer {
			in := map[string]any{"in": map[string]any{"current": platform.NewPassword, "new": "another horse entirely"}}
			return s.Do("POST", "/graphql", own.Token, map[string]any{"query": changePassword, "variables": in})
		},
		func() platform.Answer { return s.Do("POST", "/v1/keys", stolen.Token, map[string]any{"name": "late"}) },
		func() platform.Answer { return s.Do("POST", "/v1/keys", login, map[string]any{"name": "late"}) },
		func() platform.Answer {
			return s.Do("POST", "/v1/scim-tokens", stolen.Token, map[string]any{"name": "late"})
		},
		func() platform.Answer {
			return s.Do("POST", fmt.Sprintf("/v1/keys/%d/rotate", key), stolen.Token, map[string]any{})
		},
	)
	if a := answers[0]; a.Status != http.StatusOK || !works(s, own.Token) {
		t.Errorf("the change: %d %s", a.Status, a.Body)
	}
	for i, a := range answers[1:] {
		if a.Status != http.StatusUnauthorized {
			t.Errorf("call %d: %d %s", i+1, a.Status, a.Body)
		}
	}
	if n := s.Number(`SELECT count(*) FROM api_keys k JOIN users u ON u.id = k.user_id WHERE u.email = $1 AND k.revoked_at IS NULL`, email); n != 0 {
		t.Errorf("%d keys live on", n)
	}
	if n := s.Number(`SELECT count(*) FROM scim_tokens`); n != 0 {
		t.Errorf("%d SCIM tokens", n)
	}
}

// TestNothingIsMadeBehindARemoval: who signs in to a company, or asks for a key there, while being taken out of it, gets neither.
func TestNothingIsMadeBehindARemoval(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	const email = "anna@alpine.example"
	alpine, hydro, root := s.Customer("Alpine Energy"), s.Customer("Alpine Hydro"), s.Root()
	for _, company := range []int64{alpine, hydro} {
		s.Must(200, "POST", "/permission", root, map[string]any{"appAccountId": s.Account(company, "tenant"), "appRoleId": s.RoleID(company, "tenant", "Admin"), "email": email})
	}
	s.SetUp(email)
	inAlpine := s.OpenSession(t, email, platform.NewPassword, "customerId", alpine)
	inHydro := s.OpenSession(t, email, platform.NewPassword, "customerId", hydro)
	signIn := map[string]any{"email": email, "password": platform.NewPassword, "cookie": false, "customerId": alpine}
	answers := inTurn(t, s, email,
		func() platform.Answer {
			return s.Do("DELETE", fmt.Sprintf("/tenant/user/%d?customerId=%d", s.UserID(email), alpine), root, nil)
		},
		func() platform.Answer { return s.Do("POST", "/auth/session", "", signIn) },
		func() platform.Answer { return s.Refresh(inHydro.Refresh, "customerId", alpine) },
		func() platform.Answer {
			return s.Do("POST", "/v1/keys", inAlpine.Token, map[string]any{"name": "late"})
		},
	)
	if a := answers[0]; a.Status != http.StatusNoContent {
		t.Errorf("the removal: %d %s", a.Status, a.Body)
	}
	for i, want := range []int{http.StatusForbidden, http.StatusForbidden, http.StatusUnauthorized} {
		if a := answers[i+1]; a.Status != want {
			t.Errorf("call %d: %d %s, want %d", i+1, a.Status, a.Body, want)
		}
	}
	if n := s.Number(`SELECT count(*) FROM sessions WHERE customer_id = $1 AND user_id = $2 AND ended_at IS NULL`, alpine, s.UserID(email)); n != 0 {
		t.Errorf("%d sessions live on", n)
	}
	if n := s.Number(`SELECT count(*) FROM api_keys WHERE user_id = $1 AND revoked_at IS NULL`, s.UserID(email)); n != 0 {
		t.Errorf("%d keys live on", n)
	}
	if !works(s, inHydro.Token) {
		t.Error("the session in the other company has ended")
	}
}

// TestErasureAmidKeyedCalls: an erasure doesn't wait for calls of the person's under keys of idempotency, which wait for it; and what is kept for these goes, too.
func TestErasureAmidKeyedCalls(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	alpine, root := s.Customer("Alpine Energy"), s.Root()
	for name, amid := range map[string]func(t *testing.T, email string, call, erase func() platform.Answer) []platform.Answer{
		"which have begun": func(t *testing.T, email string, call, erase func() platform.Answer) []platform.Answer {
			tx, err := s.DB.Begin()
			devtest.Check(t, err)
			defer func() { _ = tx.Rollback() }()
			if _, err := tx.Exec(`INSERT INTO users (email, first_name, last_name) VALUES ($1, '', '')`, "made-by-"+email); err != nil { // which the call waits for
				t.Fatal(err)
			}
			answers := make([]platform.Answer, 2)
			var all sync.WaitGroup
			for i, do := range []func() platform.Answer{call, erase} {
				all.Go(func() { answers[i] = do() })
				s.UntilWaiting(t, int64(i+1))
			}
			devtest.Check(t, tx.Rollback())
			all.Wait()
			return answers
		},
		"which begin": func(t *testing.T, email string, call, erase func() platform.Answer) []platform.Answer {
			return inTurn(t, s, email, erase, call)
		},
	} {
		t.Run(name, func(t *testing.T) {
			email := fmt.Sprintf("person%d@alpine.example", len(name))
			s.Must(200, "POST", "/permission", root, map[string]any{"appAccountId": s.Account(alpine, "tenant"), "appRoleId": s.RoleID(alpine, "tenant", "Admin"), "email": email})
			s.SetUp(email)
			id, own := s.UserID(email), s.OpenSession(t, email, platform.NewPassword)
			keyed := func(key, address string) func() platform.Answer {
				return func() platform.Answer {
					return s.Send(platform.Keyed(t, "POST", s.URL+"/tenant/user", own.Token, key, fmt.Sprintf(`{"email": %q}`, address)))
				}
			}
			if a := keyed("before", "before-"+email)(); a.Status != http.StatusCreated {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
			erase := func() platform.Answer {
				return s.Do("POST", "/graphql", root, map[string]any{"query": `mutation($u: ID!) { eraseUser(input: {userId: $u}) { deletedId } }`, "variables": map[string]any{"u": id}})
			}
			for i, a := range amid(t, email, keyed("amid", "made-by-"+email), erase) {
				if a.Status >= http.StatusInternalServerError {
					t.Errorf("call %d: %d %s", i, a.Status, a.Body)
				}
			}
			if n := s.Number(`SELECT count(*) FROM users WHERE id = $1 AND erased_at IS NOT NULL`, id); n != 1 {
				t.Error("the person is not erased")
			}
			if n := s.Number(`SELECT count(*) FROM idempotency_keys WHERE user_id = $1`, id); n != 0 {
				t.Errorf("%d answers are kept", n)
			}
		})
	}
}

// TestFailuresBehindAnErasure: a sign-in that fails while the person is erased leaves no trace of where it came from.
func TestFailuresBehindAnErasure(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	const email = "jonas@alpine.example"
	s.SetUp(email)
	id, root := s.UserID(email), s.Root()
	answers := inTurn(t, s, email,
		func() platform.Answer {
			return s.Do("POST", "/graphql", root, map[string]any{"query": `mutation($u: ID!) { eraseUser(input: {userId: $u}) { deletedId } }`, "variables": map[string]any{"u": id}})
		},
		func() platform.Answer {
			return s.Do("POST", "/auth/session", "", map[string]any{"email": email, "password": "not hers at all", "cookie": false})
		},
	)
	if answers[1].Status != http.StatusUnauthorized {
		t.Errorf("%d %s", answers[1].Status, answers[1].Body)
	}
	if n := s.Number(`SELECT count(*) FROM audit_events WHERE object_type = 'User' AND object_id = $1 AND details::text LIKE '%127.0.0.1%'`, id); n != 0 {
		t.Errorf("%d events tell of an address", n)
	}
}

// TestSignOnBehindAnErasure: who comes from a provider, and is being erased, is sent to where sign-ins begin, and is somebody new the next time.
func TestSignOnBehindAnErasure(t *testing.T) {
	t.Parallel()
	p := newProviding(t, map[string]any{"defaultRoleId": nil})
	const email = "gwen@corp.example"
	if got := reason(t, p.idp.enter(t, p.Platform, p.at(), "g1", email)); got != "sso_waiting" {
		t.Fatal(got)
	}
	id, root := p.UserID(email), p.Root()
	answers := inTurn(t, p.Platform, email,
		func() platform.Answer {
			return p.Do("POST", "/graphql", root, map[string]any{"query": `mutation($u: ID!) { eraseUser(input: {userId: $u}) { deletedId } }`, "variables": map[string]any{"u": id}})
		},
		func() platform.Answer { return p.idp.enter(t, p.Platform, p.at(), "g1", email) },
		func() platform.Answer { return p.idp.enter(t, p.Platform, p.at(), "g2", email) },
	)
	for i, name := range []string{"known", "by the address"} {
		if got := reason(t, answers[i+1]); got != "sso_state" {
			t.Errorf("%s: %s", name, got)
		}
	}
	p.forgive()
	if got := reason(t, p.idp.enter(t, p.Platform, p.at(), "g1", email)); got != "sso_waiting" || p.UserID(email) == id {
		t.Errorf("she is nobody new: %s", got)
	}
}
