package identity

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"canopy/e2e/platform"
	"canopy/internal/devstack/npmtest"
)

var formAction = regexp.MustCompile(`<form[^>]* action="([^"]+)"`)

// real is a company whose provider is a real one.
type real struct {
	providing
	project  *npmtest.Project
	provider *platform.RealProvider
}

func newReal(t *testing.T) real {
	t.Helper()
	dns := platform.NewDNS(t)
	r := real{providing: providing{Platform: platform.Start(t, platform.DeliverLocally(t), dns.Asked), dns: dns}, project: npmtest.New(t, os.DirFS("testdata/provider"))}
	r.alpine, r.provider = r.Customer("Alpine Energy"), r.RealProvider(r.project, r.URL)
	r.id = r.provide(t, r.Root(), r.alpine, r.provider.URL, map[string]any{"domains": []string{"corp.example"}, "defaultRoleId": r.RoleID(0, "tenant", "Viewer")})
	return r
}

// TestRealProviderClients: people sign in at oidc-provider, through its own pages.
func TestRealProviderClients(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	// Of uma the address is not verified, noa has the address that was ida's, and eve that of an account in a domain which is not the company's.
	for _, c := range [][2]string{{"ida", "/console/sign-in?sso=in"}, {"uma", "sso_unverified"}, {"noa", "sso_mismatch"}, {"eve", "sso_domain"}} {
		t.Run(c[0], func(t *testing.T) {
			on := begin(t, r.Platform, r.at())
			if got := r.comes(t, on, r.signIn(t, nil, on.location, c[0])); got != c[1] {
				t.Errorf("%s, want %s", got, c[1])
			}
		})
	}
	if n := r.Number(`SELECT count(*) FROM users WHERE email = 'ida@corp.example' AND first_name = 'Ida' AND last_name = 'Real'`); n != 1 {
		t.Error("what the provider says of the person is not kept")
	}
	if n := r.Number(`SELECT count(*) FROM sessions`); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

// TestRealTokensClients: what a real provider has signed lets nobody in who did not sign in here with it, now.
func TestRealTokensClients(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	in := "/console/sign-in?sso=in"
	// instead has the platform get another answer than that to its code.
	instead := func(t *testing.T, on signOn, tokens []byte) string {
		t.Helper()
		r.provider.Instead.Store(&tokens)
		defer r.provider.Instead.Store(nil)
		return r.comes(t, on, r.signIn(t, nil, on.location, "ida"))
	}
	t.Run("another audience", func(t *testing.T) {
		on := begin(t, r.Platform, r.at())
		if got := instead(t, on, r.tokens(t, "another", "https://another.example/callback", on.nonce)); got != "sso_invalid" {
			t.Errorf("of another client: %s", got)
		}
		on = begin(t, r.Platform, r.at())
		if got := instead(t, on, r.tokens(t, "canopy", r.URL+"/auth/sso/callback", on.nonce)); got != in {
			t.Errorf("with nothing wrong, brought the same way: %s", got)
		}
	})
	t.Run("another issuer", func(t *testing.T) {
		second := r.RealProvider(r.project, r.URL)
		on := begin(t, r.Platform, r.at())
		there := *on.location
		there.Host = strings.TrimPrefix(second.URL, "https://")
		if got := r.comes(t, on, r.signIn(t, nil, &there, "ida")); got != "sso_invalid" {
			t.Error(got)
		}
	})
	t.Run("a code again", func(t *testing.T) {
		on := begin(t, r.Platform, r.at())
		back := r.signIn(t, nil, on.location, "ida")
		if got := r.comes(t, on, back); got != in {
			t.Fatal(got)
		}
		if got := r.comes(t, on, back); got != "sso_state" {
			t.Errorf("the same answer: %s", got)
		}
		other := begin(t, r.Platform, r.at())
		query := back.Query()
		query.Set("state", other.state)
		again := *back
		again.RawQuery = query.Encode()
		if got := r.comes(t, other, &again); got != "sso_refused" { // by the provider
			t.Errorf("the code in another sign-in: %s", got)
		}
	})
	for name, seconds := range map[string]string{"expired": "-7200", "from the future": "7200"} {
		t.Run(name, func(t *testing.T) {
			on := begin(t, r.Platform, r.at())
			back := r.signIn(t, nil, on.location, "ida")
			r.provider.Set(t, "clock", seconds)
			defer r.provider.Set(t, "clock", "0")
			if got := r.comes(t, on, back); got != "sso_invalid" {
				t.Error(got)
			}
		})
	}
	t.Run("rotated keys", func(t *testing.T) {
		on := begin(t, r.Platform, r.at())
		old := r.tokens(t, "canopy", r.URL+"/auth/sso/callback", on.nonce)
		r.provider.Set(t, "keys", "new")
		now := begin(t, r.Platform, r.at())
		if got := r.comes(t, now, r.signIn(t, nil, now.location, "ida")); got != in {
			t.Errorf("by the new key: %s", got)
		}
		if got := instead(t, on, old); got != "sso_invalid" {
			t.Errorf("by the old key: %s", got)
		}
	})
	t.Run("signed out there", func(t *testing.T) {
		r.provider.Set(t, "logout", fmt.Sprintf("%s/auth/sso/logout/%d", r.URL, r.id))
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		on := begin(t, r.Platform, r.at())
		token, _ := refreshed(t, r.Platform, browser(t, r.Platform, r.signIn(t, jar, on.location, "ida").RequestURI(), on.cookies...))
		if !works(r.Platform, token) {
			t.Fatal("she is not in")
		}
		r.signOut(t, jar)
		if works(r.Platform, token) {
			t.Error("the session goes on")
		}
	})
}

// comes brings the provider's answer to the platform in the browser that has begun, and gives the page that it comes to, or why it does not.
func (r real) comes(t *testing.T, on signOn, back *url.URL) string {
	t.Helper()
	r.forgive()
	a := browser(t, r.Platform, back.RequestURI(), on.cookies...)
	if a.Status != http.StatusSeeOther {
		return fmt.Sprint(platform.Member(t, a.JSON(t), "code"))
	}
	if token, _ := refreshed(t, r.Platform, a); token == "" {
		t.Error("there is no session")
	}
	return a.Header.Get("Location")
}

// signIn signs somebody in as a person does, filling in the provider's forms, and gives where the provider sends the browser to in the end.
func (r real) signIn(t *testing.T, jar http.CookieJar, at *url.URL, login string) (back *url.URL) {
	t.Helper()
	if jar == nil {
		jar, _ = cookiejar.New(nil) // which never fails, without options
	}
	client := &http.Client{Transport: platform.Loopback().Client().Transport, Jar: jar}
	client.CheckRedirect = func(to *http.Request, _ []*http.Request) error {
		if to.URL.Host != at.Host {
			back = to.URL
			return http.ErrUseLastResponse
		}
		return nil
	}
	resp, err := client.Get(at.String())
	for step := 0; err == nil && back == nil && step < 6; step++ {
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		form := url.Values{"prompt": {"consent"}}
		if strings.Contains(string(text), `value="login"`) {
			form = url.Values{"prompt": {"login"}, "login": {login}, "password": {"any"}}
		}
		resp, err = client.PostForm(formOf(t, resp, text), form)
	}
	if err != nil || back == nil {
		t.Fatalf("the provider leads nowhere: %v", err)
	}
	return back
}

// formOf is where the form of a page goes.
func formOf(t *testing.T, page *http.Response, text []byte) string {
	t.Helper()
	found := formAction.FindSubmatch(text)
	if found == nil {
		t.Fatalf("no form: %d %.500s", page.StatusCode, text)
	}
	return page.Request.URL.ResolveReference(must(url.Parse(string(found[1])))).String()
}

// tokens are what the provider answers to a client of its own whose sign-in has a nonce.
func (r real) tokens(t *testing.T, client, redirect, nonce string) []byte {
	t.Helper()
	verifier := oauth2.GenerateVerifier()
	at := must(url.Parse(r.provider.URL + "/auth"))
	at.RawQuery = url.Values{
		"client_id": {client}, "redirect_uri": {redirect}, "response_type": {"code"}, "scope": {"openid email profile"}, "nonce": {nonce},
		"code_challenge": {oauth2.S256ChallengeFromVerifier(verifier)}, "code_challenge_method": {"S256"},
	}.Encode()
	code := r.signIn(t, nil, at, "ida").Query().Get("code")
	resp, err := platform.Loopback().Client().PostForm(r.provider.URL+"/token", url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {redirect}, "code_verifier": {verifier}, "client_id": {client}, "client_secret": {clientSecret},
	})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK || !json.Valid(text) {
		t.Fatalf("the provider gives no tokens: %d %s", resp.StatusCode, text)
	}
	return text
}

// signOut signs the browser's person out at the provider.
func (r real) signOut(t *testing.T, jar http.CookieJar) {
	t.Helper()
	client := &http.Client{Transport: platform.Loopback().Client().Transport, Jar: jar}
	resp, err := client.Get(r.provider.URL + "/session/end")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	secret := regexp.MustCompile(`name="xsrf" value="([^"]+)"`).FindSubmatch(text)
	if secret == nil {
		t.Fatalf("no form: %.500s", text)
	}
	if resp, err = client.PostForm(formOf(t, resp, text), url.Values{"xsrf": {string(secret[1])}, "logout": {"yes"}}); err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
