package telemetry

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
	"canopy/internal/telemetry"
)

// The trace that the test's own requests belong to.
const (
	traceID     = "4bf92f3577b34da6a3ce929d0e0e4736"
	traceparent = "00-" + traceID + "-00f067aa0ba902b7-01"
)

// observed starts a platform that tells a collector. Its variables are the process's, so that no other test runs beside.
func observed(t *testing.T, c *collector, change ...func(*config.Config)) *platform.Platform {
	t.Helper()
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": c.url, "OTEL_BSP_SCHEDULE_DELAY": "50", "OTEL_METRIC_EXPORT_INTERVAL": "200", "OTEL_EXPORTER_OTLP_HEADERS": "x-tenant=seven",
	} {
		t.Setenv(name, value)
	}
	return platform.Start(t, append(change, func(cfg *config.Config) {
		cfg.Telemetry = telemetry.Settings{Traces: true, Metrics: true, TracesHTTP: c.http, MetricsHTTP: c.http}
	})...)
}

// traced posts within the test's trace.
func traced(s *platform.Platform, status int, path, token string, body any) platform.Answer {
	s.T.Helper()
	a := s.Send(tracedRequest(s.T, s.URL+path, token, body))
	if a.Status != status {
		s.T.Fatalf("%s: %d %s", path, a.Status, a.Body)
	}
	return a
}

func tracedRequest(t testing.TB, url, token string, body any) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(string(platform.MustJSON(t, body))))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Traceparent", traceparent)
	return req
}

// TestOneTraceToTheLastAttempt follows a request through its run, its model server and its http step to the second attempt of its deliveries: all of it
// is one trace, whose spans all hang from the request's, and only those receivers hear of it that may.
func TestOneTraceToTheLastAttempt(t *testing.T) {
	c := overGRPC(t)
	asked := make(chan http.Header, 10)
	talker := platform.NewChatServer(t, func(r *http.Request, say func(string)) bool {
		asked <- r.Header
		say("It keeps for 3000 years [1].")
		return true
	})
	refuse := func(_ platform.Received, n int) int {
		if n == 1 {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	}
	standard, plain, stepped := platform.NewReceiver(t, refuse), platform.NewReceiver(t, refuse), platform.NewReceiver(t, nil)
	s := observed(t, c, platform.DeliverLocally(t), talker.Use, func(cfg *config.Config) { cfg.RateLimit = 1_000_000 }) // which Redis counts
	box := &platform.Letterbox{}
	s.NoDemoMails()
	s.Work(box)
	tenant, builder, assistant := s.RootAs("tenant"), s.RootAs("builder"), s.Assistant()
	s.Must(201, "POST", platform.Hooks+"/destinations", tenant, object{"url": standard.URL, "events": []string{"run.completed"}, "signing": "STANDARD"})
	s.Subscribe(tenant, plain.URL, "run.completed")
	larder := s.NewContext(assistant, "Larder")
	s.Upload(assistant, larder, "honey.md", []byte("# Honey\n\nBees make it. Honey keeps for 3000 years when it is dry.\n"))
	s.Settle(assistant, larder)
	agent := s.Publish(builder, fmt.Sprintf(`{"steps":[
		{"id":"said","type":"ask","contextId":%d,"prompt":"Honey keeps how many years?","minRelevance":0.1},
		{"id":"post","type":"http","method":"POST","url":%q,"body":{"type":"step","id":"honeycomb"}}],"output":{"said":"{{ steps.said.text }}"}}`, larder, stepped.URL))

	key := platform.Member(t, traced(s, 202, "/CognitiveDiagram/"+platform.Decimal(agent)+"/ExecuteAsJob", builder, object{}).JSON(t), "jobKey").(string)
	if a := s.Poll(builder, key); a.Status != http.StatusOK {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	traced(s, 201, "/tenant/user", tenant, object{"email": "melissa@example.com", "firstName": "Melissa", "lastName": "Beekeeper"})
	traced(s, 200, "/graphql", tenant, object{"query": `query Colony { customer { name users(first: 5) { nodes { email } } } }`})

	route := "POST /CognitiveDiagram/{id}/ExecuteAsJob"
	want := map[string]int{
		route: 1, "INSERT runs": 1, "run": 1, "step ask": 1, "step http": 1, "POST /chat/completions": 1, "http": 1, "deliver": 4,
		"POST /tenant/user": 1, "mail invitation": 1, "POST /graphql": 1, "query Colony": 1,
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("there came %s", names(c.trace()))
		}
	})
	devtest.Eventually(t, "the whole trace has come", func() bool {
		spans := c.trace()
		for name, n := range want {
			if len(named(spans, name)) < n {
				return false
			}
		}
		return box.Count() > 0
	})
	spans := c.trace()
	for name, n := range want {
		if got := len(named(spans, name)); got != n && !strings.HasPrefix(name, "INSERT") {
			t.Errorf("%d of %q: %s", got, name, names(spans))
		}
	}
	hangTogether(t, spans)
	attempts := map[int64]int{}
	for _, s := range named(spans, "deliver") {
		attempts[number(s.GetAttributes(), "canopy.attempt")]++
		if text(s.GetAttributes(), "canopy.event") != "run.completed" || number(s.GetAttributes(), "http.response.status_code") == 0 {
			t.Errorf("%v", s)
		}
	}
	if attempts[1] != 2 || attempts[2] != 2 {
		t.Errorf("attempts: %v", attempts)
	}
	if redis := strings.Count(names(spans), "redis "); redis == 0 {
		t.Errorf("nothing of Redis: %s", names(spans))
	}
	for who, header := range map[string]http.Header{
		"the model server": <-asked, "the http step's": stepped.Wait(t, 1)[0].Header, "the receiver with STANDARD": standard.Wait(t, 2)[1].Header,
	} {
		if at := header.Get("Traceparent"); !strings.HasPrefix(at, "00-"+traceID+"-") {
			t.Errorf("%s traceparent is %q", who, at)
		}
	}
	for _, x := range plain.Wait(t, 2) {
		if at, there := x.Header["Traceparent"]; there {
			t.Errorf("the receiver without STANDARD hears of it: %v", at)
		}
	}
	impersonal(t, spans, "melissa", "beekeeper", "example.com", s.Demo.AdminEmail, "honey", "127.0.0.1", s.Demo.ClientSecret, "larder")
	devtest.Eventually(t, "the metrics have come", func() bool {
		return len(c.lacks("canopy_runs_total", "http_request_duration_seconds", "canopy_sql_statements_total", "go_goroutines", "canopy_webhook_attempts_total")) == 0
	})
	told := logged(t, s)
	for _, line := range told {
		if line["operation"] == "query Colony" {
			if line["company"] == nil || line["user"] == nil || line["client"] == nil || line["cost"] == nil || line["traceId"] != traceID {
				t.Errorf("the log says %v", line)
			}
			return
		}
	}
	t.Errorf("no line of the log tells of the query: %v", told)
}

