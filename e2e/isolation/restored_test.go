package isolation

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
)

// TestARestoredBackupIsolates takes a dump while people are added, and asks the platform that runs on what is restored of it for what
// TestGraphIsolation asks for, as every caller.
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
	url := s.Restored(t, dump)
	restored := func(c *config.Config) { c.DatabaseURL = url }
	t.Run("graph", func(t *testing.T) { graphIsolation(t, newWorld(t, restored)) })
}
