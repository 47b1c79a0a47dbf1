package webhooks

import (
	"encoding/json"
	"net/http"
	"testing"

	"canopy/e2e/platform"
)

// TestHangingDestinationsKeepNobodyWaiting: attempts of one branch on destinations that hang are half of a
// worker's at most, however many are due, and deliveries of another branch pass beside them.
func TestHangingDestinationsKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	const share, lane = 1024, 64 // half of a worker's attempts; those that one destination may have
	hanging, end := make(chan struct{}, 4*share), make(chan struct{})
	hangs := platform.NewReceiver(t, func(platform.Received, int) int {
		hanging <- struct{}{}
		<-end
		return http.StatusNoContent
	})
	defer close(end)
	answers := platform.NewReceiver(t, nil)
	s := platform.StartDelivering(t)
	greedy, modest := s.TokenOf(s.Customer("Alpine Energy"), "greta@alpine.example", "builder"), s.RootAs("builder")
	for range share/lane + 1 {
		s.Subscribe(greedy, hangs.URL, "agent.created")
	}
	quiet, _ := s.Subscribe(modest, answers.URL, "agent.created")
	create := func(token string) {
		t.Helper()
		s.Mutate(token, "createAgent", "agent { id }", map[string]any{"name": "Greeter", "diagram": json.RawMessage(platform.Greeter)})
	}
	for range lane {
		create(greedy)
	}
	for range share {
		<-hanging
	}
	create(modest)
	answers.Wait(t, 1)
	if n := s.Number(`SELECT count(*) FROM webhook_due WHERE claimed_at IS NOT NULL AND destination_id <> $1`, quiet); n > share {
		t.Errorf("%d attempts of one branch are under way", n)
	}
}
