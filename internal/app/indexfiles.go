package app

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"golang.org/x/time/rate"

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
	paths := usualFolders()
	if c.VectorDir != "" {
		paths = []string{c.VectorDir}
	}
	folder, err := firstFolder(paths, c.VectorDisk)
	switch {
	case err == nil:
		seldom := rate.Sometimes{Interval: fullEvery}
		indexes.KeepFiles(folder, func(err error) { seldom.Do(func() { tellFull(err) }) })
	case c.VectorDir != "":
		return fmt.Errorf("CANOPY_VECTOR_DIR: %w", err)
	default:
		slog.Info("search indexes have no files on a local disk, see CANOPY_VECTOR_DIR", "reason", err)
	}
	return nil
}

// fullEvery is how often it is told at most that the disk is full.
const fullEvery = 5 * time.Minute

// tellFull tells that indexes go on without the disk.
func tellFull(err error) {
	slog.Warn("the disk of CANOPY_VECTOR_DIR does not take a search index: it is kept in memory, or read by parts from PostgreSQL", "error", err)
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
