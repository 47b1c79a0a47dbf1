package egress

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPost(t *testing.T) {
	type seen struct {
		proto, host, agent, kind, event string
		body                            []byte
	}
	got := make(chan seen, 1)
	srv := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- seen{r.Proto, r.Host, r.UserAgent(), r.Header.Get("Content-Type"), r.Header.Get("x-service-event"), body}
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte("thanks"))
	})
	dns := &script{answers: map[string][][]string{"example.com": {{"127.0.0.1"}}}}
	c := trusting(t, srv, Options{Allow: []netip.Prefix{loopback4}, Resolver: dns})
	header := http.Header{"x-service-event": {"run.started"}}
	resp, err := c.Post(t.Context(), "https://EXAMPLE.com.:"+portOf(t, srv)+"/hook", header, []byte(`{"a":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if resp.Status != http.StatusAccepted || string(resp.Body) != "thanks" || resp.Truncated || resp.BodyErr != nil || resp.Duration <= 0 {
		t.Errorf("response %+v", resp)
	}
	s := <-got
	want := seen{"HTTP/2.0", "example.com:" + portOf(t, srv), defaultAgent, "application/json", "run.started", []byte(`{"a":1}`)}
	if s.proto != want.proto || s.host != want.host || s.agent != want.agent || s.kind != want.kind || s.event != want.event || !bytes.Equal(s.body, want.body) {
		t.Errorf("receiver saw %+v, want %+v", s, want)
	}
}

func TestHTTP1(t *testing.T) {
	protos := make(chan string, 1)
	srv := receiver(t, func(_ http.ResponseWriter, r *http.Request) { protos <- r.Proto })
	srv.TLS.NextProtos = []string{"http/1.1"}
	c := trusting(t, srv, Options{Allow: []netip.Prefix{loopback4}})
	if _, err := c.Post(t.Context(), srv.URL, nil, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if p := <-protos; p != "HTTP/1.1" {
		t.Errorf("spoke %s", p)
	}
}

func TestRedirectIsAnAnswer(t *testing.T) {
	var followed atomic.Bool
	srv := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			followed.Store(true)
		}
		w.Header().Set("Location", "/inner")
		if r.URL.Query().Has("private") {
			w.Header().Set("Location", "http://169.254.169.254/latest/meta-data/")
		}
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	c := trusting(t, srv, Options{Allow: []netip.Prefix{loopback4}})
	for _, query := range []string{"", "?private"} {
		resp, err := c.Post(t.Context(), srv.URL+"/"+query, nil, []byte("x"))
		if err != nil || resp.Status != http.StatusTemporaryRedirect {
			t.Errorf("%q: %+v, %v", query, resp, err)
		}
	}
	if followed.Load() {
		t.Error("the redirect was followed")
	}
}

// TestRebinding: the check and each attempt look the name up once and dial what they judged.
func TestRebinding(t *testing.T) {
	var hits atomic.Int64
	srv := receiver(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	url := "https://example.com:" + portOf(t, srv) + "/"

	t.Run("between the check and the request", func(t *testing.T) {
		dns := &script{answers: map[string][][]string{"example.com": {{"93.184.216.34"}, {"127.0.0.1"}}}}
		c := trusting(t, srv, Options{Resolver: dns})
		if err := c.CheckURL(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Post(t.Context(), url, nil, nil); !errors.Is(err, ErrBlocked) {
			t.Errorf("got %v, want ErrBlocked", err)
		}
	})
	t.Run("between the judgement and the dial", func(t *testing.T) {
		before := hits.Load()
		dns := &script{answers: map[string][][]string{"example.com": {{"127.0.0.1"}, {"127.0.0.9"}}}}
		c := trusting(t, srv, Options{Resolver: dns, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
		if _, err := c.Post(t.Context(), url, nil, nil); err != nil {
			t.Fatal(err)
		}
		if n := len(dns.lookups()); n != 1 || hits.Load() != before+1 {
			t.Errorf("%d lookups and %d hits for one request, want 1 and 1", n, hits.Load()-before)
		}
	})
	t.Run("on a kept-alive connection", func(t *testing.T) {
		dns := &script{answers: map[string][][]string{"example.com": {{"127.0.0.1"}, {"10.0.0.1"}}}}
		c := trusting(t, srv, Options{Resolver: dns, Allow: []netip.Prefix{loopback4}})
		if _, err := c.Post(t.Context(), url, nil, nil); err != nil {
			t.Fatal(err)
		}
		before := hits.Load()
		if _, err := c.Post(t.Context(), url, nil, nil); !errors.Is(err, ErrBlocked) {
			t.Errorf("got %v, want ErrBlocked", err)
		}
		if hits.Load() != before {
			t.Error("the request was sent over the pooled connection")
		}
	})
	t.Run("at the socket", func(t *testing.T) {
		c := trusting(t, srv, Options{})
		dest := destination{&target{host: "example.com", port: 443}, []netip.Addr{netip.MustParseAddr("127.0.0.1")}}
		_, err := c.dialTLS(context.WithValue(t.Context(), destinationKey{}, dest), "tcp", "example.com:443")
		if !errors.Is(err, ErrBlocked) {
			t.Errorf("the dialer said %v, want ErrBlocked", err)
		}
	})
	t.Run("without a judgement", func(t *testing.T) {
		if _, err := New(Options{}).dialTLS(t.Context(), "tcp", "127.0.0.1:443"); !errors.Is(err, ErrBlocked) {
			t.Errorf("the dialer said %v, want ErrBlocked", err)
		}
	})
}

func TestNoProxy(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	srv := receiver(t, func(http.ResponseWriter, *http.Request) {})
	c := trusting(t, srv, Options{Allow: []netip.Prefix{loopback4}})
	if _, err := c.Post(t.Context(), srv.URL, nil, nil); err != nil {
		t.Error(err)
	}
}

func TestSecondAddressIsTried(t *testing.T) {
	srv := receiver(t, func(http.ResponseWriter, *http.Request) {})
	dns := &script{answers: map[string][][]string{"example.com": {{"127.0.0.77", "127.0.0.1"}}}}
	c := trusting(t, srv, Options{Allow: []netip.Prefix{loopback4}, Resolver: dns})
	if _, err := c.Post(t.Context(), "https://example.com:"+portOf(t, srv), nil, nil); err != nil {
		t.Error(err)
	}
}

func TestResponseLimit(t *testing.T) {
	srv := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, io.LimitReader(zeros{}, map[string]int64{"/under": 99, "/exact": 100, "/over": 101, "/endless": 1 << 40}[r.URL.Path]))
	})
	c := trusting(t, srv, Options{Allow: []netip.Prefix{loopback4}, MaxResponse: 100})
	for _, tc := range []struct {
		path      string
		length    int
		truncated bool
	}{{"/under", 99, false}, {"/exact", 100, false}, {"/over", 100, true}, {"/endless", 100, true}} {
		t.Run(tc.path[1:], func(t *testing.T) {
			resp, err := c.Do(t.Context(), Request{URL: srv.URL + tc.path})
			if err != nil || len(resp.Body) != tc.length || resp.Truncated != tc.truncated || resp.BodyErr != nil {
				t.Errorf("%+v, %v", resp, err)
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestExcerpt(t *testing.T) {
	for _, tc := range []struct{ name, body, want string }{
		{"short", "ok", "ok"},
		{"empty", "", ""},
		{"cut", strings.Repeat("a", 2000), strings.Repeat("a", 1024)},
		{"cut inside a character", strings.Repeat("a", 1023) + "é", strings.Repeat("a", 1023)},
		{"not UTF-8", "a\xffb", "a\uFFFDb"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := (&Response{Body: []byte(tc.body)}).Excerpt(); got != tc.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestFailures meets each class of failure on a real socket.
func TestFailures(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	srv := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			select {
			case <-hold:
			case <-r.Context().Done():
			}
		}
		if r.URL.Path == "/abort" {
			panic(http.ErrAbortHandler)
		}
	})
	c := trusting(t, srv, Options{Allow: []netip.Prefix{loopback4}, Timeout: 300 * time.Millisecond, Resolver: &script{
		answers: map[string][][]string{"wrong.example": {{"127.0.0.1"}}},
	}})
	port := portOf(t, srv)
	for _, tc := range []struct {
		name, url string
		want      error
		also      error
	}{
		{"no answer", srv.URL + "/hang", ErrTimeout, ErrTimeout},
		{"no TLS handshake", "https://" + silent(t) + "/", ErrTimeout, ErrTimeout},
		{"nothing listens", "https://" + closedPort(t) + "/", ErrConnection, ErrConnection},
		{"broken off", srv.URL + "/abort", ErrConnection, ErrConnection},
		{"plain HTTP behind the port", "https://" + plain(t) + "/", ErrTLS, ErrConnection},
		{"certificate of another host", "https://wrong.example:" + port + "/", ErrTLS, ErrConnection},
		{"no such name", "https://nowhere.example/", ErrDNS, ErrConnection},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := c.Post(t.Context(), tc.url, nil, []byte("x"))
			var e *Error
			if !errors.As(err, &e) || !errors.Is(e.Kind, tc.want) || !errors.Is(err, tc.also) || errors.Is(err, ErrBlocked) {
				t.Errorf("got %#v, want kind %v", err, tc.want)
			}
			if e != nil && (e.Message == "" || e.Timeout() != errors.Is(tc.want, ErrTimeout) || e.Blocked()) {
				t.Errorf("message %q, timeout %v, blocked %v", e.Message, e.Timeout(), e.Blocked())
			}
		})
	}
	t.Run("untrusted certificate", func(t *testing.T) {
		_, err := New(Options{Allow: []netip.Prefix{loopback4}}).Post(t.Context(), srv.URL, nil, nil)
		if !errors.Is(err, ErrTLS) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := c.Post(ctx, srv.URL+"/hang", nil, nil)
		if !errors.Is(err, ErrCancelled) || !errors.Is(err, context.Canceled) || errors.Is(err, ErrTimeout) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("cancelled during the check", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.CheckURL(ctx, "https://wrong.example/"); !errors.Is(err, ErrCancelled) {
			t.Errorf("got %v", err)
		}
	})
}

func listen(tb testing.TB) net.Listener {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() })
	return l
}

// silent accepts connections in the backlog and never says anything.
func silent(tb testing.TB) string { return listen(tb).Addr().String() }

func closedPort(tb testing.TB) string {
	l := listen(tb)
	_ = l.Close()
	return l.Addr().String()
}

func plain(tb testing.TB) string {
	l := listen(tb)
	srv := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Second}
	tb.Cleanup(func() { _ = srv.Close() })
	go func() { _ = srv.Serve(l) }()
	return l.Addr().String()
}

// TestSlowBody: the status counts although the body does not end in time.
func TestSlowBody(t *testing.T) {
	srv := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("begin"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	c := trusting(t, srv, Options{Allow: []netip.Prefix{loopback4}, Timeout: 300 * time.Millisecond})
	resp, err := c.Post(t.Context(), srv.URL, nil, nil)
	if err != nil || resp.Status != http.StatusOK || string(resp.Body) != "begin" || !errors.Is(resp.BodyErr, ErrTimeout) {
		t.Errorf("%+v, %v", resp, err)
	}
}

// TestSwitchingProtocols: a receiver that takes the connection for itself is answered for at once, and loses it.
func TestSwitchingProtocols(t *testing.T) {
	lost := make(chan error, 1)
	srv := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_, err = conn.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"))
		}
		if err == nil {
			defer func() { _ = conn.Close() }()
			_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
			_, err = conn.Read(make([]byte, 1))
		}
		lost <- err
	})
	srv.TLS.NextProtos = []string{"http/1.1"}
	c := trusting(t, srv, Options{Allow: []netip.Prefix{loopback4}})
	resp, err := c.Do(t.Context(), Request{URL: srv.URL})
	if err != nil || resp.Status != http.StatusSwitchingProtocols || len(resp.Body) > 0 {
		t.Errorf("%+v %v", resp, err)
	}
	if err := <-lost; !errors.Is(err, io.EOF) {
		t.Errorf("the receiver still has the connection: %v", err)
	}
}

func TestInvalidRequests(t *testing.T) {
	c := New(Options{})
	for _, tc := range []struct {
		name, method, header, value string
	}{
		{"method", "GET /", "", ""},
		{"CONNECT", "CONNECT", "", ""},
		{"header name", "POST", "a b", "x"},
		{"header value", "POST", "X-A", "a\r\nHost: b"},
		{"host", "POST", "host", "internal"},
		{"framing", "POST", "transfer-encoding", "chunked"},
		{"length", "POST", "Content-Length", "1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := Request{Method: tc.method, URL: "https://93.184.216.34/", Header: http.Header{}}
			if tc.header != "" {
				r.Header[tc.header] = []string{tc.value}
			}
			if _, err := c.Do(t.Context(), r); !errors.Is(err, ErrRequest) {
				t.Errorf("got %v, want ErrRequest", err)
			}
		})
	}
}

func TestRoots(t *testing.T) {
	srv := receiver(t, func(http.ResponseWriter, *http.Request) {})
	roots, err := Roots(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}))
	if err != nil {
		t.Fatal(err)
	}
	c := New(Options{RootCAs: roots, Allow: []netip.Prefix{loopback4}})
	t.Cleanup(c.CloseIdle)
	if _, err := c.Post(t.Context(), srv.URL, nil, nil); err != nil {
		t.Error(err)
	}
	if _, err := Roots([]byte("no certificate")); !errors.Is(err, ErrNoCertificate) {
		t.Errorf("got %v", err)
	}
}

func BenchmarkPost(b *testing.B) {
	srv := receiver(b, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusNoContent)
	})
	body := bytes.Repeat([]byte("x"), 512)
	for _, proto := range []string{"http/1.1", "h2"} {
		b.Run(strings.ReplaceAll(proto, "/", ""), func(b *testing.B) {
			c := trusting(b, srv, Options{Allow: []netip.Prefix{loopback4}})
			c.tls.NextProtos = []string{proto}
			b.ReportAllocs()
			b.SetParallelism(16)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if resp, err := c.Post(b.Context(), srv.URL, nil, body); err != nil || resp.Status != http.StatusNoContent {
						b.Errorf("%+v, %v", resp, err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "posts/s")
		})
	}
}

// TestReceiver: one address is exempt, at its port alone, whatever name leads there.
func TestReceiver(t *testing.T) {
	srv := receiver(t, func(http.ResponseWriter, *http.Request) {})
	at := netip.MustParseAddrPort(srv.Listener.Addr().String())
	c := trusting(t, srv, Options{Receiver: at})
	if _, err := c.Post(t.Context(), srv.URL, nil, nil); err != nil {
		t.Error(err)
	}
	port := strconv.Itoa(int(at.Port()))
	if err := c.CheckURL(t.Context(), "https://localhost:"+port+"/"); err != nil {
		t.Error(err)
	}
	for _, other := range []string{"127.0.0.1:" + strconv.Itoa(int(at.Port()^1)), "127.0.0.2:" + port, "[::1]:" + port, "127.0.0.1"} {
		if err := c.CheckURL(t.Context(), "https://"+other+"/"); !errors.Is(err, ErrBlocked) {
			t.Errorf("%s: %v", other, err)
		}
		if _, err := c.Post(t.Context(), "https://"+other+"/", nil, nil); !errors.Is(err, ErrBlocked) {
			t.Errorf("%s: %v", other, err)
		}
	}
}
