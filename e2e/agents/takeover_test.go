package agents

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"canopy/db"
	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// lostRun starts a run and has a worker take it up that is never heard of again. Before it goes it
// has finished so many steps.
func lostRun(s *platform.Platform, token string, agent int64, finished int) (key string, lost *db.RunWork) {
	s.T.Helper()
	key = s.Mutate(token, "startRun", "jobKey", map[string]any{"agentId": agent})["jobKey"].(string)
	due, err := s.App.Store.LeaseRuns(s.T.Context(), 20, time.Millisecond)
	if err != nil || len(due) != 1 {
		s.T.Fatal(due, err)
	}
	const lease = time.Hour // it ends when the test lets time go by
	if lost, err = s.App.Store.ClaimRun(s.T.Context(), due[0], lease); err != nil {
		s.T.Fatal(err)
	}
	result := json.RawMessage(`{"n":41}`) // not what the step would give, so that a repetition shows
	for i := range finished {
		step := db.RunStep{Position: i, StepID: "a", Type: "set", Result: &result, StartedAt: time.Now()}
		if _, err := s.App.Store.AddRunStep(s.T.Context(), lost, step, lease); err != nil {
			s.T.Fatal(err)
		}
	}
	return key, lost
}

func TestRunsOutliveTheirWorkers(t *testing.T) {
	t.Parallel()
	r := platform.NewReceiver(t, nil)
	s := platform.Start(t, platform.DeliverLocally(t))
	s.NoDemoMails()
	token := s.RootAs("builder")
	agent := s.Publish(token, platform.CountingSteps)
	s.Subscribe(token, r.URL, "run.completed", "run.failed")
	keys := map[string]float64{}
	k, _ := lostRun(s, token, agent, 0)
	keys[k] = 2
	k, lost := lostRun(s, token, agent, 1)
	keys[k] = 42
	given, _ := lostRun(s, token, agent, 0)
	s.SQL(`UPDATE runs SET interruptions = 2 WHERE job_key = '` + given + `'`)
	cancelled, _ := lostRun(s, token, agent, 0)
	s.Mutate(token, "cancelRun", "run { status error }", map[string]any{"jobKey": cancelled})
	s.SQL(`UPDATE runs SET due_at = now()`)
	s.Work(nil)
	for k, n := range keys {
		a := s.Poll(token, k)
		if m := a.JSON(t).(map[string]any); a.Status != 200 || m["outputData"].(map[string]any)["n"] != n {
			t.Errorf("want %v: %d %s", n, a.Status, a.Body)
		}
	}
	for k, code := range map[string]string{given: "interrupted", cancelled: "cancelled"} {
		a := s.Poll(token, k)
		if m := a.JSON(t).(map[string]any); a.Status != 400 || m["errorData"].(map[string]any)["code"] != code {
			t.Errorf("want %s: %d %s", code, a.Status, a.Body)
		}
	}
	result := json.RawMessage(`{}`)
	if _, err := s.App.Store.AddRunStep(t.Context(), lost, db.RunStep{Position: 5, StepID: "x", Type: "set", Result: &result, StartedAt: time.Now()}, time.Second); err == nil {
		t.Error("the lost worker still writes")
	}
	if _, codes := s.GQL(token, `mutation { cancelRun(input: {jobKey: "`+given+`"}) { run { status } } }`, nil); !slices.Equal(codes, []string{"BAD_REQUEST"}) {
		t.Errorf("a run that has ended is cancelled: %v", codes)
	}
	r.Wait(t, 4)
	types := r.Types()
	slices.Sort(types)
	if want := []string{"run.completed", "run.completed", "run.failed", "run.failed"}; !slices.Equal(types, want) {
		t.Errorf("events: %v", types)
	}
}

// ofItsNumber tells that a request is from the step of the run's own number.
func ofItsNumber(id string) bool { return strings.HasPrefix(id, "run "+id[len(id)-1:]) }

// TestRunsOutliveKilledWorkers kills a worker while it is at each step of a diagram, in one run at
// each: another worker finishes them, without a step that was done being done again.
func TestRunsOutliveKilledWorkers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for a lease to end")
	}
	const steps = 3
	at, end := make(chan string, steps), make(chan struct{})
	r := platform.NewReceiver(t, func(x platform.Received, n int) int {
		if x.Typ == "step" && ofItsNumber(x.ID) && n == 1 {
			at <- x.ID
			<-end
		}
		return http.StatusOK
	})
	defer close(end)
	s := platform.Start(t, platform.DeliverLocally(t))
	s.NoDemoMails()
	token := s.RootAs("builder")
	s.Subscribe(token, r.URL, "run.completed", "run.failed")
	agent := s.Publish(token, platform.PostingSteps(steps, r.URL))
	lost := s.StartWorker(t)
	var keys []string
	for i := range steps {
		keys = append(keys, s.Start(token, agent, object{"run": i}))
	}
	for range steps {
		select {
		case <-at:
		case <-time.After(platform.Patience):
			lost.Kill()
			t.Fatalf("a step is not reached: %s", lost.Log)
		}
	}
	lost.Kill()
	next := s.StartWorker(t)
	defer next.Kill()
	for _, key := range keys {
		if a := s.PollFor(token, key, time.Minute); a.Status != http.StatusOK || platform.Member(t, a.JSON(t), "outputData.status") != 200.0 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	devtest.Eventually(t, "every run has been told of", func() bool {
		return s.Number(`SELECT count(*) FROM webhook_deliveries WHERE status = 'delivered'`) == steps
	})
	judgeTakeover(t, r.All(), steps)
}

// judgeTakeover checks that only the interrupted steps were taken twice, and each run ended once.
func judgeTakeover(t *testing.T, all []platform.Received, steps int) {
	t.Helper()
	times, ends := map[string]int{}, map[string]string{}
	for _, x := range all {
		if x.Typ == "step" {
			times[x.ID]++
		} else if ends[x.ID] = x.Typ; x.Typ != "run.completed" {
			t.Errorf("a run ended with %s", x.Typ)
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
	t.Parallel()
	begun := make(chan struct{}, 1)
	release := make(chan struct{})
	r := platform.NewReceiver(t, func(platform.Received, int) int {
		begun <- struct{}{}
		<-release
		return 200
	})
	defer close(release)
	s := platform.StartDelivering(t)
	token := s.RootAs("builder")
	agent := s.Publish(token, `{"steps":[{"id":"h","type":"http","method":"POST","url":"`+r.URL+`","body":{}}],"output":{}}`)
	key := s.Mutate(token, "startRun", "jobKey", map[string]any{"agentId": agent})["jobKey"].(string)
	<-begun
	s.Mutate(token, "cancelRun", "run { status }", map[string]any{"jobKey": key})
	if a := s.Poll(token, key); a.Status != 400 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	var steps int
	s.Look(&steps, `SELECT count(*) FROM run_steps`)
	if steps != 0 {
		t.Errorf("%d steps are kept", steps)
	}
}
