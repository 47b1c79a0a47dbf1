package search

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"canopy/internal/share"
)

const (
	// turnPlaces is how many contexts a process copies at the same time. One branch alone gets half of the places: a context that takes hours keeps no
	// other's from being followed.
	turnPlaces = 4
	// goingPlaces are as many for contexts that are gone: what is to be forgotten waits for no context that takes hours.
	goingPlaces = 4
	// faultRest is how long a context waits that could not be copied.
	faultRest = 30 * time.Second
)

// working are the contexts whose copies this process is at.
type working struct {
	mu sync.Mutex
	// at has for each what is closed when it has ended, rests until when it waits.
	at     map[int64]chan struct{}
	rests  map[int64]time.Time
	turn   int
	faults atomic.Int64
}

// next gives another number below n each time.
func (w *working) next(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.turn++
	return w.turn % max(1, n)
}

// enter takes up a context, unless this process is at it, or waits after a fault.
func (w *working) enter(id int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, is := w.at[id]; is || time.Now().Before(w.rests[id]) {
		return false
	}
	if w.at == nil {
		w.at, w.rests = map[int64]chan struct{}{}, map[int64]time.Time{}
	}
	delete(w.rests, id)
	w.at[id] = make(chan struct{})
	return true
}

func (w *working) leave(id int64, failed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.at[id])
	delete(w.at, id)
	if failed {
		w.rests[id] = time.Now().Add(faultRest)
		w.faults.Add(1)
	}
}

// any gives what is closed when one of them has ended; nil where there is none.
func (w *working) any() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ended := range w.at {
		return ended
	}
	return nil
}

// begin does something with the copy of a context beside all else, if there is a place for it now; otherwise a later look finds it. The account is 0 where
// there is none any more.
func (e *Engine) begin(ctx context.Context, id, account int64, do func(context.Context) error) {
	c := &e.copies
	if !c.working.enter(id) {
		return
	}
	places, branch, err := c.going, int64(0), error(nil)
	if account != 0 {
		places = c.turns
		branch, err = e.store.BranchOfAccount(ctx, account)
	}
	if err != nil { // as where it is gone: the next look sees it
		c.working.leave(id, false)
		return
	}
	if !places.TryEnter(branch) {
		c.working.leave(id, false)
		return
	}
	go func() {
		defer places.Leave(branch)
		err := share.Guard(func() error { return do(ctx) })
		failed := err != nil && ctx.Err() == nil
		if failed {
			slog.WarnContext(ctx, "the vectors of a context are not copied", "context", id, "error", err, "pause", faultRest)
		}
		c.working.leave(id, failed)
	}()
}

// AwaitCopies waits until this process is at no copy any more, or ctx ends.
func (e *Engine) AwaitCopies(ctx context.Context) {
	for {
		ended := e.copies.working.any()
		if ended == nil {
			return
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return
		}
	}
}
