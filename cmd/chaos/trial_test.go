package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestMain lets the test binary be the receiver, as the program is its own.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-receiver" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestNothingIsLost is a small trial: one blow of each kind.
func TestNothingIsLost(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a dozen processes")
	}
	binary := filepath.Join(t.TempDir(), "canopy")
	if out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", binary, "canopy/cmd/canopy").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	o := options{binary: binary, events: 200, runs: 15, blows: 4, seed: 7, between: 1500 * time.Millisecond, limit: 3 * time.Minute}
	if err := run(ctx, o, t.Output()); err != nil {
		t.Fatal(err)
	}
}
