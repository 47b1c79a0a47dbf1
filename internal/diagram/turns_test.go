package diagram

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
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

// long is a diagram whose expressions take some milliseconds, and short one whose do not.
const (
	long  = `{"steps":[],"output":{"v":"{{ len(map(1..100000, #)) }}"}}`
	short = `{"steps":[],"output":{"v":"{{ 100000 }}"}}`
)

// TestRunsTakeTurns: what a branch works out for long keeps its next long run waiting, but no short one, and no other branch.
func TestRunsTakeTurns(t *testing.T) {
	for places.TryEnter(7) {
		defer places.Leave(7)
	}
	for _, tc := range []struct {
		name    string
		branch  int64
		diagram string
		waits   bool
	}{
		{"another long one of the branch", 7, long, true}, {"a short one of the branch", 7, short, false}, {"a long one of another", 8, long, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				r := &Run{Diagram: mustParse(t, tc.diagram), Branch: tc.branch}
				out, err := r.Output(ctx)
				if waited := ctx.Err() != nil; waited != tc.waits || waited == (string(out) == `{"v":100000}`) {
					t.Errorf("got %s, %v; waited: %t", out, err, waited)
				}
			})
		})
	}
	if !places.TryEnter(8) {
		t.Fatal("a place was kept")
	}
	places.Leave(8)
}

// TestWaitingIsNoTimeOfAStep: a step that waits for its turn longer than it may take is executed nevertheless.
func TestWaitingIsNoTimeOfAStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held := 0
		for places.TryEnter(7) {
			held++
		}
		go func() {
			time.Sleep(2 * StepTimeout)
			for range held {
				places.Leave(7)
			}
		}()
		begun := time.Now()
		r := &Run{Diagram: mustParse(t, long), Branch: 7, Started: begun}
		if out, err := r.Output(t.Context()); err != nil || time.Since(begun) != 2*StepTimeout {
			t.Errorf("got %s, %v after %s", out, err, time.Since(begun))
		}
	})
}
