package config

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// composed reads the settings of compose.yaml, as they are in the environment given.
func composed(t *testing.T, given environment) environment {
	t.Helper()
	e := environment{}
	for _, m := range regexp.MustCompile(`(?m)^    ([A-Z_]+): (.*)$`).FindAllStringSubmatch(repositoryFile(t, "compose.yaml"), -1) {
		e[m[1]] = expand(t, m[1], m[2], given)
	}
	return e
}

var passed = regexp.MustCompile(`^\$\{(\w+):([-?+])([^}]*)\}$`)

// expand reads a value as Compose does; it must be what the variable of the same name is set to, or
// be derived from that.
func expand(t *testing.T, name, value string, given environment) string {
	t.Helper()
	m := passed.FindStringSubmatch(value)
	if m == nil || m[1] != name {
		t.Errorf("%s: %s does not pass it", name, value)
		return ""
	}
	set := given[name]
	switch {
	case m[2] == "+" && set != "":
		return m[3]
	case m[2] == "-" && set == "":
		return m[3]
	case m[2] == "?" && set == "":
		t.Errorf("%s must be set: %s", name, m[3])
	}
	return set
}

func repositoryFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestComposePassesEverySetting: what is set outside holds inside.
func TestComposePassesEverySetting(t *testing.T) {
	given := environment{}
	for _, v := range Variables() {
		given[v.Name] = "value of " + v.Name
	}
	got := composed(t, given)
	if want := slices.Sorted(maps.Keys(given)); !slices.Equal(slices.Sorted(maps.Keys(got)), want) {
		t.Errorf("compose.yaml has %v, the settings are %v", slices.Sorted(maps.Keys(got)), want)
	}
	const roots = "/etc/canopy/webhook-ca.pem" // the file that was named is mounted there
	if !strings.Contains(repositoryFile(t, "compose.yaml"), "- ${CANOPY_WEBHOOK_CA:-/dev/null}:"+roots+":ro\n") {
		t.Errorf("nothing is at %s", roots)
	}
	given["CANOPY_WEBHOOK_CA"] = roots
	if !maps.Equal(got, given) {
		t.Errorf("inside is %v", got)
	}
}

// TestComposeStarts: with nothing but the key set, serve and worker start, and both keep documents on
// one volume, whose folder the image has made for its own user.
func TestComposeStarts(t *testing.T) {
	compose, image := repositoryFile(t, "compose.yaml"), repositoryFile(t, "Dockerfile")
	for _, mode := range []Mode{Server, Worker} {
		c := load(t, mode, composed(t, environment{"CANOPY_SECRET_KEY": testKey}))
		folder, found := strings.CutPrefix(c.BlobURL, "file://")
		if !found || !strings.Contains(compose, "- blobs:"+folder+" ") || !strings.Contains(image, "--chown=nonroot:nonroot /blobs "+folder) {
			t.Errorf("documents are kept in %s", folder)
		}
		if c.Listen != ":8080" || !strings.Contains(compose, `ports: ["8080:8080"]`) {
			t.Errorf("it listens on %s", c.Listen)
		}
	}
}
