package devstack

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// hardStop is how long a server may take after the signal that leaves it no choice.
const hardStop = 5 * time.Second

// process is a server that this process started.
type process struct {
	cmd      *exec.Cmd
	done     chan struct{} // closed once the server has ended
	expected atomic.Bool   // set before the server is told to end
}

// startProcess starts cmd in a process group of its own, so that Ctrl-C in a terminal reaches only
// us. The kernel sends it death when we die, where it knows how to.
func startProcess(cmd *exec.Cmd, a *account, death syscall.Signal) (*process, error) {
	cmd.SysProcAttr = childAttributes(a, death)
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The death signal is tied to the thread that forked, not to the process: without the lock
		// the runtime could end the thread, and the server with it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in cmd.ProcessState
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// stop sends gentle and waits; when ctx ends it sends hard, and kills what is left after that. It
// tells whether gentle was enough.
func (p *process) stop(ctx context.Context, gentle, hard syscall.Signal) bool {
	p.expected.Store(true)
	p.signal(gentle)
	select {
	case <-p.done:
		return true
	case <-ctx.Done():
	}
	p.signal(hard)
	select {
	case <-p.done:
	case <-time.After(hardStop):
		p.signal(syscall.SIGKILL)
		<-p.done
	}
	return false
}

func (p *process) signal(s syscall.Signal) {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		_ = p.cmd.Process.Kill() // a system that knows no such signal
	}
}

func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// serverEnv is a server's whole environment: nothing of ours changes how it behaves.
func serverEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
}
