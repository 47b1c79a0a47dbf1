package extract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// defaultParallel is how many children of a Runner work at the same time.
	defaultParallel = 2
	// killDelay is how long a killed child's pipes may stay open.
	killDelay = 5 * time.Second
	// maxStderr is how much of a child's standard error is kept for the log, in bytes.
	maxStderr = 8 << 10
)

// Runner reads documents in child processes of the own binary, each under limits. It is safe for
// concurrent use. The binary must import package child, or call MainIfChild or ChildMain by itself.
type Runner struct {
	limits   Limits
	cacheDir string
	ocr      *OCR
	logger   *slog.Logger
	slots    chan struct{}
	// told is done once the log has it what the system does not let children do.
	told sync.Once
}

// RunnerOptions are the settings of a Runner. Every zero value stands for its default.
type RunnerOptions struct {
	Limits Limits
	// CacheDir keeps the compiled PDF engine, which takes seconds to compile and a tenth of one to
	// load. Code is run from it: nobody else may write there. By default it is a folder of this
	// user under the system's cache folder. Where it can't be written every PDF takes longer.
	CacheDir string
	// Parallel is how many children work at the same time; 2 by default. Each may take
	// Limits.Memory.
	Parallel int
	// OCR recognises what is on pages of PDFs that have no text; nil for not at all.
	OCR    *OCR
	Logger *slog.Logger
}

// NewRunner makes a Runner. It starts nothing.
func NewRunner(opts RunnerOptions) *Runner {
	if opts.Parallel <= 0 {
		opts.Parallel = defaultParallel
	}
	if opts.Logger == nil {
		opts.Logger = slog.Default()
	}
	if opts.CacheDir == "" {
		if dir, err := os.UserCacheDir(); err == nil {
			opts.CacheDir = filepath.Join(dir, "canopy", "pdf-engine")
		}
	}
	return &Runner{
		limits: opts.Limits.withDefaults(), cacheDir: opts.CacheDir, ocr: opts.OCR, logger: opts.Logger,
		slots: make(chan struct{}, opts.Parallel),
	}
}

// OCR is what recognises text in pictures; nil for nothing.
func (r *Runner) OCR() *OCR { return r.ocr }

// Warm fills the compilation cache, so that the first PDF does not wait for it. A worker calls it
// in the background when it starts.
func (r *Runner) Warm(ctx context.Context) error {
	d, err := r.read(ctx, job{Limits: r.limits, CacheDir: r.cacheDir}, nil)
	if err != nil {
		return err
	}
	return d.Close()
}

// Extract reads the document at path, which must not change meanwhile. It waits for a free slot. The
// caller closes what it gives. told hears, from 0 to 1, how far the recognition of pictures is, which takes seconds for each page.
//
// A *[Failure] says what is wrong with the document; ctx's error says that the work was called off;
// any other error is about the machine and worth another try.
func (r *Runner) Extract(ctx context.Context, path string, format Format, told func(done float64)) (*Document, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("extract: open the document: %w", err)
	}
	defer file.Close() //nolint:errcheck // opened for reading only
	scans := r.ocr != nil && format == PDF
	d, err := r.read(ctx, job{Format: format, Limits: r.limits, CacheDir: r.cacheDir, Blank: scans}, file)
	if err != nil || !scans {
		return d, err
	}
	whole, err := r.recognise(ctx, file, d, told)
	if err != nil {
		return nil, errors.Join(err, whole.Close())
	}
	return whole, nil
}

// read has a child read a document.
func (r *Runner) read(ctx context.Context, work job, in io.Reader) (d *Document, err error) {
	err = r.run(ctx, work, in, func(out io.Reader) (err error) {
		d, err = readAnswer(out, r.limits)
		return err
	})
	if err != nil && d != nil {
		_ = d.Close()
		d = nil
	}
	return d, err
}

