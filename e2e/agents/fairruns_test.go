package agents

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"canopy/db"
	"canopy/e2e/platform"
)

// TestRunsTakeTurns: however many runs of one account wait, those of another are handed out beside
// them, and no more of the first than its share.
func TestRunsTakeTurns(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	greedy, modest := s.RootAs("builder"), s.TokenOf(s.Customer("Alpine Energy"), "greta@alpine.example", "builder")
	a, b := s.Publish(greedy, platform.Greeter), s.Publish(modest, platform.Greeter)
	for range 12 {
		s.Start(greedy, a, object{})
	}
	s.Start(modest, b, object{})
	handedOut := func(limit, share int) (ofA, ofB int64) {
		t.Helper()
		due, err := s.App.Store.LeaseRuns(t.Context(), limit, share, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range due {
			if s.Number(`SELECT agent_id FROM runs WHERE id = $1`, d.ID) == a {
				ofA++
			} else {
				ofB++
			}
		}
		return ofA, ofB
	}
	for i, want := range []struct {
		limit, share int
		ofA, ofB     int64
	}{
		{2, 5, 1, 1},  // a turn each
		{20, 5, 4, 0}, // up to the share
		{20, 5, 0, 0}, // which is had
		{20, 9, 4, 0},
	} {
		if ofA, ofB := handedOut(want.limit, want.share); ofA != want.ofA || ofB != want.ofB {
			t.Errorf("%d: %d and %d were handed out, want %d and %d", i, ofA, ofB, want.ofA, want.ofB)
		}
	}
}

// TestLapsedRunsKeepTheirTurn: while the queue is slow, leases end before their runs are taken up; it
// is the same ones that are handed out again, and no more.
func TestLapsedRunsKeepTheirTurn(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.RootAs("builder")
	agent := s.Publish(token, platform.Greeter)
	for range 12 {
		s.Start(token, agent, object{})
	}
	var first []db.DueRun
	for range 3 {
		due, err := s.App.Store.LeaseRuns(t.Context(), 256, 3, time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(due, func(a, b db.DueRun) int { return cmp.Compare(a.ID, b.ID) })
		if first == nil {
			first = due
		}
		if len(due) != 3 || !slices.Equal(due, first) {
			t.Errorf("%v, then %v", first, due)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestWaitingIsNotRunning: the minutes of a run are counted from when a worker takes it up, and all
// of an account's runs have their turn.
func TestWaitingIsNotRunning(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.NoDemoMails()
	token := s.RootAs("builder")
	agent := s.Publish(token, platform.Greeter)
	var keys []string
	for range 100 {
		keys = append(keys, s.Start(token, agent, object{"name": "Ada"}))
	}
	s.SQL(`UPDATE runs SET created_at = now() - interval '11 minutes', due_at = now() - interval '11 minutes'`)
	s.Work(nil)
	for _, key := range keys {
		if got := s.Poll(token, key); got.Status != 200 {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	}
}
