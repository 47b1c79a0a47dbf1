package webhooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
	"canopy/internal/webhook"
)

func TestDestinationsAreManaged(t *testing.T) {
	t.Parallel()
	r := platform.NewReceiver(t, nil)
	s := platform.StartDelivering(t)
	token := s.RootAs("tenant")
	path := platform.Hooks + "/destinations"
	t.Run("refusals", func(t *testing.T) {
		for name, body := range map[string]any{
			"plain HTTP":      map[string]any{"url": "http://example.com/"},
			"private address": map[string]any{"url": "https://10.0.0.1/"},
			"user name":       map[string]any{"url": "https://u:p@93.184.216.34/"},
			"no event":        map[string]any{"url": r.URL, "events": []string{}},
			"unknown event":   map[string]any{"url": r.URL, "events": []string{"agent.updated"}},
			"no url":          map[string]any{},
		} {
			if a := s.Do("POST", path, token, body); a.Status != http.StatusBadRequest {
				t.Errorf("%s: %d %s", name, a.Status, a.Body)
			}
		}
	})
	id, old := s.Subscribe(token, r.URL, "agent.deleted", "agent.created")
	at := path + "/" + platform.Decimal(id)
	t.Run("read and change", func(t *testing.T) {
		a := s.Do("GET", at, token, nil)
		if a.Status != 200 || bytes.Contains(a.Body, []byte("secret")) || !bytes.Contains(a.Body, []byte(`"events":["agent.created","agent.deleted"]`)) {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		a = s.Do("PATCH", at, token, map[string]any{"name": "Renamed", "enabled": false})
		if a.Status != 200 || !bytes.Contains(a.Body, []byte(`"name":"Renamed"`)) || !bytes.Contains(a.Body, []byte(`"enabled":false`)) {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		s.Mutate(s.RootAs("builder"), "createAgent", "agent { name }", map[string]any{"name": "Unheard"})
		if a := s.Do("GET", platform.Hooks+"/deliveries", token, nil); string(a.Body) != "[]" {
			t.Errorf("a disabled destination: %s", a.Body)
		}
		s.Do("PATCH", at, token, map[string]any{"enabled": true})
	})
	send := func() platform.Received {
		t.Helper()
		n := len(r.All())
		if a := s.Do("POST", at+"/test", token, map[string]any{"type": "run.failed"}); a.Status != 202 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		return r.Wait(t, n+1)[n]
	}
	t.Run("a test is told from a real event", func(t *testing.T) {
		x := send()
		var envelope map[string]any
		if err := json.Unmarshal(x.Body, &envelope); err != nil || x.Header.Get(webhook.HeaderTest) != "true" || len(envelope) != 6 {
			t.Errorf("%v: %v %s", err, x.Header, x.Body)
		}
		tested := platform.Member(t, s.Must(200, "GET", platform.Hooks+"/deliveries", token, nil).JSON(t), "0")
		if platform.Member(t, tested, "test") != true {
			t.Errorf("%v", tested)
		}
		n := len(r.All())
		again := s.Must(202, "POST", fmt.Sprintf("%s/deliveries/%.0f/resend", platform.Hooks, platform.Member(t, tested, "id")), token, nil).JSON(t)
		if x := r.Wait(t, n+1)[n]; x.Header.Get(webhook.HeaderTest) != "true" {
			t.Errorf("sent again: %v", x.Header)
		}
		s.Mutate(s.RootAs("builder"), "createAgent", "agent { name }", map[string]any{"name": "Heard"})
		if x := r.Wait(t, n+2)[n+1]; x.Typ != "agent.created" || len(x.Header.Values(webhook.HeaderTest)) != 0 {
			t.Errorf("a real one: %s %v", x.Typ, x.Header)
		}
		nodes := platform.Member(t, s.MustGQL(token, `{ webhookDeliveries(first: 2) { nodes { databaseId test } } }`, nil), "webhookDeliveries.nodes")
		if platform.Member(t, nodes, "0.test") != false || platform.Member(t, nodes, "1.test") != true || platform.Member(t, nodes, "1.databaseId") != platform.Member(t, again, "deliveryId") {
			t.Errorf("%v", nodes)
		}
	})
	rotate := func(body any) string {
		t.Helper()
		a := s.Do("POST", at+"/rotate-secret", token, body)
		if a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		return a.JSON(t).(map[string]any)["secret"].(string)
	}
	overlapEnds := func() any {
		t.Helper()
		return platform.Member(t, s.Must(200, "GET", at, token, nil).JSON(t), "overlapEndsAt")
	}
	t.Run("rotation with overlap", func(t *testing.T) {
		next := rotate(map[string]any{"overlap": true})
		x := send()
		if ends, err := time.Parse(time.RFC3339, fmt.Sprint(overlapEnds())); err != nil || time.Until(ends) < 23*time.Hour || time.Until(ends) > 24*time.Hour {
			t.Errorf("the overlap ends at %v: %v", ends, err)
		}
		if !webhook.Verify(old, x.Body, x.Header.Get(webhook.HeaderSignature)) || !webhook.Verify(next, x.Body, x.Header.Get(webhook.HeaderSignatureNext)) {
			t.Errorf("headers: %v", x.Header)
		}
		// A second one would drop the secret that the receiver is being given.
		if a := s.Do("POST", at+"/rotate-secret", token, map[string]any{"overlap": true}); a.Status != 400 || !bytes.Contains(a.Body, []byte("lasts until 20")) {
			t.Errorf("a second overlap: %d %s", a.Status, a.Body)
		}
		if x = send(); !webhook.Verify(old, x.Body, x.Header.Get(webhook.HeaderSignature)) || !webhook.Verify(next, x.Body, x.Header.Get(webhook.HeaderSignatureNext)) {
			t.Errorf("headers after the refusal: %v", x.Header)
		}
		s.SQL(`UPDATE webhook_destinations SET next_at = now() - interval '1 second'`)
		if x = send(); !webhook.Verify(next, x.Body, x.Header.Get(webhook.HeaderSignature)) || x.Header.Get(webhook.HeaderSignatureNext) != "" {
			t.Errorf("headers when the overlap is over: %v", x.Header)
		}
		if ends := overlapEnds(); ends != nil {
			t.Errorf("the overlap that is over ends at %v", ends)
		}
		old = next
	})
	t.Run("rotation at once", func(t *testing.T) {
		next := rotate(nil)
		if x := send(); webhook.Verify(old, x.Body, x.Header.Get(webhook.HeaderSignature)) || !webhook.Verify(next, x.Body, x.Header.Get(webhook.HeaderSignature)) {
			t.Errorf("headers: %v", x.Header)
		}
	})
	t.Run("back to all events", func(t *testing.T) {
		if a := s.Do("PATCH", at, token, map[string]any{"allEvents": true, "events": []string{"run.failed"}}); a.Status != 400 {
			t.Errorf("both: %d %s", a.Status, a.Body)
		}
		if a := s.Do("PATCH", at, token, map[string]any{"allEvents": true}); a.Status != 200 || !bytes.Contains(a.Body, []byte(`"events":null`)) {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
	t.Run("no secret in the open", func(t *testing.T) {
		var open int
		s.Look(&open, `SELECT count(*) FROM webhook_destinations WHERE position('whsec_'::bytea in secret) > 0`)
		if open != 0 {
			t.Error("a signing secret lies open in the table")
		}
	})
	t.Run("catalog", func(t *testing.T) {
		a := s.Do("GET", platform.Hooks+"/catalog", token, nil)
		var c struct {
			Version string
			Events  []struct {
				Type, Category, Description string
				Example, Schema             json.RawMessage
			}
		}
		if err := json.Unmarshal(a.Body, &c); err != nil || c.Version != "v1" || len(c.Events) != 9 || c.Events[0].Category != "run" {
			t.Errorf("%v %s", err, a.Body)
		}
	})
	t.Run("a blocked delivery", func(t *testing.T) {
		s.SQL(`UPDATE webhook_destinations SET url = 'https://10.0.0.1/'`)
		a := s.Do("POST", at+"/test", token, map[string]any{"type": "run.failed"})
		d := s.Ended(token, int64(a.JSON(t).(map[string]any)["deliveryId"].(float64)))
		if d["status"] != "blocked" || len(d["attemptLog"].([]any)) != 1 || d["httpStatus"] != nil || platform.Member(t, d, "attemptLog.0.errorKind") != "blocked" {
			t.Errorf("%v", d)
		}
	})
	t.Run("delete", func(t *testing.T) {
		if a := s.Do("DELETE", at, token, nil); a.Status != http.StatusNoContent {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		if a := s.Do("GET", at, token, nil); a.Status != http.StatusNotFound {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
}

func TestDeliveriesArePaged(t *testing.T) {
	t.Parallel()
	r := platform.NewReceiver(t, nil)
	s := platform.StartDelivering(t)
	token := s.RootAs("tenant")
	id, _ := s.Subscribe(token, r.URL)
	for range 5 {
		s.Do("POST", platform.Hooks+"/destinations/"+platform.Decimal(id)+"/test", token, map[string]any{"type": "run.started"})
	}
	r.Wait(t, 5)
	var ids []float64
	path := platform.Hooks + "/deliveries?limit=2&type=run.started&destinationId=" + platform.Decimal(id)
	for pages := 0; path != ""; pages++ {
		a := s.Do("GET", path, token, nil)
		for _, d := range a.JSON(t).([]any) {
			ids = append(ids, d.(map[string]any)["id"].(float64))
		}
		link := a.Header.Get("Link")
		path = ""
		if link != "" {
			path = strings.TrimPrefix(link[1:strings.Index(link, ">")], s.URL)
		}
		if pages > 3 {
			t.Fatal("the pages do not end")
		}
	}
	if len(ids) != 5 || ids[0] < ids[4] {
		t.Errorf("ids: %v", ids)
	}
	for _, bad := range []string{"?status=lost", "?limit=0", "?after=x", "?since=yesterday", "?destinationId=99999"} {
		if a := s.Do("GET", platform.Hooks+"/deliveries"+bad, token, nil); a.Status != 400 && a.Status != 404 {
			t.Errorf("%s: %d %s", bad, a.Status, a.Body)
		}
	}
}

// TestRecoverBringsWhatWasLost recovers events whose last delivery failed or was blocked, and no others.
func TestRecoverBringsWhatWasLost(t *testing.T) {
	t.Parallel()
	r := platform.NewReceiver(t, nil)
	s := platform.Start(t, platform.DeliverLocally(t))
	s.NoDemoMails()
	token := s.RootAs("tenant")
	id, old := s.Subscribe(token, r.URL)
	other, _ := s.Subscribe(token, r.URL)
	at := platform.Hooks + "/destinations/" + platform.Decimal(id)
	send := func(destination int64) int64 {
		return s.Must(202, "POST", platform.Hooks+"/destinations/"+platform.Decimal(destination)+"/test", token, object{"type": "run.failed"}).ID(t, "deliveryId")
	}
	event := func(delivery int64) string {
		return platform.Member(t, s.Must(200, "GET", platform.Hooks+"/deliveries/"+platform.Decimal(delivery), token, nil).JSON(t), "eventId").(string)
	}
	end := func(delivery int64, status string) {
		s.SQL(`WITH ended AS (DELETE FROM webhook_due WHERE delivery_id = $1)
			UPDATE webhook_deliveries SET status = $2, lost = $2 <> 'delivered', completed_at = now() WHERE id = $1`, delivery, status)
	}
	want := map[string]bool{}
	for _, status := range []string{"failed", "blocked", "delivered"} {
		delivery := send(id)
		end(delivery, status)
		want[event(delivery)] = status != "delivered"
	}
	long, again, elsewhere := send(id), send(id), send(other)
	for _, delivery := range []int64{long, again, elsewhere} {
		end(delivery, "failed")
	}
	s.SQL(`UPDATE webhook_deliveries SET created_at = now() - interval '2 hours' WHERE id = $1`, long)
	end(s.Must(202, "POST", platform.Hooks+"/deliveries/"+platform.Decimal(again)+"/resend", token, nil).ID(t, "deliveryId"), "delivered")
	secret := s.Must(200, "POST", at+"/rotate-secret", token, nil).JSON(t).(map[string]any)["secret"].(string)
	since := object{"since": time.Now().Add(-time.Hour)}
	for _, count := range []string{`{"count":2}`, `{"count":0}`} { // what is on its way is not sent twice
		if a := s.Must(202, "POST", at+"/recover", token, since); string(a.Body) != count {
			t.Errorf("%s, want %s", a.Body, count)
		}
	}
	s.Work(nil)
	for _, x := range r.Wait(t, 2) {
		if !want[x.ID] {
			t.Errorf("%s is sent again", x.ID)
		}
		delete(want, x.ID)
		if !webhook.VerifyHeader(x.Header, x.Body, secret) || webhook.VerifyHeader(x.Header, x.Body, old) {
			t.Error("the signature is not fresh")
		}
		var captured []byte
		s.Look(&captured, `SELECT payload FROM webhook_deliveries WHERE event_id = '`+x.ID+`' ORDER BY id LIMIT 1`)
		if !bytes.Equal(captured, x.Body) {
			t.Errorf("other bytes are sent again: %s, not %s", x.Body, captured)
		}
	}
}

// TestFailingDestinationIsDisabled has three days of failures pass at once.
func TestFailingDestinationIsDisabled(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.As("Alpine Energy", "greta@alpine.example")
	// One who is known elsewhere, and has not accepted the company, is not written to as its owner.
	s.SetUp("olivia@brightwater.example")
	s.Must(200, "POST", "/permission", token, object{
		"appAccountId": s.Account(s.Customer("Alpine Energy"), "tenant"), "appRoleId": s.RoleID(s.Customer("Alpine Energy"), "tenant", "Owner"), "email": "olivia@brightwater.example",
	})
	s.NoDemoMails()
	failing, _ := s.Subscribe(token, platform.PublicURL+"/failing")
	lately, _ := s.Subscribe(token, platform.PublicURL+"/lately")
	few, _ := s.Subscribe(token, platform.PublicURL+"/few")
	for id, since := range map[int64]string{failing: "73 hours, 20", lately: "71 hours, 200", few: "73 hours, 19"} {
		hours, failures, _ := strings.Cut(since, ", ")
		s.SQL(`UPDATE webhook_destinations SET failing_since = now() - $2::interval, failures = $3 WHERE id = $1`, id, hours, failures)
	}
	told, root, dune := s.OverSSE(t, s.Root()), s.Root(), s.Customer("Dune Retail")
	s.Until(t, told, func(n int) {
		s.Must(204, "PUT", "/tenant", root, object{"customerId": dune, "name": platform.Decimal(int64(n))})
	})
	s.Work(nil)
	enabled := func(id int64) bool {
		return platform.Member(t, s.Must(200, "GET", platform.Hooks+"/destinations/"+platform.Decimal(id), token, nil).JSON(t), "enabled").(bool)
	}
	devtest.Eventually(t, "it is disabled", func() bool { return !enabled(failing) })
	if !enabled(lately) || !enabled(few) {
		t.Error("one that has not failed for long, or not often, is disabled, too")
	}
	for to, want := range map[string]int{"greta@alpine.example": 1, "jonas@alpine.example": 0, platform.DemoAdmin: 0, "olivia@brightwater.example": 0} {
		list := s.Mails(to)
		if len(list) != want {
			t.Errorf("%d mails to %s", len(list), to)
		}
		for _, m := range list {
			if !strings.Contains(m.Text, platform.PublicURL+"/failing") || !strings.Contains(m.Text, "Alpine Energy") || !strings.Contains(m.Text, "3 days") {
				t.Errorf("the mail says %q", m.Text)
			}
		}
	}
	for {
		h := platform.Next(t, told, "that it was disabled")
		if h.Err != nil || h.Over {
			t.Fatalf("%+v", h)
		}
		if h.Event["action"] == "webhookDestination.disabled" && h.Event["objectId"] == float64(failing) {
			return
		}
	}
}
