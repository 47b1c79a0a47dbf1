package isolation

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
)

// TestARestoredBackupIsolates takes a dump while people are added, and asks platforms that run on what is restored of it for what
// TestGraphIsolation, TestRESTIsolation and those of agents ask for.
func TestARestoredBackupIsolates(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	dump := filepath.Join(t.TempDir(), "canopy.dump")
	token, done := s.Root(), make(chan struct{})
	var load sync.WaitGroup
	load.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			default:
				s.Must(201, "POST", "/tenant/user", token, map[string]any{"email": fmt.Sprintf("person%d@example.com", n)})
			}
		}
	})
	platform.PostgresProgram(t, "pg_dump", "--format=custom", "--no-owner", "--file="+dump, s.App.Config.DatabaseURL)
	close(done)
	load.Wait()
	for name, isolation := range map[string]func(*testing.T, func(*config.Config)){
		"graph":        func(t *testing.T, on func(*config.Config)) { graphIsolation(t, anotherWorld(t, on)) },
		"REST":         func(t *testing.T, on func(*config.Config)) { restIsolation(t, anotherWorld(t, on)) },
		"agents/graph": func(t *testing.T, on func(*config.Config)) { agentGraphIsolation(t, yardIn(anotherWorld(t, on))) },
		"agents/REST":  func(t *testing.T, on func(*config.Config)) { agentRESTIsolation(t, yardIn(anotherWorld(t, on))) },
		"subscriptions": func(t *testing.T, on func(*config.Config)) {
			w := anotherWorld(t, on)
			subscriptionIsolation(t, w)
			answerSubscription(t, w)
			documentSubscription(t, w) // last, as its worker goes on
		},
		"agents/subscriptions": func(t *testing.T, on func(*config.Config)) {
			agentSubscriptionIsolation(t, yardIn(anotherWorld(t, on)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			url := s.Restored(t, dump)
			isolation(t, func(c *config.Config) { c.DatabaseURL = url })
		})
	}
}
