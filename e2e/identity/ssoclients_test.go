package identity

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack/npmtest"
)

var formAction = regexp.MustCompile(`<form[^>]* action="([^"]+)"`)

// TestRealProviderClients: people sign in at oidc-provider, through its own pages.
func TestRealProviderClients(t *testing.T) {
	t.Parallel()
	dns := platform.NewDNS(t)
	p := providing{Platform: platform.Start(t, platform.DeliverLocally(t), dns.Asked), dns: dns}
	p.alpine = p.Customer("Alpine Energy")
	p.id = p.provide(t, p.Root(), p.alpine, p.RealProvider(npmtest.New(t, os.DirFS("testdata/provider")), p.URL), map[string]any{"domains": []string{"corp.example"}, "defaultRoleId": p.RoleID(0, "tenant", "Viewer")})
	for login, want := range map[string]string{"ida": "/console/sign-in?sso=in", "uma": "sso_unverified"} {
		t.Run(login, func(t *testing.T) {
			if got := p.throughPages(t, login); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
	if n := p.Number(`SELECT count(*) FROM users WHERE email = 'ida@corp.example' AND first_name = 'Ida' AND last_name = 'Real'`); n != 1 {
		t.Error("what the provider says of the person is not kept")
	}
}

// throughPages signs somebody in as a person does, filling in the provider's forms, and gives the page that it comes to, or why it does not.
func (p providing) throughPages(t *testing.T, login string) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: platform.Loopback().Client().Transport, Jar: jar}
	back := ""
	client.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), p.URL+"/auth/sso/callback") {
			back = r.URL.RequestURI()
			return http.ErrUseLastResponse
		}
		return nil
	}
	on := begin(t, p.Platform, p.at())
	page := on.location.String()
	resp, err := client.Get(page)
	for step := 0; err == nil && back == "" && step < 6; step++ {
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		found := formAction.FindSubmatch(text)
		if found == nil {
			t.Fatalf("no form: %d %.500s", resp.StatusCode, text)
		}
		form := url.Values{"prompt": {"consent"}}
		if strings.Contains(string(text), `value="login"`) {
			form = url.Values{"prompt": {"login"}, "login": {login}, "password": {"any"}}
		}
		resp, err = client.PostForm(resp.Request.URL.ResolveReference(must(url.Parse(string(found[1])))).String(), form)
	}
	if err != nil {
		t.Fatal(err)
	}
	a := browser(t, p.Platform, back, on.cookies...)
	if a.Status == http.StatusSeeOther {
		if token, _ := refreshed(t, p.Platform, a); token == "" {
			t.Error("there is no session")
		}
		return a.Header.Get("Location")
	}
	return fmt.Sprint(platform.Member(t, a.JSON(t), "code"))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
