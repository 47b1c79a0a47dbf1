// Package browsertest drives a real browser in tests of pages.
package browsertest

import (
	"context"
	"io/fs"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Browser is one tab of a headless Chromium, and what it asked for and complained of.
type Browser struct {
	context.Context

	mu         sync.Mutex
	requests   []string
	complaints []string
}

// Open starts a browser with an empty profile; the test is skipped where there is none.
func Open(t *testing.T) *Browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		t.Skip("neither chromium nor google-chrome is installed")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.WindowSize(1280, 860))
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 60*time.Second)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	b := new(Browser)
	b.Context, cancel = chromedp.NewContext(ctx, chromedp.WithListener(b.note))
	t.Cleanup(cancel)
	return b
}

// Tab opens another tab of the same browser, which must have opened a page: they share what the browser keeps, cookies included.
func (b *Browser) Tab(t *testing.T) *Browser {
	t.Helper()
	tab := new(Browser)
	var cancel context.CancelFunc
	tab.Context, cancel = chromedp.NewContext(b, chromedp.WithListener(tab.note))
	t.Cleanup(cancel)
	return tab
}

// Serve serves pages at an origin of their own, http://localhost:PORT, and gives that; replace is as in strings.NewReplacer, for
// what stands in the text of the files.
func Serve(t *testing.T, files fs.FS, replace ...string) (origin string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		if name == "" {
			name = "index.html"
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
		_, _ = strings.NewReplacer(replace...).WriteString(w, string(text))
	}))
	t.Cleanup(server.Close)
	return Localhost(server.URL)
}

// Localhost names the address of a server of this machine as pages do. Those of one name are of the same site, whatever their ports.
func Localhost(url string) string { return strings.Replace(url, "127.0.0.1", "localhost", 1) }

func (b *Browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, (&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			b.complaints = append(b.complaints, e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

// Run has the browser act; the test ends where it can't.
func (b *Browser) Run(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	Get(t, b, chromedp.Steps(actions...))
}

// Get has the browser tell something; the test ends where it can't.
func Get[T any](t *testing.T, b *Browser, action chromedp.Action[T]) T {
	t.Helper()
	value, err := chromedp.Run(b, action)
	if err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		t.Fatalf("%v; the browser complained of %q", err, b.complaints)
	}
	return value
}

// Text waits for an element to be seen, and gives its text.
func (b *Browser) Text(t *testing.T, selector chromedp.CSS) string {
	t.Helper()
	b.Run(t, chromedp.WaitVisible(selector))
	return Get(t, b, chromedp.Text(selector))
}

// WaitFor waits until an expression is true in the page.
func (b *Browser) WaitFor(t *testing.T, expression string) {
	t.Helper()
	b.Run(t, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(15*time.Second)))
}

// Clean fails the test where the page asked another origin for anything, or had an error: a
// violation of the content security policy is one.
func (b *Browser) Clean(t *testing.T, origin string) {
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

// Shoot keeps a picture of the page, light and dark, where CANOPY_SCREENSHOTS names a folder.
func (b *Browser) Shoot(t *testing.T, name string) {
	t.Helper()
	folder := os.Getenv("CANOPY_SCREENSHOTS")
	if folder == "" {
		return
	}
	for _, scheme := range []string{"light", "dark"} {
		b.Run(t, media(&emulation.MediaFeature{Name: "prefers-color-scheme", Value: scheme}))
		picture := Get(t, b, chromedp.CaptureScreenshot())
		if err := os.WriteFile(filepath.Join(folder, name+"-"+scheme+".png"), picture, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.Run(t, media())
}

// media has the page shown as if the reader had chosen features; without any, as they are.
func media(features ...*emulation.MediaFeature) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		return err
	})
}
