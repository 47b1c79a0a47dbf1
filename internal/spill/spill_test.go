package spill_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"testing"
	"time"

	"canopy/internal/spill"
	"canopy/internal/spill/spilltest"
)

func TestBytesAreKept(t *testing.T) {
	f, path := spilltest.Folder(t, 1<<20)
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<12)
	r, err := f.Put(content)
	if err != nil {
		t.Fatal(err)
	}
	other, err := f.Put([]byte("other"))
	if err != nil {
		t.Fatal(err)
	}
	got, part := make([]byte, len(content)), make([]byte, 5)
	r.Read(got, 0)
	if !bytes.Equal(got, content) || r.Len() != int64(len(content)) || f.Used() != int64(len(content)+5) {
		t.Errorf("other bytes, or %d used", f.Used())
	}
	if r.Read(part, 10); string(part) != "abcde" {
		t.Errorf("%q in the midst", part)
	}
	if other.Read(part, 0); string(part) != "other" {
		t.Errorf("%q of the other", part)
	}
	if n := spilltest.OnDisk(t, path); n < int64(len(content)) {
		t.Errorf("%d bytes are on the disk", n)
	}
	r, other = nil, nil
	for end := time.Now().Add(time.Minute); f.Used() > 0; time.Sleep(time.Millisecond) {
		if runtime.GC(); time.Now().After(end) {
			t.Fatalf("%d bytes are kept that nobody has", f.Used())
		}
	}
	if n := spilltest.OnDisk(t, path); n > 0 {
		t.Errorf("%d bytes are on the disk that nobody has", n)
	}
}

// TestFailingDisk: what the disk can't give ends who reads it.
func TestFailingDisk(t *testing.T) {
	f, path := spilltest.Folder(t, 1<<20)
	r, err := f.Put([]byte("0123456789"))
	if err != nil {
		t.Fatal(err)
	}
	spilltest.Break(t, path)
	defer func() {
		if recover() == nil {
			t.Error("it was read")
		}
	}()
	r.Read(make([]byte, 10), 0)
}

func TestFolderIsFull(t *testing.T) {
	f, _ := spilltest.Folder(t, 1000)
	r, err := f.Put(make([]byte, 900))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Put(make([]byte, 101)); !errors.Is(err, spill.ErrFull) || f.Used() != 900 {
		t.Errorf("%v, %d used", err, f.Used())
	}
	runtime.KeepAlive(r)
}

// TestDiskIsFull: a folder whose disk is full has no room until the disk has some again.
func TestDiskIsFull(t *testing.T) {
	f, _ := spilltest.Folder(t, 1000)
	usual := f.Spare
	f.Spare = func(disk uint64) uint64 { return disk }
	if _, err := f.Put(make([]byte, 900)); !errors.Is(err, spill.ErrFull) || f.Used() != 0 {
		t.Errorf("%v, %d used", err, f.Used())
	}
	f.Spare = usual
	r, err := f.Put(make([]byte, 900))
	if err != nil {
		t.Error(err)
	}
	runtime.KeepAlive(r)
}

func TestFoldersThatCantBeUsed(t *testing.T) {
	_, path := spilltest.Folder(t, 1)
	if _, err := spill.Open(path+"/none", 1); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("one that is not there: %v", err)
	}
	if _, err := os.Stat("/dev/shm"); err == nil {
		if _, err := spill.Open("/dev/shm", 1); !errors.Is(err, spill.ErrMemory) {
			t.Errorf("one in memory: %v", err)
		}
	}
	if os.Geteuid() == 0 {
		return // may write anywhere
	}
	if err := os.Chmod(path, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := spill.Open(path, 1); !errors.Is(err, os.ErrPermission) {
		t.Errorf("one that can't be written: %v", err)
	}
}

// TestMakeFails: what is not written whole, or fails to be, or panics, keeps no room; nor does what was dropped.
func TestMakeFails(t *testing.T) {
	f, _ := spilltest.Folder(t, 1000)
	broken := errors.New("broken")
	for want, write := range map[error]func(io.Writer) error{
		io.ErrUnexpectedEOF: func(to io.Writer) error { _, err := to.Write(make([]byte, 899)); return err },
		io.ErrShortWrite:    func(to io.Writer) error { _, err := to.Write(make([]byte, 901)); return err },
		broken:              func(io.Writer) error { return broken },
	} {
		if r, err := f.Make(900, write); r != nil || !errors.Is(err, want) || f.Used() != 0 {
			t.Errorf("%v, not %v; %d used", err, want, f.Used())
		}
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = f.Make(900, func(io.Writer) error { panic("it can't be read") })
	}()
	if f.Used() != 0 {
		t.Errorf("%d used after a panic", f.Used())
	}
	r, err := f.Put(make([]byte, 900))
	if err != nil {
		t.Fatal(err)
	}
	if r.Drop(); f.Used() != 0 {
		t.Errorf("%d used after it was dropped", f.Used())
	}
	runtime.GC()
	if _, err := f.Put(make([]byte, 900)); err != nil || f.Used() != 900 {
		t.Errorf("%v, %d used", err, f.Used())
	}
}
