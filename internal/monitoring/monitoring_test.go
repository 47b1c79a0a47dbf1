package monitoring_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"canopy/internal/devstack/devtest"
	"canopy/internal/monitoring"
	"canopy/internal/redisconn"
)

func TestMain(m *testing.M) { devtest.Main(m) }

// dashboard serves the dashboard of a Redis of the test's own, in which one task has ended.
func dashboard(t *testing.T) string {
	t.Helper()
	queues, err := redisconn.Parse(devtest.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	client := asynq.NewClient(queues)
	defer func() { _ = client.Close() }()
	if _, err := client.Enqueue(asynq.NewTask("mail:send", []byte(`{"id":17}`), asynq.Retention(time.Hour))); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	server := asynq.NewServer(queues, asynq.Config{LogLevel: asynq.FatalLevel})
	if err := server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error { close(ended); return nil })); err != nil {
		t.Fatal(err)
	}
	<-ended
	server.Shutdown()
	h, err := monitoring.Handler(queues)
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(h)
	t.Cleanup(site.Close)
	return site.URL
}

func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v", url, r.StatusCode, err)
	}
	return r, string(body)
}

func TestNothingFromElsewhere(t *testing.T) {
	origin := dashboard(t)
	for _, path := range []string{"/monitoring/", "/monitoring/queues/default", "/monitoring/redis"} {
		r, body := get(t, origin+path)
		if policy := r.Header.Get("Content-Security-Policy"); strings.Contains(policy, "http") || !strings.Contains(policy, "font-src 'self'") || !strings.Contains(policy, "script-src 'self' 'sha256-") {
			t.Errorf("%s: the policy is %q", path, policy)
		}
		if strings.Contains(body, "href=\"http") || !strings.Contains(body, `<div id="root">`) {
			t.Errorf("%s: %s", path, body)
		}
	}
}

func TestResultsAreReadable(t *testing.T) {
	origin := dashboard(t)
	_, body := get(t, origin+"/monitoring/api/queues/default/completed_tasks?page=1&size=10")
	if !strings.Contains(body, `"result":"recorded in the row that the payload names"`) || !strings.Contains(body, `"payload":"{\"id\":17}"`) {
		t.Error(body)
	}
}
