package pages_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"canopy/internal/pages"
)

func handler(o pages.Options) http.Handler {
	mux := http.NewServeMux()
	pages.Register(mux, o)
	return mux
}

func get(h http.Handler, path string, headers ...string) *http.Response {
	return ask(h, http.MethodGet, path, headers...)
}

func ask(h http.Handler, method, path string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, res *http.Response) string {
	t.Helper()
	content, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

var (
	assetLink  = regexp.MustCompile(`(?:src|href)="(assets/[^"]+)"`)
	anyAddress = regexp.MustCompile(`(?:src|href|action)="([^"]*)"`)
	idOf       = regexp.MustCompile(` id="([^"]+)"`)
	labelFor   = regexp.MustCompile(` for="([^"]+)"`)
	inputID    = regexp.MustCompile(`<(?:input|select)[^>]* id="([^"]+)"`)
)

func TestPages(t *testing.T) {
	h := handler(pages.Options{Version: "1.2.3", Monitoring: true})
	for path, want := range map[string]string{
		"/": "Version 1.2.3", "/setup": "address-form", "/graphiql": "graphiql-bundle", "/docs": "swagger-ui",
	} {
		t.Run(path, func(t *testing.T) {
			res := get(h, path)
			html := body(t, res)
			if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/html; charset=utf-8" {
				t.Fatalf("the answer is %d %v", res.StatusCode, res.Header)
			}
			if !strings.Contains(html, want) {
				t.Errorf("%q is not in the page", want)
			}
			checkPageHeaders(t, res.Header)
			checkMarkup(t, html)
			checkAssets(t, h, html)
		})
	}
}

func checkPageHeaders(t *testing.T, h http.Header) {
	t.Helper()
	policy := h.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "script-src 'self';", "connect-src 'self'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy lacks %s: %s", part, policy)
		}
	}
	if strings.Contains(policy, "unsafe-eval") || h.Get("Referrer-Policy") != "no-referrer" || h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("the headers are %v", h)
	}
	if h.Get("Cache-Control") != "no-cache" || h.Get("ETag") == "" || h.Get("Vary") != "Accept-Encoding" {
		t.Errorf("the headers for caches are %v", h)
	}
}

// checkMarkup looks for what a policy without inline scripts, and a reader with a keyboard or a
// screen reader, need.
func checkMarkup(t *testing.T, html string) {
	t.Helper()
	for _, part := range []string{"<!doctype html>", `<html lang="en">`, "<title>", `name="viewport"`, "<main"} {
		if !strings.Contains(html, part) {
			t.Errorf("%s is missing", part)
		}
	}
	if found := regexp.MustCompile(`(?i)\son[a-z]+=|javascript:|\sstyle=|<script>|<style`).FindString(html); found != "" {
		t.Errorf("the page has %q inline", found)
	}
	for _, m := range anyAddress.FindAllStringSubmatch(html, -1) {
		if strings.Contains(m[1], ":") || strings.HasPrefix(m[1], "/") {
			t.Errorf("the address %q is not relative", m[1])
		}
	}
	labelled, seen := map[string]bool{}, map[string]bool{}
	for _, m := range labelFor.FindAllStringSubmatch(html, -1) {
		labelled[m[1]] = true
	}
	for _, m := range idOf.FindAllStringSubmatch(html, -1) {
		if seen[m[1]] {
			t.Errorf("two elements have the id %s", m[1])
		}
		seen[m[1]] = true
	}
	for _, m := range inputID.FindAllStringSubmatch(html, -1) {
		if wrapped := strings.Contains(html, `<label class="check"><input type="checkbox" id="`+m[1]); !labelled[m[1]] && !wrapped {
			t.Errorf("the field %s has no label", m[1])
		}
	}
}

