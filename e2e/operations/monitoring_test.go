package operations

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
)

// closed serves the platform as outside dev.
func closed(t *testing.T, s *platform.Platform) {
	t.Helper()
	h, err := s.App.Handler(false)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	s.URL = server.URL
}

func basic(user, password string) string {
	r := &http.Request{Header: http.Header{}}
	r.SetBasicAuth(user, password)
	return r.Header.Get("Authorization")
}

var (
	operatorPages = []string{"/monitoring/", "/monitoring/api/queues", "/metrics"}
	profiles      = []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/profile?seconds=1", "/debug/pprof/trace?seconds=0.1"}
)

func TestMonitoring(t *testing.T) {
	t.Parallel()
	s := platform.Start(t, func(c *config.Config) { c.MonitorUser, c.MonitorPassword = "operator", "pass:word" })
	s.Work(&platform.Letterbox{})
	devtest.Eventually(t, "a mail has gone through the queue", func() bool { return s.Number(`SELECT count(*) FROM mail_outbox WHERE sent_at IS NOT NULL`) > 0 })
	closed(t, s)
	for _, path := range slices.Concat(operatorPages, profiles) {
		for name, header := range map[string]string{
			"nobody": "", "a stranger": basic("operator", "wrong"), "another": basic("other", "pass:word"), "an empty name": basic("", ""), "a token": "Bearer " + s.Root(),
		} {
			t.Run(path+" for "+name, func(t *testing.T) {
				a := s.Raw(t, "GET", path, map[string]string{"Authorization": header})
				if a.Status != 401 || !strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Basic") || strings.Contains(string(a.Body), "mail") {
					t.Errorf("%d %q %.200s", a.Status, a.Header.Get("WWW-Authenticate"), a.Body)
				}
			})
		}
		t.Run(path+" for the operator", func(t *testing.T) {
			if a := s.Raw(t, "GET", path, map[string]string{"Authorization": basic("operator", "pass:word")}); a.Status != 200 {
				t.Errorf("%d", a.Status)
			}
		})
	}
	t.Run("the queue tells nothing personal", func(t *testing.T) {
		a := s.Raw(t, "GET", "/monitoring/api/queues/mail/completed_tasks?page=1&size=100", map[string]string{"Authorization": basic("operator", "pass:word")})
		body := string(a.Body)
		if a.Status != 200 || !strings.Contains(body, "mail:send") || strings.Contains(body, "@") || strings.Contains(body, "token=") {
			t.Errorf("%d %.500s", a.Status, body)
		}
	})
	t.Run("writes of other origins", func(t *testing.T) {
		const pause, resume = "/monitoring/api/queues/mail:pause", "/monitoring/api/queues/mail:resume"
		own := basic("operator", "pass:word")
		for name, headers := range map[string]map[string]string{
			"by fetch metadata": {"Authorization": own, "Sec-Fetch-Site": "cross-site"},
			"by origin":         {"Authorization": own, "Origin": "https://evil.example"},
			"of the same site":  {"Authorization": own, "Sec-Fetch-Site": "same-site"},
		} {
			if a := s.Raw(t, "POST", pause, headers); a.Status != 403 {
				t.Errorf("%s: %d", name, a.Status)
			}
		}
		if a := s.Raw(t, "POST", pause, map[string]string{"Authorization": own, "Sec-Fetch-Site": "same-origin"}); a.Status/100 != 2 {
			t.Errorf("of the page itself: %d %s", a.Status, a.Body)
		}
		if a := s.Raw(t, "POST", resume, map[string]string{"Authorization": own}); a.Status/100 != 2 {
			t.Errorf("of a script: %d %s", a.Status, a.Body)
		}
	})
}

func TestMonitoringIsClosedWithoutCredentials(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	for _, path := range operatorPages {
		if a := s.Raw(t, "GET", path, nil); a.Status != 200 {
			t.Errorf("dev: %s %d", path, a.Status)
		}
	}
	if a := s.Raw(t, "POST", "/monitoring/api/queues/mail:pause", map[string]string{"Origin": "https://evil.example"}); a.Status != 403 {
		t.Errorf("dev: a foreign write %d", a.Status)
	}
	closed(t, s)
	for _, path := range slices.Concat(operatorPages, profiles) {
		if a := s.Raw(t, "GET", path, map[string]string{"Authorization": basic("", "")}); a.Status != 403 {
			t.Errorf("%s: %d %.100s", path, a.Status, a.Body)
		}
	}
	if a := s.Raw(t, "GET", "/healthz", nil); a.Status != 200 {
		t.Errorf("/healthz %d", a.Status)
	}
}

// TestProfilesNeedAPassword: where operators have none, profiles are closed, even where their other pages are open.
func TestProfilesNeedAPassword(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	if a := s.Raw(t, "GET", "/metrics", nil); a.Status != 200 {
		t.Fatalf("the operator's pages are not open: %d", a.Status)
	}
	for _, path := range profiles {
		if a := s.Raw(t, "GET", path, nil); a.Status != 403 || !strings.Contains(string(a.Body), "closed") {
			t.Errorf("%s: %d %.100s", path, a.Status, a.Body)
		}
	}
}
