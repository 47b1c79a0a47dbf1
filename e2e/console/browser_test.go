// Package console tries the console in a real browser against a running platform.
package console

import (
	"bytes"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"canopy/e2e/platform"
	"canopy/internal/mail"
)

// tests is where `make test-browser` leaves what it makes of console/test.
const tests = "../../console/out"

// attempts is how often a delivery is tried.
const attempts = 3

// people of the demo data are one for each system role, and one of another company.
var people = []string{"greta@alpine.example", "jonas@alpine.example", "mira@alpine.example", "sofia@brightwater.example"}

// TestBrowser runs each file of tests on a platform of its own, with a worker, and mails in a folder.
func TestBrowser(t *testing.T) {
	if os.Getenv("CANOPY_BROWSER") == "" {
		t.Skip("the console is tried in a browser by make test-browser")
	}
	files, err := filepath.Glob(tests + "/*.test.js")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no tests in %s: %v", tests, err)
	}
	// Two browsers are enough for two processors.
	places := make(chan struct{}, 2)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".test.js"), func(t *testing.T) {
			t.Parallel()
			places <- struct{}{}
			defer func() { <-places }()
			run(t, file)
		})
	}
}

func run(t *testing.T, file string) {
	t.Helper()
	s := platform.Start(t, platform.DeliverLocally(t))
	for _, email := range people {
		s.SetUp(email)
	}
	s.NoDemoMails()
	mails := t.TempDir()
	well := platform.NewReceiver(t, nil)
	failing := platform.NewReceiver(t, func(_ platform.Received, n int) int {
		if n <= attempts {
			return http.StatusServiceUnavailable
		}
		return http.StatusNoContent
	})
	s.Work(&mail.Files{Dir: mails, Log: slog.New(slog.DiscardHandler)})
	cmd := exec.CommandContext(t.Context(), "node", "--test", "--test-reporter=spec", "--test-timeout=300000", file)
	cmd.Env = append(os.Environ(),
		"CANOPY_URL="+strings.Replace(s.URL, "127.0.0.1", "localhost", 1), "CANOPY_EMAIL="+platform.DemoAdmin, "CANOPY_PASSWORD="+s.Demo.AdminPassword,
		"CANOPY_OTHERS_PASSWORD="+platform.NewPassword, "CANOPY_MAILS="+mails,
		"CANOPY_RECEIVER="+well.URL+"/hooks", "CANOPY_FAILING_RECEIVER="+failing.URL+"/hooks")
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(os.Interrupt) }, 10*time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil || !strings.Contains(out.String(), "fail 0") || strings.Contains(out.String(), "tests 0") {
		t.Errorf("%v\n%s", err, out.String())
	}
}
