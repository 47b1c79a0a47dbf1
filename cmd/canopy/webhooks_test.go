package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"canopy/internal/config"
	"canopy/internal/webhook"
)

// received is one request that a receiver got.
type received struct {
	at     time.Time
	header http.Header
	body   []byte
	id     string
	typ    string
}

// receiver is an HTTPS endpoint on the loopback address.
type receiver struct {
	*httptest.Server
	// status answers each request; 204 when nil. n counts the requests for the same event, from 1.
	status func(r received, n int) int
	mu     sync.Mutex
	got    []received
	seen   map[string]int
	more   chan struct{}
}

func newReceiver(t testing.TB, status func(received, int) int) *receiver {
	t.Helper()
	r := &receiver{status: status, seen: map[string]int{}, more: make(chan struct{}, 1)}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(r.serve))
	r.Server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	r.Server.Config.ErrorLog = nil
	r.Server.StartTLS()
	t.Cleanup(r.Server.Close)
	return r
}

func (r *receiver) serve(w http.ResponseWriter, req *http.Request) {
	x := received{at: time.Now(), header: req.Header}
	x.body, _ = io.ReadAll(req.Body)
	var e webhook.Envelope
	_ = json.Unmarshal(x.body, &e)
	x.id, x.typ = e.ID, e.Type
	r.mu.Lock()
	r.got = append(r.got, x)
	r.seen[x.id]++
	n := r.seen[x.id]
	r.mu.Unlock()
	select {
	case r.more <- struct{}{}:
	default:
	}
	status := http.StatusNoContent
	if r.status != nil {
		status = r.status(x, n)
	}
	w.WriteHeader(status)
}

// all gives what came so far.
func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// wait gives what came once there are n requests.
func (r *receiver) wait(t testing.TB, n int) []received {
	t.Helper()
	deadline := time.After(15 * time.Second)
	for {
		if got := r.all(); len(got) >= n {
			return got
		}
		select {
		case <-r.more:
		case <-deadline:
			t.Fatalf("%d of %d requests came: %v", len(r.all()), n, r.types())
		}
	}
}

func (r *receiver) types() (list []string) {
	for _, x := range r.all() {
		list = append(list, x.typ)
	}
	return list
}

// deliverLocally lets a platform deliver to receivers on the loopback address.
func deliverLocally(t testing.TB) func(*config.Config) {
	t.Helper()
	ca := certificateFile(t)
	return func(c *config.Config) {
		c.WebhookAllow, c.WebhookCA = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, ca
	}
}

// newDeliveringStack starts a platform with a worker that may deliver to receivers.
func newDeliveringStack(t *testing.T) *stack {
	t.Helper()
	s := newStack(t, deliverLocally(t))
	s.noDemoMails()
	s.work(nil)
	return s
}

const hooks = "/v1/outbound-webhooks"

// subscribe makes a destination and gives its id and secret.
func (s *stack) subscribe(token, url string, events ...string) (id int64, secret string) {
	s.t.Helper()
	body := map[string]any{"url": url, "name": "test"}
	if len(events) > 0 {
		body["events"] = events
	}
	a := s.do("POST", hooks+"/destinations", token, body)
	if a.Status != http.StatusCreated {
		s.t.Fatalf("%d %s", a.Status, a.Body)
	}
	m := a.json(s.t).(map[string]any)
	return int64(m["id"].(float64)), m["secret"].(string)
}

// mutate runs one mutation and gives its payload.
func (s *stack) mutate(token, name, fields string, input map[string]any) map[string]any {
	s.t.Helper()
	data, codes := s.gql(token, "mutation($in: "+strings.ToUpper(name[:1])+name[1:]+"Input!) { "+name+"(input: $in) { "+fields+" } }", map[string]any{"in": input})
	if len(codes) > 0 {
		s.t.Fatalf("%s: %v\n%s", name, codes, s.log)
	}
	return data[name].(map[string]any)
}

// publish makes an agent and publishes it.
func (s *stack) publish(token, diagram string) int64 {
	s.t.Helper()
	made := s.mutate(token, "createAgent", "agent { databaseId enabled runnable }", map[string]any{"name": "Greeter", "diagram": json.RawMessage(diagram)})
	id := int64(made["agent"].(map[string]any)["databaseId"].(float64))
	s.mutate(token, "publishAgent", "agent { runnable } revision { databaseId number }", map[string]any{"id": id})
	return id
}

// poll polls a job until it has ended.
func (s *stack) poll(token, key string) answerOf {
	s.t.Helper()
	return s.pollFor(token, key, 20*time.Second)
}

