package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"canopy/internal/blob"
	"canopy/internal/devstack/devtest"
)

// TestStoresAreApart: nothing moves into the store that it is in, whatever that is called, and what was asked leaves nothing behind.
func TestStoresAreApart(t *testing.T) {
	t.Parallel()
	folder, other := t.TempDir(), t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	devtest.Check(t, os.Symlink(folder, link))
	open := func(path string) blob.Store {
		store := devtest.Must[blob.Store](t)(blob.Open(t.Context(), "file://"+path))
		t.Cleanup(func() { _ = store.Close() })
		return store
	}
	if err := (&Mover{home: open(folder), cell: open(link)}).apart(t.Context()); err == nil || !strings.Contains(err.Error(), "the home's store") {
		t.Errorf("it moves into itself: %v", err)
	}
	devtest.Check(t, (&Mover{home: open(folder), cell: open(other)}).apart(t.Context()))
	for _, path := range []string{folder, other} {
		for entry, err := range open(path).List(t.Context(), "split/") {
			t.Errorf("%s has %v, %v", path, entry, err)
		}
	}
}
