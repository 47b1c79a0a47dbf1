package app

import (
	"errors"
	"testing"
	"time"

	"canopy/db"
	"canopy/internal/devstack/devtest"
	"canopy/internal/problem"
)

// TestWhenCellsRefuse: callers are refused while there may be revocations that the cell should know of, also by a process that has just started, and where the home went away
// when the replica was late already; a home that does not answer is no reason, but where it is to be one.
func TestWhenCellsRefuse(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ago := func(s int) time.Time { return now.Add(-time.Duration(s) * time.Second) }
	waits := func(s int) []asked { return []asked{{pulse: 7, at: ago(s)}} }
	for name, c := range map[string]struct {
		watch        *homeWatch
		refuses, too bool // too: with strict
	}{
		"all is well":                       {&homeWatch{heard: ago(1), fresh: ago(1)}, false, false},
		"a little late":                     {&homeWatch{heard: ago(1), fresh: ago(12), asked: waits(10)}, false, false},
		"late":                              {&homeWatch{heard: ago(1), fresh: ago(42), asked: waits(40)}, true, true},
		"late, and then the home went away": {&homeWatch{heard: ago(100), fresh: ago(150), asked: waits(140)}, true, true},
		"the home went away with its last change":   {&homeWatch{heard: ago(100), fresh: ago(101), asked: waits(100)}, false, true},
		"the home has just gone away":               {&homeWatch{heard: ago(10), fresh: ago(10)}, false, false},
		"it is back, and its changes are under way": {&homeWatch{heard: ago(1), fresh: ago(3600), asked: waits(2)}, false, false},
		"begun while the home is away":              {&homeWatch{}, false, true},
		"begun, and nothing has arrived":            {&homeWatch{heard: ago(1), asked: waits(1)}, true, true},
		"begun, and then the home went away":        {&homeWatch{heard: ago(50), asked: waits(51)}, true, true},
	} {
		for strict, want := range map[bool]bool{false: c.refuses, true: c.too} {
			w := &homeWatch{heard: c.watch.heard, fresh: c.watch.fresh, asked: c.watch.asked, begun: ago(200), most: 30 * time.Second, strict: strict}
			err := w.refuses()
			if (err != nil) != want {
				t.Errorf("%s, strict %t: %v", name, strict, err)
			}
			var p *problem.Error
			if err != nil && (!errors.As(err, &p) || p.Status() != 503 || p.Reason != "late") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestLateIsRemembered: a process that begins while the home is away lets nobody in where the replica was late when another one heard the home last, until the replica has what it lacked then.
func TestLateIsRemembered(t *testing.T) {
	t.Parallel()
	client := devtest.RedisServer(t).Client()
	begin := func(replica int64) *homeWatch {
		w := &homeWatch{most: 30 * time.Second, begun: time.Now(), notes: client}
		devtest.Check(t, w.remember(t.Context()))
		w.arrived(replica)
		return w
	}
	if err := begin(100).refuses(); err != nil {
		t.Errorf("where nothing is noted: %v", err)
	}
	w := begin(100)
	now := time.Now()
	for _, a := range []struct {
		pulse int64
		ago   time.Duration
	}{{100, 60 * time.Second}, {110, 50 * time.Second}, {120, 40 * time.Second}, {130, 20 * time.Second}, {140, 0}} {
		w.answered(db.Answer{Pulse: a.pulse, Kept: true}, now.Add(-a.ago))
		w.arrived(100)
		devtest.Check(t, w.note(t.Context()))
	}
	for replica, refuses := range map[int64]bool{100: true, 119: true, 120: false, 140: false} {
		if err := begin(replica).refuses(); (err != nil) != refuses {
			t.Errorf("begun at %d: %v", replica, err)
		}
	}
	w.arrived(140)
	devtest.Check(t, w.note(t.Context()))
	if err := begin(100).refuses(); err != nil {
		t.Errorf("once it is late no more: %v", err)
	}
}

// TestHomeGoesBack: a replica that is ahead of its home, as that was restored from a backup, has nothing of what the home counts until it is joined anew, also once the home has counted as far; one that
// is ahead by a moment is as it should be.
func TestHomeGoesBack(t *testing.T) {
	t.Parallel()
	w := &homeWatch{most: 30 * time.Second, begun: time.Now()}
	look := func(replica, home int64) error {
		w.arrived(replica)
		w.answered(db.Answer{Pulse: home, Kept: true}, time.Now())
		w.arrived(replica)
		return w.refuses()
	}
	for _, c := range []struct {
		replica, home int64
		refuses       bool
	}{{100, 100, false}, {101, 100, false}, {100, 50, true}, {100, 51, true}, {100, 99, true}, {100, 101, true}, {60, 60, false}, {61, 61, false}} {
		if err := look(c.replica, c.home); (err != nil) != c.refuses {
			t.Errorf("at %d, with the home at %d: %v", c.replica, c.home, err)
		}
	}
}

// TestWhatReplicasLack: what was made at the home may be missing until the replica is known to be as far, however the two clocks differ.
func TestWhatReplicasLack(t *testing.T) {
	t.Parallel()
	w := &homeWatch{}
	if !w.lacks(time.Unix(0, 0)) {
		t.Error("a replica of which nothing is known lacks nothing")
	}
	w.fresh = time.Now()
	for ago, want := range map[time.Duration]bool{-time.Second: true, 0: true, 59 * time.Second: true, 61 * time.Second: false} {
		if got := w.lacks(w.fresh.Add(-ago)); got != want {
			t.Errorf("made %v before: %t", ago, got)
		}
	}
}
