package resolvers

import (
	"fmt"

	"canopy/internal/problem"
)

// unchanged refuses a change of what has another version than its caller has seen; nil is any. The row has to be held.
func unchanged(version int, seen *int) error {
	if seen == nil || *seen == version {
		return nil
	}
	return problem.Changed("ifVersion", fmt.Sprintf("is not the version any more, which is %d: it has been changed meanwhile", version))
}
