package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"canopy/internal/web"
)

func answered(h http.Handler, method string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, "https://api.example.com/x", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

var teapot = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })

func TestCORS(t *testing.T) {
	h := web.CORS(web.Origins{Listed: []string{"https://app.example.com", "http://localhost:3000"}})(teapot)
	t.Run("preflight", func(t *testing.T) {
		res := answered(h, http.MethodOptions, "Origin", "https://app.example.com", "Access-Control-Request-Method", "PUT")
		if res.StatusCode != http.StatusNoContent {
			t.Errorf("the status is %d", res.StatusCode)
		}
		if got := res.Header.Get("Access-Control-Allow-Origin"); got != "https://app.example.com" {
			t.Errorf("the origin is %q", got)
		}
		for name, want := range map[string]string{
			"Access-Control-Allow-Methods": "PUT",
			"Access-Control-Allow-Headers": "Authorization, Content-Type, X-Request-Id, GraphQL-Preflight, Apollo-Require-Preflight, Idempotency-Key, Canopy-Context",
		} {
			if !strings.Contains(res.Header.Get(name), want) {
				t.Errorf("%s is %q", name, res.Header.Get(name))
			}
		}
		if vary := strings.Join(res.Header.Values("Vary"), ", "); vary != "Origin, Access-Control-Request-Method, Access-Control-Request-Headers" {
			t.Errorf("Vary is %q", vary)
		}
	})
	t.Run("a request", func(t *testing.T) {
		res := answered(h, http.MethodPost, "Origin", "http://localhost:3000")
		if res.StatusCode != http.StatusTeapot || res.Header.Get("Access-Control-Allow-Origin") != "http://localhost:3000" ||
			res.Header.Get("Access-Control-Expose-Headers") != "X-Request-Id, Link, Retry-After, ETag, Idempotency-Replayed" || res.Header.Get("Vary") != "Origin" {
			t.Errorf("the answer is %d %v", res.StatusCode, res.Header)
		}
	})
	for name, headers := range map[string][]string{
		"another origin":             {"Origin", "https://evil.example.com"},
		"a longer origin":            {"Origin", "https://app.example.com.evil.com"},
		"another scheme":             {"Origin", "http://app.example.com"},
		"the origin null":            {"Origin", "null"},
		"a preflight of another":     {"Origin", "https://evil.example.com", "Access-Control-Request-Method", "PUT"},
		"no origin":                  {},
		"a method without an origin": {"Access-Control-Request-Method", "PUT"},
	} {
		t.Run(name, func(t *testing.T) {
			res := answered(h, http.MethodOptions, headers...)
			if res.StatusCode != http.StatusTeapot || res.Header.Get("Vary") != "Origin" {
				t.Errorf("the answer is %d %v", res.StatusCode, res.Header)
			}
			for header := range res.Header {
				if strings.HasPrefix(header, "Access-Control-") {
					t.Errorf("the answer has %s", header)
				}
			}
		})
	}
	t.Run("no origins configured", func(t *testing.T) {
		if res := answered(web.CORS(web.Origins{})(teapot), http.MethodGet, "Origin", "https://app.example.com"); len(res.Header) != 0 {
			t.Errorf("the answer has %v", res.Header)
		}
	})
	t.Run("credentials are off", func(t *testing.T) {
		for _, method := range []string{http.MethodGet, http.MethodOptions} {
			res := answered(h, method, "Origin", "https://app.example.com", "Access-Control-Request-Method", "PUT")
			if v, ok := res.Header["Access-Control-Allow-Credentials"]; ok {
				t.Errorf("%s: credentials are %v", method, v)
			}
		}
	})
}

func TestSecureHeaders(t *testing.T) {
	policy := web.Policy{Style: []string{"'unsafe-inline'"}, Image: []string{"data:"}}
	res := answered(web.SecureHeaders(policy)(teapot), http.MethodGet)
	const want = "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; manifest-src 'self'; " +
		"script-src 'self'; font-src 'self'; connect-src 'self'; worker-src 'self'; " +
		"style-src 'self' 'unsafe-inline'; img-src 'self' data:"
	if got := res.Header.Get("Content-Security-Policy"); got != want {
		t.Errorf("the policy is\n%s, want\n%s", got, want)
	}
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
	} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestBasicAuth(t *testing.T) {
	basic := func(user, password string) string {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.SetBasicAuth(user, password)
		return r.Header.Get("Authorization")
	}
	guarded := web.BasicAuth{User: "ops", Password: "s3:cret ü", Realm: "operators"}
	for name, c := range map[string]struct {
		guard   web.BasicAuth
		method  string
		headers []string
		want    int
	}{
		"right":                          {guarded, "GET", []string{"Authorization", basic("ops", "s3:cret ü")}, 418},
		"a wrong password":               {guarded, "GET", []string{"Authorization", basic("ops", "s3")}, 401},
		"a wrong user":                   {guarded, "GET", []string{"Authorization", basic("op", "s3:cret ü")}, 401},
		"no credentials":                 {guarded, "GET", nil, 401},
		"another scheme":                 {guarded, "GET", []string{"Authorization", "Bearer x"}, 401},
		"no password set":                {web.BasicAuth{User: "ops"}, "GET", []string{"Authorization", basic("ops", "x")}, 401},
		"a write from the page itself":   {guarded, "POST", []string{"Authorization", basic("ops", "s3:cret ü"), "Sec-Fetch-Site", "same-origin"}, 418},
		"a write from no browser":        {guarded, "POST", []string{"Authorization", basic("ops", "s3:cret ü")}, 418},
		"a write from another site":      {guarded, "POST", []string{"Authorization", basic("ops", "s3:cret ü"), "Sec-Fetch-Site", "cross-site"}, 403},
		"a write from a sister site":     {guarded, "DELETE", []string{"Authorization", basic("ops", "s3:cret ü"), "Sec-Fetch-Site", "same-site"}, 403},
		"a write of an older browser":    {guarded, "POST", []string{"Authorization", basic("ops", "s3:cret ü"), "Origin", "https://evil.example.com"}, 403},
		"closed without credentials":     {web.BasicAuth{}, "GET", nil, 403},
		"closed to empty credentials":    {web.BasicAuth{}, "GET", []string{"Authorization", basic("", "")}, 403},
		"open where told":                {web.BasicAuth{Open: true}, "GET", nil, 418},
		"open, a write from another":     {web.BasicAuth{Open: true}, "POST", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"open is not for what is closed": {web.BasicAuth{User: "ops", Password: "x", Open: true}, "GET", nil, 401},
	} {
		t.Run(name, func(t *testing.T) {
			res := answered(c.guard.Guard(teapot), c.method, c.headers...)
			if res.StatusCode != c.want {
				t.Errorf("the status is %d, want %d", res.StatusCode, c.want)
			}
			challenge := res.Header.Get("WWW-Authenticate")
			if (challenge != "") != (c.want == http.StatusUnauthorized) {
				t.Errorf("the challenge is %q", challenge)
			}
		})
	}
}
