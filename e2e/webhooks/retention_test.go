package webhooks

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"canopy/db"
	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// TestOldDeliveriesAreForgotten has the retention pass for some deliveries, in batches of two.
func TestOldDeliveriesAreForgotten(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.RootAs("tenant")
	id, _ := s.Subscribe(token, platform.PublicURL)
	for range 7 {
		s.Must(http.StatusAccepted, "POST", platform.Hooks+"/destinations/"+platform.Decimal(id)+"/test", token, object{"type": "run.started"})
	}
	first := s.Number(`SELECT min(id) FROM webhook_deliveries`)
	old := first + 5 // the last two are fresh
	s.SQL(`WITH ended AS (DELETE FROM webhook_due WHERE delivery_id <> $1)
		UPDATE webhook_deliveries SET status = (array['delivered', 'failed', 'blocked'])[1 + id % 3], lost = id % 3 > 0, completed_at = now() WHERE id <> $1`, first+2)
	s.SQL(`UPDATE webhook_deliveries SET created_at = now() - interval '31 days', completed_at = completed_at - interval '31 days' WHERE id < $1`, old)
	batches := 0
	for after := int64(0); batches < 10; batches++ {
		last, err := s.App.Store.ForgetDeliveries(t.Context(), 30*24*time.Hour, after, 2)
		if err != nil {
			t.Fatal(err)
		}
		if last == 0 {
			break
		}
		after = last
	}
	var left []int64
	for _, d := range s.Must(http.StatusOK, "GET", platform.Hooks+"/deliveries", token, nil).JSON(t).([]any) {
		left = append(left, int64(d.(map[string]any)["id"].(float64))-first)
	}
	if want := []int64{6, 5, 2}; !slices.Equal(left, want) || batches != 3 {
		t.Errorf("left are %v, want %v, after %d batches", left, want, batches)
	}
}

// TestForgettingReadsNoWholeTable: however many rows there are, only the oldest are looked at.
func TestForgettingReadsNoWholeTable(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Publish(s.RootAs("builder"), platform.Greeter)
	const rows = 20_000
	s.SQL(`INSERT INTO webhook_deliveries (customer_id, destination_id, event_id, type, payload, status, created_at, completed_at)
		SELECT 1, 1, 'evt_' || i, 'run.started', '{}', 'delivered', now() - interval '40 days', now() - interval '40 days' FROM generate_series(1, $1) i`, rows)
	s.SQL(`INSERT INTO runs (job_key, agent_id, revision_id, account_id, status, input, created_at, finished_at)
		SELECT gen_random_uuid(), v.agent_id, v.id, a.account_id, 'finished', '{}', now() - interval '40 days', now() - interval '40 days'
		FROM agents a JOIN agent_revisions v ON v.agent_id = a.id, generate_series(1, $1)`, rows)
	s.SQL(`INSERT INTO run_steps (run_id, position, step_id, type, started_at, duration_ms) SELECT id, 0, 'a', 'set', created_at, 1 FROM runs`)
	s.SQL(`UPDATE audit_events SET created_at = now() - interval '41 days'`)
	s.SQL(`INSERT INTO audit_events (customer_id, action, object_type, object_id, created_at)
		SELECT 1, 'run.started', 'Run', i, now() - interval '40 days' FROM generate_series(1, $1) i`, rows)
	s.SQL(`ANALYZE`)
	s.SQL(`SELECT pg_stat_force_next_flush()`) // what was read so far is counted now
	scans := func() int64 {
		return s.Number(`SELECT sum(seq_scan)::bigint FROM pg_stat_user_tables WHERE relname IN ('webhook_deliveries', 'runs', 'run_steps', 'audit_events')`)
	}
	store, err := db.Open(t.Context(), s.App.Config.DatabaseURL, db.Options{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	before := scans()
	var deliveries, runs, events int64
	for range 8 { // by then PostgreSQL has settled on a plan for any arguments
		if deliveries, err = store.ForgetDeliveries(t.Context(), time.Hour, deliveries, 1000); err != nil || deliveries == 0 {
			t.Fatal(deliveries, err)
		}
		if runs, err = store.ForgetRuns(t.Context(), time.Hour, runs, 1000); err != nil || runs == 0 {
			t.Fatal(runs, err)
		}
		if events, err = store.ForgetAuditEvents(t.Context(), time.Hour, events, 1000); err != nil || events == 0 {
			t.Fatal(events, err)
		}
	}
	if err := store.Close(); err != nil { // a connection that ends hands in what it has counted
		t.Fatal(err)
	}
	devtest.Eventually(t, "the deletions are counted", func() bool {
		return s.Number(`SELECT sum(n_tup_del)::bigint FROM pg_stat_user_tables WHERE relname IN ('webhook_deliveries', 'runs', 'audit_events')`) >= 24_000
	})
	if n := scans() - before; n != 0 {
		t.Errorf("the tables were read whole %d times", n)
	}
	if n := s.Number(`SELECT count(*) FROM webhook_deliveries`) + s.Number(`SELECT count(*) FROM runs`); n != 2*rows-16_000 {
		t.Errorf("%d rows are left", n)
	}
}
