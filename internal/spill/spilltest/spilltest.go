// Package spilltest gives tests a folder on the disk.
package spilltest

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"canopy/internal/spill"
)

// Folder makes one for at most so many bytes, and tells its path. A test is passed over where the system has none.
func Folder(t testing.TB, most int64) (f *spill.Folder, path string) {
	t.Helper()
	path, err := os.MkdirTemp("/var/tmp", "canopy-test-") //nolint:usetesting // that of a test may be in memory
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(path); err != nil { // which an empty one alone can be: files have no name
			t.Error(err)
		}
	})
	if f, err = spill.Open(path, most); err != nil {
		t.Skip(err)
	}
	return f, path
}

// OnDisk tells how many bytes the files of a folder take on the disk.
func OnDisk(t testing.TB, path string) (n int64) {
	t.Helper()
	for _, file := range files(t, path) {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		n += info.Sys().(*syscall.Stat_t).Blocks * 512
	}
	return n
}

// Break has the disk not give what is in the files of a folder.
func Break(t testing.TB, path string) {
	t.Helper()
	for _, file := range files(t, path) {
		if err := os.Truncate(file, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// files are those that this process has open in a folder. They have no other name.
func files(t testing.TB, path string) (list []string) {
	t.Helper()
	const open = "/proc/self/fd"
	entries, err := os.ReadDir(open)
	if err != nil {
		t.Skip(err)
	}
	for _, e := range entries {
		name := filepath.Join(open, e.Name())
		if to, err := os.Readlink(name); err == nil && strings.HasPrefix(to, path+"/") {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		t.Fatalf("no file is open in %s", path)
	}
	return list
}
