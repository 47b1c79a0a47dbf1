package devstack

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

const (
	temporaryPrefix = "canopy-test-"
	// abandonedAfter is the age at which a folder that nobody holds is nobody's any more.
	abandonedAfter = time.Hour
	// roomInMemory is what a test run's data need at most, in bytes, with room to spare.
	roomInMemory = 4 << 30
)

// StartTemporaryPostgres runs a PostgreSQL for one test run: empty, with room for many connections,
// not durable, and in memory where the system has a folder there, because each test copies a database
// and most of that is making files. Remove leaves nothing of it; what earlier runs left that were
// killed is removed at the next.
func StartTemporaryPostgres(ctx context.Context, log *slog.Logger) (*Postgres, error) {
	dir, err := TemporaryFolder()
	if err != nil {
		return nil, err
	}
	p, err := StartPostgres(ctx, PostgresOptions{Dir: dir, Log: log, Settings: map[string]string{"max_connections": "300"}})
	if err != nil {
		discard(dir)
		return nil, err
	}
	return p, nil
}

// TemporaryFolder makes a folder for the data of a test run, in memory where that can be. What earlier runs left is removed.
func TemporaryFolder() (string, error) {
	base := cmp.Or(memoryFolder(), os.TempDir())
	for _, b := range []string{base, os.TempDir()} {
		removeAbandoned(b, time.Now().Add(-abandonedAfter))
	}
	return os.MkdirTemp(base, temporaryPrefix)
}

// removeAbandoned removes the temporary folders of before that no process holds.
func removeAbandoned(base string, before time.Time) {
	dirs, _ := filepath.Glob(filepath.Join(base, temporaryPrefix+"*")) // the pattern is well-formed
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !ownedByUs(info) || info.ModTime().After(before) {
			continue
		}
		lock, err := takeLock(filepath.Join(dir, "lock"))
		if err != nil {
			continue
		}
		discard(dir)
		_ = lock.Close()
	}
}

// discard removes a folder and its data, where that is elsewhere.
func discard(dir string) {
	if place := (places{dir: dir}).remembered(); place != "" && checkOwn(place) == nil {
		_ = os.RemoveAll(place)
	}
	_ = os.RemoveAll(dir)
}
