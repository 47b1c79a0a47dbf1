package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"canopy/internal/web"
)

// stack is the whole chain around a mux, as the program has it, with its log and its metrics.
type stack struct {
	http.Handler
	mux *http.ServeMux
	log bytes.Buffer
	reg *prometheus.Registry
}

func newStack(t testing.TB) *stack {
	t.Helper()
	s := &stack{mux: http.NewServeMux(), reg: prometheus.NewRegistry()}
	metrics, err := web.Metrics(s.reg)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewJSONHandler(&s.log, nil))
	fail := func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "sorry", http.StatusInternalServerError) }
	s.Handler = web.Chain(s.mux, web.Identify(nil), metrics, web.AccessLog(log, "/healthz"), web.Recover(log, fail), web.NoStore)
	return s
}

type key struct{}

// line is the one line of the log.
func (s *stack) line(t *testing.T) map[string]any {
	t.Helper()
	var line map[string]any
	if err := json.Unmarshal(s.log.Bytes(), &line); err != nil {
		t.Fatalf("the log is not one line: %v: %s", err, s.log.String())
	}
	return line
}

// measured gives the counts and gauges by name and labels.
func (s *stack) measured(t *testing.T) map[string]uint64 {
	t.Helper()
	families, err := s.reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]uint64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			got[name] = m.GetHistogram().GetSampleCount() + uint64(m.GetCounter().GetValue()+m.GetGauge().GetValue())
		}
	}
	return got
}

func TestAccessLog(t *testing.T) {
	s := newStack(t)
	s.mux.HandleFunc("GET /things/{id}", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	s.mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	s.mux.HandleFunc("/early", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusTeapot)
	})
	inner := http.NewServeMux()
	inner.HandleFunc("POST /inner/{x}", func(http.ResponseWriter, *http.Request) {})
	s.mux.Handle("/inner/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		web.Routed(inner).ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), key{}, 1)))
	}))

	for name, c := range map[string]struct {
		method, target, route string
		logged                string
		status, bytes         float64
	}{
		"a route":                  {"GET", "/things/5?token=hunter2", "/things/{id}", "GET", 200, 5},
		"a path without a route":   {"GET", "/secret", "", "GET", 404, 19},
		"a method of one's own":    {"HUNTER2", "/things/5", "", "other", 405, 19},
		"an informational answer":  {"GET", "/early", "/early", "GET", 418, 0},
		"a copied request":         {"POST", "/inner/5", "/inner/{x}", "POST", 200, 0},
		"nothing but the headers":  {"HEAD", "/things/5", "/things/{id}", "HEAD", 200, 5},
		"not below a route at all": {"GET", "/", "", "GET", 404, 19},
	} {
		t.Run(name, func(t *testing.T) {
			s.log.Reset()
			r := httptest.NewRequest(c.method, c.target, nil)
			r.Header.Set("Authorization", "Bearer hunter2")
			r.Header.Set("X-Request-Id", "id-1")
			s.ServeHTTP(httptest.NewRecorder(), r)
			line := s.line(t)
			for name, want := range map[string]any{"method": c.logged, "route": c.route, "status": c.status, "bytes": c.bytes, "requestId": "id-1"} {
				if line[name] != want {
					t.Errorf("%s is %v, want %v", name, line[name], want)
				}
			}
			if strings.Contains(strings.ToLower(s.log.String()), "hunter2") {
				t.Errorf("a secret is in the log: %s", s.log.String())
			}
		})
	}
	t.Run("health checks", func(t *testing.T) {
		s.log.Reset()
		s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/healthz", nil))
		if s.log.Len() != 0 {
			t.Errorf("the log has %s", s.log.String())
		}
	})
}

func TestAClientThatHasGone(t *testing.T) {
	s := newStack(t)
	began := make(chan context.Context)
	s.mux.HandleFunc("GET /slow/{way}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("way") == "gives-up" {
			began <- r.Context()
			<-r.Context().Done()
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	srv := httptest.NewServer(s)
	ctx, giveUp := context.WithCancel(t.Context())
	go func() {
		<-began
		giveUp()
	}()
	for way, c := range map[string]context.Context{"gives-up": ctx, "waits": t.Context()} {
		r, err := http.NewRequestWithContext(c, http.MethodGet, srv.URL+"/slow/"+way, nil)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := srv.Client().Do(r); err == nil {
			_ = res.Body.Close()
		}
	}
	srv.Close() // waits for both

	log := s.log.String()
	if strings.Count(log, `"INFO","msg":"request","method":"GET","route":"/slow/{way}","status":499`) != 1 || strings.Count(log, `"status":503`) != 1 {
		t.Errorf("the log is %s", log)
	}
	got := s.measured(t)
	for _, class := range []string{"4xx", "5xx"} {
		if n := got["http_request_duration_seconds GET /slow/{way} "+class]; n != 1 {
			t.Errorf("%d requests count as %s, want 1", n, class)
		}
	}
}

func TestRecover(t *testing.T) {
	s := newStack(t)
	s.mux.HandleFunc("/early", func(http.ResponseWriter, *http.Request) { panic("boom") })
	s.mux.HandleFunc("/late", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half an ans")
		panic("boom")
	})
	s.mux.HandleFunc("/abort", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	srv := httptest.NewServer(s)
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)

	// On a connection of its own, a request that is cut off is not sent again.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(srv.URL + "/early")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusInternalServerError || string(body) != "sorry\n" || res.Header.Get("X-Request-Id") == "" {
		t.Errorf("the answer is %d %q %v", res.StatusCode, body, res.Header)
	}
	for _, path := range []string{"/late", "/abort"} {
		if res, err := client.Get(srv.URL + path); err == nil {
			if body, err := io.ReadAll(res.Body); err == nil {
				t.Errorf("%s: the client takes %q for the whole answer", path, body)
			}
		}
	}
	srv.Close()

	log := s.log.String()
	if n := strings.Count(log, `"panic in a handler"`); n != 2 {
		t.Errorf("%d panics are logged, want 2: %s", n, log)
	}
	if !strings.Contains(log, "chain_test.go") || !strings.Contains(log, `"route":"/late","status":200`) || strings.Count(log, `"aborted":true`) != 2 {
		t.Errorf("the log is %s", log)
	}
}

