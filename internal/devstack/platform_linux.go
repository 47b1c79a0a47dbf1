package devstack

import (
	"os"
	"strconv"
	"syscall"
)

func childAttributes(a *account, death syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: death, Credential: a.credential()}
}

// memoryFolder is a folder in memory with room for a test run's data, "" where there is none. In
// containers it is often small.
func memoryFolder() string {
	const dir = "/dev/shm"
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil || int64(s.Bavail)*s.Bsize < roomInMemory {
		return ""
	}
	return dir
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
