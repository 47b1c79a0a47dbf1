package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"canopy/internal/spelling"
)

const prefix = "CANOPY_"

// elsewhere are variables that others read: `canopy context import` and the examples, and, by their
// prefix, the tests.
var elsewhere = []string{"CANOPY_CLIENT_ID", "CANOPY_CLIENT_SECRET", "CANOPY_URL", "CANOPY_CLIENTS", "CANOPY_SCREENSHOTS"}

const testPrefix = prefix + "TEST_"

// serviceLink is what Kubernetes sets in every container for a service that is named after the platform.
var serviceLink = regexp.MustCompile(`^\w+_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_\w+)=|^\w+_PORT=\w+://`)

// Unknown tells of each variable that is set, is named like a setting, and is none: one sentence each,
// with the setting that may be meant. environ is os.Environ(), or stands for it.
func Unknown(environ []string) []string {
	var known []string
	for _, v := range Variables() {
		known = append(known, v.Name)
	}
	var list []string
	for _, set := range environ {
		name, value, _ := strings.Cut(set, "=")
		upper := strings.ToUpper(name)
		if value == "" || !strings.HasPrefix(upper, prefix) || strings.HasPrefix(name, testPrefix) ||
			slices.Contains(known, name) || slices.Contains(elsewhere, name) || serviceLink.MatchString(set) {
			continue
		}
		hint := "canopy serve --help lists the settings"
		if near := spelling.Nearest(upper, known, bare); near != "" {
			hint = "is " + near + " meant?"
		}
		list = append(list, fmt.Sprintf("%s is set, but there is no such setting: %s", name, hint))
	}
	slices.Sort(list)
	return list
}

// bare is the name of a setting without what all of them begin with.
func bare(name string) string { return strings.TrimPrefix(name, prefix) }
