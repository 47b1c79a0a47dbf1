// Package console tries the console in a real browser against a running platform.
package console

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/mail"
)

// attempts is how often a delivery is tried.
const attempts = 3

// people of the demo data are one for each system role, and one of another company.
var people = []string{"greta@alpine.example", "jonas@alpine.example", "mira@alpine.example", "sofia@brightwater.example"}

// TestBrowser runs each file of tests on a platform of its own, with a worker, and mails in a folder.
func TestBrowser(t *testing.T) {
	if os.Getenv("CANOPY_BROWSER") == "" {
		t.Skip("the console is tried in a browser by make test-browser")
	}
	files, err := filepath.Glob(platform.BrowserTests + "/*.test.js")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no tests in %s: %v", platform.BrowserTests, err)
	}
	// Two browsers are enough for two processors.
	places := make(chan struct{}, 2)
	for _, file := range files {
		file = filepath.Base(file)
		t.Run(strings.TrimSuffix(file, ".test.js"), func(t *testing.T) {
			t.Parallel()
			places <- struct{}{}
			defer func() { <-places }()
			run(t, file)
		})
	}
}

// TestPictures takes the pictures of docs/screenshots.
func TestPictures(t *testing.T) {
	folder := os.Getenv("CANOPY_PICTURES")
	if folder == "" {
		t.Skip("pictures are taken by make screenshots")
	}
	run(t, "screenshots.js")
}

// BenchmarkConsole measures how quick the console is in a browser.
func BenchmarkConsole(b *testing.B) {
	if os.Getenv("CANOPY_BROWSER") == "" {
		b.Skip("the console is measured by make bench-browser")
	}
	for b.Loop() {
		for line := range strings.Lines(run(b, "bench.js")) {
			var figure struct {
				Name  string
				Value float64
			}
			if json.Unmarshal([]byte(strings.TrimSpace(line)), &figure) == nil && figure.Name != "" {
				fmt.Printf("%-60s %8.1f ms\n", figure.Name, figure.Value)
			}
		}
	}
}

// run runs a file of tests on a platform of its own, and gives what it has said.
func run(t testing.TB, file string) string {
	t.Helper()
	mails := t.TempDir()
	// Pages are at home at localhost, so that what links lead to is of the same site.
	settings := []func(*config.Config){platform.DeliverLocally(t), func(c *config.Config) {
		c.PublicURL.Host = platform.Localhost(c.PublicURL.Host)
		c.MailFolder = mails
	}}
	if file == answersFile {
		settings = append(settings, talker(t).Use)
	}
	s := platform.Start(t, settings...)
	for _, email := range people {
		s.SetUp(email)
	}
	s.NoDemoMails()
	if _, measured := t.(*testing.B); measured {
		wide := s.Number(`INSERT INTO customers (parent_id, name, region_id) SELECT id, 'Wide', 1 FROM customers WHERE parent_id IS NULL RETURNING id`)
		for made := 0; made < 100_000; made += 1000 { // a transaction walks past each count that it has made
			s.SQL(`INSERT INTO customers (parent_id, name, region_id) SELECT $1, 'Leaf ' || to_char(n, 'FM000000'), 1 FROM generate_series($2::integer + 1, $2::integer + 1000) n`, wide, made)
		}
	}
	well := platform.NewReceiver(t, nil)
	failing := platform.NewReceiver(t, func(_ platform.Received, n int) int {
		if n <= attempts {
			return http.StatusServiceUnavailable
		}
		return http.StatusNoContent
	})
	over := make(chan struct{})
	slow := platform.NewReceiver(t, func(platform.Received, int) int {
		<-over
		return http.StatusNoContent
	})
	t.Cleanup(func() { close(over) })
	s.Work(&mail.Files{Dir: mails, Log: slog.New(slog.DiscardHandler)})
	return s.Browse(file, "CANOPY_URL="+s.App.Config.PublicURL.String(), "CANOPY_OTHERS_PASSWORD="+platform.NewPassword, "CANOPY_MAILS="+mails,
		"CANOPY_CLIENT_ID="+s.Demo.ClientID, "CANOPY_CLIENT_SECRET="+s.Demo.ClientSecret, "CANOPY_RECEIVER="+well.URL+"/hooks",
		"CANOPY_FAILING_RECEIVER="+failing.URL+"/hooks", "CANOPY_SLOW_RECEIVER="+slow.URL+"/hooks")
}
