package cluster

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"canopy/internal/devstack"
	"canopy/internal/devstack/devtest"
)

// served is a server that the balancer asks: it answers /readyz with a status after a time, and anything else with its name.
type served struct {
	*httptest.Server
	checks atomic.Int64
}

func serve(t *testing.T, name string, status int, after time.Duration) *served {
	t.Helper()
	s := &served{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			time.Sleep(after)
			w.WriteHeader(status)
			s.checks.Add(1)
			return
		}
		_, _ = io.WriteString(w, name)
	}))
	t.Cleanup(s.Close)
	return s
}

// balanced starts HAProxy with the settings that are shipped, and gives its URL.
func balanced(t *testing.T, first, second *served) string {
	t.Helper()
	if len(missing()) > 0 {
		t.Fatalf("please install %v (scripts/bootstrap.sh cluster does so)", missing())
	}
	address := devtest.Must[string](t)(devstack.FreeAddress())
	balancer := &devstack.Companion{
		Path: find("haproxy"), Args: []string{"-db", "-f", "../../../deploy/haproxy.cfg"}, Log: filepath.Join(t.TempDir(), "balancer.log"),
		Env: []string{"LISTEN=" + address, "SERVE_1=" + first.Listener.Addr().String(), "SERVE_2=" + second.Listener.Addr().String()},
	}
	devtest.Check(t, balancer.Start(t.Context()))
	t.Cleanup(func() { balancer.Stop(t.Context()) })
	return "http://" + address
}

// answer is what the door says.
func answer(t *testing.T, url string) string {
	t.Helper()
	resp := devtest.Must[*http.Response](t)(http.Get(url))
	defer func() { _ = resp.Body.Close() }()
	return string(devtest.Must[[]byte](t)(io.ReadAll(resp.Body)))
}

// TestBalancerWaitsForTheSlow has a process whose readiness takes longer than the time between two checks, as on a busy machine.
func TestBalancerWaitsForTheSlow(t *testing.T) {
	slow, ending := serve(t, "slow", http.StatusOK, 2200*time.Millisecond), serve(t, "ending", http.StatusServiceUnavailable, 0)
	url := balanced(t, slow, ending)
	devtest.Eventually(t, "both are checked", func() bool { return slow.checks.Load() >= 3 && ending.checks.Load() >= 3 })
	for range 20 {
		if got := answer(t, url); got != "slow" {
			t.Fatalf("%q answered", got)
		}
	}
}

// TestBalancerAsksAllWhereNoneIsReady has them say themselves why they are not.
func TestBalancerAsksAllWhereNoneIsReady(t *testing.T) {
	first, second := serve(t, "first", http.StatusServiceUnavailable, 0), serve(t, "second", http.StatusServiceUnavailable, 0)
	url := balanced(t, first, second)
	devtest.Eventually(t, "both are checked", func() bool { return first.checks.Load() >= 3 && second.checks.Load() >= 3 })
	got := map[string]int{}
	for range 20 {
		got[answer(t, url)]++
	}
	if got["first"] == 0 || got["second"] == 0 || len(got) != 2 {
		t.Errorf("answers: %v", got)
	}
}
