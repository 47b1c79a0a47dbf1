package agents

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/rest"
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
	compareAgents(t, s, builder)
	for _, key := range keys {
		compareRun(t, s, builder, key)
	}
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

// compareRun compares one run, whatever has come of it, and its steps.
func compareRun(t *testing.T, s *platform.Platform, token, key string) {
	t.Helper()
	shown := s.MustGQL(token, `query($k: String!) { run(jobKey: $k) { id: databaseId jobKey agent { databaseId account { customerId } } revision { databaseId }
		status createdAt finishedAt input output error steps { position stepId type input result error startedAt durationMs } currentStep { position stepId type input startedAt } } }`, object{"k": key})["run"].(map[string]any)
	shown["agentId"], shown["revisionId"] = platform.Member(t, shown, "agent.databaseId"), platform.Member(t, shown, "revision.databaseId")
	shown["customerId"] = platform.Member(t, shown, "agent.account.customerId")
	steps := shown["steps"]
	for _, edge := range []string{"agent", "revision", "steps"} {
		delete(shown, edge)
	}
	platform.SameAnswers(t, "a run", s.Must(200, "GET", "/v1/runs/"+key, token, nil).JSON(t), shown)
	platform.SameAnswers(t, "its steps", s.Must(200, "GET", "/v1/runs/"+key+"/steps", token, nil).JSON(t), steps)
}

// compareAgents compares the list of agents, and each of them with its revisions and runs.
func compareAgents(t *testing.T, s *platform.Platform, token string) {
	t.Helper()
	rows := platform.Member(t, s.MustGQL(token, `{ v: agents { nodes { id: databaseId name draft enabled runnable createdAt updatedAt account { databaseId customerId }
		published { databaseId } revisions { nodes { id: databaseId number diagram createdAt } } runs { nodes { jobKey } } } } }`, nil), "v.nodes").([]any)
	for _, row := range rows {
		row := row.(map[string]any)
		row["accountId"], row["customerId"] = platform.Member(t, row, "account.databaseId"), platform.Member(t, row, "account.customerId")
		row["publishedId"] = platform.Member(t, row, "published.databaseId")
		revisions, runs := platform.Member(t, row, "revisions.nodes").([]any), platform.Member(t, row, "runs.nodes").([]any)
		for _, edge := range []string{"account", "published", "revisions", "runs"} {
			delete(row, edge)
		}
		path := "/v1/agents/" + fmt.Sprintf("%.0f", row["id"])
		platform.SameAnswers(t, "an agent", s.Must(200, "GET", path, token, nil).JSON(t), row)
		delete(row, "draft") // a list leaves it out
		for _, v := range revisions {
			v.(map[string]any)["agentId"] = row["id"]
		}
		platform.SameAnswers(t, "its revisions", s.Must(200, "GET", path+"/revisions", token, nil).JSON(t), revisions)
		for i, run := range s.Must(200, "GET", path+"/runs", token, nil).JSON(t).([]any) {
			if got, want := platform.Member(t, run, "jobKey"), platform.Member(t, runs[i], "jobKey"); got != want {
				t.Errorf("its run %d is %v, of the graph %v", i, got, want)
			}
		}
	}
	platform.SameAnswers(t, "agents", s.Must(200, "GET", "/v1/agents", token, nil).JSON(t), rows)
	if len(rows) != 2 {
		t.Errorf("%d agents", len(rows))
	}
}

// agentReads are the documented reads that TestParityOfJobs compares, and TestDeletedAgentsComeBack.
var agentReads = []string{"getAgent", "getJob", "getRun", "listAgentRuns", "listAgents", "listDeletedAgents", "listRevisions", "listRunSteps", "listRuns"}

// TestParityOfAgentsIsWhole: a read of agents and runs that is documented is compared.
func TestParityOfAgentsIsWhole(t *testing.T) {
	t.Parallel()
	_, registry := rest.New(platform.Start(t).App.Resolver, rest.Options{})
	var reads []string
	for _, e := range rest.Endpoints(registry) {
		mine := strings.HasPrefix(e.Path, "/v1/agents") || strings.HasPrefix(e.Path, "/v1/runs") || strings.HasPrefix(e.Path, "/job/")
		if e.Method == http.MethodGet && mine {
			reads = append(reads, e.OperationID)
		}
	}
	if slices.Sort(reads); !slices.Equal(reads, agentReads) {
		t.Errorf("documented are %v, compared %v", reads, agentReads)
	}
}
