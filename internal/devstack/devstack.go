// Package devstack runs a private PostgreSQL and a private Redis for development and tests: on
// loopback only, on free ports, as children of the calling process that end with it.
package devstack

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
)

// Faults that a caller can tell apart with errors.Is.
var (
	// ErrInUse says that a running process already holds the folder.
	ErrInUse = errors.New("in use by another process")
	// ErrNoBinaries says that no server of the needed version is installed.
	ErrNoBinaries = errors.New("server binaries not found")
	// ErrUnsupported says that this operating system can't run private servers.
	ErrUnsupported = errors.New("private servers need Linux or macOS")
)

func orDiscard(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return log
}

// prepareFolder makes dir, with an absolute path. Where a server runs under another account it may
// pass through the folder to its data, but not list it.
func prepareFolder(dir string, a *account) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	mode := os.FileMode(0o700)
	if a != nil {
		mode = 0o711
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, mode)
}
