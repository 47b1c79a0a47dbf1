package extract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets this test binary be the child that a Runner starts. A document whose file has one
// of the names below makes the child misbehave as its reader might on a hostile document.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == ChildCommand {
		input, err := io.ReadAll(os.Stdin)
		if err != nil {
			os.Exit(9)
		}
		var work job
		if err := json.Unmarshal(input, &work); err == nil {
			misbehave(work.Path)
		}
		os.Exit(ChildMain(bytes.NewReader(input), os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func misbehave(path string) {
	switch filepath.Base(path) {
	case "hang.txt":
		hang()
	case "eat.txt":
		eat(path)
	case "overflow.txt":
		limitStack()
		overflow(1) //nolint:staticcheck // it never returns
	case "exit.txt":
		os.Exit(3)
	case "segv.txt":
		die(syscall.SIGSEGV)
	case "killed.txt":
		die(syscall.SIGKILL)
	case "garbage.txt":
		fmt.Print("this is no answer")
		os.Exit(0)
	case "lie.txt":
		// A result that claims a text of 2^62 bytes.
		fmt.Print("R\x80\x80\x80\x80\x80\x80\x80\x80\x40")
		os.Exit(0)
	case "flood.txt":
		flood()
	case "pid.txt":
		if err := os.WriteFile(path, fmt.Appendf(nil, "%d\n", os.Getpid()), 0o600); err != nil {
			os.Exit(9)
		}
		hang()
	}
}

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
