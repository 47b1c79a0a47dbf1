package identity

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"canopy/db"
	"canopy/e2e/platform"
)

// keyed is a platform on which the owner of a company has a passkey.
type keyed struct {
	*platform.Platform
	alpine int64
	greta  platform.Session
	device *platform.Authenticator
	id     int64
}

const gretas = "greta@alpine.example"

func newKeyed(t *testing.T) keyed {
	t.Helper()
	k := keyed{Platform: platform.Start(t)}
	k.SetUp(gretas)
	k.alpine = k.Customer("Alpine Energy")
	k.greta = k.OpenSession(t, gretas, platform.NewPassword)
	k.device, k.id = k.AddPasskey(t, k.greta.Token, platform.NewPassword)
	return k
}

// signIn signs in with the password and, where it is given, a second factor.
func (k keyed) signIn(email string, more ...any) platform.Answer {
	body := map[string]any{"email": email, "password": platform.NewPassword, "cookie": false}
	for i := 0; i+1 < len(more); i += 2 {
		body[more[i].(string)] = more[i+1]
	}
	return k.Do("POST", "/auth/session", "", body)
}

// forgive has failed tries forgotten, which would slow the next ones down.
func (k keyed) forgive() {
	k.App.Resolver.Addresses.Succeed(k.T.Context(), "passkey address:127.0.0.0/24")
	k.App.Resolver.Throttle.Succeed(k.T.Context(), "account:"+gretas+"|127.0.0.0/24")
}

// refusedBy judges who was not let in, and that nothing has come of it.
func (k keyed) refusedBy(t *testing.T, what string, a platform.Answer, status int, code string) {
	t.Helper()
	if a.Status != status || codeOf(t, a) != code {
		t.Errorf("%s: %d %s, want %d %s", what, a.Status, a.Body, status, code)
	}
}

