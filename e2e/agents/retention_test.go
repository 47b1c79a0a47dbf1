package agents

import (
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// TestOldRunsAreForgotten has the retention pass for some runs: those that have ended go, with the
// log of their steps.
func TestOldRunsAreForgotten(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.NoDemoMails()
	builder := s.RootAs("builder")
	greets := s.Publish(builder, platform.Greeter)
	fails := s.Publish(builder, `{"steps":[{"id":"f","type":"fail","message":"No"}],"output":{}}`)
	keys := map[string]string{}
	for name, agent := range map[string]int64{"old, finished": greets, "old, failed": fails, "fresh": greets, "old, ended lately": greets} {
		keys[name] = s.Start(builder, agent, object{})
	}
	stop := s.Work(nil)
	for _, key := range keys {
		s.Poll(builder, key)
	}
	stop()
	keys["old, under way"] = s.Start(builder, greets, object{})
	s.SQL(`UPDATE runs SET created_at = created_at - interval '31 days' WHERE job_key <> $1`, keys["fresh"])
	s.SQL(`UPDATE runs SET finished_at = finished_at - interval '31 days' WHERE job_key IN ($1, $2)`, keys["old, finished"], keys["old, failed"])
	s.SQL(`UPDATE runs SET due_at = now() + interval '1 hour' WHERE status = 'running'`)
	s.Work(nil)
	devtest.Eventually(t, "the old runs are forgotten", func() bool { return s.Number(`SELECT count(*) FROM runs`) == 3 })
	for name, want := range map[string]int{"old, finished": 404, "old, failed": 404, "fresh": 200, "old, ended lately": 200, "old, under way": 202} {
		if a := s.Do("GET", "/job/"+keys[name], builder, nil); a.Status != want {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	if n := s.Number(`SELECT count(*) FROM run_steps`); n != 2 {
		t.Errorf("%d steps are left", n)
	}
	if n := platform.Member(t, s.MustGQL(builder, `{ agent(id: `+platform.Decimal(greets)+`) { runs { totalCount nodes { steps { stepId } } } } }`, nil), "agent.runs.totalCount"); n != 3.0 {
		t.Errorf("the agent has %v runs", n)
	}
}
