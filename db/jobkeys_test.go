package db

import (
	"testing"

	"canopy/internal/devstack/devtest"
)

// TestJobKeysTellTheirCell: from a key follows which cell has the run.
func TestJobKeysTellTheirCell(t *testing.T) {
	for _, cell := range []*Cell{nil, {Number: 1}, {Number: LastCell}} {
		s, want := &Store{cell: cell}, int64(0)
		if cell != nil {
			want = cell.Number
		}
		for range 100 {
			if key := devtest.Must[string](t)(s.NewJobKey()); cellOfJob(key) != want {
				t.Fatalf("the key %s of cell %d is taken for one of %d", key, want, cellOfJob(key))
			}
		}
	}
	if got := cellOfJob("no key"); got != 0 {
		t.Errorf("what is no key is of cell %d", got)
	}
}
