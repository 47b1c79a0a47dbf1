package share

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestNoAnswerIsOlderThanItsQuestion asks for a clock's time, which takes a second to tell what it was at the beginning.
func TestNoAnswerIsOlderThanItsQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var group Together[string, time.Time]
		var asked atomic.Int64
		read := func(context.Context) (time.Time, error) {
			asked.Add(1)
			at := time.Now()
			time.Sleep(time.Second)
			return at, t.Context().Err()
		}
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 33 * time.Millisecond)
				before := time.Now()
				at, err := group.Ask(t.Context(), "clock", read)
				if err != nil || at.Before(before) || time.Since(before) > 2*time.Second {
					t.Errorf("%d: %v after the question, answered after %v: %v", i, at.Sub(before), time.Since(before), err)
				}
			})
		}
		wg.Wait()
		if n := asked.Load(); n > 6 {
			t.Errorf("asked %d times in 3.3 seconds", n)
		}
		synctest.Wait()
		if len(group.underway) != 0 {
			t.Errorf("%d are remembered", len(group.underway))
		}
	})
}

// TestWhoeverGivesUpLeavesTheOthers: neither one that waits nor the first of a round takes the answer from others.
func TestWhoeverGivesUpLeavesTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var group Together[int, string]
		answer := func(ctx context.Context) (string, error) {
			select {
			case <-time.After(time.Second):
				return "yes", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
		impatient, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		ask := func(ctx context.Context, want string, wantErr error) {
			wg.Go(func() {
				if got, err := group.Ask(ctx, 1, answer); got != want || !errors.Is(err, wantErr) {
					t.Errorf("%q %v, want %q %v", got, err, want, wantErr)
				}
			})
			synctest.Wait()
		}
		ask(impatient, "", context.Canceled) // alone
		ask(impatient, "", context.Canceled) // the first of the next round
		ask(t.Context(), "yes", nil)         // with the one before
		ask(context.Background(), "yes", nil)
		cancel()
		wg.Wait()
		if got, err := group.Ask(t.Context(), 2, answer); got != "yes" || err != nil {
			t.Error(got, err)
		}
	})
}
