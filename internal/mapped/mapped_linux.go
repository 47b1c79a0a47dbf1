package mapped

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// onDisk tells whether a folder's files are on a disk.
func onDisk(path string) error {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	if s.Type == unix.TMPFS_MAGIC || s.Type == unix.RAMFS_MAGIC {
		return ErrMemory
	}
	return nil
}

// put writes a file and maps it. Its room is taken before: to read a page that has no room on the disk would end the process.
func (f *Folder) put(b []byte) (mapping, error) {
	file, err := os.CreateTemp(f.path, "canopy-index-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // the mapping keeps it
	if err := os.Remove(file.Name()); err != nil {
		return nil, err
	}
	if err := f.room(file, len(b)); err != nil {
		return nil, err
	}
	_, err = file.Write(b)
	switch {
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT): // others were faster, or may have more of it
		return nil, fmt.Errorf("%w on the disk: %w", ErrFull, err)
	case err != nil:
		return nil, err
	}
	m, err := unix.Mmap(int(file.Fd()), 0, len(b), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	_ = unix.Madvise(m, unix.MADV_RANDOM) // only spares reads
	return m, nil
}

// room looks whether the disk has room for so many bytes beside what is left to others.
func (f *Folder) room(file *os.File, size int) error {
	var s unix.Statfs_t
	if err := unix.Fstatfs(int(file.Fd()), &s); err != nil {
		return os.NewSyscallError("fstatfs", err)
	}
	block := uint64(s.Bsize)
	if s.Bavail*block < uint64(size)+f.Spare(s.Blocks*block) {
		return fmt.Errorf("%w on the disk", ErrFull)
	}
	return nil
}

func (m mapping) unmap() error { return unix.Munmap(m) }
