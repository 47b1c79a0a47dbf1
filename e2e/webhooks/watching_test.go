package webhooks

import (
	"net/http"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// TestDeliveriesAreWatched hears of an attempt that failed, and of the one that did not.
func TestDeliveriesAreWatched(t *testing.T) {
	t.Parallel()
	r := platform.NewReceiver(t, func(x platform.Received, n int) int {
		if x.Typ == "run.failed" && n == 1 {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	})
	s := platform.StartDelivering(t)
	token := s.RootAs("tenant")
	id, _ := s.Subscribe(token, r.URL)
	other, _ := s.Subscribe(token, r.URL)
	send := func(to int64, typ string) float64 {
		t.Helper()
		return float64(s.Must(202, "POST", platform.Hooks+"/destinations/"+platform.Decimal(to)+"/test", token, object{"type": typ}).ID(t, "deliveryId"))
	}
	lines := s.Stream(t, `subscription { webhookDeliveryUpdated(destinationId: `+platform.Decimal(id)+`) { databaseId destinationId status attempts httpStatus } }`, token)
	devtest.Eventually(t, "the subscription has begun", func() bool { send(id, "run.started"); return len(lines) > 0 })
	send(other, "run.completed")
	delivery := send(id, "run.failed")
	want := []object{
		{"databaseId": delivery, "destinationId": id, "status": "pending", "attempts": 1, "httpStatus": 503},
		{"databaseId": delivery, "destinationId": id, "status": "delivered", "attempts": 2, "httpStatus": 200},
	}
	for len(want) > 0 {
		d := platform.Told(t, lines, "webhookDeliveryUpdated")
		if d["destinationId"] != float64(id) {
			t.Errorf("told of another destination: %v", d)
		}
		if d["databaseId"] != delivery {
			continue
		}
		if !platform.SameJSON(d, want[0]) {
			t.Errorf("told %v, want %v", d, want[0])
		}
		want = want[1:]
	}
}

// TestFailuresAreCounted: the platform disables a destination by what it has counted since the last
// success.
func TestFailuresAreCounted(t *testing.T) {
	t.Parallel()
	r := platform.NewReceiver(t, func(x platform.Received, _ int) int {
		if x.Typ == "run.failed" {
			return http.StatusGone
		}
		return http.StatusOK
	})
	s := platform.StartDelivering(t)
	token := s.RootAs("tenant")
	id, _ := s.Subscribe(token, r.URL)
	for _, c := range []struct {
		typ  string
		want int64
	}{{"run.failed", 1}, {"run.failed", 2}, {"run.completed", 0}, {"run.failed", 1}} {
		a := s.Must(202, "POST", platform.Hooks+"/destinations/"+platform.Decimal(id)+"/test", token, object{"type": c.typ})
		s.Ended(token, a.ID(t, "deliveryId"))
		n := s.Number(`SELECT failures FROM webhook_destinations WHERE (failing_since IS NOT NULL) = (failures > 0)`)
		if n != c.want {
			t.Errorf("after %s %d failures are counted, want %d", c.typ, n, c.want)
		}
	}
}
