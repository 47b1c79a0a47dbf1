package jobs

import (
	"slices"
	"testing"

	"canopy/db"
	"canopy/internal/bus"
	"canopy/outbox"
)

// TestDueByTurns: however many destinations a branch has, the first of another is the next but one; and each waits once.
func TestDueByTurns(t *testing.T) {
	q := newDeliveryRelay(nil)
	for _, d := range []db.Destined{{ID: 1, BranchID: 7}, {ID: 2, BranchID: 7}, {ID: 1, BranchID: 7}, {ID: 3, BranchID: 7}, {ID: 4, BranchID: 8}} {
		q.add(db.DueDestination{Destined: d})
	}
	var ids []int64
	for !q.due.Empty() {
		ids = append(ids, q.next().ID)
	}
	if !slices.Equal(ids, []int64{1, 4, 2, 3}) {
		t.Errorf("got %v", ids)
	}
	if q.add(db.DueDestination{Destined: db.Destined{ID: 1, BranchID: 7}}); q.due.Empty() {
		t.Error("what was told of can't wait again")
	}
}

// TestWhatIsDueIsTold: destinations come as they were told; where they are too many, or not known, the relay is to look.
func TestWhatIsDueIsTold(t *testing.T) {
	b := bus.New(nil, nil)
	defer b.Close()
	news := b.Subscribe(t.Context(), outbox.DueTopic)
	told := []db.Destined{{ID: 1, BranchID: 7}, {ID: 2}}
	for _, tc := range []struct{ told, want []db.Destined }{{told, told}, {nil, nil}, {make([]db.Destined, 1001), nil}} {
		outbox.WakeDeliveries(t.Context(), b, tc.told)
		if got := outbox.Due(<-news); !slices.Equal(got, tc.want) {
			t.Errorf("got %v of %d", got, len(tc.told))
		}
	}
}
