package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"canopy/internal/web"
)

// identified gives the id and the address that a handler sees, and the answer.
func identified(r *http.Request, trusted ...netip.Prefix) (id, address string, answer http.Header) {
	w := httptest.NewRecorder()
	web.Identify(trusted)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		id, address = web.RequestID(r.Context()), web.ClientAddress(r.Context())
	})).ServeHTTP(w, r)
	return id, address, w.Header()
}

func TestRequestID(t *testing.T) {
	for name, c := range map[string]struct {
		given string
		kept  bool
	}{
		"none":         {"", false},
		"sane":         {"aZ09._-x", true},
		"64 long":      {strings.Repeat("a", 64), true},
		"65 long":      {strings.Repeat("a", 65), false},
		"a space":      {"a b", false},
		"a line break": {"a\nb", false},
		"not ASCII":    {"ä", false},
		"a quote":      {`a"b`, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header.Set("X-Request-Id", c.given)
			id, _, answer := identified(r)
			if kept := id == c.given; kept != c.kept {
				t.Errorf("the id is %q", id)
			}
			if len(id) < 8 || answer.Get("X-Request-Id") != id {
				t.Errorf("the handler sees %q, the client %q", id, answer.Get("X-Request-Id"))
			}
		})
	}
	if web.RequestID(t.Context()) != "" || web.ClientAddress(t.Context()) != "" || web.UserAgent(t.Context()) != "" {
		t.Error("a context of no request has an id or an address")
	}
}

// TestUserAgent: what a client calls itself is shown to people, and must not look like another client.
func TestUserAgent(t *testing.T) {
	for given, want := range map[string]string{
		"curl/8.5": "curl/8.5", "Müller 日本 🐝/1": "Müller 日本 🐝/1", "a\u0085b\u009b31mc\u007f": "ab31mc", "\u202ea\u2066b\u2069\u202a\u200f": "ab",
		"bad \xff": "bad ", strings.Repeat("x", 300): strings.Repeat("x", 256), strings.Repeat("ä", 128) + "b": strings.Repeat("ä", 128), "x" + strings.Repeat("ä", 128): "x" + strings.Repeat("ä", 127),
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("User-Agent", given)
		var got string
		web.Identify(nil)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = web.UserAgent(r.Context()) })).ServeHTTP(httptest.NewRecorder(), r)
		if got != want {
			t.Errorf("%q: %q", given, got)
		}
	}
}

func TestClientAddress(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for name, c := range map[string]struct {
		peer      string
		forwarded []string
		want      string
	}{
		"no proxy":                        {"192.0.2.1:999", nil, "192.0.2.1"},
		"a stranger's word":               {"192.0.2.1:999", []string{"198.51.100.7"}, "192.0.2.1"},
		"one proxy":                       {"10.0.0.1:999", []string{"198.51.100.7"}, "198.51.100.7"},
		"a proxy that says nothing":       {"10.0.0.1:999", nil, "10.0.0.1"},
		"two proxies":                     {"10.0.0.1:999", []string{"198.51.100.7, 10.9.9.9"}, "198.51.100.7"},
		"a client that lies":              {"10.0.0.1:999", []string{"203.0.113.1, 198.51.100.7"}, "198.51.100.7"},
		"several lines":                   {"10.0.0.1:999", []string{"203.0.113.1", "198.51.100.7", "10.9.9.9"}, "198.51.100.7"},
		"trusted only":                    {"10.0.0.1:999", []string{"10.0.0.3,10.0.0.2"}, "10.0.0.3"},
		"nonsense":                        {"10.0.0.1:999", []string{"198.51.100.7, unknown"}, "10.0.0.1"},
		"nonsense beyond the client":      {"10.0.0.1:999", []string{"<script>, 198.51.100.7"}, "198.51.100.7"},
		"an IPv6 proxy and client":        {"[fd00::1]:999", []string{"2001:db8::5"}, "2001:db8::5"},
		"ports":                           {"10.0.0.1:999", []string{"[2001:db8::5]:80, 10.0.0.2:81"}, "2001:db8::5"},
		"an IPv4 address in an IPv6 one":  {"[::ffff:10.0.0.1]:999", []string{"::ffff:198.51.100.7"}, "198.51.100.7"},
		"a zone":                          {"[fe80::1%eth0]:999", nil, "fe80::1"},
		"a Unix socket":                   {"@", []string{"198.51.100.7"}, ""},
		"an empty entry before the proxy": {"10.0.0.1:999", []string{"198.51.100.7, "}, "10.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = c.peer
			r.Header["X-Forwarded-For"] = c.forwarded
			if _, got, _ := identified(r, trusted...); got != c.want {
				t.Errorf("the address is %q, want %q", got, c.want)
			}
		})
	}
}

// Whatever a client writes, the nearest foreign address is the one that counts.
func TestClientAddressCannotBeForged(t *testing.T) {
	trusted := netip.MustParsePrefix("10.0.0.0/8")
	rapid.Check(t, func(t *rapid.T) {
		forged := rapid.SliceOf(rapid.OneOf(rapid.StringMatching(`10\.0\.0\.[1-9]`), rapid.StringMatching(`[ -~]{0,20}`))).Draw(t, "forged")
		proxies := rapid.SliceOf(rapid.StringMatching(`10\.[0-9]\.0\.[1-9]`)).Draw(t, "proxies")
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = "10.255.0.1:1"
		r.Header.Set("X-Forwarded-For", strings.Join(append(append(forged, "198.51.100.7"), proxies...), ", "))
		if _, got, _ := identified(r, trusted); got != "198.51.100.7" {
			t.Errorf("the address is %q", got)
		}
	})
}

func FuzzClientAddress(f *testing.F) {
	f.Add("10.0.0.1:1", "198.51.100.7, 10.0.0.2")
	f.Add("[fd00::1%a]:1", "[::1]:80,,")
	f.Fuzz(func(t *testing.T, peer, forwarded string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = peer
		r.Header.Set("X-Forwarded-For", forwarded)
		_, got, _ := identified(r, netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0"))
		if _, err := netip.ParseAddr(got); got != "" && err != nil {
			t.Errorf("%q is no address", got)
		}
	})
}
