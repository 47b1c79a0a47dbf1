package access

import (
	"fmt"
	"testing"
)

// TestTurnsHaveNames: each name has a turn of its own, which is none of a branch, and not that of the platform itself.
func TestTurnsHaveNames(t *testing.T) {
	t.Parallel()
	seen := map[int64]string{}
	for i := range 1000 {
		name := fmt.Sprintf("network 192.0.%d.0/24", i)
		turn := TurnOf(WithTurn(t.Context(), name))
		if other, taken := seen[turn]; taken || turn >= 0 {
			t.Fatalf("%s has the turn %d, as %q has", name, turn, other)
		}
		seen[turn] = name
	}
	if turn := TurnOf(WithTurn(WithBranch(t.Context(), 7), "network 192.0.2.0/24")); turn != 7 {
		t.Errorf("what is for a branch has the turn %d", turn)
	}
}
