package agents

import (
	"testing"

	"canopy/e2e/platform"
)

// parityRun is a run under the names that REST gives its fields.
const parityRun = `query($k: String!) { v: run(jobKey: $k) { jobKey status outputData: output errorData: error } }`

// TestParityOfJobs compares runs in each of their states.
func TestParityOfJobs(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.NoDemoMails()
	builder := s.RootAs("builder")
	greets := s.Publish(builder, platform.Greeter)
	fails := s.Publish(builder, `{"steps":[{"id":"f","type":"fail","code":"no_way","message":"Ünder \"way\""}],"output":{}}`)
	keys := map[string]string{
		"finished": s.Start(builder, greets, map[string]any{"name": "Ada <&> \u2028"}), "failed": s.Start(builder, fails, object{}), "cancelled": s.Start(builder, greets, object{}),
	}
	s.Mutate(builder, "cancelRun", "run { status }", object{"jobKey": keys["cancelled"]})
	stop := s.Work(nil)
	for _, key := range keys {
		s.Poll(builder, key)
	}
	stop()
	keys["running"] = s.Start(builder, greets, object{})
	compareRuns(t, s, builder)
	statuses := map[string]int{"finished": 200, "failed": 400, "cancelled": 400, "running": 202}
	for state, key := range keys {
		for _, token := range []string{builder, s.Assistant()} {
			got := s.Must(statuses[state], "GET", "/job/"+key, token, nil).JSON(t).(map[string]any)
			want := s.MustGQL(token, parityRun, object{"k": key})["v"].(map[string]any)
			for name, value := range want {
				if value == nil {
					delete(want, name) // REST leaves out what a state does not have
				}
			}
			if failure, failed := want["errorData"]; failed {
				want["detail"] = failure.(map[string]any)["message"]
			}
			platform.SameAnswers(t, state, got, want)
		}
	}
}

// compareRuns compares the list of runs.
func compareRuns(t *testing.T, s *platform.Platform, token string) {
	t.Helper()
	listed := s.Must(200, "GET", "/v1/runs", token, nil).JSON(t).([]any)
	shown := s.MustGQL(token, `{ v: runs { nodes { id: databaseId jobKey agent { databaseId } revision { databaseId } status createdAt finishedAt } } }`, nil)
	rows := platform.Member(t, shown, "v.nodes").([]any)
	for i, row := range rows {
		row := row.(map[string]any)
		row["agentId"], row["revisionId"] = platform.Member(t, row, "agent.databaseId"), platform.Member(t, row, "revision.databaseId")
		row["customerId"] = platform.Member(t, listed[i], "customerId")
		delete(row, "agent")
		delete(row, "revision")
	}
	platform.SameAnswers(t, "runs", listed, rows)
	if len(rows) != 4 {
		t.Errorf("%d runs", len(rows))
	}
}
