package devstack

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// process is a server that lives no longer than this program.
type process struct {
	cmd    *exec.Cmd
	output *tail
	done   chan struct{}
	err    error
}

// startProcess starts a server in a process group of its own, so that a Ctrl-C in the terminal
// reaches this program first. The kernel ends it when the thread that started it does, so that
// thread does nothing else.
func startProcess(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, output: &tail{}, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.output, p.output
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	dieWithParent(cmd.SysProcAttr)
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	return p, <-started
}

// until waits for a server to answer.
func (p *process) until(ctx context.Context, name string, answers func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		err := answers(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s did not start: %w: %s", name, p.err, lastLines(p.output.bytes()))
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s does not answer: %w", name, err), p.stop(context.Background(), syscall.SIGKILL))
		case <-time.After(pause):
		}
	}
}

// stop asks the server to end, and makes it end when ctx is over first.
func (p *process) stop(ctx context.Context, sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		_ = p.cmd.Process.Kill() // it may have ended by now
		<-p.done
	}
	return nil
}

// tail keeps the last of what a server says.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - 4096; over > 0 {
		t.buf = t.buf[over:]
	}
	return len(b), nil
}

func (t *tail) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.buf)
}

func randomWord() string { return rand.Text() }
