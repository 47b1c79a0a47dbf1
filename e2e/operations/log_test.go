package operations

import (
	"encoding/json"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// TestLogHasOneForm: what the client of Redis says by itself has the form of all the rest, too.
func TestLogHasOneForm(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	worker := s.StartProgram(t, "worker", "REDIS_URL=redis://127.0.0.1:1")
	t.Cleanup(worker.Kill)
	devtest.Eventually(t, "the client of Redis gives up", func() bool { return strings.Contains(worker.Log.String(), "failed to dial") })
	for line := range strings.Lines(worker.Log.String()) {
		var record struct{ Time, Level, Msg string }
		if err := json.Unmarshal([]byte(line), &record); strings.HasSuffix(line, "\n") && (err != nil || record.Time == "" || record.Level == "" || record.Msg == "") {
			t.Errorf("%v: %s", err, line)
		}
	}
}