// run has a child do a job when a slot is free. in is its standard input, or nil; take takes its answer.
func (r *Runner) run(ctx context.Context, work job, in io.Reader, take func(io.Reader) error) error {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	input, err := json.Marshal(work)
	if err != nil {
		return fmt.Errorf("extract: %w", err)
	}
	done := make(chan error, 1)
	go func() {
		// The kernel ends the child when the thread that started it ends (prctl(2),
		// PR_SET_PDEATHSIG), so this goroutine keeps its thread to itself until the child is gone.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		done <- r.supervise(ctx, work.Limits, string(input), in, take)
	}()
	return <-done
}

// supervise starts a child, watches over it and takes its answer.
func (r *Runner) supervise(ctx context.Context, limits Limits, input string, in io.Reader, take func(io.Reader) error) error {
	limited, cancel := context.WithTimeout(ctx, limits.Time)
	defer cancel()
	cmd := exec.CommandContext(limited, ownBinary(), ChildCommand, input)
	cmd.Env = childEnv()
	cmd.Stdin = in
	errs := &headBuffer{max: maxStderr}
	cmd.Stderr = errs
	cmd.WaitDelay = killDelay
	setChildAttrs(cmd)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("extract: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("extract: start the child: %w", err)
	}
	var overMemory atomic.Bool
	stopWatch := watchMemory(cmd.Process.Pid, limits.Memory, func() {
		overMemory.Store(true)
		cancel()
	})
	answerErr := take(stdout)
	// Nothing more is wanted: a child that goes on writing ends here.
	_ = stdout.Close()
	stopWatch()
	waitErr := cmd.Wait()
	r.tellUnconfined(ctx, errs)
	switch {
	case answerErr == nil && waitErr == nil:
		return nil
	case overMemory.Load():
		return failMemory
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return failTimeout
	case isFailure(answerErr):
		return answerErr
	}
	r.logger.ErrorContext(ctx, "an extractor child failed", "error", errors.Join(answerErr, waitErr), "stderr", errs.String())
	if answerErr != nil && !errors.Is(answerErr, errProtocol) {
		return answerErr
	}
	return deathError(waitErr)
}

// tellUnconfined logs, once, what a child said of a system that did not let it confine itself.
func (r *Runner) tellUnconfined(ctx context.Context, errs *headBuffer) {
	for line := range strings.Lines(errs.String()) {
		line = strings.TrimSpace(line)
		if why, said := strings.CutPrefix(line, unconfined); said {
			r.told.Do(func() {
				r.logger.WarnContext(ctx, "the processes that read documents are not kept from all that they don't need: this system can't", "reason", why)
			})
		}
		if why, said := strings.CutPrefix(line, confinedByHalf); said {
			r.told.Do(func() {
				r.logger.InfoContext(ctx, "the processes that read documents are kept from files and connections by one means of two", "reason", why)
			})
		}
	}
}

// deathError tells a child that died of its document from one that was killed from outside.
func deathError(waitErr error) error {
	var exit *exec.ExitError
	if errors.As(waitErr, &exit) && killedFromOutside(exit.ProcessState) {
		return fmt.Errorf("extract: the child was killed: %w", waitErr)
	}
	if waitErr == nil || exit != nil {
		return failCrash
	}
	return fmt.Errorf("extract: wait for the child: %w", waitErr)
}

// childEnv is all that the child sees of the environment: it needs none of the platform's secrets.
func childEnv() []string {
	env := []string{"GOTRACEBACK=single"}
	for _, name := range []string{"TMPDIR", "SYSTEMROOT", "GOCOVERDIR", modelsFolder} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// headBuffer keeps the first bytes that are written to it and drops the rest.
type headBuffer struct {
	buf bytes.Buffer
	max int
}

func (b *headBuffer) Write(p []byte) (int, error) {
	b.buf.Write(p[:min(len(p), b.max-b.buf.Len())])
	return len(p), nil
}

func (b *headBuffer) String() string { return b.buf.String() }
