package devtest

import (
	"testing"
	"time"
)

// patience is how long a test waits for what happens in the background. It is far more than that
// takes: only a test that fails waits for its end.
const patience = 2 * time.Minute

// Eventually waits until something holds, and fails the test where it never does.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("it never comes about that %s", what)
		}
	}
}
