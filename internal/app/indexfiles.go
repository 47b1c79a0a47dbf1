package app

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"canopy/internal/config"
	"canopy/internal/spill"
	"canopy/internal/vector"
)

// keepFiles gives search indexes a folder. Without one those that are too large for the memory are read from PostgreSQL by parts, which is
// slower: a usual folder that can't be had is told of, one that was asked for has to be there.
func keepFiles(indexes *vector.Cache, c *config.Config) error {
	if c.VectorDisk == 0 {
		return nil
	}
	if c.VectorDir != "" {
		folder, err := spill.Open(c.VectorDir, c.VectorDisk)
		if err != nil {
			return fmt.Errorf("CANOPY_VECTOR_DIR: %w", err)
		}
		indexes.KeepFiles(folder, seldom(tellFull))
		return nil
	}
	folder, err := firstFolder(usualFolders(), c.VectorDisk)
	if err != nil {
		slog.Info("search indexes have no files on a local disk, see CANOPY_VECTOR_DIR", "reason", err)
		return nil
	}
	indexes.KeepFiles(folder, seldom(tellFull))
	return nil
}

// tellFull tells that indexes go on without the disk.
func tellFull(err error) {
	slog.Warn("the disk of CANOPY_VECTOR_DIR does not take a search index: it is kept in memory, or read by parts from PostgreSQL", "error", err)
}

// fullEvery is how often it is told.
const fullEvery = 5 * time.Minute

// seldom lets one call of so many through.
func seldom(tell func(error)) func(error) {
	var last atomic.Int64
	return func(err error) {
		now, before := time.Now().UnixNano(), last.Load()
		if (before == 0 || now-before > int64(fullEvery)) && last.CompareAndSwap(before, now) {
			tell(err)
		}
	}
}

// usualFolders are where search indexes may have their files, the best first: /tmp is in memory on many systems, while containers have often
// nothing else that they may write.
func usualFolders() []string { return []string{"/var/tmp", os.TempDir()} }

// firstFolder opens the first of some folders that can be used.
func firstFolder(paths []string, most int64) (*spill.Folder, error) {
	var all []error
	for _, path := range paths {
		folder, err := spill.Open(path, most)
		if err == nil {
			return folder, nil
		}
		all = append(all, fmt.Errorf("%s: %w", path, err))
	}
	return nil, errors.Join(all...)
}
