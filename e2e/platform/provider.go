package platform

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"canopy/internal/devstack/npmtest"
)

// RealProvider is an oidc-provider that runs for a test.
type RealProvider struct {
	// URL is its issuer.
	URL string
	// Instead, where it is set, is what its token endpoint answers in place of its own.
	Instead atomic.Pointer[[]byte]
}

// RealProvider starts the project's oidc-provider behind a server that speaks TLS, for a platform whose pages are at an origin.
func (s *Platform) RealProvider(project *npmtest.Project, origin string) *RealProvider {
	s.T.Helper()
	p := &RealProvider{}
	var to *url.URL
	front := httptest.NewTLSServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.SetXForwarded()
			r.Out.Host = r.In.Host
		},
		ModifyResponse: func(a *http.Response) error {
			if other := p.Instead.Load(); other != nil && a.Request.URL.Path == "/token" {
				_ = a.Body.Close()
				a.StatusCode, a.Body, a.ContentLength = http.StatusOK, io.NopCloser(bytes.NewReader(*other)), int64(len(*other))
				a.Header.Del("Content-Length")
			}
			return nil
		},
	})
	s.T.Cleanup(front.Close)
	p.URL = front.URL
	out := project.Start("node", "provider.mjs", front.URL, strings.TrimSuffix(origin, "/")+"/auth/sso/callback")
	port, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		to, err = url.Parse("http://127.0.0.1:" + strings.TrimSpace(port))
	}
	if err != nil {
		s.T.Fatal(err)
	}
	return p
}

// Set changes how the provider is: its clock, its keys, or who is told when somebody signs out.
func (p *RealProvider) Set(t *testing.T, what, how string) {
	t.Helper()
	resp, err := Loopback().Client().Get(p.URL + "/set?" + url.Values{what: {how}}.Encode())
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s=%s: %d", what, how, resp.StatusCode)
	}
}
