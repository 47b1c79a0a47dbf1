package console_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"canopy/console"
	"canopy/internal/webhook"
)

func ask(t *testing.T, o console.Options, method, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	mux := http.NewServeMux()
	console.Register(mux, o)
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w
}

func get(t *testing.T, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	return ask(t, console.Options{}, "GET", path, headers...)
}

var (
	anyAddress = regexp.MustCompile(`(?:src|href)="([^"]*)"`)
	nonceOf    = regexp.MustCompile(` nonce="([^"]+)"`)
)

// TestPage: the page is at every path that the console may have, under a policy that lets in its own files and its own styles.
func TestPage(t *testing.T) {
	seen := map[string]bool{}
	for _, path := range []string{"/console/", "/console/sign-in", "/console/companies/7/new", "/console/no/such.page"} {
		w := get(t, path)
		html, h := w.Body.String(), w.Header()
		if w.Code != http.StatusOK || h.Get("Content-Type") != "text/html; charset=utf-8" || h.Get("Cache-Control") != "no-cache" {
			t.Fatalf("%s: %d %v", path, w.Code, h)
		}
		nonce := nonceOf.FindStringSubmatch(html)
		if nonce == nil || seen[nonce[1]] {
			t.Fatalf("%s: the nonce is %q", path, nonce)
		}
		seen[nonce[1]] = true
		policy := h.Get("Content-Security-Policy")
		for _, part := range []string{
			"default-src 'none'", "frame-ancestors 'none'", "script-src 'self';", "connect-src 'self';", "img-src 'self'", "frame-src blob:", "style-src 'self' 'nonce-" + nonce[1] + "'",
		} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: the policy lacks %s: %s", path, part, policy)
			}
		}
		if strings.Contains(policy, "unsafe") || h.Get("Referrer-Policy") != "no-referrer" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s: the headers are %v", path, h)
		}
		if found := regexp.MustCompile(`(?i)\son[a-z]+=|javascript:|\sstyle=|<script>|<style`).FindString(html); found != "" {
			t.Errorf("%s: %q is inline", path, found)
		}
	}
}

// TestPortalFrames: the pages that are named, and no others, may show the portal inside them, and nothing else of the console.
func TestPortalFrames(t *testing.T) {
	framed := console.Options{PortalOrigins: []string{"https://app.example.com", "http://localhost:3000"}}
	for _, c := range []struct {
		o         console.Options
		path      string
		ancestors string
	}{
		{framed, "/console/portal", "https://app.example.com http://localhost:3000"},
		{framed, "/console/portal/deliveries/7", "https://app.example.com http://localhost:3000"},
		{framed, "/console/", "'none'"},
		{framed, "/console/portals", "'none'"},
		{framed, "/console/sign-in", "'none'"},
		{console.Options{}, "/console/portal", "'none'"},
	} {
		h := ask(t, c.o, "GET", c.path).Header()
		if policy := h.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors "+c.ancestors+";") {
			t.Errorf("%s: the policy is %s", c.path, policy)
		}
		if denied := h.Get("X-Frame-Options") == "DENY"; denied != (c.ancestors == "'none'") {
			t.Errorf("%s: X-Frame-Options is %q", c.path, h.Get("X-Frame-Options"))
		}
	}
}

// TestFiles: what the page names is there, compressed for those who take it, and kept for ever.
func TestFiles(t *testing.T) {
	links := anyAddress.FindAllStringSubmatch(get(t, "/console/").Body.String(), -1)
	if len(links) < 3 {
		t.Fatalf("the page has %d files only", len(links))
	}
	for _, link := range links {
		if link[1] == "/favicon.ico" {
			continue // one of the other pages
		}
		if !strings.HasPrefix(link[1], "/console/assets/") {
			t.Errorf("%s is elsewhere", link[1])
		}
		plain, zipped := get(t, link[1]), get(t, link[1], "Accept-Encoding", "gzip, br")
		if plain.Code != http.StatusOK || plain.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" || plain.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v", link[1], plain.Code, plain.Header())
		}
		if want := map[bool]string{true: "text/css; charset=utf-8", false: "text/javascript; charset=utf-8"}[strings.HasSuffix(link[1], ".css")]; plain.Header().Get("Content-Type") != want {
			t.Errorf("%s: Content-Type is %q", link[1], plain.Header().Get("Content-Type"))
		}
		if zipped.Header().Get("Content-Encoding") != "gzip" || zipped.Body.Len() >= plain.Body.Len() {
			t.Errorf("%s: %v, %d bytes of %d", link[1], zipped.Header(), zipped.Body.Len(), plain.Body.Len())
		}
	}
}

