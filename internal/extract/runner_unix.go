//go:build unix

package extract

import (
	"os"
	"syscall"
)

// killedFromOutside tells a process that a person, a supervisor or the kernel's memory killer ended
// from one that ended itself by an exit or a crash.
func killedFromOutside(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return false
	}
	switch status.Signal() {
	case syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP:
		return true
	}
	return false
}
