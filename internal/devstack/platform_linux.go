package devstack

import (
	"os"
	"strconv"
	"syscall"
)

func childAttributes(a *account, death syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: death, Credential: a.credential()}
}

// worksIn tells whether a process has dir as its working folder, as a postmaster has its data.
func worksIn(pid int, dir string) bool {
	cwd, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/cwd")
	if err != nil {
		return false
	}
	data, err := os.Stat(dir)
	return err == nil && os.SameFile(cwd, data)
}
