package app

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"

	"canopy/internal/config"
	"canopy/internal/mapped"
	"canopy/internal/vector"
)

// keepFiles gives search indexes a folder. Without one those that are too large for the memory are read from PostgreSQL by parts, which is
// slower: a usual folder that can't be had is told of, one that was asked for has to be there.
func keepFiles(indexes *vector.Cache, c *config.Config) error {
	if c.VectorDisk == 0 {
		return nil
	}
	path := cmp.Or(c.VectorDir, usualFolder())
	folder, err := mapped.Open(path, c.VectorDisk)
	switch {
	case err == nil:
		indexes.KeepFiles(folder)
	case c.VectorDir != "":
		return fmt.Errorf("CANOPY_VECTOR_DIR: %w", err)
	default:
		slog.Info("search indexes have no files on a local disk, see CANOPY_VECTOR_DIR", "folder", path, "reason", err)
	}
	return nil
}

// usualFolder is where search indexes have their files: /tmp is in memory on many systems.
func usualFolder() string {
	const lasting = "/var/tmp"
	if info, err := os.Stat(lasting); err == nil && info.IsDir() {
		return lasting
	}
	return os.TempDir()
}
