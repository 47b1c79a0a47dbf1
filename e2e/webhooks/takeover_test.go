package webhooks

import (
	"testing"
	"time"

	"canopy/db"
	"canopy/e2e/platform"
)

// TestInterruptedAttempts has a worker die in the middle of attempts.
func TestInterruptedAttempts(t *testing.T) {
	t.Parallel()
	r := platform.NewReceiver(t, nil)
	s := platform.Start(t, platform.DeliverLocally(t))
	s.NoDemoMails()
	token := s.RootAs("tenant")
	id, _ := s.Subscribe(token, r.URL)
	a := s.Do("POST", platform.Hooks+"/destinations/"+platform.Decimal(id)+"/test", token, map[string]any{"type": "run.started"})
	delivery := int64(a.JSON(t).(map[string]any)["deliveryId"].(float64))
	var claims []time.Time
	for i := range 2 {
		rows, err := s.App.Store.ClaimDeliveries(t.Context(), []db.Wanted{{DestinationID: id, Room: 10}}, time.Millisecond)
		if err != nil || len(rows) != 1 {
			t.Fatal(i, rows, err)
		}
		claims = append(claims, rows[0].LeasedUntil)
		s.SQL(`SELECT pg_sleep(0.005)`)
	}
	late := db.Outcome{ID: delivery, DestinationID: id, LeasedUntil: claims[0], Status: db.DeliveryFailed, Log: []byte(`[]`)}
	if written, err := s.App.Store.RecordOutcomes(t.Context(), []db.Outcome{late}); err != nil || len(written) != 0 {
		t.Errorf("an outcome of an older claim is written: %v %v", written, err)
	}
	s.Work(nil)
	d := s.Ended(token, delivery)
	log := d["attemptLog"].([]any)
	if d["status"] != "delivered" || d["attempts"] != 1.0 || len(log) != 3 || log[0].(map[string]any)["error"] != "interrupted" || log[2].(map[string]any)["httpStatus"] != 204.0 {
		t.Errorf("%v", d)
	}
	for i, want := range []any{"interrupted", "interrupted", nil} {
		if got := platform.Member(t, log[i], "errorKind"); got != want {
			t.Errorf("the kind of attempt %d is %v", i, got)
		}
	}
	graph := s.MustGQL(token, `query($id: ID!) { webhookDelivery(id: $id) { attemptLog { errorKind } } }`, map[string]any{"id": delivery})
	if platform.Member(t, graph, "webhookDelivery.attemptLog.0.errorKind") != "INTERRUPTED" || platform.Member(t, graph, "webhookDelivery.attemptLog.2.errorKind") != nil {
		t.Errorf("%v", graph)
	}
	if n := len(r.All()); n != 1 {
		t.Errorf("%d requests", n)
	}
}