// TestOtherRequests: no page stands in for a file that is missing, and nothing can be written.
func TestOtherRequests(t *testing.T) {
	for _, c := range []struct {
		method, path string
		want         int
	}{
		{"GET", "/console/assets/index-00000000.js", 404},
		{"GET", "/console/assets/", 404},
		{"GET", "/console", 303},
		{"HEAD", "/console/", 200},
		{"HEAD", "/console/people", 200},
		{"GET", "/console/licenses.md", 200},
		{"POST", "/console/", 405},
	} {
		w := ask(t, console.Options{}, c.method, c.path)
		if w.Code != c.want {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, w.Code, c.want)
		}
		if c.method == "HEAD" && (w.Body.Len() > 0 || w.Header().Get("Content-Length") == "") {
			t.Errorf("HEAD %s: %d bytes, %v", c.path, w.Body.Len(), w.Header())
		}
	}
}

// TestGraphiQL: the page leads to GraphiQL where that is.
func TestGraphiQL(t *testing.T) {
	for _, there := range []bool{true, false} {
		html := ask(t, console.Options{GraphiQL: there}, "GET", "/console/").Body.String()
		if strings.Contains(html, "graphiql") != there {
			t.Errorf("GraphiQL %v: %s", there, html)
		}
	}
}

// TestMails: the page says where mails are, where they are kept in place of being sent.
func TestMails(t *testing.T) {
	for folder, says := range map[string]string{"": `name="mails" content=""`, `/home/"ada"/mail`: `name="mails" content="/home/&#34;ada&#34;/mail"`} {
		if html := ask(t, console.Options{Mails: folder}, "GET", "/console/").Body.String(); !strings.Contains(html, says) {
			t.Errorf("%q: %s", folder, html)
		}
	}
}

// TestNoSourceIsServed: what is committed is what was built, without maps of the sources.
func TestNoSourceIsServed(t *testing.T) {
	files, err := os.ReadDir("dist/assets")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := f.Name(); !strings.HasSuffix(name, ".js") && !strings.HasSuffix(name, ".css") {
			t.Errorf("%s is among the files", name)
		}
	}
}

// TestGerman: what the platform tells of its events in English, the console tells in German.
func TestGerman(t *testing.T) {
	words, err := os.ReadFile("src/text/de/events.ts")
	if err != nil {
		t.Fatal(err)
	}
	events := webhook.Extended()
	if len(events) < 100 {
		t.Fatalf("%d events", len(events))
	}
	said := map[string]bool{}
	for _, name := range regexp.MustCompile(`(?m)^  "?([\w.]+)"?: "`).FindAllStringSubmatch(string(words), -1) {
		said[name[1]] = true
	}
	for _, e := range events {
		name := strings.TrimPrefix(e.Type, "audit.")
		if !said[name] {
			t.Errorf("src/text/de/events.ts does not tell what %s means", name)
		}
		var schema struct{ Properties map[string]any }
		if err := json.Unmarshal(e.Schema, &schema); err != nil {
			t.Fatal(err)
		}
		for field := range schema.Properties {
			if !said[field] {
				t.Errorf("src/text/de/events.ts does not tell what the field %s of an event is", field)
			}
		}
	}
	for name := range said {
		if strings.Contains(name, ".") && !slices.ContainsFunc(events, func(e webhook.Entry) bool { return strings.TrimPrefix(e.Type, "audit.") == name }) {
			t.Errorf("src/text/de/events.ts tells of %s, which is no event", name)
		}
	}
}

// outside are reasons that nobody meets in the console: directories do, by SCIM.
var outside = []string{"mutability", "invalidSyntax", "invalidValue", "tooMany"}

// TestGermanReasons: each reason that the platform names for a refusal, the console tells in German.
func TestGermanReasons(t *testing.T) {
	said := read(t, "src/text/de/faults.ts") + read(t, "src/text/de/session.ts")
	named := regexp.MustCompile(`\.With\(("?\w+"?)\)|\bConflicting\(("?\w+"?)|\bReason = ("\w+")`)
	var sources strings.Builder
	for _, folder := range []string{"../resolvers", "../rest", "../internal/problem", "../internal/extract"} {
		files, err := filepath.Glob(folder + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				sources.WriteString(read(t, file))
			}
		}
	}
	found := map[string]bool{}
	for _, use := range named.FindAllStringSubmatch(sources.String(), -1) {
		reason := use[1] + use[2] + use[3]
		if !strings.HasPrefix(reason, `"`) {
			constant := regexp.MustCompile(`(?m)^(?:const)?\s*` + reason + `\s*= ("\w+")`).FindStringSubmatch(sources.String())
			if constant == nil {
				continue // a variable, which has one of those that are named elsewhere
			}
			reason = constant[1]
		}
		found[strings.Trim(reason, `"`)] = true
	}
	if len(found) < 50 {
		t.Errorf("%d reasons", len(found))
	}
	for reason := range found {
		if reason != "changed" && !slices.Contains(outside, reason) && !strings.Contains(said, "  "+reason+": ") {
			t.Errorf("src/text/de/faults.ts does not tell what %s means", reason)
		}
	}
}
