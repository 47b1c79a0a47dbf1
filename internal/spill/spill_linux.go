package spill

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

// write writes bytes to their place, where the disk has room for them beside what is left to others.
func (f *Folder) write(file *os.File, b []byte, at int64) error {
	var s unix.Statfs_t
	if err := unix.Fstatfs(int(file.Fd()), &s); err != nil {
		return os.NewSyscallError("fstatfs", err)
	}
	block := uint64(s.Bsize)
	if s.Bavail*block < uint64(len(b))+f.Spare(s.Blocks*block) {
		return fmt.Errorf("%w on the disk", ErrFull)
	}
	_, err := file.WriteAt(b, at)
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) { // others were faster, or may have more of it
		return fmt.Errorf("%w on the disk: %w", ErrFull, err)
	}
	return err
}

// here has what is read of a file not be followed by what comes after it: groups of buckets and single vectors lie anywhere.
func here(file *os.File) {
	_ = unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_RANDOM) // only spares reads
}

// punch gives a part of a file back to the disk.
func punch(file *os.File, at, size int64) error {
	return os.NewSyscallError("fallocate", unix.Fallocate(int(file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, at, size))
}
