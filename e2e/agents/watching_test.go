package agents

import (
	"testing"

	"canopy/e2e/platform"
)

// TestRunsAreWatched follows a run from before a worker takes it up to its end, and the stream's.
func TestRunsAreWatched(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.NoDemoMails()
	token := s.RootAs("builder")
	key := s.Start(token, s.Publish(token, platform.CountingSteps), object{})
	lines := s.Stream(t, `subscription { runUpdated(jobKey: "`+key+`") { status output steps { stepId } } }`, token)
	if first := platform.Told(t, lines, "runUpdated"); first["status"] != "running" || len(first["steps"].([]any)) != 0 {
		t.Errorf("at first %v", first)
	}
	s.Work(nil)
	var last object
	for run := platform.Told(t, lines, "runUpdated"); run != nil; run = platform.Told(t, lines, "runUpdated") {
		last = run
	}
	if last["status"] != "finished" || !platform.SameJSON(last["output"], object{"n": 2}) || len(last["steps"].([]any)) != 2 {
		t.Errorf("at last %v", last)
	}
}
