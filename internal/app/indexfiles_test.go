package app

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"canopy/internal/devstack/devtest"
	"canopy/internal/spill"
	"canopy/internal/spill/spilltest"
)

// TestUsualFolders: of the folders for search indexes the first counts that can be used; a container's may be there, and not be written.
func TestUsualFolders(t *testing.T) {
	t.Parallel()
	_, good := spilltest.Folder(t, 1)
	file := filepath.Join(t.TempDir(), "file")
	devtest.Check(t, os.WriteFile(file, nil, 0o600))
	if _, err := firstFolder([]string{file, good}, 1); err != nil {
		t.Error(err)
	}
	_, err := firstFolder([]string{file, "/dev/shm"}, 1)
	if _, none := os.Stat("/dev/shm"); none == nil && !errors.Is(err, spill.ErrMemory) {
		t.Errorf("one in memory: %v", err)
	}
}
