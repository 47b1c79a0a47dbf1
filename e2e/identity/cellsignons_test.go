package identity

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// TestSignOnFromACell: a browser that begins at a cell's address goes on at the home's, with what it has asked for, and is signed in there; whoever only asks which way there is, or is a program, hears at
// the cell what the home says.
func TestSignOnFromACell(t *testing.T) {
	t.Parallel()
	dns := platform.NewDNS(t)
	c := platform.StartAll(t, "eu-central", platform.DeliverLocally(t), dns.Asked)
	home, cell := c.Home, c.Cell
	p := providing{Platform: home, idp: newIDP(t), dns: dns, alpine: home.Customer("Alpine Energy")}
	p.id = p.provide(t, home.Root(), p.alpine, p.idp.URL, map[string]any{"domains": []string{"corp.example"}, "defaultRoleId": home.RoleID(0, "tenant", "Viewer")})
	c.Follow(t)

	const asked = "email=gwen%40corp.example&return=/console/agents%3Fx%3D1"
	a := asPage(t, cell, "/auth/sso?"+asked)
	if to := a.Header.Get("Location"); a.Status != http.StatusSeeOther || to != home.URL+"/auth/sso?"+asked || len(a.Header.Values("Set-Cookie")) != 0 {
		t.Fatalf("a browser is led by %d to %s with %v: %s", a.Status, to, a.Header.Values("Set-Cookie"), a.Body)
	}
	_, query, _ := strings.Cut(a.Header.Get("Location"), "?")
	a = p.idp.enter(t, home, query, "g1", "gwen@corp.example")
	if a.Status != http.StatusSeeOther || a.Header.Get("Location") != "/console/agents?x=1" {
		t.Fatalf("back from the provider: %d %v %s", a.Status, a.Header, a.Body)
	}
	token, _ := refreshed(t, home, a)
	c.Follow(t)
	if got := cell.MustGQL(token, whoAmI, nil); platform.Member(t, got, "me.email") != "gwen@corp.example" {
		t.Errorf("in the cell the session is of %v", got)
	}

	for _, back := range []string{"https://evil.example/", "//evil.example", `/\evil.example`} {
		for name, at := range map[string]*platform.Platform{"home": home, "cell": cell} {
			if a := asPage(t, at, "/auth/sso?return="+url.QueryEscape(back)+"&"+p.at()); a.Header.Get("Location") != "/console/sign-in?sso=BAD_REQUEST" {
				t.Errorf("%s: at the %s led to %s", back, name, a.Header.Get("Location"))
			}
		}
	}

	ask := func(name, query string, page bool, want int, has string) {
		t.Helper()
		visit := browser
		if page {
			visit = asPage
		}
		a := visit(t, cell, "/auth/sso?"+query)
		if a.Status != want || a.Header.Get("Canopy-Region") != "home" || !strings.Contains(a.Header.Get("Location")+string(a.Body), has) {
			t.Errorf("%s: %d %v %s", name, a.Status, a.Header, a.Body)
		}
	}
	ask("which way an address has", "look=true&email=gwen@corp.example", true, http.StatusSeeOther, p.idp.URL+"/auth?")
	ask("an address that has none", "look=true&email=somebody@else.example", true, http.StatusNoContent, "")
	ask("a program", p.at(), false, http.StatusSeeOther, p.idp.URL+"/auth?")
	ask("a program, for one that is not there", "provider=999999", false, http.StatusNotFound, `"sso_unknown"`)
	if a := asPage(t, cell, "/auth/sso/callback?state=x&code=y"); a.Status != http.StatusSeeOther || a.Header.Get("Location") != "/console/sign-in?sso=sso_state" {
		t.Errorf("what nobody has begun: %d %v", a.Status, a.Header)
	}

	home.StopServing()
	for name, visit := range map[string]func(*testing.T, *platform.Platform, string, ...string) platform.Answer{"a browser": asPage, "a program": browser} {
		a := visit(t, cell, "/auth/sso?"+asked)
		if a.Status != http.StatusServiceUnavailable || !strings.Contains(string(a.Body), "the home of the platform is not available") {
			t.Errorf("%s while the home is away: %d %v %s", name, a.Status, a.Header, a.Body)
		}
	}
}
