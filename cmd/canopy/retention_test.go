package main

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"canopy/db"
	"canopy/internal/devstack/devtest"
)

// TestOldRunsAreForgotten has the retention pass for some runs: those that have ended go, with the
// log of their steps.
func TestOldRunsAreForgotten(t *testing.T) {
	s := newStack(t)
	s.noDemoMails()
	builder := s.rootAs("builder")
	greets := s.publish(builder, greeter)
	fails := s.publish(builder, `{"steps":[{"id":"f","type":"fail","message":"No"}],"output":{}}`)
	keys := map[string]string{}
	for name, agent := range map[string]int64{"old, finished": greets, "old, failed": fails, "fresh": greets, "old, ended lately": greets} {
		keys[name] = s.start(builder, agent, object{})
	}
	stop := s.work(nil)
	for _, key := range keys {
		s.poll(builder, key)
	}
	stop()
	keys["old, under way"] = s.start(builder, greets, object{})
	s.sql(`UPDATE runs SET created_at = created_at - interval '31 days' WHERE job_key <> $1`, keys["fresh"])
	s.sql(`UPDATE runs SET finished_at = finished_at - interval '31 days' WHERE job_key IN ($1, $2)`, keys["old, finished"], keys["old, failed"])
	s.sql(`UPDATE runs SET due_at = now() + interval '1 hour' WHERE status = 'running'`)
	s.work(nil)
	devtest.Eventually(t, "the old runs are forgotten", func() bool { return s.number(`SELECT count(*) FROM runs`) == 3 })
	for name, want := range map[string]int{"old, finished": 404, "old, failed": 404, "fresh": 200, "old, ended lately": 200, "old, under way": 202} {
		if a := s.do("GET", "/job/"+keys[name], builder, nil); a.Status != want {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	if n := s.number(`SELECT count(*) FROM run_steps`); n != 2 {
		t.Errorf("%d steps are left", n)
	}
	if n := member(t, s.mustGQL(builder, `{ agent(id: `+decimal(greets)+`) { runs { totalCount nodes { steps { stepId } } } } }`, nil), "agent.runs.totalCount"); n != 3.0 {
		t.Errorf("the agent has %v runs", n)
	}
}

// TestOldDeliveriesAreForgotten has the retention pass for some deliveries, in batches of two.
func TestOldDeliveriesAreForgotten(t *testing.T) {
	s := newStack(t)
	token := s.rootAs("tenant")
	id, _ := s.subscribe(token, publicURL)
	for range 7 {
		s.must(http.StatusAccepted, "POST", hooks+"/destinations/"+decimal(id)+"/test", token, object{"type": "run.started"})
	}
	first := s.number(`SELECT min(id) FROM webhook_deliveries`)
	old := first + 5 // the last two are fresh
	s.sql(`UPDATE webhook_deliveries SET status = (array['delivered', 'failed', 'blocked'])[1 + id % 3], completed_at = now() WHERE id <> $1`, first+2)
	s.sql(`UPDATE webhook_deliveries SET created_at = now() - interval '31 days', completed_at = completed_at - interval '31 days' WHERE id < $1`, old)
	batches := 0
	for after := int64(0); batches < 10; batches++ {
		last, err := s.p.Store.ForgetDeliveries(t.Context(), 30*24*time.Hour, after, 2)
		if err != nil {
			t.Fatal(err)
		}
		if last == 0 {
			break
		}
		after = last
	}
	var left []int64
	for _, d := range s.must(http.StatusOK, "GET", hooks+"/deliveries", token, nil).json(t).([]any) {
		left = append(left, int64(d.(map[string]any)["id"].(float64))-first)
	}
	if want := []int64{6, 5, 2}; !slices.Equal(left, want) || batches != 3 {
		t.Errorf("left are %v, want %v, after %d batches", left, want, batches)
	}
}

// TestForgettingReadsNoWholeTable: however many rows there are, only the oldest are looked at.
func TestForgettingReadsNoWholeTable(t *testing.T) {
	s := newStack(t)
	s.publish(s.rootAs("builder"), greeter)
	const rows = 20_000
	s.sql(`INSERT INTO webhook_deliveries (customer_id, destination_id, event_id, type, payload, status, created_at, completed_at)
		SELECT 1, 1, 'evt_' || i, 'run.started', '{}', 'delivered', now() - interval '40 days', now() - interval '40 days' FROM generate_series(1, $1) i`, rows)
	s.sql(`INSERT INTO runs (job_key, agent_id, revision_id, account_id, status, input, created_at, finished_at)
		SELECT gen_random_uuid(), v.agent_id, v.id, a.account_id, 'finished', '{}', now() - interval '40 days', now() - interval '40 days'
		FROM agents a JOIN agent_revisions v ON v.agent_id = a.id, generate_series(1, $1)`, rows)
	s.sql(`INSERT INTO run_steps (run_id, position, step_id, type, started_at, duration_ms) SELECT id, 0, 'a', 'set', created_at, 1 FROM runs`)
	s.sql(`ANALYZE`)
	scans := func() int64 {
		return s.number(`SELECT sum(seq_scan)::bigint FROM pg_stat_user_tables WHERE relname IN ('webhook_deliveries', 'runs', 'run_steps')`)
	}
	store, err := db.Open(t.Context(), s.p.Config.DatabaseURL, db.Options{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	before := scans()
	var deliveries, runs int64
	for range 8 { // by then PostgreSQL has settled on a plan for any arguments
		if deliveries, err = store.ForgetDeliveries(t.Context(), time.Hour, deliveries, 1000); err != nil || deliveries == 0 {
			t.Fatal(deliveries, err)
		}
		if runs, err = store.ForgetRuns(t.Context(), time.Hour, runs, 1000); err != nil || runs == 0 {
			t.Fatal(runs, err)
		}
	}
	if err := store.Close(); err != nil { // a connection that ends hands in what it has counted
		t.Fatal(err)
	}
	devtest.Eventually(t, "the deletions are counted", func() bool {
		return s.number(`SELECT sum(n_tup_del)::bigint FROM pg_stat_user_tables WHERE relname IN ('webhook_deliveries', 'runs')`) >= 16_000
	})
	if n := scans() - before; n != 0 {
		t.Errorf("the tables were read whole %d times", n)
	}
	if n := s.number(`SELECT count(*) FROM webhook_deliveries`) + s.number(`SELECT count(*) FROM runs`); n != 2*rows-16_000 {
		t.Errorf("%d rows are left", n)
	}
}
