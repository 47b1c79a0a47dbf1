package diagram

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestBranchesTakeTurns: what a branch has read keeps it waiting for its next diagram, and no other branch; and nobody waits
// longer than the one that asks.
func TestBranchesTakeTurns(t *testing.T) {
	for places.TryEnter(7) {
		defer places.Leave(7)
	}
	const small = `{"steps":[],"output":{"v":"{{ 1 + 1 }}"}}`
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := Check(ctx, 7, []byte(small)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if d, faults, err := Parse(t.Context(), 8, []byte(small)); d == nil || faults != nil || err != nil {
		t.Errorf("%v %v %v", d, faults, err)
	}
}

// TestNobodyReadsForWhoHasGone: expressions are left unread from when the caller has gone.
func TestNobodyReadsForWhoHasGone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	const broken = `{"steps":[],"output":{"v":"{{ 1 + }}"}}`
	if _, faults := read(ctx, []byte(broken)); len(faults) > 0 {
		t.Errorf("%v", faults)
	}
	if _, faults := read(t.Context(), []byte(broken)); len(faults) != 1 {
		t.Errorf("%v", faults)
	}
}
