//go:build !linux

package extract

import (
	"os"
	"os/exec"
)

// ownBinary is the file that this process was started from.
func ownBinary() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// setChildAttrs has nothing to set that every system knows.
func setChildAttrs(*exec.Cmd) {}

// watchMemory watches nothing here: the child's own soft limit, its deadline and the limits on
// what is unpacked remain.
func watchMemory(int, int64, func()) (stop func()) { return func() {} }
