package pages_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"canopy/internal/devstack/browsertest"
	"canopy/internal/pages"
)

// platform is a server with the pages, and stand-ins for the paths that they call.
func platform(t *testing.T, handlers map[string]http.HandlerFunc) string {
	t.Helper()
	mux := http.NewServeMux()
	pages.Register(mux, pages.Options{Version: "1.2.3", Monitoring: true})
	for pattern, h := range handlers {
		mux.HandleFunc(pattern, h)
	}
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv.URL
}

func sendJSON(w http.ResponseWriter, status int, contentType, body string) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = fmt.Fprint(w, body)
}

func TestLandingInBrowser(t *testing.T) {
	origin := platform(t, map[string]http.HandlerFunc{"GET /readyz": func(http.ResponseWriter, *http.Request) {}})
	b := browsertest.Open(t)
	b.Run(t, chromedp.Navigate(origin+"/"))
	b.WaitFor(t, `document.getElementById('status').textContent === 'Ready · Version 1.2.3'`)
	b.Shoot(t, "landing")
	b.Clean(t, origin)
}

func TestSetupInBrowser(t *testing.T) {
	type post struct {
		Token, Password, Email string
		RevokeKeys             any
	}
	posts := make(chan post, 10)
	origin := platform(t, map[string]http.HandlerFunc{
		"POST /auth/setup": func(w http.ResponseWriter, r *http.Request) {
			var p post
			_ = json.NewDecoder(r.Body).Decode(&p)
			posts <- p
			if p.Token == "used" {
				sendJSON(w, http.StatusBadRequest, "application/problem+json",
					`{"detail":"body.token: is used","errors":[{"location":"body.token","message":"is used"}]}`)
				return
			}
			w.WriteHeader(http.StatusNoContent)
		},
		"POST /auth/reset": func(w http.ResponseWriter, r *http.Request) {
			var p post
			_ = json.NewDecoder(r.Body).Decode(&p)
			posts <- p
			w.WriteHeader(http.StatusNoContent)
		},
	})
	const good = "correct horse battery"
	fill := func(password, again string) chromedp.Action[chromedp.Void] {
		return chromedp.Steps(
			chromedp.WaitVisible("#password"),
			chromedp.Evaluate[chromedp.Void](`document.getElementById('setup-form').reset()`),
			chromedp.SendKeys("#password", password), chromedp.SendKeys("#again", again),
			chromedp.Click("#setup-form button"),
		)
	}

	for name, address := range map[string]string{"fragment": "/setup#token=t%2B1", "query": "/setup?token=t%2B1"} {
		t.Run("a token in the "+name, func(t *testing.T) {
			b := browsertest.Open(t)
			b.Run(t, chromedp.Navigate(origin+address), fill(good, good))
			if got := b.Text(t, "#done-title"); got != "Your password is set" {
				t.Errorf("the page says %q", got)
			}
			if got := <-posts; got != (post{Token: "t+1", Password: good}) {
				t.Errorf("the page posted %+v", got)
			}
			if shown := browsertest.Get(t, b, chromedp.Location()); shown != origin+"/setup" {
				t.Errorf("the address is still %s", shown)
			}
			b.Shoot(t, "setup-done")
			b.Clean(t, origin)
		})
	}

	t.Run("a reset asks whether API keys end", func(t *testing.T) {
		for keep, want := range map[bool]any{false: true, true: false} {
			b := browsertest.Open(t)
			b.Run(t, chromedp.Navigate(origin+"/setup#token=t&reset=true"), chromedp.WaitVisible("#revoke"))
			b.Shoot(t, "setup-reset")
			fillIn := fill(good, good)
			if keep {
				fillIn = chromedp.Steps(
					chromedp.SendKeys("#password", good), chromedp.SendKeys("#again", good), chromedp.Click("#revoke"), chromedp.Click("#setup-form button"),
				)
			}
			b.Run(t, fillIn)
			if got := <-posts; got != (post{Token: "t", Password: good, RevokeKeys: want}) {
				t.Errorf("the page posted %+v", got)
			}
			b.Clean(t, origin)
		}
	})

	t.Run("faults are told before anything is sent", func(t *testing.T) {
		b := browsertest.Open(t)
		b.Run(t, chromedp.Navigate(origin+"/setup#token=t"))
		b.Shoot(t, "setup")
		for _, c := range []struct{ password, again, want, focus string }{
			{"short", "short", "The password needs at least 10 characters.", "password"},
			{"😀😀😀😀😀", "😀😀😀😀😀", "The password needs at least 10 characters.", "password"},
			{good, good + "!", "The two passwords are not the same.", "again"},
		} {
			b.Run(t, fill(c.password, c.again))
			if got := b.Text(t, "#setup-error"); got != c.want {
				t.Errorf("%s: the page says %q", c.password, got)
			}
			b.WaitFor(t, `document.activeElement.id === '`+c.focus+`' && document.activeElement.getAttribute('aria-invalid') === 'true'`)
		}
		b.Shoot(t, "setup-fault")
		b.Run(t, chromedp.Click("#show"))
		b.WaitFor(t, `document.getElementById('password').type === 'text' && document.getElementById('again').type === 'text'`)
		if len(posts) != 0 {
			t.Errorf("the page posted %+v", <-posts)
		}
		b.Clean(t, origin)
	})

	t.Run("a link that is used up leads to a new one", func(t *testing.T) {
		b := browsertest.Open(t)
		b.Run(t, chromedp.Navigate(origin+"/setup#token=used"), fill(good, good))
		const want = "This link is not known, was used already, or has expired. Get a new one below."
		if got := b.Text(t, "#setup-error"); got != want {
			t.Errorf("the page says %q", got)
		}
		<-posts
		b.Run(t, chromedp.WaitVisible("#email"), chromedp.SendKeys("#email", "ann@example.com"), chromedp.Click("#reset-form button"))
		b.WaitFor(t, `document.getElementById('reset-done').textContent.includes('on its way')`)
		if got := <-posts; got != (post{Email: "ann@example.com"}) {
			t.Errorf("the page posted %+v", got)
		}
		b.Shoot(t, "setup-renew")
	})
}
