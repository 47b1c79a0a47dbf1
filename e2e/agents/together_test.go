package agents

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"canopy/e2e/platform"
)

// TestAgentsAreMadeTogether: of many callers that make agents at the same time each gets its own, exactly as many as a limit has room for; what is told of each is
// told once, of that agent and its maker.
func TestAgentsAreMadeTogether(t *testing.T) {
	t.Parallel()
	const callers, each, room = 24, 6, 100
	s := platform.StartDelivering(t)
	r := platform.NewReceiver(t, nil)
	hydro := s.Customer("Alpine Hydro")
	token := s.TokenOf(hydro, "lukas@alpine-hydro.example", "builder")
	s.Subscribe(token, r.URL, "agent.created")
	had := s.Number(`SELECT count(*) FROM agents g JOIN accounts a ON a.id = g.account_id WHERE a.customer_id = $1`, hydro)
	s.MustGQL(s.Root(), `mutation($id: ID!, $n: Long) { setLimits(input: {customerId: $id, limits: [{name: AGENTS, limit: $n}]}) { customer { id } } }`,
		map[string]any{"id": hydro, "n": had + room})
	var mu sync.Mutex
	made, refused := map[float64]string{}, 0
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for n := range each {
				name := fmt.Sprintf("Agent %d of %d", n, c)
				data, codes := s.GQL(token, `mutation($n: String!) { createAgent(input: {name: $n}) { agent { databaseId name } } }`, map[string]any{"n": name})
				mu.Lock()
				switch {
				case len(codes) == 0:
					agent := platform.Member(t, data, "createAgent.agent").(map[string]any)
					if agent["name"] != name {
						t.Errorf("%v was made for %s", agent, name)
					}
					made[agent["databaseId"].(float64)] = name
				case codes[0] == "FORBIDDEN":
					refused++
				default:
					t.Errorf("%s: %v", name, codes)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(made) != room || refused != callers*each-room {
		t.Fatalf("%d were made and %d refused, where there was room for %d", len(made), refused, room)
	}
	told := map[float64]string{}
	for _, x := range r.Wait(t, room) {
		var e struct {
			Data struct {
				AgentID float64
				Name    string
			}
		}
		if err := json.Unmarshal(x.Body, &e); err != nil {
			t.Fatal(err)
		}
		told[e.Data.AgentID] = e.Data.Name
	}
	user := s.Number(`SELECT id FROM users WHERE email = 'lukas@alpine-hydro.example'`)
	for id, name := range made {
		if told[id] != name {
			t.Errorf("the agent %v, %s, was told of as %q", id, name, told[id])
		}
		if n := s.Number(`SELECT count(*) FROM audit_events WHERE action = 'agent.created' AND object_id = $1 AND actor_user_id = $2 AND details::text LIKE '%' || $3 || '%'`,
			int64(id), user, name); n != 1 {
			t.Errorf("%d entries of the log tell of %s", n, name)
		}
	}
	if n := s.Number(`SELECT sum(n) FROM usage_counts WHERE customer_id = $1 AND name = 'agents'`, hydro); n != had+room {
		t.Errorf("%d agents are counted, and not %d", n, had+room)
	}
}

// TestRunsAreStartedTogether: of many runs of an agent that are started at the same time as many as a limit has room for are, each with its own input, each
// told once, and each done; and where the agent can't be run everybody hears why.
func TestRunsAreStartedTogether(t *testing.T) {
	t.Parallel()
	const callers, each, room = 16, 5, 50
	s := platform.StartDelivering(t)
	hydro := s.Customer("Alpine Hydro")
	token := s.TokenOf(hydro, "lukas@alpine-hydro.example", "builder")
	agent := s.Publish(token, `{"steps": [], "output": {"n": "{{ input.n }}"}}`)
	had := s.Number(`SELECT COALESCE(sum(n), 0) FROM usage_counts WHERE customer_id = $1 AND name = 'runsPerDay'`, hydro)
	s.MustGQL(s.Root(), `mutation($id: ID!, $n: Long) { setLimits(input: {customerId: $id, limits: [{name: RUNS_PER_DAY, limit: $n}]}) { customer { id } } }`,
		map[string]any{"id": hydro, "n": had + room})
	var mu sync.Mutex
	asked, refused := map[string]string{}, map[string]int{}
	start := func(n string) {
		data, codes := s.GQL(token, `mutation($id: ID!, $in: JSON) { startRun(input: {agentId: $id, input: $in}) { jobKey run { jobKey input } } }`,
			map[string]any{"id": agent, "in": map[string]any{"n": n}})
		mu.Lock()
		defer mu.Unlock()
		if len(codes) > 0 {
			refused[codes[0]]++
			return
		}
		run := platform.Member(t, data, "startRun.run").(map[string]any)
		if run["jobKey"] != platform.Member(t, data, "startRun.jobKey") || !platform.SameJSON(run["input"], map[string]any{"n": n}) {
			t.Errorf("%s is answered by %v", n, data)
		}
		asked[run["jobKey"].(string)] = n
	}
	all := func(each int) {
		var wg sync.WaitGroup
		for c := range callers {
			wg.Go(func() {
				for i := range each {
					start(fmt.Sprintf("%d of %d", i, c))
				}
			})
		}
		wg.Wait()
	}
	all(each)
	if len(asked) != room || refused["RATE_LIMITED"] != callers*each-room {
		t.Fatalf("%d were started and %v refused, where there was room for %d", len(asked), refused, room)
	}
	for key, n := range asked {
		if run := s.Poll(token, key).JSON(t).(map[string]any); !platform.SameJSON(run["outputData"], map[string]any{"n": n}) {
			t.Errorf("%s ended as %v", n, run)
		}
		if n := s.Number(`SELECT count(*) FROM audit_events e JOIN runs r ON r.id = e.object_id WHERE e.action = 'run.started' AND r.job_key = $1::uuid`, key); n != 1 {
			t.Errorf("%d entries of the log tell of %s", n, key)
		}
	}
	s.Mutate(token, "disableAgent", "agent { id }", map[string]any{"id": agent})
	if all(1); refused["BAD_REQUEST"] != callers || s.Number(`SELECT count(*) FROM runs WHERE agent_id = $1`, agent) != room {
		t.Errorf("of a disabled agent: %v", refused)
	}
}
