package operations

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
)

// exported are the metrics of a platform's /metrics, each with its labels; the parts of a histogram
// are there under their own names.
func exported(t *testing.T, s *platform.Platform) map[string]map[string]bool {
	t.Helper()
	names := map[string]map[string]bool{}
	sample := regexp.MustCompile(`(?m)^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? `)
	label := regexp.MustCompile(`([a-zA-Z_]+)="`)
	for _, found := range sample.FindAllStringSubmatch(string(s.Must(200, "GET", "/metrics", "", nil).Body), -1) {
		if names[found[1]] == nil {
			names[found[1]] = map[string]bool{}
		}
		for _, l := range label.FindAllStringSubmatch(found[2], -1) {
			names[found[1]][l[1]] = true
		}
	}
	return names
}

// panel is one query of the dashboard.
type panel struct{ title, expr, legend string }

func dashboard(t *testing.T) (list []panel) {
	t.Helper()
	raw, err := os.ReadFile("../../docs/grafana/canopy.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(raw, &board); err != nil {
		t.Fatal(err)
	}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			list = append(list, panel{p.Title, target.Expr, target.LegendFormat})
		}
	}
	return list
}

// TestDashboardAgreesWithMetrics compares the dashboard and the page on operations with what is
// exported.
func TestDashboardAgreesWithMetrics(t *testing.T) {
	t.Parallel()
	r := platform.NewReceiver(t, nil)
	// Of a replica that follows nobody there are figures, too.
	s := platform.StartDelivering(t, func(c *config.Config) { c.DatabaseReadURL = c.DatabaseURL })
	token := s.RootAs("builder")
	s.Subscribe(token, r.URL)
	s.Poll(token, s.Start(token, s.Publish(token, platform.Greeter), object{"name": "Ada"}))
	devtest.Eventually(t, "everything is delivered", func() bool {
		return s.Number(`SELECT count(*) FROM webhook_deliveries WHERE status <> 'delivered'`) == 0
	})
	exported := exported(t, s)
	shown, told, own := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, p := range dashboard(t) {
		name := metricName.FindString(p.expr)
		if shown[base(name)] = true; exported[name] == nil {
			t.Errorf("%s: %q is not exported", p.title, name)
		}
		for _, label := range labelNames(p.expr + p.legend) {
			if !exported[name][label] && label != "instance" && label != "job" { // those two are Prometheus's own
				t.Errorf("%s: %s has no label %q", p.title, name, label)
			}
		}
	}
	delete(shown, "process_resident_memory_bytes")
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range metricName.FindAllString(string(page), -1) {
		told[name] = true
	}
	for name := range exported {
		if strings.HasPrefix(name, "canopy_") || base(name) == "http_request_duration_seconds" {
			own[base(name)] = true
		}
	}
	for what, names := range map[string]map[string]bool{"shows": shown, "tells of": told} {
		if !maps.Equal(names, own) {
			t.Errorf("a page %s\n%v, exported are\n%v", what, slices.Sorted(maps.Keys(names)), slices.Sorted(maps.Keys(own)))
		}
	}
}

var metricName = regexp.MustCompile(`\b(canopy|process|http)_[a-z_]+\b`)

// base is the name of a histogram, of whose parts name may be one.
func base(name string) string {
	for _, part := range []string{"_bucket", "_sum", "_count"} {
		name = strings.TrimSuffix(name, part)
	}
	return name
}

// labelNames are the labels that a query groups by, asks for, or names in its legend.
func labelNames(query string) (list []string) {
	for _, found := range regexp.MustCompile(`by \(([^)]*)\)|\{([a-z]+)=~?"|\{\{([a-z]+)\}\}`).FindAllStringSubmatch(query, -1) {
		for label := range strings.SplitSeq(found[1]+found[2]+found[3], ",") {
			list = append(list, strings.TrimSpace(label))
		}
	}
	return list
}

