package agents

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

const currentStep = `currentStep { position stepId type input startedAt }`

// TestTheStepUnderWayIsShown follows a run whose second step takes long: what the step was given is told while it is under way, at both doors and to who
// follows the run, and with the names of secrets in place of their values.
func TestTheStepUnderWayIsShown(t *testing.T) {
	t.Parallel()
	answer := make(chan struct{})
	r := platform.NewReceiver(t, func(platform.Received, int) int {
		<-answer
		return http.StatusOK
	})
	s := platform.Start(t, platform.DeliverLocally(t))
	s.NoDemoMails()
	token := s.RootAs("builder")
	s.Mutate(token, "createSecret", "secret { name }", object{"name": "KEY", "value": "s3cr3t-value"})
	agent := s.Publish(token, fmt.Sprintf(`{"steps":[{"id":"a","type":"set","values":{"n":41}},
		{"id":"b","type":"http","method":"POST","url":"%s","headers":{"Authorization":"Bearer {{ secrets.KEY }}"},"body":{"n":"{{ steps.a.n }}"}}],"output":{"n":"{{ steps.a.n }}"}}`, r.URL))
	key := s.Start(token, agent, object{})
	lines := s.Stream(t, `subscription { runUpdated(jobKey: "`+key+`") { status steps { stepId startedAt } `+currentStep+` } }`, token)
	s.Work(nil)
	var told, last object
	for run := platform.Told(t, lines, "runUpdated"); run != nil; run = platform.Told(t, lines, "runUpdated") {
		last = run
		if run["currentStep"] == nil || told != nil { // it may be told again before its end is
			continue
		}
		told = run["currentStep"].(object)
		if steps := run["steps"].([]any); len(steps) != 1 {
			t.Errorf("%d steps are done", len(steps))
		}
		shown := s.MustGQL(token, `query($k: String!) { run(jobKey: $k) { `+currentStep+` } }`, object{"k": key})
		platform.SameAnswers(t, "the step under way", s.Must(200, "GET", "/v1/runs/"+key, token, nil).JSON(t).(object)["currentStep"], platform.Member(t, shown, "run.currentStep"))
		platform.SameAnswers(t, "what was told of it", told, platform.Member(t, shown, "run.currentStep"))
		compareRun(t, s, token, key)
		close(answer)
	}
	want := object{
		"method": "POST", "url": r.URL, "headers": object{"Authorization": "Bearer [secret KEY]", "Content-Type": "application/json"}, "body": object{"n": 41},
	}
	if told == nil || told["position"] != 1.0 || told["stepId"] != "b" || told["type"] != "http" || !platform.SameJSON(told["input"], want) {
		t.Errorf("told as under way: %v", told)
	}
	if steps := last["steps"].([]any); last["status"] != "finished" || last["currentStep"] != nil || len(steps) != 2 || steps[1].(object)["startedAt"] != told["startedAt"] {
		t.Errorf("at last %v", last)
	}
	if n := s.Number(`SELECT count(*) FROM runs WHERE step IS NOT NULL`); n != 0 {
		t.Error("a step is kept as under way")
	}
}

// TestTheStepUnderWayIsOfWhoeverIsAtIt kills a worker in the middle of a step: the one that takes over begins the step anew, and it is shown so. What is
// left of a step that is done is not shown, as the version before does not take it away.
func TestTheStepUnderWayIsOfWhoeverIsAtIt(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for a lease to end")
	}
	answer := make(chan struct{})
	r := platform.NewReceiver(t, func(platform.Received, int) int {
		<-answer
		return http.StatusOK
	})
	s := platform.Start(t, platform.DeliverLocally(t))
	s.NoDemoMails()
	token := s.RootAs("builder")
	key := s.Start(token, s.Publish(token, platform.PostingSteps(2, r.URL)), object{"run": 1})
	current := func() object {
		step, _ := platform.Member(t, s.MustGQL(token, `query($k: String!) { run(jobKey: $k) { `+currentStep+` } }`, object{"k": key}), "run.currentStep").(object)
		return step
	}
	lost := s.StartWorker(t)
	devtest.Eventually(t, "the step is told", func() bool { return current() != nil })
	first := current()
	lost.Kill()
	next := s.StartWorker(t)
	defer next.Kill()
	devtest.Eventually(t, "it is told anew", func() bool {
		step := current()
		return step != nil && step["startedAt"] != first["startedAt"]
	})
	again := current()
	for _, step := range []object{first, again} {
		if step["position"] != 0.0 || step["stepId"] != "s0" || platform.Member(t, step, "input.body.id") != "run 1, step 0" {
			t.Errorf("told as %v", step)
		}
	}
	close(answer)
	if a := s.PollFor(token, key, time.Minute); a.Status != http.StatusOK {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	s.SQL(`UPDATE runs SET step = '{"position": 2, "id": "s2", "type": "http", "startedAt": "2026-01-01T00:00:00Z"}'`)
	if step := current(); step != nil {
		t.Errorf("a run that has ended is at %v", step)
	}
	s.SQL(`UPDATE runs SET status = 'running', finished_at = NULL, due_at = 'infinity', step = '{"position": 1, "id": "s1", "type": "http", "startedAt": "2026-01-01T00:00:00Z"}'`)
	if step := current(); step != nil {
		t.Errorf("under way is %v, which is done", step)
	}
}
