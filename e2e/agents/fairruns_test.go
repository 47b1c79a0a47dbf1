package agents

import (
	"cmp"
	"net/http"
	"slices"
	"testing"
	"time"

	"canopy/db"
	"canopy/e2e/platform"
)

// spread moves an agent's runs to all accounts of agent builders in a branch: it makes them no less that branch's.
func spread(s *platform.Platform, agent int64, branch string) {
	s.T.Helper()
	s.SQL(`WITH builders AS (SELECT a.id, row_number() OVER (ORDER BY a.id) - 1 AS n, count(*) OVER () AS many FROM accounts a
			JOIN app_instances i ON i.id = a.app_instance_id JOIN applications p ON p.id = i.application_id
			JOIN customers c ON c.id = a.customer_id WHERE p.code = 'builder' AND $2 = ANY(c.lineage))
		UPDATE runs r SET account_id = b.id FROM builders b WHERE r.agent_id = $1 AND b.n = r.id % b.many`, agent, s.Customer(branch))
}

// TestRunsTakeTurns: however many runs of one branch wait, in however many companies, those of another
// are handed out beside them. A branch gets one more while it has fewer than there are places free.
func TestRunsTakeTurns(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	modest, greedy := s.RootAs("builder"), s.TokenOf(s.Customer("Alpine Energy"), "greta@alpine.example", "builder")
	a, b := s.Publish(greedy, platform.Greeter), s.Publish(modest, platform.Greeter)
	for range 30 {
		s.Start(greedy, a, object{})
	}
	spread(s, a, "Alpine Energy")
	if n := s.Number(`SELECT count(DISTINCT account_id) FROM runs`); n < 3 {
		t.Fatalf("the runs are in %d accounts", n)
	}
	handedOut := func(places int) (ofA, ofB int64) {
		t.Helper()
		due, err := s.App.Store.LeaseRuns(t.Context(), places, time.Minute)
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
	steps := []struct {
		what               string
		start, end, places int
		ofA, ofB           int64
	}{
		{what: "one alone gets half", places: 16, ofA: 8},
		{what: "and no more", places: 16},
		{what: "another gets half of the rest", start: 20, places: 16, ofB: 4},
		{what: "and no more", places: 16},
		{what: "of what becomes free who has fewer gets first", end: 3, places: 16, ofA: 1, ofB: 1},
		{what: "whoever that is", end: 2, places: 16, ofA: 2},
		{what: "more places are for both", places: 32, ofA: 5, ofB: 6},
	}
	for _, step := range steps {
		for range step.start {
			s.Start(modest, b, object{})
		}
		s.SQL(`UPDATE runs SET status = 'finished', finished_at = now() WHERE id IN (
			SELECT id FROM runs WHERE agent_id = $1 AND status = 'running' AND due_at > now() ORDER BY id LIMIT $2)`, a, step.end)
		if ofA, ofB := handedOut(step.places); ofA != step.ofA || ofB != step.ofB {
			t.Errorf("%s: %d and %d were handed out, want %d and %d", step.what, ofA, ofB, step.ofA, step.ofB)
		}
	}
}

// TestLongRunsKeepNobodyWaiting: while a branch has all the runs under way that it can have, in several
// companies, a run of another begins and ends.
func TestLongRunsKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	const atOnce, more = 64, 200
	begun, end := make(chan struct{}, atOnce+more), make(chan struct{})
	r := platform.NewReceiver(t, func(platform.Received, int) int {
		begun <- struct{}{}
		<-end
		return http.StatusOK
	})
	defer close(end)
	s := platform.Start(t, platform.DeliverLocally(t))
	s.NoDemoMails()
	modest, greedy := s.RootAs("builder"), s.TokenOf(s.Customer("Alpine Energy"), "greta@alpine.example", "builder")
	a, b := s.Publish(greedy, platform.PostingSteps(1, r.URL)), s.Publish(modest, platform.Greeter)
	for range atOnce + more {
		s.Start(greedy, a, object{"run": 1})
	}
	spread(s, a, "Alpine Energy")
	s.Work(nil)
	for range atOnce {
		<-begun
	}
	for range 3 {
		if got := s.Poll(modest, s.Start(modest, b, object{"name": "Ada"})); got.Status != http.StatusOK {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	}
	if n := s.Number(`SELECT count(*) FROM runs WHERE agent_id = $1 AND status <> 'running'`, a); n != 0 {
		t.Errorf("%d of the long runs have ended", n)
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
		due, err := s.App.Store.LeaseRuns(t.Context(), 6, time.Millisecond)
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
// of a branch's runs have their turn.
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
