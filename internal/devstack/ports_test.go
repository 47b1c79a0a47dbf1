package devstack

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestFreeAddresses: none is given twice, as happens among so many that are asked for one after the other.
func TestFreeAddresses(t *testing.T) {
	list, err := FreeAddresses(500)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, address := range list {
		seen[address] = true
	}
	if len(seen) != 500 {
		t.Errorf("%d addresses differ", len(seen))
	}
}

// TestPortIsKept: a server comes back on its port also where what ended last holds that a moment longer, and takes another where its own is taken.
func TestPortIsKept(t *testing.T) {
	dir := t.TempDir()
	holder, err := listenFree()
	if err != nil {
		t.Fatal(err)
	}
	before := holder.Addr().(*net.TCPAddr).Port
	if err := os.WriteFile(filepath.Join(dir, "port"), []byte(strconv.Itoa(before)), 0o600); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(200*time.Millisecond, func() { _ = holder.Close() })
	var started []int
	start := func(port int) error {
		started = append(started, port)
		if len(started) == 2 {
			return errPortTaken
		}
		return nil
	}
	for range 2 {
		if err := onPort(t.Context(), dir, start); err != nil {
			t.Fatal(err)
		}
	}
	if len(started) != 3 || started[0] != before || started[1] != before || started[2] == before {
		t.Errorf("started on %v, held before: %d", started, before)
	}
	if kept := rememberedPort(filepath.Join(dir, "port")); kept != started[2] {
		t.Errorf("remembered is %d, started last was %v", kept, started)
	}
}
