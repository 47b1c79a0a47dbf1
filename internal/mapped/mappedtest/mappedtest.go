// Package mappedtest gives tests a folder on the disk.
package mappedtest

import (
	"os"
	"testing"

	"canopy/internal/mapped"
)

// Folder makes one for at most so many bytes, and tells its path. A test is passed over where the system has none.
func Folder(t testing.TB, most int64) (f *mapped.Folder, path string) {
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
	if f, err = mapped.Open(path, most); err != nil {
		t.Skip(err)
	}
	return f, path
}
