package resolvers

import "canopy/internal/problem"

// unchanged refuses a change of what has another version than its caller has seen; nil is any. The row has to be held.
func unchanged(version int, seen *int) error {
	if seen == nil || *seen == version {
		return nil
	}
	return problem.Changed("it has been changed meanwhile: its version is %d", version)
}