func (s *stack) pollFor(token, key string, patience time.Duration) answerOf {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		a := s.do("GET", "/job/"+key, token, nil)
		if a.Status != http.StatusAccepted {
			return a
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the run hangs: %s\n%s", a.Body, s.log)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

const greeter = `{"steps":[{"id":"a","type":"set","values":{"text":"Hello {{ input.name }}"}}],"output":{"text":"{{ steps.a.text }}"}}`

func TestAgentLifeIsDelivered(t *testing.T) {
	r := newReceiver(t, nil)
	s := newDeliveringStack(t)
	token := s.rootAs("builder")
	_, secret := s.subscribe(token, r.URL)
	made := s.mutate(token, "createAgent", "agent { id databaseId enabled runnable draft }", map[string]any{"name": "Greeter", "diagram": json.RawMessage(greeter)})
	agent := made["agent"].(map[string]any)
	if agent["enabled"] != true || agent["runnable"] != false {
		t.Errorf("a new agent: %v", agent)
	}
	in := map[string]any{"id": agent["id"]}
	s.mutate(token, "updateAgent", "agent { name }", map[string]any{"id": agent["id"], "name": "Renamed"})
	s.mutate(token, "publishAgent", "agent { runnable published { number } } revision { databaseId }", in)
	for _, mutation := range []string{"disableAgent", "enableAgent", "unpublishAgent"} {
		first := s.mutate(token, mutation, "agent { enabled runnable updatedAt }", in)
		events, audited := s.number(`SELECT count(*) FROM webhook_deliveries`), s.number(`SELECT count(*) FROM audit_events`)
		if again := s.mutate(token, mutation, "agent { enabled runnable updatedAt }", in); !sameJSON(again, first) {
			t.Errorf("%s again changes the agent: %v, %v", mutation, first, again)
		}
		if e, a := s.number(`SELECT count(*) FROM webhook_deliveries`), s.number(`SELECT count(*) FROM audit_events`); e != events || a != audited {
			t.Errorf("%s again is told: %d events, then %d; %d entries of the log, then %d", mutation, events, e, audited, a)
		}
	}
	s.mutate(token, "deleteAgent", "deletedId", in)
	got := r.wait(t, 6)
	types := r.types()
	slices.Sort(types)
	want := []string{"agent.created", "agent.deleted", "agent.disabled", "agent.enabled", "agent.published", "agent.unpublished"}
	if !slices.Equal(types, want) {
		t.Errorf("events: %v", types)
	}
	for _, x := range got {
		if !webhook.VerifyHeader(x.header, x.body, secret) || x.header.Get(webhook.HeaderEvent) != x.typ {
			t.Errorf("%s: headers %v", x.typ, x.header)
		}
		var e webhook.Envelope
		if err := json.Unmarshal(x.body, &e); err != nil || e.Version != "v1" || e.Category != "agent" || !strings.HasPrefix(e.ID, "evt_") {
			t.Errorf("envelope: %s", x.body)
		}
		if x.typ == "agent.enabled" && !bytes.Contains(x.body, []byte(`"runnable":true`)) {
			t.Errorf("agent.enabled: %s", x.body)
		}
	}
	if _, codes := s.gql(token, `query($id: ID!) { agent(id: $id) { name } }`, in); !slices.Equal(codes, []string{"NOT_FOUND"}) {
		t.Errorf("a deleted agent: %v", codes)
	}
}

func TestRunsAreExecuted(t *testing.T) {
	r := newReceiver(t, nil)
	s := newDeliveringStack(t)
	builder, assistant := s.rootAs("builder"), s.rootAs("assistant")
	s.subscribe(builder, r.URL, "run.started", "run.completed", "run.failed")
	agent := s.publish(builder, greeter)
	start := func(id int64, body string) answerOf {
		return s.do("POST", "/CognitiveDiagram/"+decimal(id)+"/ExecuteAsJob", assistant, body)
	}
	key := func(a answerOf) string {
		t.Helper()
		if a.Status != http.StatusAccepted {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		return a.json(t).(map[string]any)["jobKey"].(string)
	}

	t.Run("a run that finishes", func(t *testing.T) {
		k := key(start(agent, `{"name":"Ada"}`))
		a := s.poll(builder, k)
		if want := `{"jobKey":"` + k + `","status":"finished","outputData":{"text":"Hello Ada"}}`; a.Status != 200 || string(a.Body) != want {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		data, codes := s.gql(builder, `query($k: String!) { run(jobKey: $k) { status output input error steps { stepId type result durationMs } agent { databaseId } revision { number } } }`, map[string]any{"k": k})
		if len(codes) > 0 {
			t.Fatal(codes)
		}
		run := data["run"].(map[string]any)
		if run["status"] != "finished" || run["error"] != nil || len(run["steps"].([]any)) != 1 {
			t.Errorf("run: %v", run)
		}
	})
	t.Run("a run that fails", func(t *testing.T) {
		bad := s.publish(builder, `{"steps":[{"id":"f","type":"fail","message":"No {{ input.x }}"}],"output":{}}`)
		k := key(start(bad, `{"x":"way"}`))
		a := s.poll(builder, k)
		m := a.json(t).(map[string]any)
		if a.Status != 400 || m["status"] != "failed" || m["detail"] != "No way" || m["errorData"].(map[string]any)["code"] != "failed" {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
	t.Run("a search step without contexts", func(t *testing.T) {
		bad := s.publish(builder, `{"steps":[{"id":"s","type":"search","contextId":1,"prompt":"x"}],"output":{}}`)
		a := s.poll(builder, key(start(bad, `{}`)))
		if code := a.json(t).(map[string]any)["errorData"].(map[string]any)["code"]; a.Status != 400 || code != "search_error" {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
	t.Run("events", func(t *testing.T) {
		r.wait(t, 6)
		types := r.types()
		slices.Sort(types)
		if want := []string{"run.completed", "run.failed", "run.failed", "run.started", "run.started", "run.started"}; !slices.Equal(types, want) {
			t.Errorf("events: %v", types)
		}
	})
	t.Run("refusals", func(t *testing.T) {
		unpublished := int64(s.mutate(builder, "createAgent", "agent { databaseId }", map[string]any{"name": "New"})["agent"].(map[string]any)["databaseId"].(float64))
		for name, c := range map[string]struct {
			a    answerOf
			want int
		}{
			"not published":    {start(unpublished, `{}`), 400},
			"no such agent":    {start(1<<40, `{}`), 404},
			"input no object":  {start(agent, `[]`), 400},
			"no JSON":          {start(agent, `{`), 400},
			"too large":        {start(agent, `{"x":"`+strings.Repeat("x", 1<<20)+`"}`), 413},
			"no such job":      {s.do("GET", "/job/2f1f5f3e-90a0-4a86-9a35-bd67bdb1a6a8", builder, nil), 404},
			"no job key":       {s.do("GET", "/job/nonsense", builder, nil), 404},
			"another token":    {s.do("GET", "/job/nonsense", s.rootAs("tenant"), nil), 403},
			"no token":         {s.do("GET", "/job/nonsense", "", nil), 401},
			"a faulty diagram": {s.do("POST", "/graphql", builder, map[string]any{"query": `mutation { publishAgent(input: {id: ` + decimal(unpublished) + `}) { agent { name } } }`}), 200},
		} {
			if c.a.Status != c.want {
				t.Errorf("%s: %d %s", name, c.a.Status, c.a.Body)
			}
		}
	})
}

func TestRetriesFollowTheSpec(t *testing.T) {
	var mu sync.Mutex
	answers := map[string][]int{"run.started": {500, 503, 200}, "agent.created": {404}, "agent.deleted": {302}, "agent.enabled": {500, 500, 500, 200}}
	r := newReceiver(t, func(x received, n int) int {
		mu.Lock()
		defer mu.Unlock()
		list := answers[x.typ]
		return list[min(n, len(list))-1]
	})
	s := newDeliveringStack(t)
	token := s.rootAs("tenant")
	id, _ := s.subscribe(token, r.URL)
	deliveries := map[string]int64{}
	for typ := range answers {
		a := s.do("POST", hooks+"/destinations/"+decimal(id)+"/test", token, map[string]any{"type": typ})
		if a.Status != http.StatusAccepted {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		deliveries[typ] = int64(a.json(t).(map[string]any)["deliveryId"].(float64))
	}
	ended := func(typ string) map[string]any {
		for {
			m := s.do("GET", hooks+"/deliveries/"+decimal(deliveries[typ]), token, nil).json(t).(map[string]any)
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
	}{
		"run.started": {"delivered", 3, 200}, "agent.created": {"failed", 1, 404}, "agent.deleted": {"failed", 1, 302}, "agent.enabled": {"failed", 3, 500},
	} {
		m := ended(typ)
		if m["status"] != want.status || m["attempts"] != float64(want.attempts) || m["httpStatus"] != want.http || len(m["attemptLog"].([]any)) != want.attempts {
			t.Errorf("%s: %v", typ, m)
		}
	}
	var bodies [][]byte
	var times []time.Time
	for _, x := range r.all() {
		if x.typ == "run.started" {
			bodies, times = append(bodies, x.body), append(times, x.at)
		}
	}
	if len(bodies) != 3 || !bytes.Equal(bodies[0], bodies[1]) || !bytes.Equal(bodies[1], bodies[2]) {
		t.Fatalf("the bytes of the attempts differ: %q", bodies)
	}
	for i, want := range []time.Duration{500 * time.Millisecond, 2 * time.Second} {
		if gap := times[i+1].Sub(times[i]); gap < want-want/5 || gap > want+want/5+100*time.Millisecond {
			t.Errorf("gap %d: %v", i+1, gap)
		}
	}
	a := s.do("POST", hooks+"/destinations/"+decimal(id)+"/recover", token, map[string]any{"since": time.Now().Add(-time.Hour)})
	if a.Status != 202 || string(a.Body) != `{"count":3}` {
		t.Errorf("recover: %d %s", a.Status, a.Body)
	}
	r.wait(t, 8+3)
}