func TestMetrics(t *testing.T) {
	s := newStack(t)
	s.mux.HandleFunc("GET /things/{id}", func(http.ResponseWriter, *http.Request) {})
	s.mux.HandleFunc("GET /stream", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.WriteHeader(http.StatusOK)
	})
	s.mux.HandleFunc("/panic", func(http.ResponseWriter, *http.Request) { panic("boom") })
	for _, target := range []string{"GET /things/1", "GET /things/2", "GET /stream", "GET /nowhere/1", "GET /nowhere/2", "FOO /things/1", "POST /panic"} {
		method, path, _ := strings.Cut(target, " ")
		s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method, path, nil))
	}
	got := s.measured(t)
	want := map[string]uint64{
		"http_request_duration_seconds GET /things/{id} 2xx": 2,
		"http_request_duration_seconds GET other 4xx":        2,
		"http_request_duration_seconds other other 4xx":      1,
		"http_request_duration_seconds POST /panic 5xx":      1,
		"http_streams_total /stream":                         1,
		"http_requests_in_flight":                            0,
	}
	for name, n := range want {
		if v, ok := got[name]; !ok || v != n {
			t.Errorf("%s is %d, want %d", name, v, n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("the metrics are %v", got)
	}
	if problems, err := testutil.GatherAndLint(s.reg); err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
	if _, err := web.Metrics(s.reg); err == nil {
		t.Error("the same metrics can be registered twice")
	}
}

// The wrapped ResponseWriter can do what the server's own can.
func TestWrappedWriter(t *testing.T) {
	s := newStack(t)
	flushed := make(chan struct{})
	s.mux.HandleFunc("/flush", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "first\n")
		w.(http.Flusher).Flush()
		<-flushed
		control := http.NewResponseController(w)
		if err := control.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Error(err)
		}
		n, err := io.Copy(w, strings.NewReader("second\n"))
		if n != 7 || err != nil {
			t.Errorf("copied %d, %v", n, err)
		}
		if err := control.Flush(); err != nil {
			t.Error(err)
		}
	})
	s.mux.HandleFunc("/hijack", func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: test\r\n\r\nraw")
	})
	// A test server does not wait for the handlers of hijacked connections.
	var running sync.WaitGroup
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		running.Add(1)
		defer running.Done()
		s.ServeHTTP(w, r)
	}))

	res, err := http.Get(srv.URL + "/flush")
	if err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 6)
	if _, err := io.ReadFull(res.Body, first); err != nil || string(first) != "first\n" {
		t.Fatalf("%q, %v", first, err)
	}
	close(flushed)
	if rest, err := io.ReadAll(res.Body); err != nil || string(rest) != "second\n" {
		t.Errorf("%q, %v", rest, err)
	}

	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, "GET /hijack HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: test\r\n\r\n")
	if raw, err := io.ReadAll(conn); err != nil || !strings.HasSuffix(string(raw), "raw") {
		t.Errorf("%q, %v", raw, err)
	}
	srv.Close()
	running.Wait()
	if log := s.log.String(); !strings.Contains(log, `"status":200,"bytes":13`) || !strings.Contains(log, `"status":101`) {
		t.Errorf("the log is %s", log)
	}
	if _, _, err := http.NewResponseController(exposed(s)).Hijack(); err == nil {
		t.Error("a recorder was hijacked")
	}
}

// exposed gives the writer that a handler gets around one that can't be hijacked.
func exposed(s *stack) (got http.ResponseWriter) {
	s.mux.HandleFunc("/exposed", func(w http.ResponseWriter, _ *http.Request) { got = w })
	s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/exposed", nil))
	return got
}

type nothing struct{ h http.Header }

func (n nothing) Header() http.Header         { return n.h }
func (n nothing) Write(p []byte) (int, error) { return len(p), nil }
func (n nothing) WriteHeader(int)             {}

func BenchmarkChain(b *testing.B) {
	s := newStack(b)
	s.mux.HandleFunc("GET /things/{id}", func(http.ResponseWriter, *http.Request) {})
	r := httptest.NewRequest(http.MethodGet, "/things/1", nil)
	w := nothing{http.Header{}}
	bench := func(name string, h http.Handler) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.log.Reset()
				h.ServeHTTP(w, r)
			}
		})
	}
	bench("mux alone", s.mux)
	bench("whole chain", s)
}

func TestNoStore(t *testing.T) {
	s := newStack(t)
	s.mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) {})
	s.mux.HandleFunc("/own", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Cache-Control", "no-cache") })
	s.mux.HandleFunc("/broken", func(http.ResponseWriter, *http.Request) { panic("boom") })
	for _, c := range []struct{ method, path, want string }{
		{"GET", "/", ""},
		{"HEAD", "/", ""},
		{"POST", "/", "no-store"},
		{"PUT", "/", "no-store"},
		{"PATCH", "/", "no-store"},
		{"DELETE", "/", "no-store"},
		{"POST", "/own", "no-cache"},
		{"POST", "/broken", "no-store"},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		if got := w.Header().Get("Cache-Control"); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.method, c.path, got, c.want)
		}
	}
}