// TestReadyTellsAStuckRelay lets time go by for what is due, with nobody at work on it.
func TestReadyTellsAStuckRelay(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.NoDemoMails()
	token := s.RootAs("builder")
	ready := func(want string) {
		t.Helper()
		a := s.Must(200, "GET", "/readyz", "", nil).JSON(t)
		relay, _ := platform.Member(t, a, "parts").(map[string]any)["relay"].(string)
		if platform.Member(t, a, "status") != want || strings.HasPrefix(relay, "stuck: ") != (want == "degraded") {
			t.Errorf("want %s: %v", want, a)
		}
	}
	fail := func() {
		t.Helper()
		s.SQL(`WITH ended AS (DELETE FROM webhook_due)
			UPDATE webhook_deliveries SET status = 'failed', lost = true, completed_at = now() WHERE status = 'pending'`)
	}
	id, _ := s.Subscribe(token, platform.PublicURL)
	for range 2 {
		s.Must(202, "POST", platform.Hooks+"/destinations/"+platform.Decimal(id)+"/test", token, object{"type": "run.started"})
	}
	ready("ok")
	s.SQL(`UPDATE webhook_due SET next_attempt_at = now() - interval '50 seconds'`)
	ready("ok")
	s.SQL(`UPDATE webhook_due SET next_attempt_at = now() - interval '61 seconds'`)
	ready("degraded")
	// A worker that is busy with this destination gets to the other delivery in time.
	s.SQL(`UPDATE webhook_due SET begun = true, claimed_at = now(), next_attempt_at = now() + interval '15 seconds' WHERE delivery_id = (SELECT min(delivery_id) FROM webhook_due)`)
	ready("ok")
	fail()
	key := s.Start(token, s.Publish(token, platform.Greeter), object{})
	fail()
	s.SQL(`UPDATE runs SET due_at = now() - interval '61 seconds'`)
	ready("degraded")
	other := s.Start(token, s.Publish(token, platform.Greeter), object{})
	fail()
	s.SQL(`UPDATE runs SET due_at = now() + interval '15 seconds' WHERE job_key = $1`, other)
	ready("ok") // the workers are busy; the first run waits for its turn
	s.SQL(`UPDATE runs SET due_at = now()`)
	s.Work(nil)
	s.Poll(token, key)
	ready("ok")
}

// TestQueuesAreReadable looks at the tasks of runs and deliveries as the dashboard of the queues
// shows them.
func TestQueuesAreReadable(t *testing.T) {
	t.Parallel()
	r := platform.NewReceiver(t, nil)
	s := platform.StartDelivering(t)
	token := s.RootAs("builder")
	id, secret := s.Subscribe(token, r.URL)
	s.Poll(token, s.Start(token, s.Publish(token, platform.Greeter), object{"name": "Ada"}))
	r.Wait(t, 4)
	run := platform.Decimal(s.Number(`SELECT max(id) FROM runs`))
	for queue, want := range map[string]string{"webhooks": `{"destinationId":` + platform.Decimal(id) + `,"oldest":"`, "runs": `{"id":` + run + `,"claim":0}`} {
		var body struct {
			Tasks []struct{ Type, Payload string }
		}
		devtest.Eventually(t, queue+" has a task that is done", func() bool {
			a := s.Do("GET", "/monitoring/api/queues/"+queue+"/completed_tasks?page=1&size=100", "", nil)
			if strings.Contains(string(a.Body), secret) || strings.Contains(string(a.Body), "Ada") || strings.Contains(string(a.Body), r.URL) {
				t.Fatalf("the queue tells too much: %s", a.Body)
			}
			return a.Status == 200 && json.Unmarshal(a.Body, &body) == nil && len(body.Tasks) > 0
		})
		if got := body.Tasks[0].Payload; !strings.HasPrefix(got, want) {
			t.Errorf("%s: the payload %q does not begin with %q", queue, got, want)
		}
	}
}
