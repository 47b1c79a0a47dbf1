package operations

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// TestUncleanPaths asks for everything that there is by a path with a slash too many, or with dots: it
// is not there, and no page says so.
func TestUncleanPaths(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	paths := []string{
		"/", "/setup", "/graphiql", "/docs", "/graphql", "/schema.graphql", "/openapi.json", "/openapi.yaml", "/openapi-3.0.json",
		"/healthz", "/readyz", "/metrics", "/monitoring", "/monitoring/", "/favicon.ico", "/assets/x.js", "/nowhere", "/console", "/console/",
	}
	parameter := regexp.MustCompile(`\{[^}]*\}`)
	for path := range s.Must(200, "GET", "/openapi.json", "", nil).JSON(t).(object)["paths"].(object) {
		paths = append(paths, parameter.ReplaceAllString(path, "1"))
	}
	token := s.Root()
	for _, path := range paths {
		below := strings.TrimSuffix(path, "/")
		for _, variant := range []string{"/" + path, below + "//", "/x/.." + path, "/." + path, below + "/.", below + "/%2E%2E/" + "x", below + "/"} {
			if variant == path || variant == "/monitoring/" || variant == "/console/" {
				continue
			}
			for _, method := range []string{"GET", "POST"} {
				a := s.Raw(t, method, variant, map[string]string{"Authorization": "Bearer " + token})
				if a.Status != http.StatusNotFound || a.Header.Get("Content-Type") != "application/problem+json" {
					t.Errorf("%s %s: %d %s %.100s", method, variant, a.Status, a.Header.Get("Content-Type"), a.Body)
				}
			}
		}
	}
}

// TestReadersTakeNoOtherMethod: what can only be read says so, and is not said to be missing.
func TestReadersTakeNoOtherMethod(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	for _, path := range []string{"/", "/setup", "/graphiql", "/docs", "/schema.graphql", "/healthz", "/readyz", "/metrics", "/openapi.json", "/.well-known/jwks.json", "/console/", "/console/people"} {
		for _, method := range []string{"POST", "PUT", "DELETE"} {
			if a := s.Do(method, path, "", nil); a.Status != 405 || !strings.Contains(a.Header.Get("Allow"), "GET") || a.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s %s: %d %v %.100s", method, path, a.Status, a.Header, a.Body)
			}
		}
	}
	s.Must(404, "POST", "/nowhere", "", nil)
}
