// Command teststack runs another command with one PostgreSQL and one Redis for all of it:
//
//	go run ./internal/devstack/cmd/teststack -- go test ./...
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"canopy/internal/devstack"
	"canopy/internal/devstack/devtest"
)

func main() {
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: teststack -- COMMAND [ARGUMENTS]")
		os.Exit(2)
	}
	code, err := run(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "teststack:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func run(args []string) (int, error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "canopy-teststack-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	p, err := devstack.StartPostgres(ctx, devstack.PostgresOptions{
		Dir: dir + "/pg", Log: slog.Default(), Settings: map[string]string{"max_connections": "400"},
	})
	if err != nil {
		return 1, err
	}
	defer p.Remove()
	r, err := devstack.StartRedis(ctx, devstack.RedisOptions{Dir: dir + "/redis", Log: slog.Default()})
	if err != nil {
		return 1, err
	}
	defer func() { _ = r.Kill() }()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // it runs what it is told to
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), devtest.DatabaseVariable+"="+p.URL(), devtest.RedisVariable+"="+r.URL())
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(1, exit.ExitCode()), nil
	}
	return 0, err
}
