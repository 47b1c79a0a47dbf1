package platform

import (
	"net/http"
	"regexp"
	"slices"
	"sync"
	"testing"

	"canopy/internal/devstack/openapitest"
	"canopy/resolvers"
	"canopy/rest"
)

// Documented is the OpenAPI document of what the tests ask.
var Documented = sync.OnceValues(func() (*openapitest.Document, error) {
	_, registry := rest.New(&resolvers.Resolver{}, rest.Options{})
	document, err := registry.OpenAPI().MarshalJSON()
	if err != nil {
		return nil, err
	}
	return openapitest.Load(document)
})

// shownOnce is what is shown once: an API key's secret, a signing secret, a token, a TOTP secret. Each begins with a text
// of its own, which a long answer is looked through for quickly: all of them in one expression take fifty times as long.
var shownOnce = []*regexp.Regexp{
	regexp.MustCompile(`cnpy_\w{40}`), regexp.MustCompile(`whsec_\S{20}`), regexp.MustCompile(`"access_token":\s*"ey`), regexp.MustCompile(`"token":\s*"ey`),
	regexp.MustCompile(`otpauth://`),
}

// Judge holds every answer against what holds for all of them: it is as the OpenAPI document says, and
// where it shows a secret, nobody may keep it.
func (a Answer) Judge(t testing.TB, request *http.Request) {
	t.Helper()
	doc, err := Documented()
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Check(request, a.Status, a.Header, a.Body); err != nil {
		t.Errorf("%v: %.400s", err, a.Body)
	}
	shown := slices.ContainsFunc(shownOnce, func(secret *regexp.Regexp) bool { return secret.Match(a.Body) })
	if shown && a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s %s shows a secret that a cache may keep: %v", request.Method, request.URL.Path, a.Header)
	}
}
