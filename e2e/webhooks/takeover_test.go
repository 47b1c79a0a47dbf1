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
	if n := len(r.All()); n != 1 {
		t.Errorf("%d requests", n)
	}
}