// hangTogether: each span of the trace stands below another one of it, but those of the test's own requests.
func hangTogether(t *testing.T, spans []*tracepb.Span) {
	t.Helper()
	known := map[string]bool{"00f067aa0ba902b7": true}
	for _, s := range spans {
		known[hex.EncodeToString(s.GetSpanId())] = true
	}
	for _, s := range spans {
		if above := hex.EncodeToString(s.GetParentSpanId()); !known[above] {
			t.Errorf("%s stands below %q, which is not there", s.GetName(), above)
		}
	}
}

// impersonal: nothing in the spans tells of people, or of what they wrote.
func impersonal(t *testing.T, spans []*tracepb.Span, words ...string) {
	t.Helper()
	for _, s := range spans {
		said, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range words {
			if strings.Contains(strings.ToLower(string(said)), strings.ToLower(word)) {
				t.Errorf("%s tells %q: %s", s.GetName(), word, said)
			}
		}
	}
}

var logField = regexp.MustCompile(`(\w+)=("[^"]*"|\S+)`)

// logged are the lines about requests.
func logged(t *testing.T, s *platform.Platform) (list []map[string]any) {
	t.Helper()
	for line := range strings.Lines(s.Log.String()) {
		if !strings.Contains(line, "msg=request") {
			continue
		}
		fields := map[string]any{}
		for _, one := range logField.FindAllStringSubmatch(line, -1) {
			fields[one[1]] = strings.Trim(one[2], `"`)
		}
		list = append(list, fields)
	}
	return list
}

// TestOverHTTP: the standard's own protocol, with the headers that are asked for.
func TestOverHTTP(t *testing.T) {
	c := overHTTP(t)
	s := observed(t, c)
	traced(s, 200, "/graphql", s.RootAs("tenant"), object{"query": `query Colony { me { email } }`})
	devtest.Eventually(t, "traces and metrics have come", func() bool {
		return len(named(c.trace(), "query Colony")) == 1 && len(c.lacks("http_request_duration_seconds")) == 0
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.headers[0].Get("X-Tenant") != "seven" || !c.services["canopy"] {
		t.Errorf("%v %v", c.headers[0], c.services)
	}
}

// TestSilence: without the variables nothing is told: no row has a trace, and no receiver hears of one.
func TestSilence(t *testing.T) {
	r := platform.NewReceiver(t, nil)
	s := platform.StartDelivering(t)
	tenant := s.RootAs("tenant")
	id := s.Must(201, "POST", platform.Hooks+"/destinations", tenant, object{"url": r.URL, "signing": "STANDARD"}).ID(t, "id")
	traced(s, 202, platform.Hooks+"/destinations/"+platform.Decimal(id)+"/test", tenant, object{"type": "run.completed"})
	if at, there := r.Wait(t, 1)[0].Header["Traceparent"]; there {
		t.Errorf("it hears of %v", at)
	}
	for _, table := range []string{"webhook_deliveries", "runs", "documents", "mail_outbox"} {
		if n := s.Number("SELECT count(*) FROM " + table + " WHERE traceparent IS NOT NULL"); n != 0 {
			t.Errorf("%d of %s have a trace", n, table)
		}
	}
	if s.Number("SELECT count(*) FROM webhook_deliveries") == 0 {
		t.Error("nothing was delivered")
	}
}

// TestSlowResolvers: a field whose resolver takes longer than a millisecond has a span of its own.
func TestSlowResolvers(t *testing.T) {
	c := overGRPC(t)
	s := observed(t, c)
	token := s.RootAs("tenant")
	s.SQL(`CREATE FUNCTION wait() RETURNS boolean LANGUAGE sql AS 'SELECT pg_sleep(0.02) IS NOT NULL'`)
	s.SQL(`ALTER TABLE regions RENAME TO regions_kept`)
	s.SQL(`CREATE VIEW regions AS SELECT * FROM regions_kept WHERE (SELECT wait())`)
	traced(s, 200, "/graphql", token, object{"query": `query Slow { regions(all: true) { name } me { email } }`})
	devtest.Eventually(t, "its spans have come", func() bool { return len(named(c.trace(), "query Slow")) == 1 })
	spans := c.trace()
	if len(named(spans, "resolve Query.regions")) != 1 || len(named(spans, "resolve User.email")) != 0 {
		t.Errorf("%s", names(spans))
	}
	hangTogether(t, spans)
}
