//go:build unix && !linux

package devstack

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// childAttributes leaves death aside: these systems have no such signal. A server that outlived us
// is ended by the next start.
func childAttributes(a *account, _ syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: a.credential()}
}

func memoryFolder() string { return "" }

// worksIn tells whether a process was started on dir, as a postmaster is on its data.
func worksIn(pid int, dir string) bool {
	line, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output() //nolint:gosec // a number
	return err == nil && strings.Contains(string(line), dir)
}
