// Package spill keeps bytes in a file of the local disk that would be too many for the memory: what is read often stays in the system's memory as
// long as nothing else needs it. The file has no name, so that it ends with its process, however that ends.
package spill

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// ErrFull is the error where a folder has as many bytes as it may have, or its disk little room.
var ErrFull = errors.New("spill: no room left")

// ErrMemory is the error for a folder that is itself in memory.
var ErrMemory = errors.New("spill: the folder is in memory, not on a disk")

// Folder keeps bytes in a file of a folder.
type Folder struct {
	// Spare tells how many bytes of a disk of so many are left to others.
	Spare func(disk uint64) uint64
	path  string
	most  int64
	used  atomic.Int64

	mu   sync.Mutex
	file *os.File
	end  int64 // where in the file the next bytes go
}

// Open makes one of a folder that is there, for at most so many bytes. The error is ErrMemory, errors.ErrUnsupported where the system can't give
// back parts of a file, or what keeps files from being written there. That its disk is full may end, and is none.
func Open(path string, most int64) (*Folder, error) {
	f := &Folder{Spare: spare, path: path, most: most}
	if err := onDisk(path); err != nil {
		return nil, err
	}
	file, at, err := f.place(1)
	if err == nil {
		err = f.write(file, []byte{1}, at)
	}
	switch {
	case errors.Is(err, ErrFull):
		return f, nil
	case err != nil:
		return nil, err
	}
	return f, punch(file, at, step)
}

// spare has a disk not be filled to the last.
func spare(disk uint64) uint64 { return min(1<<30, disk/20) }

// Most is how many bytes may be kept.
func (f *Folder) Most() int64 { return f.most }

// Used is how many bytes are kept.
func (f *Folder) Used() int64 { return f.used.Load() }

const (
	// step is what places in a file are multiples of: at least of the blocks of its disk, which are given back as a whole.
	step = 64 << 10
	// longest is from where on another file is begun: parts that were given back are never used again, and no file system's files are endless.
	longest = 1 << 40
)

// stepped rounds up to whole steps.
func stepped(n int64) int64 { return (n + step - 1) / step * step }

// place gives so many bytes a place.
func (f *Folder) place(size int64) (file *os.File, at int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil || f.end > longest {
		if f.file, err = nameless(f.path); err != nil {
			return nil, 0, err
		}
		f.end = 0
	}
	at = f.end
	f.end += stepped(size)
	return f.file, at, nil
}

// nameless makes a file that goes when nobody has it any more.
func nameless(path string) (*os.File, error) {
	file, err := os.CreateTemp(path, "canopy-index-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		_ = file.Close() // the first error says why
		return nil, err
	}
	here(file)
	return file, nil
}

// Region is some kept bytes. They go when nobody has the region any more.
type Region struct {
	file     *os.File
	at, size int64
	give     func() // gives the bytes back
	cleanup  runtime.Cleanup
}

// Drop gives the bytes back at once. Nobody may read them any more.
func (r *Region) Drop() {
	r.cleanup.Stop()
	r.give()
}

// Len is how many bytes a region has; nil has none.
func (r *Region) Len() int64 {
	if r == nil {
		return 0
	}
	return r.size
}

// Read reads bytes from a place of the region on, as many as fit into to. It panics where the disk can't give them: what reads them goes through
// millions and has nothing to go on with.
func (r *Region) Read(to []byte, from int64) {
	if _, err := r.file.ReadAt(to, r.at+from); err != nil {
		panic(fmt.Errorf("read %d bytes of an index from its file: %w", len(to), err))
	}
	runtime.KeepAlive(r)
}

// Put keeps a copy of some bytes. The error is ErrFull, or the system's.
func (f *Folder) Put(b []byte) (*Region, error) {
	return f.Make(int64(len(b)), func(to io.Writer) error {
		_, err := to.Write(b)
		return err
	})
}

// Make keeps so many bytes as are written, in one piece or in several. The error is ErrFull, the system's, or that of what writes.
func (f *Folder) Make(size int64, write func(to io.Writer) error) (*Region, error) {
	if f.used.Add(size) > f.most {
		f.used.Add(-size)
		return nil, ErrFull
	}
	file, at, err := f.place(size)
	if err != nil {
		f.used.Add(-size)
		return nil, f.failed(size, err)
	}
	r := &Region{file: file, at: at, size: size}
	give := func() {
		_ = punch(file, at, stepped(size)) // it could do so when the folder was opened
		f.used.Add(-size)
	}
	whole := false
	defer func() {
		if !whole { // what writes may have panicked
			give()
		}
	}()
	to := &writer{folder: f, file: file, at: at, end: at + size}
	if err = write(to); err == nil && to.at < to.end {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, f.failed(size, err)
	}
	whole = true
	r.give, r.cleanup = give, runtime.AddCleanup(r, func(give func()) { give() }, give)
	return r, nil
}

func (f *Folder) failed(size int64, err error) error {
	return fmt.Errorf("keep %d bytes in %s: %w", size, f.path, err)
}

// writer writes to a place in a file, and not beyond its end.
type writer struct {
	folder  *Folder
	file    *os.File
	at, end int64
}

func (w *writer) Write(b []byte) (int, error) {
	if int64(len(b)) > w.end-w.at {
		return 0, io.ErrShortWrite
	}
	if err := w.folder.write(w.file, b, w.at); err != nil {
		return 0, err
	}
	w.at += int64(len(b))
	return len(b), nil
}
