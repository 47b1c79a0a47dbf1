package identity

import (
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"canopy/e2e/platform"
	"canopy/internal/devstack/browsertest"
)

// TestSetUpInBrowser follows the link of an invitation as its reader would: from the mail to the
// page, to a password, to a login with it; then again, with the link used up, to a new link.
func TestSetUpInBrowser(t *testing.T) {
	t.Parallel()
	b := browsertest.Open(t)
	s := platform.Start(t)
	const who = "iris.newcomer@example.com"
	s.Must(200, "POST", "/tenant/customer", s.Root(), map[string]any{"name": "Newcomers", "regionId": s.RegionID("eu-central"), "email": who})
	link := s.URL + "/setup#token=" + s.Link(who)
	if mailed := s.Mails(who)[0]; !strings.Contains(mailed.Text, link) || !strings.Contains(mailed.HTML, link) {
		t.Fatalf("neither part of the mail may lack %s: %s", link, mailed.Text)
	}
	fill := chromedp.Steps(
		chromedp.WaitVisible("#password"),
		chromedp.SendKeys("#password", platform.NewPassword), chromedp.SendKeys("#again", platform.NewPassword), chromedp.Click("#setup-form button"),
	)

	b.Run(t, chromedp.Navigate(link), fill)
	if got := b.Text(t, "#done-title"); got != "Your password is set" {
		t.Errorf("the page says %q", got)
	}
	b.Clean(t, s.URL)
	s.Login(who, platform.NewPassword)

	again := browsertest.Open(t)
	again.Run(t, chromedp.Navigate(link), fill)
	if got := again.Text(t, "#setup-error"); !strings.HasPrefix(got, "This link is not known, was used already, or has expired.") {
		t.Errorf("with the link used up the page says %q", got)
	}
	again.Run(t, chromedp.WaitVisible("#email"), chromedp.SendKeys("#email", who), chromedp.Click("#reset-form button"))
	again.WaitFor(t, `document.getElementById('reset-done').textContent.includes('on its way')`)
	mails := s.Mails(who)
	if len(mails) != 2 || !strings.Contains(mails[1].Text, "/setup#token=") || strings.Contains(mails[1].Text, link) {
		t.Fatalf("%d mails, want a second one with a new link", len(mails))
	}
	reset := browsertest.Open(t)
	reset.Run(t, chromedp.Navigate(regexp.MustCompile(`\S+/setup#token=\S+`).FindString(mails[1].Text)), chromedp.WaitVisible("#revoke"), fill)
	if got := reset.Text(t, "#done-title"); got != "Your password is set" {
		t.Errorf("with the link of a reset the page says %q", got)
	}
}
