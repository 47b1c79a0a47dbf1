package agents

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

func TestRunsAreExecuted(t *testing.T) {
	t.Parallel()
	r := platform.NewReceiver(t, nil)
	s := platform.StartDelivering(t)
	builder, assistant := s.RootAs("builder"), s.RootAs("assistant")
	s.Subscribe(builder, r.URL, "run.started", "run.completed", "run.failed")
	agent := s.Publish(builder, platform.Greeter)
	start := func(id int64, body string) platform.Answer {
		return s.Do("POST", "/CognitiveDiagram/"+platform.Decimal(id)+"/ExecuteAsJob", assistant, body)
	}
	key := func(a platform.Answer) string {
		t.Helper()
		if a.Status != http.StatusAccepted {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		return a.JSON(t).(map[string]any)["jobKey"].(string)
	}

	t.Run("a run that finishes", func(t *testing.T) {
		k := key(start(agent, `{"name":"Ada"}`))
		a := s.Poll(builder, k)
		if want := `{"jobKey":"` + k + `","status":"finished","outputData":{"text":"Hello Ada"}}`; a.Status != 200 || string(a.Body) != want {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		data, codes := s.GQL(builder, `query($k: String!) { run(jobKey: $k) { status output input error steps { stepId type result durationMs } agent { databaseId } revision { number } } }`, map[string]any{"k": k})
		if len(codes) > 0 {
			t.Fatal(codes)
		}
		run := data["run"].(map[string]any)
		if run["status"] != "finished" || run["error"] != nil || len(run["steps"].([]any)) != 1 {
			t.Errorf("run: %v", run)
		}
	})
	t.Run("a run that fails", func(t *testing.T) {
		bad := s.Publish(builder, `{"steps":[{"id":"f","type":"fail","message":"No {{ input.x }}"}],"output":{}}`)
		k := key(start(bad, `{"x":"way"}`))
		a := s.Poll(builder, k)
		m := a.JSON(t).(map[string]any)
		if a.Status != 400 || m["status"] != "failed" || m["detail"] != "No way" || m["errorData"].(map[string]any)["code"] != "failed" {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
	t.Run("a search step without contexts", func(t *testing.T) {
		bad := s.Publish(builder, `{"steps":[{"id":"s","type":"search","contextId":1,"prompt":"x"}],"output":{}}`)
		a := s.Poll(builder, key(start(bad, `{}`)))
		if code := a.JSON(t).(map[string]any)["errorData"].(map[string]any)["code"]; a.Status != 400 || code != "search_error" {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
	t.Run("events", func(t *testing.T) {
		r.Wait(t, 6)
		types := r.Types()
		slices.Sort(types)
		if want := []string{"run.completed", "run.failed", "run.failed", "run.started", "run.started", "run.started"}; !slices.Equal(types, want) {
			t.Errorf("events: %v", types)
		}
	})
	t.Run("refusals", func(t *testing.T) {
		unpublished := int64(s.Mutate(builder, "createAgent", "agent { databaseId }", map[string]any{"name": "New"})["agent"].(map[string]any)["databaseId"].(float64))
		for name, c := range map[string]struct {
			a    platform.Answer
			want int
		}{
			"not published":    {start(unpublished, `{}`), 400},
			"no such agent":    {start(1<<40, `{}`), 404},
			"input no object":  {start(agent, `[]`), 400},
			"no JSON":          {start(agent, `{`), 400},
			"too large":        {start(agent, `{"x":"`+strings.Repeat("x", 1<<20)+`"}`), 413},
			"no such job":      {s.Do("GET", "/job/2f1f5f3e-90a0-4a86-9a35-bd67bdb1a6a8", builder, nil), 404},
			"no job key":       {s.Do("GET", "/job/nonsense", builder, nil), 404},
			"another token":    {s.Do("GET", "/job/nonsense", s.RootAs("tenant"), nil), 403},
			"no token":         {s.Do("GET", "/job/nonsense", "", nil), 401},
			"a faulty diagram": {s.Do("POST", "/graphql", builder, map[string]any{"query": `mutation { publishAgent(input: {id: ` + platform.Decimal(unpublished) + `}) { agent { name } } }`}), 200},
		} {
			if c.a.Status != c.want {
				t.Errorf("%s: %d %s", name, c.a.Status, c.a.Body)
			}
		}
	})
}
