package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"canopy/rest"
)

// The fields of agents' runs and of webhooks under the names that REST gives them.
const (
	parityRun         = `query($k: String!) { v: run(jobKey: $k) { jobKey status outputData: output errorData: error } }`
	parityCatalog     = `{ v: webhookCatalog { version events { type category description example schema } } }`
	parityDestination = `id: databaseId url name events enabled createdAt`
	parityDelivery    = `id: databaseId eventId destinationId type status attempts httpStatus error test createdAt completedAt`
	parityAttempts    = `attemptLog { at durationMs httpStatus error response }`
)

// webhookReads are the documented reads that these tests compare.
var webhookReads = []string{
	"getJob", "getWebhookCatalog", "getWebhookDelivery", "getWebhookDestination", "listWebhookDeliveries", "listWebhookDestinations",
}

// TestParityIsWhole: a read of runs or webhooks that is documented is compared here.
func TestParityIsWhole(t *testing.T) {
	s := newStack(t)
	_, registry := rest.New(s.p.Resolver, rest.Options{})
	var reads []string
	for _, e := range rest.Endpoints(registry) {
		if e.Method == http.MethodGet && (strings.HasPrefix(e.Path, hooks) || strings.HasPrefix(e.Path, "/job/")) {
			reads = append(reads, e.OperationID)
		}
	}
	slices.Sort(reads)
	if !slices.Equal(reads, webhookReads) {
		t.Errorf("documented are %v, compared %v", reads, webhookReads)
	}
}

// TestParityOfJobs compares runs in each of their states.
func TestParityOfJobs(t *testing.T) {
	s := newStack(t)
	s.noDemoMails()
	builder := s.rootAs("builder")
	greets := s.publish(builder, greeter)
	fails := s.publish(builder, `{"steps":[{"id":"f","type":"fail","code":"no_way","message":"Ünder \"way\""}],"output":{}}`)
	keys := map[string]string{
		"finished": s.start(builder, greets, map[string]any{"name": "Ada <&> \u2028"}), "failed": s.start(builder, fails, object{}), "cancelled": s.start(builder, greets, object{}),
	}
	s.mutate(builder, "cancelRun", "run { status }", object{"jobKey": keys["cancelled"]})
	stop := s.work(nil)
	for _, key := range keys {
		s.poll(builder, key)
	}
	stop()
	keys["running"] = s.start(builder, greets, object{})
	statuses := map[string]int{"finished": 200, "failed": 400, "cancelled": 400, "running": 202}
	for state, key := range keys {
		for _, token := range []string{builder, s.assistant()} {
			got := s.must(statuses[state], "GET", "/job/"+key, token, nil).json(t).(map[string]any)
			want := s.mustGQL(token, parityRun, object{"k": key})["v"].(map[string]any)
			for name, value := range want {
				if value == nil {
					delete(want, name) // REST leaves out what a state does not have
				}
			}
			if failure, failed := want["errorData"]; failed {
				want["detail"] = failure.(map[string]any)["message"]
			}
			sameAnswers(t, state, got, want)
		}
	}
}

