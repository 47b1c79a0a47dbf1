package pages_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"canopy/internal/pages"
)

// browser is one tab of a headless Chromium, and what it asked for and complained of.
type browser struct {
	context.Context

	mu         sync.Mutex
	requests   []string
	complaints []string
}

// openBrowser starts a browser with an empty profile; the test is skipped where there is none.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("neither chromium nor google-chrome is installed")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(1280, 860))
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 60*time.Second)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{Context: ctx}
	chromedp.ListenTarget(ctx, b.note)
	b.run(t, network.Enable(), log.Enable(), runtime.Enable())
	return b
}

func (b *browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Error())
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError {
			b.complaints = append(b.complaints, e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

func (b *browser) run(t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(b, actions...); err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		t.Fatalf("%v; the browser complained of %q", err, b.complaints)
	}
}

// text waits for an element to be seen, and gives its text.
func (b *browser) text(t *testing.T, selector string) string {
	t.Helper()
	var text string
	b.run(t, chromedp.WaitVisible(selector, chromedp.ByQuery), chromedp.Text(selector, &text, chromedp.ByQuery))
	return text
}

// waitFor waits until an expression is true in the page.
func (b *browser) waitFor(t *testing.T, expression string) {
	t.Helper()
	b.run(t, chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(15*time.Second)))
}

// clean fails the test where the page asked another origin for anything, or had an error: a
// violation of the content security policy is one.
func (b *browser) clean(t *testing.T, origin string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, url := range b.requests {
		if !strings.HasPrefix(url, origin+"/") && !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "blob:") {
			t.Errorf("a request left the origin: %.120s", url)
		}
	}
	for _, complaint := range b.complaints {
		t.Errorf("the page had an error: %s", complaint)
	}
}

// shoot keeps a picture of the page, light and dark, where CANOPY_SCREENSHOTS names a folder.
func (b *browser) shoot(t *testing.T, name string) {
	t.Helper()
	folder := os.Getenv("CANOPY_SCREENSHOTS")
	if folder == "" {
		return
	}
	for _, scheme := range []string{"light", "dark"} {
		var picture []byte
		b.run(t,
			emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
			chromedp.CaptureScreenshot(&picture))
		if err := os.WriteFile(filepath.Join(folder, name+"-"+scheme+".png"), picture, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.run(t, emulation.SetEmulatedMedia())
}

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
	b := openBrowser(t)
	b.run(t, chromedp.Navigate(origin+"/"))
	b.waitFor(t, `document.getElementById('status').textContent === 'Ready · Version 1.2.3'`)
	b.shoot(t, "landing")
	b.clean(t, origin)
}

func TestSetupInBrowser(t *testing.T) {
	type post struct{ Token, Password, Email string }
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
	fill := func(password, again string) chromedp.Tasks {
		return chromedp.Tasks{
			chromedp.WaitVisible("#password"),
			chromedp.Evaluate(`document.getElementById('setup-form').reset()`, nil),
			chromedp.SendKeys("#password", password), chromedp.SendKeys("#again", again),
			chromedp.Click("#setup-form button"),
		}
	}

	for name, address := range map[string]string{"fragment": "/setup#token=t%2B1", "query": "/setup?token=t%2B1"} {
		t.Run("a token in the "+name, func(t *testing.T) {
			b := openBrowser(t)
			b.run(t, chromedp.Navigate(origin+address), fill(good, good))
			if got := b.text(t, "#done-title"); got != "Your password is set" {
				t.Errorf("the page says %q", got)
			}
			if got := <-posts; got != (post{Token: "t+1", Password: good}) {
				t.Errorf("the page posted %+v", got)
			}
			var shown string
			b.run(t, chromedp.Location(&shown))
			if shown != origin+"/setup" {
				t.Errorf("the address is still %s", shown)
			}
			b.shoot(t, "setup-done")
			b.clean(t, origin)
		})
	}

	t.Run("faults are told before anything is sent", func(t *testing.T) {
		b := openBrowser(t)
		b.run(t, chromedp.Navigate(origin+"/setup#token=t"))
		b.shoot(t, "setup")
		for _, c := range []struct{ password, again, want, focus string }{
			{"short", "short", "The password needs at least 10 characters.", "password"},
			{"😀😀😀😀😀", "😀😀😀😀😀", "The password needs at least 10 characters.", "password"},
			{good, good + "!", "The two passwords are not the same.", "again"},
		} {
			b.run(t, fill(c.password, c.again))
			if got := b.text(t, "#setup-error"); got != c.want {
				t.Errorf("%s: the page says %q", c.password, got)
			}
			b.waitFor(t, `document.activeElement.id === '`+c.focus+`' && document.activeElement.getAttribute('aria-invalid') === 'true'`)
		}
		b.shoot(t, "setup-fault")
		b.run(t, chromedp.Click("#show"))
		b.waitFor(t, `document.getElementById('password').type === 'text' && document.getElementById('again').type === 'text'`)
		if len(posts) != 0 {
			t.Errorf("the page posted %+v", <-posts)
		}
		b.clean(t, origin)
	})

	t.Run("a link that is used up leads to a new one", func(t *testing.T) {
		b := openBrowser(t)
		b.run(t, chromedp.Navigate(origin+"/setup#token=used"), fill(good, good))
		const want = "This link is not known, was used already, or has expired. Get a new one below."
		if got := b.text(t, "#setup-error"); got != want {
			t.Errorf("the page says %q", got)
		}
		<-posts
		b.run(t, chromedp.WaitVisible("#email"), chromedp.SendKeys("#email", "ann@example.com"), chromedp.Click("#reset-form button"))
		b.waitFor(t, `document.getElementById('reset-done').textContent.includes('on its way')`)
		if got := <-posts; got != (post{Email: "ann@example.com"}) {
			t.Errorf("the page posted %+v", got)
		}
		b.shoot(t, "setup-renew")
	})
}