// TestPasskeys: a passkey is made, signs in alone and beside the password, in whichever process, and is renamed and removed.
func TestPasskeys(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.SetUp(gretas)
	k := keyed{Platform: s, alpine: s.Customer("Alpine Energy"), greta: s.OpenSession(t, gretas, platform.NewPassword)}
	const begin = `mutation($p: String!) { beginPasskey(input: {password: $p}) { state options } }`
	const create = `mutation($s: String!, $c: JSON!, $n: String) { createPasskey(input: {state: $s, credential: $c, name: $n}) { passkey { id databaseId name synced backedUp lastUsedAt version } recoveryCodes } }`
	asked := platform.Member(t, s.MustGQL(k.greta.Token, begin, map[string]any{"p": platform.NewPassword}), "beginPasskey")
	options := platform.Member(t, asked, "options")
	for member, want := range map[string]any{
		"rp.id": "localhost", "user.name": gretas, "attestation": "none", "authenticatorSelection.residentKey": "required",
		"authenticatorSelection.userVerification": "required",
	} {
		if got := platform.Member(t, options, member); got != want {
			t.Errorf("%s is %v, want %v", member, got, want)
		}
	}
	k.device = platform.NewAuthenticator(t, s.URL)
	for _, name := range []string{"", "  ", "a\x00b", strings.Repeat("n", 201), "turned\u202e"} {
		s.Refused(t, "BAD_REQUEST", k.greta.Token, create, map[string]any{"s": platform.Member(t, asked, "state"), "c": k.device.Make(t, options), "n": name})
	}
	s.Refused(t, "BAD_REQUEST", k.greta.Token, create, map[string]any{"s": platform.Member(t, asked, "state"), "c": map[string]any{"id": 7}})
	made := platform.Member(t, s.MustGQL(k.greta.Token, create, map[string]any{"s": platform.Member(t, asked, "state"), "c": k.device.Make(t, options), "n": "Phone"}), "createPasskey")
	id := int64(platform.Member(t, made, "passkey.databaseId").(float64))
	codes := platform.Member(t, made, "recoveryCodes").([]any)
	if len(codes) != 10 || platform.Member(t, made, "passkey.name") != "Phone" || platform.Member(t, made, "passkey.backedUp") != true || platform.Member(t, made, "passkey.lastUsedAt") != nil {
		t.Errorf("%v", made)
	}
	t.Run("it stands alone", func(t *testing.T) {
		a := s.SignInBy(s.Passkey(t, k.device))
		if a.Status != http.StatusOK {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		got := s.MustGQL(platform.SessionOf(t, a).Token, `{ me { email customerId user { otpMethod } passkeys { name lastUsedAt } } }`, nil)
		if platform.Member(t, got, "me.email") != gretas || platform.Member(t, got, "me.customerId") != float64(k.alpine) || platform.Member(t, got, "me.user.otpMethod") != "passkey" || platform.Member(t, got, "me.passkeys.0.lastUsedAt") == nil {
			t.Errorf("%v", got)
		}
	})
	t.Run("a page has the session in its cookie", func(t *testing.T) {
		a := s.AsPage(t, "POST", "/auth/session/passkey", s.URL, "", s.Passkey(t, k.device))
		if token, _ := refreshed(t, s, a); token == "" {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		k.refusedBy(t, "a page of another origin", s.AsPage(t, "POST", "/auth/session/passkey", "https://evil.example", "", s.Passkey(t, k.device)), 403, "cross_origin")
	})
	t.Run("another process goes on", func(t *testing.T) {
		twin := s.Twin(t)
		wants(t, "an answer to the first", twin.SignInBy(s.Passkey(t, k.device)), 200)
		asked := s.Must(200, "POST", "/v1/passkeys/begin", k.greta.Token, map[string]any{"password": platform.NewPassword}).JSON(t)
		second := platform.NewAuthenticator(t, s.URL)
		second.Step, second.Flags = 0, platform.Present|platform.Verified // a key of USB that keeps no counter
		a := twin.Must(201, "POST", "/v1/passkeys", k.greta.Token, map[string]any{"state": platform.Member(t, asked, "state"), "credential": second.Make(t, platform.Member(t, asked, "options"))}).JSON(t)
		if platform.Member(t, a, "name") != "Passkey" || platform.Member(t, a, "synced") != false || a.(map[string]any)["recoveryCodes"] != nil {
			t.Errorf("%v", a)
		}
		for range 2 {
			wants(t, "without a counter", s.SignInBy(s.Passkey(t, second)), 200)
		}
		wants(t, "removed", s.Do("DELETE", fmt.Sprint("/v1/passkeys/", int64(platform.Member(t, a, "id").(float64))), k.greta.Token, map[string]any{"password": platform.NewPassword}), 204)
		k.refusedBy(t, "one that was removed", s.SignInBy(s.Passkey(t, second)), 401, "passkey_refused")
	})
	t.Run("it stands beside the password", func(t *testing.T) {
		k.refusedBy(t, "the password alone", k.signIn(gretas), 401, "passkey_required")
		k.refusedBy(t, "at /auth/token", s.Do("POST", "/auth/token", "", map[string]any{"email": gretas, "password": platform.NewPassword}), 401, "passkey_required")
		k.refusedBy(t, "a code of nobody's", k.signIn(gretas, "otp", "123456"), 401, "UNAUTHENTICATED")
		wants(t, "with it", k.signIn(gretas, "passkey", s.Passkey(t, k.device)), 200)
		wants(t, "at /auth/token", s.Do("POST", "/auth/token", "", map[string]any{"email": gretas, "password": platform.NewPassword, "passkey": s.Passkey(t, k.device)}), 200)
		k.refusedBy(t, "with a wrong password", k.signIn(gretas, "passkey", s.Passkey(t, k.device), "password", "wrong wrong wrong"), 401, "UNAUTHENTICATED")
		wants(t, "with a recovery code", k.signIn(gretas, "otp", codes[0]), 200)
		k.refusedBy(t, "with the same", k.signIn(gretas, "otp", codes[0]), 401, "UNAUTHENTICATED")
	})
	t.Run("a stranger's password hears nothing of it", func(t *testing.T) {
		a, b := k.signIn(gretas, "password", "wrong wrong wrong"), k.signIn("nobody@nowhere.example")
		if x, y := platform.Member(t, a.JSON(t), "detail"), platform.Member(t, b.JSON(t), "detail"); x != y || codeOf(t, a) != codeOf(t, b) {
			t.Errorf("%s and %s", a.Body, b.Body)
		}
	})
	t.Run("it is renamed and removed", func(t *testing.T) {
		k.forgive()
		at := fmt.Sprint("/v1/passkeys/", id)
		got := s.MustGQL(k.greta.Token, `mutation($id: ID!) { updatePasskey(input: {id: $id, name: "Old phone", ifVersion: 1}) { passkey { name version } } }`, map[string]any{"id": id})
		if platform.Member(t, got, "updatePasskey.passkey.name") != "Old phone" || platform.Member(t, got, "updatePasskey.passkey.version") != float64(2) {
			t.Errorf("%v", got)
		}
		s.Refused(t, "BAD_REQUEST", k.greta.Token, `mutation($id: ID!) { updatePasskey(input: {id: $id, name: "Older phone", ifVersion: 1}) { passkey { name } } }`, map[string]any{"id": id})
		wants(t, "listed", s.Do("GET", "/v1/passkeys", k.greta.Token, nil), 200)
		wants(t, "removed without the password", s.Do("DELETE", at, k.greta.Token, map[string]any{"password": ""}), 400)
		wants(t, "removed with a wrong one", s.Do("DELETE", at, k.greta.Token, map[string]any{"password": "wrong wrong wrong"}), 400)
		wants(t, "removed", s.Do("DELETE", at, k.greta.Token, map[string]any{"password": platform.NewPassword}), 204)
		wants(t, "once more", s.Do("DELETE", at, k.greta.Token, map[string]any{"password": platform.NewPassword}), 404)
		k.refusedBy(t, "it signs in still", s.SignInBy(s.Passkey(t, k.device)), 401, "passkey_refused")
		wants(t, "the password alone, as before", k.signIn(gretas), 200)
		if n := s.Number(`SELECT count(*) FROM recovery_codes`); n != 0 {
			t.Errorf("%d recovery codes are left", n)
		}
	})
	var told string
	s.Look(&told, `SELECT string_agg(action || ' ' || (details - 'address' - 'userAgent' - 'user')::text, E'\n' ORDER BY id) FROM audit_events WHERE object_type = 'Passkey' AND object_id = $1`, id)
	if want := `passkey.created {"name": {"new": "Phone"}, "synced": {"new": true}, "otpMethod": {"new": "passkey", "old": "none"}, "recoveryCodes": {"new": "changed"}}
passkey.updated {"name": {"new": "Old phone", "old": "Phone"}}
passkey.deleted {"name": {"old": "Old phone"}, "synced": {"old": true}, "otpMethod": {"new": "none", "old": "passkey"}, "recoveryCodes": {"old": "changed"}}`; told != want {
		t.Errorf("the audit log has\n%s", told)
	}
	if n := s.Number(`SELECT count(*) FROM audit_events WHERE action = 'user.signedIn' AND (details #>> '{passkey,new}')::bigint = $1 AND details ?& '{address,userAgent}'`, id); n != 5 {
		t.Errorf("%d sign-ins tell of the passkey", n)
	}
}

// TestPasskeyAnswersAreJudged: each fault of an answer, alone, lets nobody in, alone or beside the password, and is told in the log of the person's company.
func TestPasskeyAnswersAreJudged(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	k.SetUp("olivia@brightwater.example")
	olivia := k.OpenSession(t, "olivia@brightwater.example", platform.NewPassword)
	others, _ := k.AddPasskey(t, olivia.Token, platform.NewPassword)
	for range 3 {
		wants(t, "the right one", k.SignInBy(k.Passkey(t, k.device)), 200)
	}
	good := *k.device
	for name, spoil := range map[string]func(*platform.Authenticator){
		"a page of another origin":         func(a *platform.Authenticator) { a.Page = "https://evil.example" },
		"a page that looks like it":        func(a *platform.Authenticator) { a.Page += ".evil.example" },
		"a page in a frame of another's":   func(a *platform.Authenticator) { a.Crossed = true },
		"no page":                          func(a *platform.Authenticator) { a.Page = "" },
		"a passkey of another domain":      func(a *platform.Authenticator) { a.Domain = "evil.example" },
		"nobody was there":                 func(a *platform.Authenticator) { a.Flags &^= platform.Present },
		"nobody has verified who it is":    func(a *platform.Authenticator) { a.Flags &^= platform.Verified },
		"it was for one device":            func(a *platform.Authenticator) { a.Flags &^= platform.Synced | platform.BackedUp },
		"another key":                      func(a *platform.Authenticator) { a.Rekey(t) },
		"the handle of somebody else":      func(a *platform.Authenticator) { a.Handle = others.Handle },
		"a handle that is longer":          func(a *platform.Authenticator) { a.Handle = append([]byte{0}, a.Handle...) },
		"no handle":                        func(a *platform.Authenticator) { a.Handle = nil },
		"the id of somebody else's":        func(a *platform.Authenticator) { a.ID = others.ID },
		"an id that nobody has":            func(a *platform.Authenticator) { a.ID = []byte("nobody's") },
		"a counter that went back":         func(a *platform.Authenticator) { a.Count = 0; a.Step = 1 },
		"a counter that stands still":      func(a *platform.Authenticator) { a.Step = 0 },
		"a counter that is no longer kept": func(a *platform.Authenticator) { a.Count, a.Step = 0, 0 },
	} {
		t.Run(name, func(t *testing.T) {
			spoilt := good
			spoil(&spoilt)
			k.forgive()
			before := k.Number(`SELECT count(*) FROM sessions`)
			told := `SELECT count(*) FROM audit_events WHERE action = 'user.signInFailed' AND details ?& '{address,userAgent,passkey,reason}'`
			events := k.Number(told)
			k.refusedBy(t, "alone", k.SignInBy(k.Passkey(t, &spoilt)), 401, "passkey_refused")
			k.refusedBy(t, "beside the password", k.signIn(gretas, "passkey", k.Passkey(t, &spoilt)), 401, "passkey_refused")
			if n := k.Number(`SELECT count(*) FROM sessions`); n != before {
				t.Error("a session has begun")
			}
			known := name != "an id that nobody has"
			if n := k.Number(told); known && n < events+1 || !known && n != events {
				t.Errorf("%d events more", n-events)
			}
		})
	}
	if n := k.Number(`SELECT count(*) FROM audit_events WHERE action = 'user.signInFailed' AND details #>> '{reason,new}' = 'the counter went back'`); n == 0 {
		t.Error("it is not told that a counter went back")
	}
	k.forgive()
	wants(t, "the right one, after all of them", k.SignInBy(k.Passkey(t, k.device)), 200)
	t.Run("somebody else's passkey", func(t *testing.T) {
		k.refusedBy(t, "beside the password", k.signIn(gretas, "passkey", k.Passkey(t, others)), 401, "passkey_refused")
		wants(t, "alone, it is somebody else", k.SignInBy(k.Passkey(t, others)), 200)
		k.refusedBy(t, "alone, to another company", k.SignInBy(k.Passkey(t, others), "customerId", k.alpine), 403, "FORBIDDEN")
	})
	t.Run("an answer works once", func(t *testing.T) {
		k.forgive()
		answer := k.Passkey(t, k.device)
		wants(t, "the first time", k.SignInBy(answer), 200)
		k.refusedBy(t, "again", k.SignInBy(answer), 400, "passkey_state")
		k.refusedBy(t, "beside the password", k.signIn(gretas, "passkey", answer), 400, "passkey_state")
		second := k.Passkey(t, k.device)
		wants(t, "beside the password", k.signIn(gretas, "passkey", second), 200)
		k.refusedBy(t, "and then alone", k.SignInBy(second), 400, "passkey_state")
	})
	t.Run("an answer that came twice at once is one", func(t *testing.T) {
		k.SQL(`UPDATE passkeys SET sign_count = 0`)
		k.device.Count, k.device.Step = 0, 0
		answer := k.Passkey(t, k.device)
		before := k.Number(`SELECT count(*) FROM sessions`)
		done := make(chan int)
		for range 8 {
			go func() { done <- k.SignInBy(answer).Status }()
		}
		in := 0
		for range 8 {
			if <-done == http.StatusOK {
				in++
			}
		}
		if n := k.Number(`SELECT count(*) FROM sessions`); in != 1 || n != before+1 {
			t.Errorf("%d were let in, %d sessions", in, n-before)
		}
	})
	t.Run("an answer to another question", func(t *testing.T) {
		a, b := k.Passkey(t, k.device), k.Passkey(t, k.device)
		k.refusedBy(t, "of another state", k.SignInBy(map[string]any{"state": a["state"], "credential": b["credential"]}), 401, "passkey_refused")
		made := k.Must(200, "POST", "/v1/passkeys/begin", k.greta.Token, map[string]any{"password": platform.NewPassword}).JSON(t)
		k.refusedBy(t, "to that for a new passkey", k.SignInBy(map[string]any{"state": platform.Member(t, made, "state"), "credential": b["credential"]}), 400, "passkey_state")
		for _, state := range []string{"", "x", "AAAA", a["state"].(string) + "A"} {
			k.refusedBy(t, "of no state", k.SignInBy(map[string]any{"state": state, "credential": a["credential"]}), 400, "passkey_state")
		}
	})
	t.Run("an answer that is late", func(t *testing.T) {
		asked := k.Must(200, "POST", "/auth/passkey", "", nil).JSON(t)
		late, err := json.Marshal(map[string]any{"c": platform.Member(t, asked, "options.challenge"), "e": time.Now().Add(-time.Second).Unix()})
		if err != nil {
			t.Fatal(err)
		}
		state := base64.RawURLEncoding.EncodeToString(db.SealedPasskeyUses.Seal(k.App.Box, late))
		k.refusedBy(t, "late", k.SignInBy(map[string]any{"state": state, "credential": k.device.Answer(t, platform.Member(t, asked, "options"))}), 400, "passkey_state")
	})
	t.Run("too many", func(t *testing.T) {
		k.forgive()
		status := 0
		for range 60 {
			if status = k.SignInBy(k.Passkey(t, platform.NewAuthenticator(t, k.URL))).Status; status == http.StatusTooManyRequests {
				break
			}
		}
		if status != http.StatusTooManyRequests {
			t.Errorf("%d", status)
		}
	})
}

// TestPasskeysAreOnesOwn: nobody makes one of somebody else's, with a token that was stolen, a key, another's session, or an identity provider.
func TestPasskeysAreOnesOwn(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	k.SetUp("olivia@brightwater.example")
	olivia := k.OpenSession(t, "olivia@brightwater.example", platform.NewPassword)
	begin := func(token string, password any) platform.Answer {
		return k.Do("POST", "/v1/passkeys/begin", token, map[string]any{"password": password})
	}
	begun := func(token string) (state, options any) {
		asked := begin(token, platform.NewPassword).JSON(t)
		return platform.Member(t, asked, "state"), platform.Member(t, asked, "options")
	}
	create := func(token string, state, credential any) platform.Answer {
		return k.Do("POST", "/v1/passkeys", token, map[string]any{"state": state, "credential": credential})
	}
	passkeys := func() int64 { return k.Number(`SELECT count(*) FROM passkeys`) }
	t.Run("a token alone makes none", func(t *testing.T) {
		k.refusedBy(t, "no password", begin(k.greta.Token, ""), 400, "BAD_REQUEST")
		k.refusedBy(t, "another's password", begin(k.greta.Token, "wrong wrong wrong"), 400, "BAD_REQUEST")
		k.refusedBy(t, "a key", begin(k.Root(), k.Demo.AdminPassword), 403, "FORBIDDEN")
		state, options := begun(olivia.Token)
		k.refusedBy(t, "what somebody else has begun", create(k.greta.Token, state, platform.NewAuthenticator(t, k.URL).Make(t, options)), 400, "passkey_state")
		state, options = begun(k.greta.Token)
		k.refusedBy(t, "begun here, for somebody else", create(olivia.Token, state, platform.NewAuthenticator(t, k.URL).Make(t, options)), 400, "passkey_state")
		again := platform.SessionOf(t, k.signIn(gretas, "passkey", k.Passkey(t, k.device)))
		k.refusedBy(t, "begun in another session", create(again.Token, state, platform.NewAuthenticator(t, k.URL).Make(t, options)), 400, "passkey_state")
		use := k.Must(200, "POST", "/auth/passkey", "", nil).JSON(t)
		k.refusedBy(t, "a question of signing in", create(k.greta.Token, platform.Member(t, use, "state"), platform.NewAuthenticator(t, k.URL).Make(t, options)), 400, "passkey_state")
		k.refusedBy(t, "a guess", create(k.greta.Token, "AAAA", platform.NewAuthenticator(t, k.URL).Make(t, options)), 400, "passkey_state")
		if n := passkeys(); n != 1 {
			t.Errorf("%d passkeys", n)
		}
	})
	t.Run("passwords are throttled", func(t *testing.T) {
		for range 5 {
			begin(olivia.Token, "wrong wrong wrong")
		}
		waitLong(k.Platform, "account:olivia@brightwater.example", "127.0.0.0/24")
		wantsLongWait(t, begin(olivia.Token, platform.NewPassword))
		k.App.Resolver.Throttle.Succeed(t.Context(), "account:olivia@brightwater.example|127.0.0.0/24")
	})
	t.Run("answers are judged", func(t *testing.T) {
		k.forgive()
		for name, spoil := range map[string]func(*platform.Authenticator){
			"a page of another origin": func(a *platform.Authenticator) { a.Page = "https://evil.example" },
			"another domain":           func(a *platform.Authenticator) { a.Domain = "evil.example" },
			"nobody verified":          func(a *platform.Authenticator) { a.Flags &^= platform.Verified },
			"an id that is too long":   func(a *platform.Authenticator) { a.ID = make([]byte, 1024) },
			"a passkey of another's":   func(a *platform.Authenticator) { a.ID = k.device.ID },
			"backed up without a way":  func(a *platform.Authenticator) { a.Flags &^= platform.Synced },
		} {
			state, options := begun(olivia.Token)
			a := platform.NewAuthenticator(t, k.URL)
			spoil(a)
			if got := create(olivia.Token, state, a.Make(t, options)); got.Status != 400 {
				t.Errorf("%s: %d %s", name, got.Status, got.Body)
			}
		}
		state, options := begun(olivia.Token)
		first := platform.NewAuthenticator(t, k.URL).Make(t, options)
		wants(t, "the right one", create(olivia.Token, state, first), 201)
		k.refusedBy(t, "again", create(olivia.Token, state, first), 400, "passkey_state")
		if n := passkeys(); n != 2 {
			t.Errorf("%d passkeys", n)
		}
	})
	t.Run("another's are not there", func(t *testing.T) {
		at := fmt.Sprint("/v1/passkeys/", k.id)
		k.refusedBy(t, "seen", k.Do("GET", at, olivia.Token, nil), 404, "NOT_FOUND")
		k.refusedBy(t, "seen with a key", k.Do("GET", at, k.Root(), nil), 404, "NOT_FOUND")
		k.refusedBy(t, "renamed", k.Do("PUT", at, olivia.Token, map[string]any{"name": "Mine"}), 404, "NOT_FOUND")
		k.refusedBy(t, "removed", k.Do("DELETE", at, olivia.Token, map[string]any{"password": platform.NewPassword}), 404, "NOT_FOUND")
	})
	t.Run("a session that has ended makes none", func(t *testing.T) {
		state, options := begun(k.greta.Token)
		k.Must(204, "POST", "/auth/reset", "", map[string]any{"email": gretas})
		k.Must(204, "POST", "/auth/setup", "", map[string]any{"token": k.Link(gretas), "password": platform.NewPassword + "!"})
		wants(t, "after a reset", create(k.greta.Token, state, platform.NewAuthenticator(t, k.URL).Make(t, options)), 401)
		k.forgive()
		// Who holds the mailbox alone has no second factor by it.
		k.refusedBy(t, "the new password alone", k.signIn(gretas, "password", platform.NewPassword+"!"), 401, "passkey_required")
		wants(t, "the passkey stays", k.SignInBy(k.Passkey(t, k.device)), 200)
	})
}

// TestPasskeysOfWhoIsGone: a passkey opens what its person's password would open, and no more.
func TestPasskeysOfWhoIsGone(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	root := k.Root()
	user := k.UserID(gretas)
	in := func() platform.Answer { k.forgive(); return k.SignInBy(k.Passkey(t, k.device)) }
	k.Must(200, "POST", fmt.Sprintf("/tenant/customer/%d/suspend", k.alpine), root, nil)
	k.refusedBy(t, "a company that is suspended", in(), 403, "customer_suspended")
	k.Must(200, "POST", fmt.Sprintf("/tenant/customer/%d/resume", k.alpine), root, nil)
	wants(t, "resumed", in(), 200)
	t.Run("where a provider is required", func(t *testing.T) {
		p := k.Number(`INSERT INTO identity_providers (customer_id, name, issuer, client_id, client_secret, required) VALUES ($1, 'Login', 'https://login.example', 'c', '', true) RETURNING id`, k.alpine)
		wants(t, "an owner", in(), 200)
		k.SQL(`UPDATE permissions SET role_id = $2 WHERE user_id = $1`, user, k.RoleID(0, "tenant", "Viewer"))
		k.refusedBy(t, "others", in(), 403, "sso_required")
		k.SQL(`DELETE FROM identity_providers WHERE id = $1`, p)
		wants(t, "required no more", in(), 200)
	})
	k.SQL(`UPDATE permissions SET disabled = true WHERE user_id = $1`, user)
	k.refusedBy(t, "without a permission", in(), 403, "FORBIDDEN")
	k.SQL(`UPDATE permissions SET disabled = false WHERE user_id = $1`, user)
	wants(t, "taken out", k.Do("DELETE", fmt.Sprintf("/tenant/user/%d?customerId=%d", user, k.alpine), root, nil), 204)
	k.refusedBy(t, "who was taken out", in(), 403, "FORBIDDEN")
	owner := k.Login(platform.DemoAdmin, k.Demo.AdminPassword)
	k.MustGQL(owner, `mutation($id: ID!) { eraseUser(input: {userId: $id}) { deletedId } }`, map[string]any{"id": user})
	k.refusedBy(t, "who was erased", in(), 401, "passkey_refused")
	if n := k.Number(`SELECT count(*) FROM passkeys`); n != 0 {
		t.Errorf("%d passkeys are left", n)
	}
}

// TestPasskeysAndCodes: an authenticator of codes and passkeys stand beside each other, and each second factor that goes leaves the other.
func TestPasskeysAndCodes(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	password := map[string]any{"p": platform.NewPassword}
	method := func(want string) {
		t.Helper()
		if got := platform.Member(t, k.MustGQL(k.greta.Token, `{ me { user { otpMethod } } }`, nil), "me.user.otpMethod"); got != want {
			t.Errorf("the method is %v, want %s", got, want)
		}
		if a := k.Must(200, "GET", "/tenant/users", k.greta.Token, nil); !strings.Contains(string(a.Body), `"otpMethod":"`+want+`"`) { // and as it is documented
			t.Errorf("REST does not tell %s: %s", want, a.Body)
		}
	}
	plain := platform.Member(t, k.MustGQL(k.greta.Token, `mutation($p: String) { enableTotp(input: {password: $p}) { secret } }`, password), "enableTotp.secret").(string)
	method("passkey")
	k.refusedBy(t, "a code before it is confirmed", k.signIn(gretas, "otp", code(t, plain, 0)), 401, "UNAUTHENTICATED")
	k.forgive()
	recovery := platform.Member(t, k.MustGQL(k.greta.Token, `mutation($c: String!) { confirmTotp(input: {code: $c}) { recoveryCodes } }`, map[string]any{"c": code(t, plain, 0)}), "confirmTotp.recoveryCodes").([]any)
	method("totp")
	alone := k.signIn(gretas)
	k.refusedBy(t, "the password alone", alone, 401, "otp_required")
	if told := platform.Member(t, alone.JSON(t), "errors.1.location"); told != "body.passkey" {
		t.Errorf("who has a passkey, too, hears of %v", told)
	}
	wants(t, "a code", k.signIn(gretas, "otp", code(t, plain, 1)), 200)
	wants(t, "the passkey", k.signIn(gretas, "passkey", k.Passkey(t, k.device)), 200)
	k.MustGQL(k.greta.Token, `mutation($c: String!, $p: String) { disableTotp(input: {code: $c, password: $p}) { user { otpMethod } } }`, map[string]any{"c": recovery[0], "p": platform.NewPassword})
	method("passkey")
	wants(t, "a recovery code that is left", k.signIn(gretas, "otp", recovery[1]), 200)
	anew := platform.Member(t, k.MustGQL(k.greta.Token, `mutation($p: String) { regenerateRecoveryCodes(input: {password: $p}) { recoveryCodes } }`, password), "regenerateRecoveryCodes.recoveryCodes").([]any)
	k.refusedBy(t, "an old one", k.signIn(gretas, "otp", recovery[2]), 401, "UNAUTHENTICATED")
	wants(t, "a new one", k.signIn(gretas, "otp", anew[0]), 200)
	t.Run("no more than twenty", func(t *testing.T) {
		k.SQL(`INSERT INTO passkeys (user_id, name, credential_id, public_key, sign_count, transports, synced, backed_up)
			SELECT user_id, n::text, n::text::bytea, '', 0, '{}', false, false FROM passkeys, generate_series(1, 18) n`)
		asked := func() any {
			return k.Must(200, "POST", "/v1/passkeys/begin", k.greta.Token, map[string]any{"password": platform.NewPassword}).JSON(t)
		}
		create := func(asked any) platform.Answer {
			return k.Do("POST", "/v1/passkeys", k.greta.Token, map[string]any{"state": platform.Member(t, asked, "state"), "credential": platform.NewAuthenticator(t, k.URL).Make(t, platform.Member(t, asked, "options"))})
		}
		one, two := asked(), asked()
		if n := platform.Member(t, one, "options.excludeCredentials.#"); n != 19 {
			t.Errorf("%v are left out", n)
		}
		wants(t, "the twentieth", create(one), 201)
		k.refusedBy(t, "the next", create(two), 400, "too_many_passkeys")
		k.refusedBy(t, "asked for", k.Do("POST", "/v1/passkeys/begin", k.greta.Token, map[string]any{"password": platform.NewPassword}), 400, "too_many_passkeys")
	})
	t.Run("an operator removes all of it", func(t *testing.T) {
		if err := k.App.Resolver.OperatorResetTOTP(t.Context(), gretas); err != nil {
			t.Fatal(err)
		}
		method("none")
		k.refusedBy(t, "the passkey", k.SignInBy(k.Passkey(t, k.device)), 401, "passkey_refused")
		wants(t, "the password", k.signIn(gretas), 200)
		var told string
		k.Look(&told, `SELECT details::text FROM audit_events WHERE action = 'user.totpReset' AND actor_user_id IS NULL`)
		if want := `{"passkeys": {"new": 0, "old": 20}, "otpMethod": {"new": "none", "old": "passkey"}}`; told != want {
			t.Errorf("the log has %s", told)
		}
		if n := k.Number(`SELECT (SELECT count(*) FROM passkeys) + (SELECT count(*) FROM recovery_codes)`); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}

// TestNoPasskeysByAProvider: who comes from an identity provider has no password to prove more with than the provider vouches for.
func TestNoPasskeysByAProvider(t *testing.T) {
	t.Parallel()
	p := newProviding(t, nil)
	token, _ := refreshed(t, p.Platform, p.idp.enter(t, p.Platform, p.at(), "g1", "gwen@corp.example"))
	for _, password := range []string{"", "a password of mine"} {
		if a := p.Do("POST", "/v1/passkeys/begin", token, map[string]any{"password": password}); a.Status != 403 && password != "" || a.Status != 400 && password == "" {
			t.Errorf("%q: %d %s", password, a.Status, a.Body)
		}
	}
}
