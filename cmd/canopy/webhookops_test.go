package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"canopy/internal/devstack/devtest"
	"canopy/internal/webhook"
)

func TestDestinationsAreManaged(t *testing.T) {
	r := newReceiver(t, nil)
	s := newDeliveringStack(t)
	token := s.rootAs("tenant")
	path := hooks + "/destinations"
	t.Run("refusals", func(t *testing.T) {
		for name, body := range map[string]any{
			"plain HTTP":      map[string]any{"url": "http://example.com/"},
			"private address": map[string]any{"url": "https://10.0.0.1/"},
			"user name":       map[string]any{"url": "https://u:p@93.184.216.34/"},
			"no event":        map[string]any{"url": r.URL, "events": []string{}},
			"unknown event":   map[string]any{"url": r.URL, "events": []string{"agent.updated"}},
			"no url":          map[string]any{},
		} {
			if a := s.do("POST", path, token, body); a.Status != http.StatusBadRequest {
				t.Errorf("%s: %d %s", name, a.Status, a.Body)
			}
		}
	})
	id, old := s.subscribe(token, r.URL, "agent.deleted", "agent.created")
	at := path + "/" + decimal(id)
	t.Run("read and change", func(t *testing.T) {
		a := s.do("GET", at, token, nil)
		if a.Status != 200 || bytes.Contains(a.Body, []byte("secret")) || !bytes.Contains(a.Body, []byte(`"events":["agent.created","agent.deleted"]`)) {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		a = s.do("PATCH", at, token, map[string]any{"name": "Renamed", "enabled": false})
		if a.Status != 200 || !bytes.Contains(a.Body, []byte(`"name":"Renamed"`)) || !bytes.Contains(a.Body, []byte(`"enabled":false`)) {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		s.mutate(s.rootAs("builder"), "createAgent", "agent { name }", map[string]any{"name": "Unheard"})
		if a := s.do("GET", hooks+"/deliveries", token, nil); string(a.Body) != "[]" {
			t.Errorf("a disabled destination: %s", a.Body)
		}
		s.do("PATCH", at, token, map[string]any{"enabled": true})
	})
	send := func() received {
		t.Helper()
		n := len(r.all())
		if a := s.do("POST", at+"/test", token, map[string]any{"type": "run.failed"}); a.Status != 202 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		return r.wait(t, n+1)[n]
	}
	t.Run("a test is told from a real event", func(t *testing.T) {
		x := send()
		var envelope map[string]any
		if err := json.Unmarshal(x.body, &envelope); err != nil || x.header.Get(webhook.HeaderTest) != "true" || len(envelope) != 6 {
			t.Errorf("%v: %v %s", err, x.header, x.body)
		}
		tested := member(t, s.must(200, "GET", hooks+"/deliveries", token, nil).json(t), "0")
		if member(t, tested, "test") != true {
			t.Errorf("%v", tested)
		}
		n := len(r.all())
		again := s.must(202, "POST", fmt.Sprintf("%s/deliveries/%v/resend", hooks, member(t, tested, "id")), token, nil).json(t)
		if x := r.wait(t, n+1)[n]; x.header.Get(webhook.HeaderTest) != "true" {
			t.Errorf("sent again: %v", x.header)
		}
		s.mutate(s.rootAs("builder"), "createAgent", "agent { name }", map[string]any{"name": "Heard"})
		if x := r.wait(t, n+2)[n+1]; x.typ != "agent.created" || len(x.header.Values(webhook.HeaderTest)) != 0 {
			t.Errorf("a real one: %s %v", x.typ, x.header)
		}
		nodes := member(t, s.mustGQL(token, `{ webhookDeliveries(first: 2) { nodes { databaseId test } } }`, nil), "webhookDeliveries.nodes")
		if member(t, nodes, "0.test") != false || member(t, nodes, "1.test") != true || member(t, nodes, "1.databaseId") != member(t, again, "deliveryId") {
			t.Errorf("%v", nodes)
		}
	})
	rotate := func(body any) string {
		t.Helper()
		a := s.do("POST", at+"/rotate-secret", token, body)
		if a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		return a.json(t).(map[string]any)["secret"].(string)
	}
	t.Run("rotation with overlap", func(t *testing.T) {
		next := rotate(map[string]any{"overlap": true})
		x := send()
		if !webhook.Verify(old, x.body, x.header.Get(webhook.HeaderSignature)) || !webhook.Verify(next, x.body, x.header.Get(webhook.HeaderSignatureNext)) {
			t.Errorf("headers: %v", x.header)
		}
		// A second one would drop the secret that the receiver is being given.
		if a := s.do("POST", at+"/rotate-secret", token, map[string]any{"overlap": true}); a.Status != 400 || !bytes.Contains(a.Body, []byte("lasts until 20")) {
			t.Errorf("a second overlap: %d %s", a.Status, a.Body)
		}
		if x = send(); !webhook.Verify(old, x.body, x.header.Get(webhook.HeaderSignature)) || !webhook.Verify(next, x.body, x.header.Get(webhook.HeaderSignatureNext)) {
			t.Errorf("headers after the refusal: %v", x.header)
		}
		s.sql(`UPDATE webhook_destinations SET next_at = now() - interval '1 second'`)
		if x = send(); !webhook.Verify(next, x.body, x.header.Get(webhook.HeaderSignature)) || x.header.Get(webhook.HeaderSignatureNext) != "" {
			t.Errorf("headers when the overlap is over: %v", x.header)
		}
		old = next
	})
	t.Run("rotation at once", func(t *testing.T) {
		next := rotate(nil)
		if x := send(); webhook.Verify(old, x.body, x.header.Get(webhook.HeaderSignature)) || !webhook.Verify(next, x.body, x.header.Get(webhook.HeaderSignature)) {
			t.Errorf("headers: %v", x.header)
		}
	})
	t.Run("back to all events", func(t *testing.T) {
		if a := s.do("PATCH", at, token, map[string]any{"allEvents": true, "events": []string{"run.failed"}}); a.Status != 400 {
			t.Errorf("both: %d %s", a.Status, a.Body)
		}
		if a := s.do("PATCH", at, token, map[string]any{"allEvents": true}); a.Status != 200 || !bytes.Contains(a.Body, []byte(`"events":null`)) {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
	t.Run("no secret in the open", func(t *testing.T) {
		var open int
		s.look(&open, `SELECT count(*) FROM webhook_destinations WHERE position('whsec_'::bytea in secret) > 0`)
		if open != 0 {
			t.Error("a signing secret lies open in the table")
		}
	})
	t.Run("catalog", func(t *testing.T) {
		a := s.do("GET", hooks+"/catalog", token, nil)
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
		s.sql(`UPDATE webhook_destinations SET url = 'https://10.0.0.1/'`)
		a := s.do("POST", at+"/test", token, map[string]any{"type": "run.failed"})
		d := s.ended(token, int64(a.json(t).(map[string]any)["deliveryId"].(float64)))
		if d["status"] != "blocked" || len(d["attemptLog"].([]any)) != 1 || d["httpStatus"] != nil {
			t.Errorf("%v", d)
		}
	})
	t.Run("delete", func(t *testing.T) {
		if a := s.do("DELETE", at, token, nil); a.Status != http.StatusNoContent {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		if a := s.do("GET", at, token, nil); a.Status != http.StatusNotFound {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
}

// ended polls a delivery until it has ended.
func (s *stack) ended(token string, id int64) map[string]any {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if d := s.do("GET", hooks+"/deliveries/"+decimal(id), token, nil).json(s.t).(map[string]any); d["status"] != "pending" {
			return d
		}
	}
	s.t.Fatalf("delivery %d does not end", id)
	return nil
}

func TestDeliveriesArePaged(t *testing.T) {
	r := newReceiver(t, nil)
	s := newDeliveringStack(t)
	token := s.rootAs("tenant")
	id, _ := s.subscribe(token, r.URL)
	for range 5 {
		s.do("POST", hooks+"/destinations/"+decimal(id)+"/test", token, map[string]any{"type": "run.started"})
	}
	r.wait(t, 5)
	var ids []float64
	path := hooks + "/deliveries?limit=2&type=run.started&destinationId=" + decimal(id)
	for pages := 0; path != ""; pages++ {
		a := s.do("GET", path, token, nil)
		for _, d := range a.json(t).([]any) {
			ids = append(ids, d.(map[string]any)["id"].(float64))
		}
		link := a.Header.Get("Link")
		path = ""
		if link != "" {
			path = strings.TrimPrefix(link[1:strings.Index(link, ">")], s.url)
		}
		if pages > 3 {
			t.Fatal("the pages do not end")
		}
	}
	if len(ids) != 5 || ids[0] < ids[4] {
		t.Errorf("ids: %v", ids)
	}
	for _, bad := range []string{"?status=lost", "?limit=0", "?after=x", "?since=yesterday", "?destinationId=99999"} {
		if a := s.do("GET", hooks+"/deliveries"+bad, token, nil); a.Status != 400 && a.Status != 404 {
			t.Errorf("%s: %d %s", bad, a.Status, a.Body)
		}
	}
}

// TestRecoverBringsWhatWasLost recovers events whose last delivery failed or was blocked, and no others.
func TestRecoverBringsWhatWasLost(t *testing.T) {
	r := newReceiver(t, nil)
	s := newStack(t, deliverLocally(t))
	s.noDemoMails()
	token := s.rootAs("tenant")
	id, old := s.subscribe(token, r.URL)
	other, _ := s.subscribe(token, r.URL)
	at := hooks + "/destinations/" + decimal(id)
	send := func(destination int64) int64 {
		return s.must(202, "POST", hooks+"/destinations/"+decimal(destination)+"/test", token, object{"type": "run.failed"}).id(t, "deliveryId")
	}
	event := func(delivery int64) string {
		return member(t, s.must(200, "GET", hooks+"/deliveries/"+decimal(delivery), token, nil).json(t), "eventId").(string)
	}
	end := func(delivery int64, status string) {
		s.sql(`UPDATE webhook_deliveries SET status = $2, completed_at = now() WHERE id = $1`, delivery, status)
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
	s.sql(`UPDATE webhook_deliveries SET created_at = now() - interval '2 hours' WHERE id = $1`, long)
	end(s.must(202, "POST", hooks+"/deliveries/"+decimal(again)+"/resend", token, nil).id(t, "deliveryId"), "delivered")
	secret := s.must(200, "POST", at+"/rotate-secret", token, nil).json(t).(map[string]any)["secret"].(string)
	since := object{"since": time.Now().Add(-time.Hour)}
	for _, count := range []string{`{"count":2}`, `{"count":0}`} { // what is on its way is not sent twice
		if a := s.must(202, "POST", at+"/recover", token, since); string(a.Body) != count {
			t.Errorf("%s, want %s", a.Body, count)
		}
	}
	s.work(nil)
	for _, x := range r.wait(t, 2) {
		if !want[x.id] {
			t.Errorf("%s is sent again", x.id)
		}
		delete(want, x.id)
		if !webhook.VerifyHeader(x.header, x.body, secret) || webhook.VerifyHeader(x.header, x.body, old) {
			t.Error("the signature is not fresh")
		}
		var captured []byte
		s.look(&captured, `SELECT payload FROM webhook_deliveries WHERE event_id = '`+x.id+`' ORDER BY id LIMIT 1`)
		if !bytes.Equal(captured, x.body) {
			t.Errorf("other bytes are sent again: %s, not %s", x.body, captured)
		}
	}
}

// TestFailingDestinationIsDisabled has three days of failures pass at once.
func TestFailingDestinationIsDisabled(t *testing.T) {
	s := newStack(t)
	s.noDemoMails()
	token := s.as("Alpine Energy", "greta@alpine.example")
	failing, _ := s.subscribe(token, publicURL+"/failing")
	lately, _ := s.subscribe(token, publicURL+"/lately")
	few, _ := s.subscribe(token, publicURL+"/few")
	for id, since := range map[int64]string{failing: "73 hours, 20", lately: "71 hours, 200", few: "73 hours, 19"} {
		hours, failures, _ := strings.Cut(since, ", ")
		s.sql(`UPDATE webhook_destinations SET failing_since = now() - $2::interval, failures = $3 WHERE id = $1`, id, hours, failures)
	}
	told, root := s.overSSE(t, s.root()), s.root()
	s.until(t, told, func(n int) {
		s.must(204, "PUT", "/tenant", root, object{"customerId": s.company("Dune Retail"), "name": "Dune Retail"})
	})
	s.work(nil)
	enabled := func(id int64) bool {
		return member(t, s.must(200, "GET", hooks+"/destinations/"+decimal(id), token, nil).json(t), "enabled").(bool)
	}
	devtest.Eventually(t, "it is disabled", func() bool { return !enabled(failing) })
	if !enabled(lately) || !enabled(few) {
		t.Error("one that has not failed for long, or not often, is disabled, too")
	}
	for to, want := range map[string]int{"greta@alpine.example": 1, "jonas@alpine.example": 0, demoAdmin: 0} {
		list := s.mails(to)
		if len(list) != want {
			t.Errorf("%d mails to %s", len(list), to)
		}
		for _, m := range list {
			if !strings.Contains(m.Text, publicURL+"/failing") || !strings.Contains(m.Text, "Alpine Energy") || !strings.Contains(m.Text, "3 days") {
				t.Errorf("the mail says %q", m.Text)
			}
		}
	}
	for {
		h := next(t, told, "that it was disabled")
		if h.err != nil || h.over {
			t.Fatalf("%+v", h)
		}
		if h.event["action"] == "webhookDestination.disabled" && h.event["objectId"] == float64(failing) {
			return
		}
	}
}