func checkAssets(t *testing.T, h http.Handler, html string) {
	t.Helper()
	links := assetLink.FindAllStringSubmatch(html, -1)
	if len(links) < 3 {
		t.Errorf("the page has %d assets only", len(links))
	}
	for _, link := range links {
		plain, zipped := get(h, "/"+link[1]), get(h, "/"+link[1], "Accept-Encoding", "br, gzip")
		if plain.StatusCode != http.StatusOK || plain.Header.Get("Content-Type") == "" {
			t.Errorf("%s: %d %v", link[1], plain.StatusCode, plain.Header)
		}
		if got := plain.Header.Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
			t.Errorf("%s: Cache-Control is %q", link[1], got)
		}
		if zipped.Header.Get("Content-Encoding") != "gzip" || zipped.Header.Get("ETag") == plain.Header.Get("ETag") {
			t.Errorf("%s: the headers are %v", link[1], zipped.Header)
		}
		z, err := gzip.NewReader(zipped.Body)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(z)
		if err != nil || !bytes.Equal(content, []byte(body(t, plain))) {
			t.Errorf("%s: the compressed form is another file (%v)", link[1], err)
		}
		if plain.ContentLength != int64(len(content)) {
			t.Errorf("%s: the length is %d, want %d", link[1], plain.ContentLength, len(content))
		}
	}
}

func TestOptions(t *testing.T) {
	shown := body(t, get(handler(pages.Options{Monitoring: true}), "/"))
	hidden := body(t, get(handler(pages.Options{Version: `<b>"`}), "/"))
	if !strings.Contains(shown, `href="monitoring/"`) || strings.Contains(hidden, "monitoring/") {
		t.Error("the link to the monitor does not follow the option")
	}
	if !strings.Contains(hidden, "&lt;b&gt;") {
		t.Error("the version is not escaped")
	}
}

func TestConditionalRequests(t *testing.T) {
	h := handler(pages.Options{})
	plain := get(h, "/setup").Header.Get("ETag")
	zipped := get(h, "/setup", "Accept-Encoding", "gzip").Header.Get("ETag")
	for name, c := range map[string]struct {
		encoding, match string
		want            int
	}{
		"the same":              {"", plain, 304},
		"one of several":        {"", `"x", ` + plain, 304},
		"weak":                  {"", "W/" + plain, 304},
		"any":                   {"", "*", 304},
		"another":               {"", `"x"`, 200},
		"compressed":            {"gzip", zipped, 304},
		"of the other encoding": {"gzip", plain, 200},
	} {
		t.Run(name, func(t *testing.T) {
			res := get(h, "/setup", "Accept-Encoding", c.encoding, "If-None-Match", c.match)
			if res.StatusCode != c.want {
				t.Errorf("the status is %d, want %d", res.StatusCode, c.want)
			}
			if length := len(body(t, res)); (length == 0) != (c.want == 304) {
				t.Errorf("the body has %d bytes", length)
			}
		})
	}
}

func TestAcceptEncoding(t *testing.T) {
	h := handler(pages.Options{})
	for header, want := range map[string]bool{
		"": false, "gzip": true, "GZIP;q=0.5": true, "br, gzip ; q=1": true, "*": true, "br": false, "gzip;q=0": false, "gzip;q=0.000": false,
		"identity, x-gzipped": false, "gzip;q=x": false,
	} {
		if got := get(h, "/", "Accept-Encoding", header).Header.Get("Content-Encoding") == "gzip"; got != want {
			t.Errorf("%q: compressed is %v", header, got)
		}
	}
}

func TestOtherRequests(t *testing.T) {
	h := handler(pages.Options{})
	for name, c := range map[string]struct {
		method, path string
		want         int
	}{
		"the favicon":               {"GET", "/favicon.ico", 200},
		"headers only":              {"HEAD", "/setup", 200},
		"an unknown asset":          {"GET", "/assets/base.css", 404},
		"an asset of an older hash": {"GET", "/assets/base.0123456789abcdef.css", 404},
		"a template":                {"GET", "/assets/layout.html", 404},
		"a write":                   {"POST", "/setup", 405},
		"below a page":              {"GET", "/setup/x", 404},
	} {
		t.Run(name, func(t *testing.T) {
			res := ask(h, c.method, c.path)
			if res.StatusCode != c.want {
				t.Errorf("the status is %d, want %d", res.StatusCode, c.want)
			}
			if c.method == "HEAD" && (body(t, res) != "" || res.ContentLength <= 0) {
				t.Errorf("HEAD is answered with a body, or without its length")
			}
		})
	}
	if got := get(h, "/favicon.ico").Header.Get("Content-Type"); got != "image/svg+xml" {
		t.Errorf("the favicon is %q", got)
	}
}
