package cluster

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
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
	return named(t, url, "")
}

// named is what the door says to whoever names a context in the header, or none.
func named(t *testing.T, url, context string) string {
	t.Helper()
	r := devtest.Must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))
	if context != "" {
		r.Header.Set("Canopy-Context", context)
	}
	resp := devtest.Must[*http.Response](t)(http.DefaultClient.Do(r))
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

// TestContextsHaveAProcess: searches of one context go to one process, by either door, and those of many to both; where that one ends, the other answers for its contexts.
func TestContextsHaveAProcess(t *testing.T) {
	first, second := serve(t, "first", http.StatusOK, 0), serve(t, "second", http.StatusOK, 0)
	url := balanced(t, first, second)
	devtest.Eventually(t, "both are checked", func() bool { return first.checks.Load() >= 3 && second.checks.Load() >= 3 })
	of := map[string]int{}
	for n := range 40 {
		id := strconv.Itoa(n)
		by := named(t, url+"/graphql", id)
		of[by]++
		for range 3 {
			for _, got := range []string{named(t, url+"/graphql", id), answer(t, url+"/context/relevant-docs/"+id), answer(t, url+"/context/answer/"+id)} {
				if got != by {
					t.Errorf("the context %s is searched by %s and by %s", id, by, got)
				}
			}
		}
	}
	if of["first"] < 5 || of["second"] < 5 {
		t.Errorf("the contexts are searched by %v", of)
	}
	second.CloseClientConnections()
	second.Close()
	for n := range 40 {
		if got := named(t, url+"/graphql", strconv.Itoa(n)); got != "first" {
			t.Errorf("when the second has ended, %q answers", got)
		}
	}
}
