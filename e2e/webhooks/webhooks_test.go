package webhooks

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/webhook"
)

func TestAgentLifeIsDelivered(t *testing.T) {
	t.Parallel()
	r := platform.NewReceiver(t, nil)
	s := platform.StartDelivering(t)
	token := s.RootAs("builder")
	_, secret := s.Subscribe(token, r.URL)
	made := s.Mutate(token, "createAgent", "agent { id databaseId enabled runnable draft }", map[string]any{"name": "Greeter", "diagram": json.RawMessage(platform.Greeter)})
	agent := made["agent"].(map[string]any)
	if agent["enabled"] != true || agent["runnable"] != false {
		t.Errorf("a new agent: %v", agent)
	}
	in := map[string]any{"id": agent["id"]}
	s.Mutate(token, "updateAgent", "agent { name }", map[string]any{"id": agent["id"], "name": "Renamed"})
	s.Mutate(token, "publishAgent", "agent { runnable published { number } } revision { databaseId }", in)
	for _, mutation := range []string{"disableAgent", "enableAgent", "unpublishAgent"} {
		first := s.Mutate(token, mutation, "agent { enabled runnable updatedAt }", in)
		events, audited := s.Number(`SELECT count(*) FROM webhook_deliveries`), s.Number(`SELECT count(*) FROM audit_events`)
		if again := s.Mutate(token, mutation, "agent { enabled runnable updatedAt }", in); !platform.SameJSON(again, first) {
			t.Errorf("%s again changes the agent: %v, %v", mutation, first, again)
		}
		if e, a := s.Number(`SELECT count(*) FROM webhook_deliveries`), s.Number(`SELECT count(*) FROM audit_events`); e != events || a != audited {
			t.Errorf("%s again is told: %d events, then %d; %d entries of the log, then %d", mutation, events, e, audited, a)
		}
	}
	s.Mutate(token, "deleteAgent", "deletedId", in)
	got := r.Wait(t, 6)
	types := r.Types()
	slices.Sort(types)
	want := []string{"agent.created", "agent.deleted", "agent.disabled", "agent.enabled", "agent.published", "agent.unpublished"}
	if !slices.Equal(types, want) {
		t.Errorf("events: %v", types)
	}
	for _, x := range got {
		if !webhook.VerifyHeader(x.Header, x.Body, secret) || x.Header.Get(webhook.HeaderEvent) != x.Typ {
			t.Errorf("%s: headers %v", x.Typ, x.Header)
		}
		var e webhook.Envelope
		if err := json.Unmarshal(x.Body, &e); err != nil || e.Version != "v1" || e.Category != "agent" || !strings.HasPrefix(e.ID, "evt_") {
			t.Errorf("envelope: %s", x.Body)
		}
		if x.Typ == "agent.enabled" && !bytes.Contains(x.Body, []byte(`"runnable":true`)) {
			t.Errorf("agent.enabled: %s", x.Body)
		}
	}
	if _, codes := s.GQL(token, `query($id: ID!) { agent(id: $id) { name } }`, in); !slices.Equal(codes, []string{"NOT_FOUND"}) {
		t.Errorf("a deleted agent: %v", codes)
	}
}

func TestRetriesFollowTheSpec(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	answers := map[string][]int{"run.started": {500, 503, 200}, "agent.created": {404}, "agent.deleted": {302}, "agent.enabled": {500, 500, 500, 200}}
	r := platform.NewReceiver(t, func(x platform.Received, n int) int {
		mu.Lock()
		defer mu.Unlock()
		list := answers[x.Typ]
		return list[min(n, len(list))-1]
	})
	s := platform.StartDelivering(t)
	token := s.RootAs("tenant")
	id, _ := s.Subscribe(token, r.URL)
	deliveries := map[string]int64{}
	for typ := range answers {
		a := s.Do("POST", platform.Hooks+"/destinations/"+platform.Decimal(id)+"/test", token, map[string]any{"type": typ})
		if a.Status != http.StatusAccepted {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		deliveries[typ] = int64(a.JSON(t).(map[string]any)["deliveryId"].(float64))
	}
	ended := func(typ string) map[string]any {
		for {
			m := s.Do("GET", platform.Hooks+"/deliveries/"+platform.Decimal(deliveries[typ]), token, nil).JSON(t).(map[string]any)
			if m["status"] != "pending" {
				return m
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	for typ, want := range map[string]struct {
		status   string
		attempts int
		http     float64
		kind     any
	}{
		"run.started": {"delivered", 3, 200, nil}, "agent.created": {"failed", 1, 404, "status"}, "agent.deleted": {"failed", 1, 302, "status"}, "agent.enabled": {"failed", 3, 500, "status"},
	} {
		m := ended(typ)
		if m["status"] != want.status || m["attempts"] != float64(want.attempts) || m["httpStatus"] != want.http || len(m["attemptLog"].([]any)) != want.attempts ||
			platform.Member(t, m, "attemptLog."+platform.Decimal(int64(want.attempts-1))+".errorKind") != want.kind {
			t.Errorf("%s: %v", typ, m)
		}
	}
	var bodies [][]byte
	var times []time.Time
	for _, x := range r.All() {
		if x.Typ == "run.started" {
			bodies, times = append(bodies, x.Body), append(times, x.At)
		}
	}
	if len(bodies) != 3 || !bytes.Equal(bodies[0], bodies[1]) || !bytes.Equal(bodies[1], bodies[2]) {
		t.Fatalf("the bytes of the attempts differ: %q", bodies)
	}
	for i, want := range []time.Duration{500 * time.Millisecond, 2 * time.Second} {
		if gap := times[i+1].Sub(times[i]); gap < want-want/5 { // a busy machine takes longer
			t.Errorf("gap %d: %v", i+1, gap)
		}
	}
	a := s.Do("POST", platform.Hooks+"/destinations/"+platform.Decimal(id)+"/recover", token, map[string]any{"since": time.Now().Add(-time.Hour)})
	if a.Status != 202 || string(a.Body) != `{"count":3}` {
		t.Errorf("recover: %d %s", a.Status, a.Body)
	}
	r.Wait(t, 8+3)
}
