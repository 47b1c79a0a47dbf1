package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hibiken/asynq"

	"canopy/internal/devstack/devtest"
)

// exported are the metrics of a platform's /metrics, each with its labels; the parts of a histogram
// are there under their own names.
func (s *stack) exported(t *testing.T) map[string]map[string]bool {
	t.Helper()
	names := map[string]map[string]bool{}
	sample := regexp.MustCompile(`(?m)^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? `)
	label := regexp.MustCompile(`([a-zA-Z_]+)="`)
	for _, found := range sample.FindAllStringSubmatch(string(s.must(200, "GET", "/metrics", "", nil).Body), -1) {
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
	r := newReceiver(t, nil)
	s := newDeliveringStack(t)
	token := s.rootAs("builder")
	s.subscribe(token, r.URL)
	s.poll(token, s.start(token, s.publish(token, greeter), object{"name": "Ada"}))
	devtest.Eventually(t, "everything is delivered", func() bool {
		return s.number(`SELECT count(*) FROM webhook_deliveries WHERE status <> 'delivered'`) == 0
	})
	exported := s.exported(t)
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
	s := newStack(t)
	s.noDemoMails()
	token := s.rootAs("builder")
	ready := func(want string) {
		t.Helper()
		a := s.must(200, "GET", "/readyz", "", nil).json(t)
		relay, _ := member(t, a, "parts").(map[string]any)["relay"].(string)
		if member(t, a, "status") != want || strings.HasPrefix(relay, "stuck: ") != (want == "degraded") {
			t.Errorf("want %s: %v", want, a)
		}
	}
	id, _ := s.subscribe(token, publicURL)
	for range 2 {
		s.must(202, "POST", hooks+"/destinations/"+decimal(id)+"/test", token, object{"type": "run.started"})
	}
	ready("ok")
	s.sql(`UPDATE webhook_deliveries SET next_attempt_at = now() - interval '50 seconds'`)
	ready("ok")
	s.sql(`UPDATE webhook_deliveries SET next_attempt_at = now() - interval '61 seconds'`)
	ready("degraded")
	// A worker that is busy with this destination gets to the other delivery in time.
	s.sql(`UPDATE webhook_deliveries SET claimed_at = now(), next_attempt_at = now() + interval '15 seconds' WHERE id = (SELECT min(id) FROM webhook_deliveries)`)
	ready("ok")
	s.sql(`UPDATE webhook_deliveries SET status = 'failed', claimed_at = NULL, completed_at = now()`)
	key := s.start(token, s.publish(token, greeter), object{})
	s.sql(`UPDATE webhook_deliveries SET status = 'failed', completed_at = now() WHERE status = 'pending'`)
	s.sql(`UPDATE runs SET due_at = now() - interval '61 seconds'`)
	ready("degraded")
	other := s.start(token, s.publish(token, greeter), object{})
	s.sql(`UPDATE webhook_deliveries SET status = 'failed', completed_at = now() WHERE status = 'pending'`)
	s.sql(`UPDATE runs SET due_at = now() + interval '15 seconds' WHERE job_key = $1`, other)
	ready("ok") // the workers are busy; the first run waits for its turn
	s.sql(`UPDATE runs SET due_at = now()`)
	s.work(nil)
	s.poll(token, key)
	ready("ok")
}

// TestQueuesAreReadable looks at the tasks of runs and deliveries as the dashboard of the queues
// shows them.
func TestQueuesAreReadable(t *testing.T) {
	r := newReceiver(t, nil)
	s := newDeliveringStack(t)
	token := s.rootAs("builder")
	id, secret := s.subscribe(token, r.URL)
	s.poll(token, s.start(token, s.publish(token, greeter), object{"name": "Ada"}))
	r.wait(t, 4)
	for queue, want := range map[string]string{"webhooks": `{"destinationId":` + decimal(id) + `,"oldest":"`, "runs": `{"id":1,"claim":0}`} {
		var body struct {
			Tasks []struct{ Type, Payload string }
		}
		devtest.Eventually(t, queue+" has a task that is done", func() bool {
			a := s.do("GET", "/monitoring/api/queues/"+queue+"/completed_tasks?page=1&size=100", "", nil)
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

// TestRunsWaitInTheDatabase starts more runs than are executed at once: the queue holds some of the
// others, and the database the rest, so that no task is put in again and again while it waits.
func TestRunsWaitInTheDatabase(t *testing.T) {
	const atOnce, queued, rest = 64, 256, 20
	begun, end := make(chan struct{}, atOnce+queued+rest), make(chan struct{})
	r := newReceiver(t, func(received, int) int {
		begun <- struct{}{}
		<-end
		return http.StatusOK
	})
	s := newStack(t, deliverLocally(t))
	s.noDemoMails()
	token := s.rootAs("builder")
	agent := s.publish(token, postingSteps(1, r.URL))
	for range atOnce + queued + rest {
		s.start(token, agent, object{"run": 1})
	}
	// One account has no more than its share: let all of them wait.
	s.sql(`WITH builders AS (SELECT a.id, row_number() OVER (ORDER BY a.id) - 1 AS n, count(*) OVER () AS many FROM accounts a
			JOIN app_instances i ON i.id = a.app_instance_id JOIN applications p ON p.id = i.application_id WHERE p.code = 'builder')
		UPDATE runs r SET account_id = b.id FROM builders b WHERE b.n = r.id % b.many`)
	s.work(nil)
	for range atOnce {
		<-begun
	}
	inspector := asynq.NewInspector(s.p.Queue)
	defer func() { _ = inspector.Close() }()
	waiting := func() int {
		q, err := inspector.GetQueueInfo("runs")
		if err != nil {
			t.Fatal(err)
		}
		return q.Pending
	}
	devtest.Eventually(t, "the queue is full", func() bool { return waiting() >= queued })
	if n, due := waiting(), s.number(`SELECT count(*) FROM runs WHERE due_at <= now()`); n != queued || due != rest {
		t.Errorf("%d runs wait in the queue, %d in the database", n, due)
	}
	close(end)
	devtest.Eventually(t, "all runs are finished", func() bool { return s.number(`SELECT count(*) FROM runs WHERE status <> 'finished'`) == 0 })
}
