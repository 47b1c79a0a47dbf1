package extract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
)

// ChildCommand is the first argument of a process that is to be an extractor child. It is for the
// Runner's own use; the command line's help leaves it out.
const ChildCommand = "extract-child"

// MainIfChild does a child's work and ends the process, if the process was started as a child;
// otherwise it returns at once. A binary whose code uses a Runner imports package child, which calls it.
func MainIfChild() {
	if len(os.Args) < 2 || os.Args[1] != ChildCommand {
		return
	}
	// A child never goes on as something else, whatever it was given: that might start children, too.
	if len(os.Args) != 3 {
		_, _ = fmt.Fprintln(os.Stderr, "extract: a child takes one job")
		os.Exit(2)
	}
	os.Exit(ChildMain(os.Args[2], os.Stdin, os.Stdout, os.Stderr))
}

// ChildMain is the main function of the child: it does one job on the document, answers on out and gives
// the exit status. It is for one process once: what the process may do is little afterwards.
func ChildMain(input string, document *os.File, out, errs io.Writer) int {
	becomeChild()
	var work job
	if err := json.Unmarshal([]byte(input), &work); err != nil {
		_, _ = fmt.Fprintf(errs, "extract: read the job: %v\n", err)
		return 2
	}
	work.Limits = work.Limits.withDefaults()
	limitStack()
	// The collector works harder well before the Runner ends the process.
	debug.SetMemoryLimit(work.Limits.Memory / 4 * 3)
	if work.Recognise != nil {
		return work.Recognise.recognise(work.Limits, errs)
	}
	answer, err := do(work, document, errs)
	if err := writeAnswer(out, answer, err); err != nil {
		_, _ = fmt.Fprintf(errs, "extract: answer: %v\n", err)
		return 2
	}
	return 0
}

// maxStack bounds recursion that a document drives, in bytes.
const maxStack = 64 << 20

func limitStack() { debug.SetMaxStack(maxStack) }

// What begins the line in which a child says that its system did not let it give up what it may do, or let it
// do so in one way of two.
const (
	unconfined     = "extract: not confined: "
	confinedByHalf = "extract: confined by half: "
)

// tell says what a system did not let its child do. Runners look for it.
func tell(errs io.Writer, what string, why error) {
	_, _ = fmt.Fprintf(errs, "%s%s\n", what, strings.ReplaceAll(why.Error(), "\n", "; "))
}

// do does the work. A panic is a bug of ours that the file found: it is told to the log, and to the
// uploader as a file that could not be read.
func do(work job, document *os.File, errs io.Writer) (a childAnswer, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			_, _ = fmt.Fprintf(errs, "extract: panic: %v\n%s", fault, debug.Stack())
			a, err = childAnswer{}, failCrash
		}
	}()
	ctx := context.Background()
	if work.Format == "" {
		engine, err := prepare(ctx, PDF, work.CacheDir)
		engine.close()
		return childAnswer{result: &Result{}}, err
	}
	engine, err := prepare(ctx, work.Format, work.CacheDir)
	if err != nil {
		return a, err
	}
	defer engine.close()
	half, err := confine(work.Limits)
	switch {
	case err != nil:
		tell(errs, unconfined, err)
	case half != nil:
		tell(errs, confinedByHalf, half)
	}
	if work.Page > 0 {
		src, err := sourceOf(document)
		if err == nil {
			a.picture, err = drawPage(ctx, src, engine, work.Page)
		}
		return a, err
	}
	a.result, err = extractOpen(ctx, document, work.Format, work.Limits, engine)
	if errors.Is(err, failNoTextLayer) && a.result != nil && work.Blank {
		err = nil
	}
	return a, err
}
