//go:build !linux

package extract

// becomeChild has nothing to do here.
func becomeChild() {}
