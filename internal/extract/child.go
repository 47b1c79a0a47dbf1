package extract

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

// ChildCommand is the first argument of a process that is to be an extractor child. It is for the
// Runner's own use; the command line's help leaves it out.
const ChildCommand = "extract-child"

// MainIfChild does a child's work and ends the process, if the process was started as a child;
// otherwise it returns at once. A binary whose code uses a Runner calls it first thing in main, and
// a test binary in TestMain.
func MainIfChild() {
	if len(os.Args) == 2 && os.Args[1] == ChildCommand {
		os.Exit(ChildMain(os.Stdin, os.Stdout, os.Stderr))
	}
}

// ChildMain is the main function of the child: it takes one job from in, answers on out and gives
// the exit status. Limits on time and memory are the Runner's part.
func ChildMain(in io.Reader, out, errs io.Writer) int {
	becomeChild()
	var work job
	if err := json.NewDecoder(in).Decode(&work); err != nil {
		_, _ = fmt.Fprintf(errs, "extract: read the job: %v\n", err)
		return 2
	}
	limits := work.Limits.withDefaults()
	limitStack()
	// The collector works harder well before the Runner ends the process.
	debug.SetMemoryLimit(limits.Memory / 4 * 3)
	result, err := do(work, errs)
	if err := writeAnswer(out, result, err); err != nil {
		_, _ = fmt.Fprintf(errs, "extract: answer: %v\n", err)
		return 2
	}
	return 0
}

// maxStack bounds recursion that a document drives, in bytes.
const maxStack = 64 << 20

func limitStack() { debug.SetMaxStack(maxStack) }

// do does the work. A panic is a bug of ours that the file found: it is told to the log, and to the
// uploader as a file that could not be read.
func do(work job, errs io.Writer) (result *Result, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			_, _ = fmt.Fprintf(errs, "extract: panic: %v\n%s", fault, debug.Stack())
			result, err = nil, failCrash
		}
	}()
	ctx := context.Background()
	if work.Path == "" {
		engine, err := newPDFEngine(ctx, usableCacheDir(work.CacheDir))
		if err != nil {
			return nil, err
		}
		engine.close()
		return &Result{}, nil
	}
	return extractHere(ctx, work.Path, work.Format, work.Limits, work.CacheDir)
}
