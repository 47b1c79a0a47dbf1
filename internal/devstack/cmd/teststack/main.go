// Command teststack runs another command with one PostgreSQL for all of it, named to it by
// CANOPY_TEST_DATABASE_URL, and ends with that command's exit code:
//
//	go run ./internal/devstack/cmd/teststack -- go test ./...
//
// A server that CANOPY_TEST_DATABASE_URL names already is used as it is. Redis is not shared: each
// test that needs one starts its own (see devtest.Redis).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"canopy/internal/devstack"
	"canopy/internal/devstack/devtest"
)

// The exit codes of a shell: wrong usage, a command that can't be run, and one ended by a signal.
const (
	exitFault  = 1
	exitUsage  = 2
	exitNoRun  = 127
	exitSignal = 128
)

func main() { os.Exit(run(os.Args[1:], os.Getenv(devtest.DatabaseVariable), os.Stderr)) }

func run(args []string, database string, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		_, _ = fmt.Fprintln(stderr, "usage: teststack -- COMMAND [ARGUMENTS]")
		return exitUsage
	}
	// From here on a signal ends the command, and with it us; the server is always shut down.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	if database == "" {
		p, err := devstack.StartTemporaryPostgres(context.Background(), nil)
		if err != nil {
			_, _ = fmt.Fprintln(stderr, "teststack:", err)
			return exitFault
		}
		defer p.Remove()
		database = p.URL()
	}
	code, err := command(args, database, signals)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "teststack:", err)
	}
	return code
}

// command runs the command to its end, and hands signals on to it.
func command(args []string, database string, signals <-chan os.Signal) (int, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), devtest.DatabaseVariable+"="+database)
	if err := cmd.Start(); err != nil {
		return exitNoRun, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			_ = cmd.Process.Signal(s) // it may have ended by now
		case err := <-ended:
			return exitCode(err)
		}
	}
}

func exitCode(err error) (int, error) {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		if err != nil {
			return exitFault, err
		}
		return 0, nil
	}
	if code := exit.ExitCode(); code >= 0 {
		return code, nil
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitSignal + int(status.Signal()), err
	}
	return exitFault, err
}
