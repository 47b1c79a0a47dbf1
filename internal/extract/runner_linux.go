package extract

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// memoryPoll is how often a child's resident memory is looked at. The pages that a process can
// touch in that time bound how far it gets past its limit.
const memoryPoll = 10 * time.Millisecond

// ownBinary is the file that this process runs, also after it was replaced by an upgrade.
func ownBinary() string { return "/proc/self/exe" }

// setChildAttrs keeps the terminal's Ctrl-C from the child, and has the kernel end it with us.
func setChildAttrs(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// watchMemory calls over, once, when the process has more than limit bytes resident. The address
// space can't be limited instead: the runtime and the sandbox reserve far more than they use. The
// caller stops the watch before it waits for the process, so the number is never another's.
func watchMemory(pid int, limit int64, over func()) (stop func()) {
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(memoryPoll)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if resident(pid) > limit {
					over()
					return
				}
			}
		}
	})
	return func() {
		close(done)
		watching.Wait()
	}
}

// resident is the resident memory of a process in bytes (proc(5), statm), or 0 where it is gone.
func resident(pid int) int64 {
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(statm)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
