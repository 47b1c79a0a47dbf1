package agents

import (
	"net/http"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

func TestRunsSearch(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.NoDemoMails()
	s.Work(nil)
	builder, assistant := s.RootAs("builder"), s.Assistant()
	agent, own := s.Publish(builder, platform.Lookup), s.SampleContext(assistant)
	alpine := s.Customer("Alpine Energy")
	foreign := s.NewContext(s.TokenOf(alpine, "greta@alpine.example", "assistant"), "Alpine's own")
	abroad := s.TokenOf(alpine, "greta@alpine.example", "builder")
	const question = "Which shift needs vibration sensors for the turbines?"

	t.Run("finds what a search finds", func(t *testing.T) {
		a := s.LookUp(builder, agent, own, question)
		want := s.Search(assistant, own, question)
		if a.Status != http.StatusOK || len(want) < 3 {
			t.Fatalf("%d %s, %d hits by REST", a.Status, a.Body, len(want))
		}
		if got := platform.Member(t, a.JSON(t), "outputData.hits"); !platform.SameJSON(got, asRunsShow(want[:2])) {
			t.Errorf("a run finds %v, a search %v", got, want[:2])
		}
	})
	for name, c := range map[string]struct {
		token    string
		agent    int64
		context  int64
		question string
		says     string
	}{
		// The root company reaches every other, and still its runs search in its own contexts only.
		"a context of a company below": {builder, agent, foreign, question, "there is no context " + platform.Decimal(foreign)},
		"a context of a company above": {abroad, s.Publish(abroad, platform.Lookup), own, question, "there is no context " + platform.Decimal(own)},
		"no such context":              {builder, agent, 1 << 40, question, "there is no context " + platform.Decimal(1<<40)},
		"an empty prompt":              {builder, agent, own, " \n", "prompt: must not be empty"},
		"a prompt that is too long":    {builder, agent, own, strings.Repeat("x", 32_001), "prompt: is longer than 32000 characters"},
	} {
		t.Run(name, func(t *testing.T) { searchFails(t, s.LookUp(c.token, c.agent, c.context, c.question), c.says) })
	}
	t.Run("a model that is not configured", func(t *testing.T) {
		other := s.NewContext(assistant, "Elsewhere")
		s.SQL(`UPDATE contexts SET embedding_model = 'elsewhere-1' WHERE id = $1`, other)
		searchFails(t, s.LookUp(builder, agent, other, question), `the context's embedding model "elsewhere-1" is not configured on this server`)
	})
	t.Run("a disabled account", func(t *testing.T) {
		s.SQL(`UPDATE accounts SET disabled = true WHERE id = (SELECT account_id FROM contexts WHERE id = $1)`, own)
		searchFails(t, s.LookUp(builder, agent, own, question), "there is no context "+platform.Decimal(own))
	})
}

// asRunsShow gives the members of hits that diagrams read.
func asRunsShow(hits []map[string]any) (list []any) {
	for _, h := range hits {
		list = append(list, map[string]any{"id": h["id"], "docId": h["docId"], "content": h["content"], "similarity": h["similarity"]})
	}
	return list
}

// searchFails checks that a run failed in its search step, with the sentence.
func searchFails(t *testing.T, a platform.Answer, says string) {
	t.Helper()
	want := map[string]any{"code": "search_error", "message": says, "step": "found"}
	if got := a.JSON(t).(map[string]any)["errorData"]; a.Status != http.StatusBadRequest || !platform.SameJSON(got, want) {
		t.Errorf("%d %s, want %v", a.Status, a.Body, want)
	}
}

// TestRunsSearchByMeaning has a run search a context with a model's vectors.
func TestRunsSearchByMeaning(t *testing.T) {
	t.Parallel()
	model := platform.NewModelServer(t)
	s := platform.Start(t, model.Use)
	s.NoDemoMails()
	s.Work(nil)
	builder, assistant := s.RootAs("builder"), s.Assistant()
	agent, own := s.Publish(builder, platform.Lookup), s.SampleContext(assistant)
	a := s.LookUp(builder, agent, own, "turbine")
	want := s.Search(assistant, own, "turbine")
	if a.Status != http.StatusOK || len(want) < 2 || !platform.SameJSON(platform.Member(t, a.JSON(t), "outputData.hits"), asRunsShow(want[:2])) {
		t.Errorf("%d %s, by REST %v", a.Status, a.Body, want)
	}
	model.Failing(http.StatusUnauthorized, 1)
	searchFails(t, s.LookUp(builder, agent, own, "turbine"), "the embedding model letters-1 is not available at the moment")
}

// TestSearchStepOutlivesTheDatabase takes the database away in the middle of a search step: that is
// no outcome of the step, which is executed again.
func TestSearchStepOutlivesTheDatabase(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.NoDemoMails()
	s.Work(nil)
	builder, assistant := s.RootAs("builder"), s.Assistant()
	agent, own := s.Publish(builder, platform.Lookup), s.SampleContext(assistant)
	c := s.DB
	lock, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Rollback() }()
	if _, err := lock.Exec(`LOCK TABLE contexts IN ACCESS EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	key := s.Start(builder, agent, map[string]any{"context": own, "question": "defibrillator, turbine"})
	devtest.Eventually(t, "the step gives up", func() bool {
		s.SQL(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%contexts x%' AND datname = current_database()`)
		return strings.Contains(s.Log.String(), "a task failed")
	})
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	s.Must(http.StatusAccepted, "GET", "/job/"+key, builder, nil)
	s.SQL(`UPDATE runs SET due_at = now() WHERE job_key = $1`, key)
	if a := s.Poll(builder, key); a.Status != http.StatusOK || platform.Member(t, a.JSON(t), "outputData.hits.#") != 2 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if n := s.Number(`SELECT count(*) FROM run_steps`); n != 1 {
		t.Errorf("%d steps are kept", n)
	}
}
