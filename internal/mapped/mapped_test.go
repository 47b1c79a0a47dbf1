package mapped_test

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"canopy/internal/mapped"
	"canopy/internal/mapped/mappedtest"
)

func TestBytesAreKept(t *testing.T) {
	f, _ := mappedtest.Folder(t, 1<<20)
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<12)
	r, err := f.Put(content)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(r.Bytes(), content) || f.Used() != int64(len(content)) {
		t.Errorf("other bytes, or %d used", f.Used())
	}
	runtime.KeepAlive(r)
	r = nil
	for end := time.Now().Add(time.Minute); f.Used() > 0; time.Sleep(time.Millisecond) {
		if runtime.GC(); time.Now().After(end) {
			t.Fatalf("%d bytes are kept that nobody has", f.Used())
		}
	}
}

func TestFolderIsFull(t *testing.T) {
	f, _ := mappedtest.Folder(t, 1000)
	r, err := f.Put(make([]byte, 900))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Put(make([]byte, 101)); !errors.Is(err, mapped.ErrFull) || f.Used() != 900 {
		t.Errorf("%v, %d used", err, f.Used())
	}
	runtime.KeepAlive(r)
}

// TestDiskIsFull: a folder whose disk is full has no room until the disk has some again.
func TestDiskIsFull(t *testing.T) {
	f, _ := mappedtest.Folder(t, 1000)
	usual := f.Spare
	f.Spare = func(disk uint64) uint64 { return disk }
	if _, err := f.Put(make([]byte, 900)); !errors.Is(err, mapped.ErrFull) || f.Used() != 0 {
		t.Errorf("%v, %d used", err, f.Used())
	}
	f.Spare = usual
	r, err := f.Put(make([]byte, 900))
	if err != nil {
		t.Error(err)
	}
	runtime.KeepAlive(r)
}

// TestFilesAreFew: small files of a large folder count for more, so that there are never more of them than a process may have mappings.
func TestFilesAreFew(t *testing.T) {
	const most = 300 << 30
	f, _ := mappedtest.Folder(t, most)
	r, err := f.Put([]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	if files := most / f.Used(); files > 32_000 {
		t.Errorf("%d files fit in", files)
	}
	runtime.KeepAlive(r)
}

func TestFoldersThatCantBeUsed(t *testing.T) {
	_, path := mappedtest.Folder(t, 1)
	if _, err := mapped.Open(path+"/none", 1); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("one that is not there: %v", err)
	}
	if _, err := os.Stat("/dev/shm"); err == nil {
		if _, err := mapped.Open("/dev/shm", 1); !errors.Is(err, mapped.ErrMemory) {
			t.Errorf("one in memory: %v", err)
		}
	}
	if os.Geteuid() == 0 {
		return // may write anywhere
	}
	if err := os.Chmod(path, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := mapped.Open(path, 1); !errors.Is(err, os.ErrPermission) {
		t.Errorf("one that can't be written: %v", err)
	}
}
