package intake

import (
	"iter"
	"strings"
)

// Miscased says what is wrong with a member that LikeName finds, given the known name.
const Miscased = "differs only in letter case from %q"

// LikeName gives the known name that another differs from in letter case only; empty where there is none.
// Whoever sent such a name meant the known one: it must not count as unknown, and so as left out.
func LikeName(name string, known iter.Seq[string]) string {
	for k := range known {
		if k != name && strings.EqualFold(k, name) {
			return k
		}
	}
	return ""
}