// TestParityOfWebhooks compares the catalog, destinations of every kind, and deliveries in each of
// their states, whole and through every filter.
func TestParityOfWebhooks(t *testing.T) {
	r := newReceiver(t, func(x received, n int) int {
		switch {
		case x.typ == "agent.deleted":
			return http.StatusNotFound
		case x.typ == "agent.enabled" && n < 2:
			return http.StatusBadGateway
		}
		return http.StatusOK
	})
	s := newStack(t, deliverLocally(t))
	s.noDemoMails()
	token := s.rootAs("tenant")
	all, _ := s.subscribe(token, r.URL)
	some, _ := s.subscribe(token, r.URL, "run.started", "agent.deleted")
	blocked, _ := s.subscribe(token, publicURL)
	s.sql(`UPDATE webhook_destinations SET url = 'https://10.0.0.1/' WHERE id = $1`, blocked)
	s.must(200, "PATCH", hooks+"/destinations/"+decimal(some), token, object{"enabled": false, "name": "Ünder <&>"})
	test := func(destination int64, typ string) int64 {
		t.Helper()
		return s.must(202, "POST", hooks+"/destinations/"+decimal(destination)+"/test", token, object{"type": typ}).id(t, "deliveryId")
	}
	var ids []int64
	for _, typ := range []string{"run.started", "agent.deleted", "agent.enabled"} {
		ids = append(ids, test(all, typ))
	}
	ids = append(ids, test(some, "run.started"), test(blocked, "run.failed"))
	stop := s.work(nil)
	states := map[string]bool{}
	for _, id := range ids {
		states[s.ended(token, id)["status"].(string)] = true
	}
	stop()
	ids = append(ids, test(all, "run.completed"))
	if len(states) != 3 {
		t.Fatalf("the deliveries ended %v only", states)
	}
	t.Run("catalog", func(t *testing.T) { s.sameRead(t, token, "/catalog", parityCatalog) })
	t.Run("destinations", func(t *testing.T) {
		s.sameRead(t, token, "/destinations", `{ v: webhookDestinations { nodes { `+parityDestination+` } } }`)
		for _, id := range []int64{all, some, blocked} {
			s.sameRead(t, token, "/destinations/"+decimal(id), `{ v: webhookDestination(id: `+decimal(id)+`) { `+parityDestination+` } }`)
		}
	})
	t.Run("deliveries", func(t *testing.T) { s.sameDeliveries(t, token, all) })
	for _, id := range ids {
		t.Run("delivery "+decimal(id), func(t *testing.T) { s.sameDelivery(t, token, id) })
	}
}

// sameRead compares one read of webhooks.
func (s *stack) sameRead(t *testing.T, token, path, query string) {
	t.Helper()
	got := s.must(200, "GET", hooks+path, token, nil).json(t)
	if list, ok := got.([]any); ok && len(list) == 0 {
		t.Errorf("%s is empty", path)
	}
	sameAnswers(t, path, got, s.mustGQL(token, query, nil)["v"])
}

// sameDeliveries compares the log through every filter.
func (s *stack) sameDeliveries(t *testing.T, token string, destination int64) {
	t.Helper()
	since := s.must(200, "GET", hooks+"/deliveries?limit=3", token, nil).json(t).([]any)[2].(map[string]any)["createdAt"].(string)
	for _, c := range []struct{ rest, graph string }{
		{"", ""},
		{"?destinationId=" + decimal(destination), fmt.Sprintf(`(destinationId: %d)`, destination)},
		{"?type=run.started", `(type: "run.started")`},
		{"?status=pending", `(status: pending)`},
		{"?status=delivered", `(status: delivered)`},
		{"?status=failed", `(status: failed)`},
		{"?status=blocked", `(status: blocked)`},
		{"?since=" + url.QueryEscape(since), `(since: "` + since + `")`},
		{"?limit=2", `(first: 2)`},
	} {
		s.sameRead(t, token, "/deliveries"+c.rest, `{ v: webhookDeliveries`+c.graph+` { nodes { `+parityDelivery+` } } }`)
	}
}

// sameDelivery compares one delivery with its log, and the captured bytes to the byte.
func (s *stack) sameDelivery(t *testing.T, token string, id int64) {
	t.Helper()
	a := s.must(200, "GET", hooks+"/deliveries/"+decimal(id), token, nil)
	want := s.mustGQL(token, `{ v: webhookDelivery(id: `+decimal(id)+`) { `+parityDelivery+` payload `+parityAttempts+` } }`, nil)["v"].(map[string]any)
	payload := want["payload"].(string)
	if !bytes.Contains(a.Body, []byte(`"payload":`+payload)) {
		t.Errorf("the captured bytes differ: %s and %s", a.Body, payload)
	}
	var event any
	if err := json.Unmarshal([]byte(payload), &event); err != nil {
		t.Fatal(err)
	}
	want["payload"] = event
	sameAnswers(t, "delivery", a.json(t), want)
}
