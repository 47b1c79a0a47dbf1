package main

import (
	"net/http"
	"strings"
	"testing"

	"canopy/internal/devstack/devtest"
)

// lookup is a diagram that searches the context of its input.
const lookup = `{"steps":[{"id":"found","type":"search","contextId":"{{ input.context }}","prompt":"{{ input.question }}","topN":2}],
	"output":{"hits":"{{ steps.found }}"}}`

// start starts a run and gives its job key.
func (s *stack) start(token string, agent int64, input any) string {
	s.t.Helper()
	return s.must(http.StatusAccepted, "POST", "/CognitiveDiagram/"+decimal(agent)+"/ExecuteAsJob", token, input).json(s.t).(map[string]any)["jobKey"].(string)
}

// lookUp runs the diagram lookup.
func (s *stack) lookUp(token string, agent, contextID int64, question string) answerOf {
	s.t.Helper()
	return s.poll(token, s.start(token, agent, map[string]any{"context": contextID, "question": question}))
}

func TestRunsSearch(t *testing.T) {
	s := newStack(t)
	s.noDemoMails()
	s.work(nil)
	builder, assistant := s.rootAs("builder"), s.assistant()
	agent, own := s.publish(builder, lookup), s.sampleContext(assistant)
	alpine := s.company("Alpine Energy")
	foreign := s.newContext(s.tokenOf(alpine, "greta@alpine.example", "assistant"), "Alpine's own")
	abroad := s.tokenOf(alpine, "greta@alpine.example", "builder")
	const question = "Which shift needs vibration sensors for the turbines?"

	t.Run("finds what a search finds", func(t *testing.T) {
		a := s.lookUp(builder, agent, own, question)
		want := s.search(assistant, own, question)
		if a.Status != http.StatusOK || len(want) < 3 {
			t.Fatalf("%d %s, %d hits by REST", a.Status, a.Body, len(want))
		}
		if got := member(t, a.json(t), "outputData.hits"); !sameJSON(got, want[:2]) {
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
		"a context of a company below": {builder, agent, foreign, question, "there is no context " + decimal(foreign)},
		"a context of a company above": {abroad, s.publish(abroad, lookup), own, question, "there is no context " + decimal(own)},
		"no such context":              {builder, agent, 1 << 40, question, "there is no context " + decimal(1<<40)},
		"an empty prompt":              {builder, agent, own, " \n", "prompt: must not be empty"},
		"a prompt that is too long":    {builder, agent, own, strings.Repeat("x", 32_001), "prompt: is longer than 32000 characters"},
	} {
		t.Run(name, func(t *testing.T) { s.searchFails(t, s.lookUp(c.token, c.agent, c.context, c.question), c.says) })
	}
	t.Run("a model that is not configured", func(t *testing.T) {
		other := s.newContext(assistant, "Elsewhere")
		s.sql(`UPDATE contexts SET embedding_model = 'elsewhere-1' WHERE id = $1`, other)
		s.searchFails(t, s.lookUp(builder, agent, other, question), `the context's embedding model "elsewhere-1" is not configured on this server`)
	})
	t.Run("a disabled account", func(t *testing.T) {
		s.sql(`UPDATE accounts SET disabled = true WHERE id = (SELECT account_id FROM contexts WHERE id = $1)`, own)
		s.searchFails(t, s.lookUp(builder, agent, own, question), "there is no context "+decimal(own))
	})
}

// searchFails checks that a run failed in its search step, with the sentence.
func (s *stack) searchFails(t *testing.T, a answerOf, says string) {
	t.Helper()
	want := map[string]any{"code": "search_error", "message": says, "step": "found"}
	if got := a.json(t).(map[string]any)["errorData"]; a.Status != http.StatusBadRequest || !sameJSON(got, want) {
		t.Errorf("%d %s, want %v", a.Status, a.Body, want)
	}
}

// TestRunsSearchByMeaning has a run search a context with a model's vectors.
func TestRunsSearchByMeaning(t *testing.T) {
	model := newModelServer(t)
	s := newStack(t, model.use)
	s.noDemoMails()
	s.work(nil)
	builder, assistant := s.rootAs("builder"), s.assistant()
	agent, own := s.publish(builder, lookup), s.sampleContext(assistant)
	a := s.lookUp(builder, agent, own, "turbine")
	want := s.search(assistant, own, "turbine")
	if a.Status != http.StatusOK || len(want) < 2 || !sameJSON(member(t, a.json(t), "outputData.hits"), want[:2]) {
		t.Errorf("%d %s, by REST %v", a.Status, a.Body, want)
	}
	model.failing(http.StatusUnauthorized, 1)
	s.searchFails(t, s.lookUp(builder, agent, own, "turbine"), "the embedding model letters-1 is not available at the moment")
}

// TestSearchStepOutlivesTheDatabase takes the database away in the middle of a search step: that is
// no outcome of the step, which is executed again.
func TestSearchStepOutlivesTheDatabase(t *testing.T) {
	s := newStack(t)
	s.noDemoMails()
	s.work(nil)
	builder, assistant := s.rootAs("builder"), s.assistant()
	agent, own := s.publish(builder, lookup), s.sampleContext(assistant)
	c := s.database()
	defer func() { _ = c.Close() }()
	lock, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Rollback() }()
	if _, err := lock.Exec(`LOCK TABLE contexts IN ACCESS EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	key := s.start(builder, agent, map[string]any{"context": own, "question": "defibrillator, turbine"})
	devtest.Eventually(t, "the step gives up", func() bool {
		s.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%contexts x%' AND datname = current_database()`)
		return strings.Contains(s.log.String(), "a task failed")
	})
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	s.must(http.StatusAccepted, "GET", "/job/"+key, builder, nil)
	s.sql(`UPDATE runs SET due_at = now() WHERE job_key = $1`, key)
	if a := s.poll(builder, key); a.Status != http.StatusOK || member(t, a.json(t), "outputData.hits.#") != 2 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if n := s.number(`SELECT count(*) FROM run_steps`); n != 1 {
		t.Errorf("%d steps are kept", n)
	}
}
