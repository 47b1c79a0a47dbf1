package egress

import (
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// script answers lookups from lists: each lookup of a name takes its next answer, and the last one
// stays. A name that is not in it does not exist.
type script struct {
	mu      sync.Mutex
	answers map[string][][]string
	asked   []string
}

func (s *script) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, host)
	name := strings.TrimSuffix(host, ".")
	left := s.answers[name]
	if len(left) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(left) > 1 {
		s.answers[name] = left[1:]
	}
	var out []netip.Addr
	for _, a := range left[0] {
		out = append(out, netip.MustParseAddr(a))
	}
	return out, nil
}

func (s *script) lookups() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

var loopback4 = netip.MustParsePrefix("127.0.0.0/8")

// receiver is an HTTPS server on loopback whose certificate is for example.com and 127.0.0.1.
func receiver(tb testing.TB, h http.HandlerFunc) *httptest.Server {
	tb.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	tb.Cleanup(srv.Close)
	return srv
}

func trusting(tb testing.TB, srv *httptest.Server, o Options) *Client {
	tb.Helper()
	o.RootCAs = x509.NewCertPool()
	o.RootCAs.AddCert(srv.Certificate())
	c := New(o)
	tb.Cleanup(c.CloseIdle)
	return c
}

func portOf(tb testing.TB, srv *httptest.Server) string {
	tb.Helper()
	u, err := url.Parse(srv.URL)
	if err != nil {
		tb.Fatal(err)
	}
	return u.Port()
}
