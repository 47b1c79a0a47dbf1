package search

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"canopy/db"
	"canopy/db/pgvector"
	"canopy/internal/access"
	"canopy/internal/devstack/devtest"
	"canopy/internal/pgconn"
	"canopy/internal/share"
)

// TestOneCopyHoldsNoOther: a context that takes long to copy is begun once, and holds neither the next one nor who asks for it.
func TestOneCopyHoldsNoOther(t *testing.T) {
	t.Parallel()
	e := &Engine{}
	e.copies.going = share.NewGate[int64](goingPlaces)
	long, begun, other := make(chan struct{}), 0, make(chan struct{})
	for range 2 {
		e.begin(t.Context(), 1, 0, func(context.Context) error {
			begun++
			<-long
			return nil
		})
	}
	e.begin(t.Context(), 2, 0, func(context.Context) error {
		close(other)
		return errors.New("a fault")
	})
	<-other
	for e.copies.working.faults.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	e.begin(t.Context(), 2, 0, func(context.Context) error { panic("it has just failed") })
	waiting, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	e.AwaitCopies(waiting)
	if waiting.Err() == nil {
		t.Error("the long one is not waited for")
	}
	close(long)
	e.AwaitCopies(t.Context())
	if begun != 1 {
		t.Errorf("it was begun %d times", begun)
	}
}

// TestWhatIsGoneIsForgottenAtOnce: while all places are those of contexts that take long, a context that is gone is forgotten all the same.
func TestWhatIsGoneIsForgottenAtOnce(t *testing.T) {
	t.Parallel()
	e := &Engine{}
	e.copies.turns, e.copies.going = share.NewGate[int64](turnPlaces), share.NewGate[int64](goingPlaces)
	taken := 0
	for branch := range int64(2 * turnPlaces) {
		for e.copies.turns.TryEnter(branch) {
			taken++
		}
	}
	if taken != turnPlaces {
		t.Fatalf("%d places are taken", taken)
	}
	forgotten := false
	e.begin(t.Context(), 1, 0, func(context.Context) error {
		forgotten = true
		return nil
	})
	e.AwaitCopies(t.Context())
	if !forgotten {
		t.Error("it is held for as long as the others take")
	}
}

// TestOneCopysFaultIsItsOwn: what is wrong with one copy leaves the others to be searched, until the whole database does not answer.
func TestOneCopysFaultIsItsOwn(t *testing.T) {
	t.Parallel()
	c := &copies{known: knownCopies{ids: map[int64]struct{}{1: {}, 2: {}}, next: time.Now().Add(time.Hour)}}
	both := func(when string, first, second bool) {
		t.Helper()
		if a, b := c.has(t.Context(), 1), c.has(t.Context(), 2); a != first || b != second {
			t.Errorf("%s: %v and %v", when, a, b)
		}
	}
	both("at first", true, true)
	c.failed(t.Context(), 1, errors.New("of one statement"), false)
	both("after a fault of one", false, true)
	c.known.resting[1] = time.Now().Add(-time.Second)
	both("after its rest", true, true)
	c.failed(t.Context(), 1, fmt.Errorf("%w: %w: refused", db.ErrAway, pgconn.ErrConnect), false)
	both("without the platform's own database", true, true)
	c.failed(t.Context(), 1, fmt.Errorf("%w: refused", pgconn.ErrConnect), false)
	both("away", false, false)
}

// TestSearchesWaitOnceForCopies: who has waited for a place as long as a search may wait does not begin to wait for what is found.
func TestSearchesWaitOnceForCopies(t *testing.T) {
	t.Parallel()
	silent := devtest.Must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0")) // it takes connections, and says nothing
	t.Cleanup(func() { _ = silent.Close() })
	store := devtest.Must[*pgvector.Store](t)(pgvector.Open("postgres://canopy@"+silent.Addr().String()+"/canopy?sslmode=disable", 1))
	e := &Engine{}
	e.copies.Copies, e.copies.store, e.copies.asks = Copies{Patience: time.Hour}, store, share.NewGate[int64](1)
	m := &copied{engine: e, row: &db.Context{ID: 1}, left: time.Millisecond}
	for _, ctx := range []context.Context{t.Context(), access.WithBranch(t.Context(), 1)} {
		if _, err := m.ask(ctx, pgvector.Ask{}); !errors.Is(err, errCopy) {
			t.Errorf("it finds: %v", err)
		}
	}
}
