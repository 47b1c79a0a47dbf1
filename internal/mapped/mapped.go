// Package mapped keeps bytes in files of the local disk, and gives them as memory: what is read stays in memory as long as nothing
// else needs it. A file has no name, so that it ends with its process, however that ends.
package mapped

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
)

// ErrFull is the error where a folder has as many bytes as it may have, or its disk little room.
var ErrFull = errors.New("mapped: no room left")

// ErrMemory is the error for a folder that is itself in memory.
var ErrMemory = errors.New("mapped: the folder is in memory, not on a disk")

// Folder keeps bytes in files of a folder.
type Folder struct {
	// Spare tells how many bytes of a disk of so many are left to others.
	Spare func(disk uint64) uint64
	path  string
	most  int64
	used  atomic.Int64
}

// Open makes one of a folder that is there, for at most so many bytes. The error is ErrMemory, errors.ErrUnsupported where the system has no
// such files, or what keeps files from being written there. That its disk is full may end, and is none.
func Open(path string, most int64) (*Folder, error) {
	f := &Folder{Spare: spare, path: path, most: most}
	if err := onDisk(path); err != nil {
		return nil, err
	}
	r, err := f.put([]byte{1})
	switch {
	case errors.Is(err, ErrFull):
		return f, nil
	case err != nil:
		return nil, err
	}
	return f, r.unmap()
}

// spare has a disk not be filled to the last.
func spare(disk uint64) uint64 { return min(1<<30, disk/20) }

// mostFiles is how many files a folder has at most: a system gives a process some 65,000 mappings, and one that has used them up ends when its
// heap grows. So a small file counts as a larger one, where very many bytes may be kept.
const mostFiles = 30_000

// counts is what bytes count as.
func (f *Folder) counts(b []byte) int64 { return max(int64(len(b)), f.most/mostFiles) }

// Most is how many bytes may be kept.
func (f *Folder) Most() int64 { return f.most }

// Used is how many bytes are kept, where small files count as larger ones.
func (f *Folder) Used() int64 { return f.used.Load() }

// Region is some kept bytes. They go when nobody has the region any more: who reads Bytes holds it until then, by runtime.KeepAlive.
type Region struct{ bytes []byte }

// Bytes are not to be changed.
func (r *Region) Bytes() []byte { return r.bytes }

// Put keeps a copy of some bytes, of one at least. The error is ErrFull, or the system's.
func (f *Folder) Put(b []byte) (*Region, error) {
	size := f.counts(b)
	if f.used.Add(size) > f.most {
		f.used.Add(-size)
		return nil, ErrFull
	}
	m, err := f.put(b)
	if err != nil {
		f.used.Add(-size)
		return nil, fmt.Errorf("keep %d bytes in %s: %w", len(b), f.path, err)
	}
	r := &Region{m}
	runtime.AddCleanup(r, func(m mapping) {
		_ = m.unmap() // it is a mapping, and whole
		f.used.Add(-size)
	}, m)
	return r, nil
}

// mapping is a file's bytes as memory.
type mapping []byte
