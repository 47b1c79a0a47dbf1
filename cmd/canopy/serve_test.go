package main

import (
	"bufio"
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"canopy/e2e/platform"
	"canopy/internal/devstack/devtest"
)

// TestProcessesOutliveTheReadersOfTheirLog: whatever reads the log ends, as `head -1` does, and serve and worker go on until they are told to stop.
func TestProcessesOutliveTheReadersOfTheirLog(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	for command, begun := range map[string]string{"serve": `"msg":"serving"`, "worker": `"msg":"working"`} {
		t.Run(command, func(t *testing.T) {
			log, written, err := os.Pipe()
			devtest.Check(t, err)
			process := exec.CommandContext(t.Context(), os.Args[0])
			process.Env = append(os.Environ(), argumentsVariable+"="+command, "DATABASE_URL="+s.App.Config.DatabaseURL, "REDIS_URL="+s.App.Config.RedisURL,
				platform.SecretKeys(s.App.Config.SecretKeys...), "CANOPY_LISTEN=127.0.0.1:0", "CANOPY_PUBLIC_URL=http://127.0.0.1")
			process.Stdout, process.Stderr = written, written
			devtest.Check(t, process.Start())
			_ = written.Close()
			lines := bufio.NewScanner(log)
			for lines.Scan() && !strings.Contains(lines.Text(), begun) {
			}
			_ = log.Close()
			devtest.Check(t, process.Process.Signal(syscall.SIGTERM)) // which the log tells of
			if err := process.Wait(); err != nil {
				t.Errorf("after %s it ended by %v", lines.Text(), err)
			}
		})
	}
}

// TestStoppedBeforeItHasBegun: who stops a process that still begins hears of no failure.
func TestStoppedBeforeItHasBegun(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	_, keys, _ := strings.Cut(platform.SecretKeys(s.App.Config.SecretKeys...), "=")
	env := map[string]string{
		"DATABASE_URL": s.App.Config.DatabaseURL, "REDIS_URL": s.App.Config.RedisURL, "CANOPY_SECRET_KEY": keys, "CANOPY_LISTEN": "127.0.0.1:0", "CANOPY_PUBLIC_URL": "http://127.0.0.1",
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, args := range [][]string{{"serve"}, {"worker"}, {"dev", "--data", t.TempDir()}} {
		var out, log devtest.Log
		m := &Main{Stdout: &out, Stderr: &log, Getenv: func(name string) string { return env[name] }}
		if code := m.Run(ctx, args); code != exitOK {
			t.Errorf("%s: %d %s", args[0], code, log.String())
		}
	}
}

// TestNothingBeginsWithoutItsAddress: where a worker's metrics can't be had, nothing is opened, and the call is wrong.
func TestNothingBeginsWithoutItsAddress(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	devtest.Check(t, err)
	t.Cleanup(func() { _ = taken.Close() })
	s := platform.Start(t)
	for _, address := range []string{"nonsense", "localhost", ":x", "127.0.0.1:99999", taken.Addr().String()} {
		code, out, fault := operate(t, s, []string{"REDIS_URL=" + s.App.Config.RedisURL}, "worker", "--metrics", address)
		if code != exitUsage || out != "" || !strings.HasPrefix(fault, "canopy worker: --metrics: ") || strings.Contains(fault, `"msg"`) {
			t.Errorf("%s: %d %s%s", address, code, out, fault)
		}
	}
}
