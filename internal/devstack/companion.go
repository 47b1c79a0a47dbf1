package devstack

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
)

// Companion is a process that runs beside the private servers. It ends with this one (where the system can tell: on Linux).
type Companion struct {
	Path string
	Args []string
	// Env is its whole environment.
	Env []string
	// Log is the file that its output is added to.
	Log string

	mu   sync.Mutex
	proc *process
}

// Start starts it, unless it runs.
func (p *Companion) Start(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.proc != nil && p.proc.running() {
		return nil
	}
	out, err := openLog(p.Log)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }() // it has its own handle by then
	cmd := exec.Command(p.Path, p.Args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = p.Env, out, out
	if p.proc, err = startProcess(cmd, nil, syscall.SIGTERM); err != nil {
		return fmt.Errorf("start %s: %w", filepath.Base(p.Path), err)
	}
	return nil
}

// Become has it be another program from its next start on.
func (p *Companion) Become(path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Path = path
}

// Running tells whether it runs.
func (p *Companion) Running() bool {
	proc := p.process()
	return proc != nil && proc.running()
}

// PID is the number of the process; 0 before it was started.
func (p *Companion) PID() int { return p.process().pid() }

// Stop ends it by SIGTERM; when ctx ends first, at once.
func (p *Companion) Stop(ctx context.Context) {
	if proc := p.process(); proc != nil {
		proc.stop(ctx, syscall.SIGTERM, syscall.SIGKILL)
	}
}

func (p *Companion) process() *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.proc
}

// Run runs a program to its end, and gives what it wrote to its standard output.
func (p *Companion) Run(ctx context.Context) (string, error) {
	log, err := openLog(p.Log)
	if err != nil {
		return "", err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.CommandContext(ctx, p.Path, p.Args...)
	cmd.Env, cmd.Stderr = p.Env, log
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %v: %w: %s", filepath.Base(p.Path), p.Args, err, tail(p.Log))
	}
	return string(out), nil
}
