package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"canopy/db"
	"canopy/internal/devstack/devtest"
)

const countingSteps = `{"steps":[{"id":"a","type":"set","values":{"n":1}},{"id":"b","type":"set","values":{"n":"{{ steps.a.n + 1 }}"}}],"output":{"n":"{{ steps.b.n }}"}}`

// lostRun starts a run and has a worker take it up that is never heard of again. Before it goes it
// has finished so many steps.
func (s *stack) lostRun(token string, agent int64, finished int) (key string, lost *db.RunWork) {
	s.t.Helper()
	key = s.mutate(token, "startRun", "jobKey", map[string]any{"agentId": agent})["jobKey"].(string)
	due, err := s.p.Store.LeaseRuns(s.t.Context(), 10, 10, time.Millisecond)
	if err != nil || len(due) != 1 {
		s.t.Fatal(due, err)
	}
	const lease = 50 * time.Millisecond
	if lost, err = s.p.Store.ClaimRun(s.t.Context(), due[0], lease); err != nil {
		s.t.Fatal(err)
	}
	result := json.RawMessage(`{"n":41}`) // not what the step would give, so that a repetition shows
	for i := range finished {
		step := db.RunStep{Position: i, StepID: "a", Type: "set", Result: &result, StartedAt: time.Now()}
		if err := s.p.Store.AddRunStep(s.t.Context(), lost, step, lease); err != nil {
			s.t.Fatal(err)
		}
	}
	return key, lost
}

func TestRunsOutliveTheirWorkers(t *testing.T) {
	r := newReceiver(t, nil)
	s := newStack(t, deliverLocally(t))
	s.noDemoMails()
	token := s.rootAs("builder")
	agent := s.publish(token, countingSteps)
	s.subscribe(token, r.URL, "run.completed", "run.failed")
	keys := map[string]float64{}
	k, _ := s.lostRun(token, agent, 0)
	keys[k] = 2
	k, lost := s.lostRun(token, agent, 1)
	keys[k] = 42
	given, _ := s.lostRun(token, agent, 0)
	s.sql(`UPDATE runs SET interruptions = 2 WHERE job_key = '` + given + `'`)
	cancelled, _ := s.lostRun(token, agent, 0)
	s.mutate(token, "cancelRun", "run { status error }", map[string]any{"jobKey": cancelled})
	s.work(nil)
	for k, n := range keys {
		a := s.poll(token, k)
		if m := a.json(t).(map[string]any); a.Status != 200 || m["outputData"].(map[string]any)["n"] != n {
			t.Errorf("want %v: %d %s", n, a.Status, a.Body)
		}
	}
	for k, code := range map[string]string{given: "interrupted", cancelled: "cancelled"} {
		a := s.poll(token, k)
		if m := a.json(t).(map[string]any); a.Status != 400 || m["errorData"].(map[string]any)["code"] != code {
			t.Errorf("want %s: %d %s", code, a.Status, a.Body)
		}
	}
	result := json.RawMessage(`{}`)
	if err := s.p.Store.AddRunStep(t.Context(), lost, db.RunStep{Position: 5, StepID: "x", Type: "set", Result: &result, StartedAt: time.Now()}, time.Second); err == nil {
		t.Error("the lost worker still writes")
	}
	if _, codes := s.gql(token, `mutation { cancelRun(input: {jobKey: "`+given+`"}) { run { status } } }`, nil); !slices.Equal(codes, []string{"BAD_REQUEST"}) {
		t.Errorf("a run that has ended is cancelled: %v", codes)
	}
	r.wait(t, 4)
	types := r.types()
	slices.Sort(types)
	if want := []string{"run.completed", "run.completed", "run.failed", "run.failed"}; !slices.Equal(types, want) {
		t.Errorf("events: %v", types)
	}
}

// postingSteps is a diagram of n steps that each post to a receiver which run and which step it is.
func postingSteps(n int, url string) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`{"id":"s%d","type":"http","method":"POST","url":"%s","body":{"type":"step","id":"run {{ input.run }}, step %[1]d"}}`, i, url))
	}
	return fmt.Sprintf(`{"steps":[%s],"output":{"status":"{{ steps.s%d.status }}"}}`, strings.Join(list, ","), n-1)
}

// ofItsNumber tells that a request is from the step of the run's own number.
func ofItsNumber(id string) bool { return strings.HasPrefix(id, "run "+id[len(id)-1:]) }

