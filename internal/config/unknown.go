package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
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
		if near := nearest(upper, known); near != "" {
			hint = "is " + near + " meant?"
		}
		list = append(list, fmt.Sprintf("%s is set, but there is no such setting: %s", name, hint))
	}
	slices.Sort(list)
	return list
}

// nearest is the setting that a name differs from by the fewest letters; none where that is more than
// one in three.
func nearest(name string, known []string) (near string) {
	name = strings.TrimPrefix(name, prefix)
	least := len(name)/3 + 1
	for _, k := range known {
		if d := distance(name, strings.TrimPrefix(k, prefix)); d < least {
			near, least = k, d
		}
	}
	return near
}

// distance counts the letters that have to be put in, taken out or changed to get from one word to
// another (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1) // from what of a is done to each beginning of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, before+1, row[j]+1)
		}
	}
	return row[len(b)]
}
