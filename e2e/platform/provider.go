package platform

import (
	"bufio"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"

	"canopy/internal/devstack/npmtest"
)

// RealProvider starts the project's oidc-provider behind a server that speaks TLS, for a platform whose pages are at an origin, and gives its issuer.
func (s *Platform) RealProvider(project *npmtest.Project, origin string) (issuer string) {
	s.T.Helper()
	var to *url.URL
	front := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.SetXForwarded()
		r.Out.Host = r.In.Host
	}})
	s.T.Cleanup(front.Close)
	out := project.Start("node", "provider.mjs", front.URL, strings.TrimSuffix(origin, "/")+"/auth/sso/callback", "")
	port, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		to, err = url.Parse("http://127.0.0.1:" + strings.TrimSpace(port))
	}
	if err != nil {
		s.T.Fatal(err)
	}
	return front.URL
}
