package config

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestComposeStarts: what compose.yaml sets are settings that serve and worker start on, and both keep
// documents on one volume, whose folder the image has made for its own user.
func TestComposeStarts(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	compose, image := read("compose.yaml"), read("Dockerfile")
	given := regexp.MustCompile(`\$\{\w+:([-?])([^}]*)\}`)
	e := environment{}
	for _, m := range regexp.MustCompile(`(?m)^    ([A-Z_]+): (.*)$`).FindAllStringSubmatch(compose, -1) {
		if !slices.ContainsFunc(Variables(), func(v Variable) bool { return v.Name == m[1] }) {
			t.Errorf("%s is no setting", m[1])
		}
		e[m[1]] = given.ReplaceAllStringFunc(m[2], func(s string) string {
			if g := given.FindStringSubmatch(s); g[1] == "-" {
				return g[2]
			}
			return testKey // the one that must be set
		})
	}
	for _, mode := range []Mode{Server, Worker} {
		folder, found := strings.CutPrefix(load(t, mode, e).BlobURL, "file://")
		if !found || !strings.Contains(compose, `volumes: ["blobs:`+folder+`"]`) || !strings.Contains(image, "--chown=nonroot:nonroot /blobs "+folder) {
			t.Errorf("documents are kept in %s", folder)
		}
	}
}
