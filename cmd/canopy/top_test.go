package main

import (
	"slices"
	"strings"
	"testing"

	"canopy/cmd/canopy/top"
	"canopy/e2e/platform"
	"canopy/internal/config"
)

func TestTop(t *testing.T) {
	t.Parallel()
	p := platform.Start(t)
	s := newShell(t)
	s.env["CANOPY_URL"], s.env["CANOPY_CLIENT_ID"], s.env["CANOPY_CLIENT_SECRET"] = p.URL, p.Demo.ClientID, p.Demo.ClientSecret
	for range 3 {
		p.MustGQL(p.RootAs("tenant"), `query Counted { me { email } }`, nil)
	}
	look := shown[top.Look](s, "top", "--by", "users", "--first", "2")
	if look.Version != "test" || len(look.Queues) != 6 || len(look.Branches) != 2 || len(look.Notes) != 0 {
		t.Errorf("%+v", look)
	}
	if a, b := look.Branches[0].Used["users"], look.Branches[1].Used["users"]; a < b || b < 1 {
		t.Errorf("by users: %d, %d", a, b)
	}
	all := shown[top.Look](s, "top", "--first", "100")
	i := slices.IndexFunc(all.Slow, func(o top.Operation) bool { return o.Name == "Counted" })
	if i < 0 || all.Slow[i].Count != 3 || all.Slow[i].Mean <= 0 || all.Slow[i].P95 <= 0 {
		t.Errorf("of the operations: %+v", all.Slow)
	}
	out := s.must("", "top")
	for _, part := range []string{"version test", "QUEUE ", "webhooks", "COMPANY ", "RUNS TODAY", "OPERATION ", "Top "} {
		if !strings.Contains(strings.ToLower(out), strings.ToLower(part)) {
			t.Errorf("it lacks %q:\n%s", part, out)
		}
	}
	if code, _, fault := s.run("", "top", "--by", "nonsense"); code != exitUsage || strings.Count(fault, "\n") != 1 || !strings.Contains(fault, "runsPerDay") {
		t.Errorf("%d %s", code, fault)
	}
}

// TestTopWithoutMetrics: what can't be seen is said, and the rest is shown.
func TestTopWithoutMetrics(t *testing.T) {
	t.Parallel()
	p := platform.Start(t, func(c *config.Config) { c.MonitorUser, c.MonitorPassword = "watch", "word" })
	s := newShell(t)
	s.env["CANOPY_URL"], s.env["CANOPY_CLIENT_ID"], s.env["CANOPY_CLIENT_SECRET"] = p.URL, p.Demo.ClientID, p.Demo.ClientSecret
	look := shown[top.Look](s, "top")
	if len(look.Slow) != 0 || len(look.Notes) != 1 || !strings.Contains(look.Notes[0], "CANOPY_MONITOR_USER") || len(look.Queues) != 6 {
		t.Errorf("%+v", look)
	}
	s.env["CANOPY_MONITOR_USER"], s.env["CANOPY_MONITOR_PASSWORD"] = "watch", "word"
	if look := shown[top.Look](s, "top"); len(look.Slow) == 0 || len(look.Notes) != 0 {
		t.Errorf("%+v", look)
	}
}
