//go:build !linux

package app

// unmapProgram is for Linux alone.
func unmapProgram() {}
