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
	path string
	most int64
	used atomic.Int64
}

// Open makes one of a folder that is there, for at most so many bytes. The error is ErrMemory, errors.ErrUnsupported where the system has no
// such files, or what keeps files from being written there.
func Open(path string, most int64) (*Folder, error) {
	f := &Folder{path: path, most: most}
	if err := onDisk(path); err != nil {
		return nil, err
	}
	r, err := f.put([]byte{1})
	if err != nil {
		return nil, err
	}
	return f, r.unmap()
}

// Most is how many bytes may be kept.
func (f *Folder) Most() int64 { return f.most }

// Used is how many bytes are kept.
func (f *Folder) Used() int64 { return f.used.Load() }

// Region is some kept bytes. They go when nobody has the region any more: who reads Bytes holds it until then, by runtime.KeepAlive.
type Region struct{ bytes []byte }

// Bytes are not to be changed.
func (r *Region) Bytes() []byte { return r.bytes }

// Put keeps a copy of some bytes, of one at least. The error is ErrFull, or the system's.
func (f *Folder) Put(b []byte) (*Region, error) {
	size := int64(len(b))
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
