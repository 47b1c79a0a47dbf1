package tenancy

import (
	"fmt"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
	"canopy/outbox"
)

// TestTheTreeIsHeardOfWithoutRedis: where processes can't tell each other, a suspension and a move on one end what is open on another, long before it
// is looked after in its time.
func TestTheTreeIsHeardOfWithoutRedis(t *testing.T) {
	t.Parallel()
	redis := devtest.RedisServer(t)
	s := platform.Start(t, func(c *config.Config) { c.RedisURL = redis.URL() })
	root, alpine, hydro, ports := s.Root(), s.Customer("Alpine Energy"), s.Customer("Alpine Hydro"), s.Customer("Coral Ports")
	s.SetUp("lukas@alpine-hydro.example")
	lukas := s.OpenSession(t, "lukas@alpine-hydro.example", platform.NewPassword).Token
	wei := s.As("Coral Logistics", "wei@coral.example")
	destination := s.Number(`INSERT INTO webhook_destinations (customer_id, url, secret, events) VALUES ($1, 'https://x.example', '', '{run.finished}') RETURNING id`, ports)
	deliveries := fmt.Sprintf(`subscription { webhookDeliveryUpdated(destinationId: "%d") { id } }`, destination)
	twins := []*platform.Platform{s.Twin(t), s.Twin(t)}
	opened := []<-chan string{twins[0].Stream(t, platform.AuditSubscription, lukas), twins[1].Stream(t, deliveries, wei)}
	devtest.Eventually(t, "both are listened at", func() bool {
		return twins[0].App.Bus.Listened(outbox.TreeTopic) && twins[1].App.Bus.Listened(outbox.TreeTopic)
	})
	redis.Kill()
	for i, c := range []struct {
		name   string
		change func() platform.Answer
	}{
		{"a suspension", func() platform.Answer { return customerAction(s, root, alpine, "suspend") }},
		{"a move", func() platform.Answer { return s.Do("POST", moving(ports), root, below(hydro)) }},
	} {
		if a := c.change(); a.Status != 200 {
			t.Fatalf("%s: %d %s", c.name, a.Status, a.Body)
		}
		begun := time.Now()
		for open := true; open; {
			select {
			case _, open = <-opened[i]:
			case <-time.After(platform.Patience):
				t.Fatalf("%s: it stays open", c.name)
			}
		}
		t.Logf("%s: it has ended after %v", c.name, time.Since(begun))
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("%s: it has ended after %v", c.name, took)
		}
	}
}
