package webhooks

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/secret"
	"canopy/internal/webhook"
	"canopy/outbox"
)

// The names of the headers that every HTTP request has, and of those of a delivery.
var (
	plainHeaders    = []string{"Content-Length", "User-Agent"}
	specHeaders     = append([]string{"Content-Type", "X-Service-Event", "X-Service-Signature"}, plainHeaders...)
	standardHeaders = append([]string{"Webhook-Id", "Webhook-Signature", "Webhook-Timestamp"}, specHeaders...)
)

// signer is a destination that signs, and its receiver.
type signer struct {
	*platform.Platform
	r         *platform.Receiver
	token, at string
	id        int64
}

// next has an event delivered, and gives its request.
func (s *signer) next(t *testing.T) platform.Received {
	t.Helper()
	came := len(s.r.All())
	s.Mutate(s.token, "createAgent", "agent { name }", map[string]any{"name": "Greeter"})
	return s.r.Wait(t, came+1)[came]
}

// carries checks which headers a request has, no more and no fewer.
func carries(t *testing.T, x platform.Received, want []string) {
	t.Helper()
	got := slices.Sorted(maps.Keys(x.Header))
	if want = slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
		t.Errorf("the headers are %v, want %v", got, want)
	}
}

// signed checks the headers of Standard Webhooks: one signature for each of the secrets.
func signed(t *testing.T, x platform.Received, secrets ...string) {
	t.Helper()
	seconds, err := strconv.ParseInt(x.Header.Get("Webhook-Timestamp"), 10, 64)
	if at := time.Unix(seconds, 0); err != nil || x.At.Sub(at).Abs() > 5*time.Second {
		t.Errorf("webhook-timestamp %v, it came at %v: %v", at, x.At, err)
	}
	want := http.Header{}
	webhook.SetStandardHeaders(want, x.ID, time.Unix(seconds, 0), x.Body, secrets...)
	for name := range want {
		if got := x.Header.Get(name); got != want.Get(name) {
			t.Errorf("%s is %q, want %q", name, got, want.Get(name))
		}
	}
	if n := len(strings.Fields(x.Header.Get("Webhook-Signature"))); n != len(secrets) {
		t.Errorf("%d signatures", n)
	}
}

// TestSigning: by default a delivery has the headers of x-service alone; with STANDARD those of Standard
// Webhooks, too, whichever door asked for it.
func TestSigning(t *testing.T) {
	t.Parallel()
	s := &signer{Platform: platform.StartDelivering(t), r: platform.NewReceiver(t, nil)}
	s.token = s.RootAs("builder")
	var old string
	s.id, old = s.Subscribe(s.token, s.r.URL, "agent.created")
	s.at = platform.Hooks + "/destinations/" + platform.Decimal(s.id)
	patch := func(status int, signing any) platform.Answer {
		t.Helper()
		return s.Must(status, "PATCH", s.at, s.token, map[string]any{"signing": signing})
	}
	rotate := func(overlap bool) string {
		t.Helper()
		a := s.Must(200, "POST", s.at+"/rotate-secret", s.token, map[string]any{"overlap": overlap})
		return platform.Member(t, a.JSON(t), "secret").(string)
	}

	t.Run("by default", func(t *testing.T) {
		carries(t, s.next(t), specHeaders)
		if got := platform.Member(t, s.Must(200, "GET", s.at, s.token, nil).JSON(t), "signing"); got != "spec" {
			t.Errorf("signing is %v", got)
		}
	})
	t.Run("a rotation by default", func(t *testing.T) {
		next := rotate(true)
		carries(t, s.next(t), append([]string{"X-Service-Signature-Next"}, specHeaders...))
		s.SQL(`UPDATE webhook_destinations SET next_at = now() WHERE id = $1`, s.id)
		carries(t, s.next(t), specHeaders)
		old = next
	})
	t.Run("standard", func(t *testing.T) {
		if got := platform.Member(t, patch(200, "standard").JSON(t), "signing"); got != "standard" {
			t.Errorf("signing is %v", got)
		}
		x := s.next(t)
		carries(t, x, standardHeaders)
		signed(t, x, old)
		if !webhook.Verify(old, x.Body, x.Header.Get(webhook.HeaderSignature)) {
			t.Errorf("the signature of the body: %v", x.Header)
		}
	})
	t.Run("a test delivery", func(t *testing.T) {
		came := len(s.r.All())
		s.Must(202, "POST", s.at+"/test", s.token, map[string]any{"type": "agent.created"})
		carries(t, s.r.Wait(t, came+1)[came], append([]string{"X-Canopy-Test"}, standardHeaders...))
	})
	t.Run("a rotation", func(t *testing.T) {
		next := rotate(true)
		x := s.next(t)
		carries(t, x, append([]string{"X-Service-Signature-Next"}, standardHeaders...))
		signed(t, x, old, next)
		s.SQL(`UPDATE webhook_destinations SET next_at = now() WHERE id = $1`, s.id)
		signed(t, s.next(t), next)
		old = next
	})
	t.Run("back again", func(t *testing.T) {
		patch(200, "SPEC")
		carries(t, s.next(t), specHeaders)
		patch(400, "ed25519")
		patch(200, nil)
	})
	t.Run("made by the graph", func(t *testing.T) {
		made := s.Mutate(s.token, "createWebhookDestination", "secret destination { databaseId signing }",
			map[string]any{"url": s.r.URL, "events": []string{"agent.deleted"}, "signing": "STANDARD"})
		if got := platform.Member(t, made, "destination.signing"); got != "STANDARD" {
			t.Errorf("signing is %v", got)
		}
		came := len(s.r.All())
		id := int64(platform.Member(t, made, "destination.databaseId").(float64))
		s.Mutate(s.token, "testWebhookDestination", "delivery { id }", map[string]any{"id": id, "type": "agent.deleted"})
		signed(t, s.r.Wait(t, came+1)[came], made["secret"].(string))
		changed := s.Mutate(s.token, "updateWebhookDestination", "destination { signing }", map[string]any{"id": id, "signing": "SPEC"})
		if got := platform.Member(t, changed, "destination.signing"); got != "SPEC" {
			t.Errorf("signing is %v", got)
		}
	})
	t.Run("a secret of the older form", func(t *testing.T) {
		older := "whsec_" + strings.Repeat("0aZ", 14) + "0"
		keep := func() {
			s.SQL(`UPDATE webhook_destinations SET next_secret = NULL, next_at = NULL, secret = $2 WHERE id = $1`, s.id, outbox.SealSigningSecret(s.App.Resolver.Box, s.id, older))
		}
		keep()
		platform.Scenario{Status: 400, Code: "rotation_needed", Says: "rotate it first"}.Judge(t, patch(400, "STANDARD"))
		carries(t, s.next(t), specHeaders)
		next := rotate(true) // from here on a receiver has a secret that it can verify with
		patch(200, "STANDARD")
		signed(t, s.next(t), next)
		patch(200, "SPEC")
		keep()
		patch(400, "STANDARD")
		next = rotate(false)
		patch(200, "STANDARD")
		signed(t, s.next(t), next)
		if _, ok := secret.SigningKey(older); ok {
			t.Error("the older form is taken for the new one")
		}
	})
}
