package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"canopy/db"
	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
	"canopy/internal/secret"
	"canopy/internal/webhook"
	"canopy/jobs"
)

// The keys of a rotation. The older one is that of the demo data.
var oldKey, newKey = bytes.Repeat([]byte{7}, 32), bytes.Repeat([]byte{8}, 32)

func newBox(t *testing.T, keys ...[]byte) *secret.Box {
	t.Helper()
	box, err := secret.NewBox(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func withKeys(keys ...[]byte) func(*config.Config) {
	return func(c *config.Config) { c.SecretKeys = keys }
}

// rotated is a platform whose secret key is replaced while it works.
type rotated struct {
	*platform.Platform
	r, steps        *platform.Receiver // of events, and of what the agent sends
	token           string
	signing, totp   string
	agent           int64
	events, checked int
}

const agentSecret = "a secret of agents"

// newRotated makes one of everything that is sealed, with the older key, and many mails.
func newRotated(t *testing.T, mails int) *rotated {
	s := &rotated{r: platform.NewReceiver(t, nil), steps: platform.NewReceiver(t, nil), totp: secret.NewTOTPSecret()}
	s.Platform = platform.Start(t, platform.DeliverLocally(t), withKeys(newKey, oldKey))
	s.token = s.RootAs("builder")
	_, s.signing = s.Subscribe(s.token, s.r.URL, "agent.created")
	s.Mutate(s.token, "createSecret", "secret { name }", map[string]any{"name": "KEY", "value": agentSecret})
	s.agent = s.Publish(s.token, fmt.Sprintf(`{"steps":[{"id":"a","type":"http","method":"POST","url":%q,"body":{"id":"{{ secrets.KEY }}"}}],"output":{}}`, s.steps.URL))
	older := newBox(t, oldKey, newKey)
	admin := s.UserID(platform.DemoAdmin)
	s.SQL(`UPDATE users SET otp_method = 'totp', otp_secret = $2 WHERE id = $1`, admin, db.SealedOTPSecrets.Seal(older, admin, []byte(s.totp)))
	s.SQL(`INSERT INTO mail_outbox (kind, message, next_attempt_at) SELECT 'test', $2, now() + interval '1 day' FROM generate_series(1, $1)`,
		mails, db.SealedMails.Seal(older, 0, []byte(`{"to":"last@example.com"}`)))
	if _, err := s.App.Store.RenewSealed(t.Context(), older, func(db.Renewal) {}); err != nil {
		t.Fatal(err)
	}
	s.idle(t)
	return s
}

// idle lets the time go by in which a process may still seal with the older key.
func (s *rotated) idle(t *testing.T) {
	t.Helper()
	s.SQL(`UPDATE sealing_keys SET used_at = now() - interval '1 hour' WHERE id = $1`, newBox(t, oldKey).KeyIDs()[0])
}

// event makes something to deliver.
func (s *rotated) event() {
	s.events++
	s.Mutate(s.token, "createAgent", "agent { name }", map[string]any{"name": "Greeter"})
}

// arrived waits for all of them, and checks their signatures. One whose process ended comes again.
func (s *rotated) arrived(t *testing.T) {
	t.Helper()
	got := s.r.Wait(t, s.events)
	for different(got) < s.events {
		got = s.r.Wait(t, len(got)+1)
	}
	for _, x := range got[s.checked:] {
		if !webhook.Verify(s.signing, x.Body, x.Header.Get(webhook.HeaderSignature)) {
			t.Errorf("a delivery is signed with something else: %v", x.Header)
		}
	}
	s.checked = len(got)
}

// different counts the events among requests.
func different(got []platform.Received) int {
	ids := map[string]bool{}
	for _, x := range got {
		ids[x.ID] = true
	}
	return len(ids)
}

// sealedWith tells whether a key alone opens the mail of an id.
func (s *rotated) sealedWith(t *testing.T, key []byte, mail int64) bool {
	t.Helper()
	var sealed []byte
	s.Look(&sealed, `SELECT message FROM mail_outbox WHERE id = $1`, mail)
	_, err := db.SealedMails.Open(newBox(t, key), 0, sealed)
	return err == nil
}

// rotation starts the command beside the platform.
func (s *rotated) rotation(t *testing.T) *platform.ProgramProcess {
	t.Helper()
	return s.StartProgram(t, "", argumentsVariable+"=secret-key rotate")
}

// TestSecretKeyRotate replaces the secret key of a platform that works, with a rotation that is killed
// in the middle; then the platform goes on with the new key alone.
func TestSecretKeyRotate(t *testing.T) {
	s := newRotated(t, 40_000)
	stop := s.Work(nil)
	first, last := s.Number(`SELECT min(id) FROM mail_outbox WHERE kind = 'test'`), s.Number(`SELECT max(id) FROM mail_outbox WHERE kind = 'test'`)

	killed := s.rotation(t)
	for end := time.Now().Add(platform.Patience); s.sealedWith(t, oldKey, first); s.event() {
		if time.Now().After(end) {
			killed.Kill()
			t.Fatalf("no mail is sealed anew: %s", killed.Log)
		}
	}
	killed.Kill()
	if !s.sealedWith(t, oldKey, last) {
		t.Fatalf("the rotation had ended: %s", killed.Log)
	}
	s.event()
	s.arrived(t)

	t.Run("the new key alone is not enough", func(t *testing.T) {
		for _, command := range []string{"serve", "worker"} {
			p := s.StartProgram(t, command, platform.SecretKeys(newKey), "CANOPY_LISTEN=127.0.0.1:0")
			if err := p.Cmd.Wait(); err == nil || !strings.Contains(p.Log.String(), "CANOPY_SECRET_KEY lacks a key that the database is sealed with") {
				t.Errorf("%s: %v %s", command, err, p.Log)
			}
		}
	})
	t.Run("a process that still seals with the old one", func(t *testing.T) {
		if err := jobs.UseSealingKey(t.Context(), s.App.Store, newBox(t, oldKey)); err != nil {
			t.Fatal(err)
		}
		again := s.rotation(t)
		done := make(chan error, 1)
		go func() { done <- again.Cmd.Wait() }()
		for open := true; open; {
			s.event()
			if err := jobs.UseSealingKey(t.Context(), s.App.Store, newBox(t, oldKey)); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-done:
				open = false
				if err == nil || !strings.Contains(again.Log.String(), "a process runs that seals with key 2 (") {
					t.Errorf("%v %s", err, again.Log)
				}
			default:
			}
		}
		if !s.sealedWith(t, newKey, first) || !s.sealedWith(t, newKey, last) {
			t.Error("it did not end")
		}
	})
	s.idle(t)
	code, out, fault := operate(t, s.Platform, nil, "secret-key", "rotate")
	if code != exitOK || !strings.Contains(out, "All is sealed with key 1 (") || strings.Count(out, "can be taken out of CANOPY_SECRET_KEY") != 1 || !strings.Contains(out, "key 2 (") {
		t.Fatalf("%d %s %s", code, out, fault)
	}
	s.event()
	s.arrived(t)
	stop()

	before := s.Platform
	s.Platform = platform.Start(t, platform.DeliverLocally(t), withKeys(newKey), func(c *config.Config) {
		c.DatabaseURL, c.RedisURL, c.PublicURL = before.App.Config.DatabaseURL, before.App.Config.RedisURL, before.App.Config.PublicURL
	})
	s.Work(nil)
	s.goesOn(t)
}

// goesOn tries everything that was sealed, on a platform with the new key alone.
func (s *rotated) goesOn(t *testing.T) {
	t.Run("tokens and webhooks", func(t *testing.T) {
		s.event() // by a token of before
		s.token = s.RootAs("builder")
		s.event()
		s.arrived(t)
	})
	t.Run("two-factor", func(t *testing.T) {
		code, err := totp.GenerateCode(s.totp, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		s.Must(200, "POST", "/auth/token", "", map[string]any{"email": platform.DemoAdmin, "password": s.Demo.AdminPassword, "otp": code})
	})
	t.Run("secrets of agents", func(t *testing.T) {
		if a := s.Poll(s.token, s.Start(s.token, s.agent, map[string]any{})); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		if got := s.steps.All(); len(got) != 1 || got[0].ID != agentSecret {
			t.Errorf("%d requests of the step: %q", len(got), s.steps.Types())
		}
	})
	t.Run("mails", func(t *testing.T) {
		if n := len(s.Mails("last@example.com")); n != 40_000 { // each is opened
			t.Errorf("%d mails", n)
		}
	})
	t.Run("a rotation of one key", func(t *testing.T) {
		code, out, fault := operate(t, s.Platform, nil, "secret-key", "rotate")
		if code != exitOK || strings.Count(out, "\n") != 1 || fault != "" {
			t.Errorf("%d %s %s", code, out, fault)
		}
	})
}

// TestSecretKeyIsAnother: a platform does not start with a key that does not open what is there, and a word of
// each value that none opens is told.
func TestSecretKeyIsAnother(t *testing.T) {
	s := platform.Start(t)
	code, _, fault := operate(t, s, []string{platform.SecretKeys(newKey)}, "key", "list")
	if code != exitFault || !strings.Contains(fault, "CANOPY_SECRET_KEY lacks a key") || strings.Count(fault, "\n") != 1 {
		t.Errorf("%d %s", code, fault)
	}
	s.SQL(`DELETE FROM sealing_keys`)
	code, _, fault = operate(t, s, []string{platform.SecretKeys(newKey)}, "key", "list")
	if code != exitFault || !strings.Contains(fault, "no key of CANOPY_SECRET_KEY opens signing_keys.private_key of ") {
		t.Errorf("%d %s", code, fault)
	}
	id := s.UserID(platform.DemoAdmin)
	s.SQL(`UPDATE users SET otp_secret = $2 WHERE id = $1`, id, db.SealedOTPSecrets.Seal(newBox(t, newKey), id, []byte("x")))
	s.SQL(`DELETE FROM sealing_keys`)
	code, _, fault = operate(t, s, nil, "secret-key", "rotate")
	if want := fmt.Sprintf("no key opens 1 values of users.otp_secret, the first one that of %d", id); code != exitFault || !strings.Contains(fault, want) {
		t.Errorf("%d %s", code, fault)
	}

	// The way out where a key is lost for good.
	s.SQL(`DELETE FROM sealing_keys; DELETE FROM signing_keys`)
	if code, _, fault := operate(t, s, []string{platform.SecretKeys(newKey)}, "key", "list"); code != exitOK {
		t.Errorf("%d %s", code, fault)
	}
	code, _, fault = operate(t, s, []string{platform.SecretKeys(newKey)}, "secret-key", "rotate")
	if code != exitFault || !strings.Contains(fault, " values of mail_outbox.message, the first one") || strings.Contains(fault, "users.otp_secret") {
		t.Errorf("%d %s", code, fault)
	}
}

// TestSigningKeyRetire: what a leaked key has signed is refused at the next request, by every process.
func TestSigningKeyRetire(t *testing.T) {
	here := platform.Start(t)
	there := platform.Start(t, func(c *config.Config) {
		c.DatabaseURL, c.RedisURL, c.PublicURL = here.App.Config.DatabaseURL, here.App.Config.RedisURL, here.App.Config.PublicURL
	})
	both := []*platform.Platform{here, there}
	redis := []string{"REDIS_URL=" + here.App.Config.RedisURL}
	works := func(s *platform.Platform, token string) int {
		return s.Do("GET", "/tenant/customers", token, nil).Status
	}
	login := here.Must(200, "POST", "/auth/token", "", map[string]any{"email": platform.DemoAdmin, "password": here.Demo.AdminPassword}).JSON(t)
	old := []string{here.Root(), platform.Member(t, login, "token").(string)}
	for _, s := range both {
		for _, token := range old {
			if n := works(s, token); n != 200 {
				t.Fatalf("before: %d", n)
			}
		}
	}

	t.Run("it has to be meant", func(t *testing.T) {
		for _, args := range [][]string{{}, {"x"}, {"--now", "x", "y"}} {
			if code, _, fault := operate(t, here, nil, append([]string{"signing-key", "retire"}, args...)...); code != exitUsage {
				t.Errorf("%v: %d %s", args, code, fault)
			}
		}
		code, _, fault := operate(t, here, nil, "signing-key", "retire", "--now", "nonsense")
		if code != exitFault || !strings.Contains(fault, `no signing key "nonsense" is published, but `) {
			t.Errorf("%d %s", code, fault)
		}
		if n := works(here, old[0]); n != 200 {
			t.Errorf("%d", n)
		}
	})
	t.Run("whether or not anybody was told", func(t *testing.T) {
		code, out, fault := operate(t, here, nil, "signing-key", "retire", "--now") // without Redis
		if code != exitOK || !strings.HasPrefix(out, "retired  ") || !strings.Contains(out, "kid  ") {
			t.Fatalf("%d %s %s", code, out, fault)
		}
		for _, s := range both {
			for _, token := range old {
				platform.Scenario{Status: 401, Code: "invalid_token"}.Judge(t, s.Do("GET", "/tenant/customers", token, nil))
			}
		}
		// They have read the keys since: what they sign now works everywhere.
		for _, s := range both {
			for _, by := range both {
				devtest.Eventually(t, "new tokens work", func() bool { return works(s, by.Root()) == 200 })
			}
		}
	})
	t.Run("those who were told sign with the next", func(t *testing.T) {
		code, _, fault := operate(t, here, redis, "signing-key", "retire", "--now")
		if code != exitOK {
			t.Fatal(fault)
		}
		for _, by := range both {
			devtest.Eventually(t, "new tokens work", func() bool { return works(here, by.Root()) == 200 })
		}
	})
	t.Run("one that no longer signs", func(t *testing.T) {
		token := here.Root()
		var kid string
		here.Look(&kid, `SELECT kid FROM signing_keys ORDER BY activates_at DESC LIMIT 1`)
		if code, _, fault := operate(t, here, redis, "signing-key", "rotate", "--activate-after", "0s"); code != exitOK {
			t.Fatal(fault)
		}
		for _, s := range both {
			devtest.Eventually(t, "the next key is there", func() bool {
				return strings.Count(string(s.Do("GET", "/.well-known/jwks.json", "", nil).Body), `"kid"`) == 2
			})
		}
		next := there.Root()
		if n := works(there, token); n != 200 {
			t.Errorf("a rotation ends tokens: %d", n)
		}
		code, out, fault := operate(t, here, redis, "signing-key", "retire", "--now", "--", kid)
		if code != exitOK || out != "retired  "+kid+"\n" {
			t.Fatalf("%d %s %s", code, out, fault)
		}
		for _, s := range both {
			if a, b := works(s, token), works(s, next); a != 401 || b != 200 {
				t.Errorf("that of the retired key is %d, the other %d", a, b)
			}
		}
	})
}