// TestRunsOutliveKilledWorkers kills a worker while it is at each step of a diagram, in one run at
// each: another worker finishes them, without a step that was done being done again.
func TestRunsOutliveKilledWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a lease to end")
	}
	const steps = 3
	at, end := make(chan string, steps), make(chan struct{})
	r := newReceiver(t, func(x received, n int) int {
		if x.typ == "step" && ofItsNumber(x.id) && n == 1 {
			at <- x.id
			<-end
		}
		return http.StatusOK
	})
	defer close(end)
	s := newStack(t, deliverLocally(t))
	s.noDemoMails()
	token := s.rootAs("builder")
	s.subscribe(token, r.URL, "run.completed", "run.failed")
	agent := s.publish(token, postingSteps(steps, r.URL))
	lost := s.startWorker(t)
	var keys []string
	for i := range steps {
		keys = append(keys, s.start(token, agent, object{"run": i}))
	}
	for range steps {
		select {
		case <-at:
		case <-time.After(20 * time.Second):
			lost.kill()
			t.Fatalf("a step is not reached: %s", lost.log)
		}
	}
	lost.kill()
	next := s.startWorker(t)
	defer next.kill()
	for _, key := range keys {
		if a := s.pollFor(token, key, time.Minute); a.Status != http.StatusOK || member(t, a.json(t), "outputData.status") != 200.0 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	devtest.Eventually(t, "every run has been told of", func() bool {
		return s.number(`SELECT count(*) FROM webhook_deliveries WHERE status = 'delivered'`) == steps
	})
	judgeTakeover(t, r.all(), steps)
}

// judgeTakeover checks that only the interrupted steps were taken twice, and each run ended once.
func judgeTakeover(t *testing.T, all []received, steps int) {
	t.Helper()
	times, ends := map[string]int{}, map[string]string{}
	for _, x := range all {
		if x.typ == "step" {
			times[x.id]++
		} else if ends[x.id] = x.typ; x.typ != "run.completed" {
			t.Errorf("a run ended with %s", x.typ)
		}
	}
	if len(times) != steps*steps || len(ends) != steps {
		t.Errorf("steps: %v, ends: %v", times, ends)
	}
	for id, n := range times {
		if again := n == 2; n > 2 || again != ofItsNumber(id) {
			t.Errorf("%s was taken %d times", id, n)
		}
	}
}

// TestCancelReachesTheWorker cancels a run in the middle of a step.
func TestCancelReachesTheWorker(t *testing.T) {
	begun := make(chan struct{}, 1)
	release := make(chan struct{})
	r := newReceiver(t, func(received, int) int {
		begun <- struct{}{}
		<-release
		return 200
	})
	defer close(release)
	s := newDeliveringStack(t)
	token := s.rootAs("builder")
	agent := s.publish(token, `{"steps":[{"id":"h","type":"http","method":"POST","url":"`+r.URL+`","body":{}}],"output":{}}`)
	key := s.mutate(token, "startRun", "jobKey", map[string]any{"agentId": agent})["jobKey"].(string)
	<-begun
	s.mutate(token, "cancelRun", "run { status }", map[string]any{"jobKey": key})
	if a := s.poll(token, key); a.Status != 400 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	var steps int
	s.look(&steps, `SELECT count(*) FROM run_steps`)
	if steps != 0 {
		t.Errorf("%d steps are kept", steps)
	}
}

// TestInterruptedAttempts has a worker die in the middle of attempts.
func TestInterruptedAttempts(t *testing.T) {
	r := newReceiver(t, nil)
	s := newStack(t, deliverLocally(t))
	s.noDemoMails()
	token := s.rootAs("tenant")
	id, _ := s.subscribe(token, r.URL)
	a := s.do("POST", hooks+"/destinations/"+decimal(id)+"/test", token, map[string]any{"type": "run.started"})
	delivery := int64(a.json(t).(map[string]any)["deliveryId"].(float64))
	for i := range 2 {
		rows, err := s.p.Store.ClaimDeliveries(t.Context(), id, 10, time.Millisecond)
		if err != nil || len(rows) != 1 {
			t.Fatal(i, rows, err)
		}
		s.sql(`SELECT pg_sleep(0.005)`)
	}
	late := db.Outcome{ID: delivery, DestinationID: id, Claim: 1, Status: db.DeliveryFailed, Log: []byte(`[]`)}
	if written, err := s.p.Store.RecordOutcomes(t.Context(), []db.Outcome{late}); err != nil || len(written) != 0 {
		t.Errorf("an outcome of an older claim is written: %v %v", written, err)
	}
	s.work(nil)
	d := s.ended(token, delivery)
	log := d["attemptLog"].([]any)
	if d["status"] != "delivered" || d["attempts"] != 1.0 || len(log) != 3 || log[0].(map[string]any)["error"] != "interrupted" || log[2].(map[string]any)["httpStatus"] != 204.0 {
		t.Errorf("%v", d)
	}
	if n := len(r.all()); n != 1 {
		t.Errorf("%d requests", n)
	}
}
