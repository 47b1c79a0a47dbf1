package devstack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// orphanPatience is how long an orphaned server may take for each way of ending it.
	orphanPatience = 10 * time.Second
	pollEvery      = 10 * time.Millisecond
)

// endOrphan sees to a postmaster.pid that an earlier run left in data. The caller holds the
// folder's lock, so no living run of ours owns that server: one that still runs is shut down, and
// the number of one that is gone is forgotten, for another process may have it by now, on which
// PostgreSQL would refuse to start.
func endOrphan(ctx context.Context, data string, log *slog.Logger) error {
	file := filepath.Join(data, "postmaster.pid")
	pid, err := postmasterPID(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if pid > 0 && alive(pid) && worksIn(pid, data) {
		log.WarnContext(ctx, "a private PostgreSQL outlived its owner; it is shut down first", "pid", pid)
		if err := endPID(ctx, pid, data); err != nil {
			return err
		}
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// postmasterPID reads the first line of a postmaster.pid; 0 stands for one that makes no sense.
func postmasterPID(file string) (int, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		return 0, nil // cut short by a crash: as good as none
	}
	return pid, nil
}

// endPID shuts a server down: fast, then at once, then by force.
func endPID(ctx context.Context, pid int, data string) error {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL} {
		if err := signalPID(pid, s); err != nil && alive(pid) {
			return fmt.Errorf("end the orphaned PostgreSQL %d: %w", pid, err)
		}
		if gone(ctx, pid, data) {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return fmt.Errorf("the orphaned PostgreSQL %d does not end", pid)
}

func gone(ctx context.Context, pid int, data string) bool {
	ctx, cancel := context.WithTimeout(ctx, orphanPatience)
	defer cancel()
	return poll(ctx, func() bool { return !alive(pid) || !worksIn(pid, data) })
}

// poll asks until the answer is yes, or ctx ends.
func poll(ctx context.Context, ask func() bool) bool {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if ask() {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
}
