package extract

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets this test binary be the child that a Runner starts. A document that begins with the mark of
// misbehaving makes the child do as its reader might on a hostile document.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == ChildCommand {
		if how, path, does := misbehaviour(); does {
			misbehave(how, path)
		}
		MainIfChild()
	}
	os.Exit(m.Run())
}

const misbehaving = "misbehave: "

// misbehaviour reads what the document asks the child for, and the file that it may write to.
func misbehaviour() (how, path string, does bool) {
	head := make([]byte, 4096)
	n, _ := os.Stdin.ReadAt(head, 0) // not a document: it is empty
	text, does := strings.CutPrefix(string(head[:n]), misbehaving)
	how, path, _ = strings.Cut(text, " ")
	return how, path, does
}

func misbehave(how, path string) {
	switch how {
	case "hang":
		hang()
	case "eat":
		eat(path)
	case "overflow":
		limitStack()
		overflow(1) //nolint:staticcheck // it never returns
	case "exit":
		os.Exit(3)
	case "segv":
		die(syscall.SIGSEGV)
	case "killed":
		die(syscall.SIGKILL)
	case "garbage":
		fmt.Print("this is no answer")
		os.Exit(0)
	case "lie":
		// A result that claims a text of 2^62 bytes.
		fmt.Print("R\x80\x80\x80\x80\x80\x80\x80\x80\x40")
		os.Exit(0)
	case "flood":
		flood()
	case "pid":
		if err := os.WriteFile(path, fmt.Appendf(nil, "%d\n", os.Getpid()), 0o600); err != nil {
			os.Exit(9)
		}
		hang()
	default:
		tricks[how](path)
	}
}

// tricks are what a child may try beside, where the system can refuse it. Whatever they try has to be harmless
// where it succeeds.
var tricks = map[string]func(string){}

// hang waits for ever. It sleeps, because a program built without cgo ends itself with a deadlock's
// message when all of its goroutines wait for each other.
func hang() {
	for {
		time.Sleep(time.Hour)
	}
}

const eatStep = 4 << 20

// eat takes memory for ever, and writes down how much it has.
func eat(path string) {
	var held [][]byte
	for n := 1; ; n++ {
		held = append(held, bytes.Repeat([]byte{1}, eatStep))
		if err := os.WriteFile(path, fmt.Appendf(nil, "%d", n*eatStep), 0o600); err != nil {
			os.Exit(9)
		}
		if len(held) > 1<<20 {
			os.Exit(9)
		}
	}
}

//nolint:staticcheck // the endless recursion is the point
func overflow(n int) int { return overflow(n+1) + 1 }

func die(signal syscall.Signal) {
	if err := syscall.Kill(os.Getpid(), signal); err != nil {
		os.Exit(9)
	}
	hang()
}

// flood sends a sound header and text without end.
func flood() {
	fmt.Print("R\x05\x00\x00\x00\x00")
	for {
		if _, err := os.Stdout.WriteString(strings.Repeat("x", 1<<16)); err != nil {
			os.Exit(0)
		}
	}
}

// extractHere reads the document at path in this process. cacheDir is the folder of the PDF engine's
// compilation cache, "" for none.
func extractHere(ctx context.Context, path string, format Format, limits Limits, cacheDir string) (*Result, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	engine, err := prepare(ctx, format, cacheDir)
	if err != nil {
		return nil, err
	}
	defer engine.close()
	return extractOpen(ctx, file, format, limits.withDefaults(), engine)
}
