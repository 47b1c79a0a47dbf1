package share

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var errRefused = errors.New("refused")

// counting notes what it is given together, takes a second for it, and refuses all of it for one that is odd.
type counting struct {
	mu   sync.Mutex
	done [][]int
}

func (c *counting) work() Work[int] {
	return Work[int]{
		Do: func(ctx context.Context, items []int) error {
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return ctx.Err()
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, n := range items {
				switch {
				case n < 0:
					panic(n)
				case n%2 != 0:
					return errRefused
				}
			}
			c.done = append(c.done, slices.Sorted(slices.Values(items)))
			return nil
		},
		Refused: func(err error) bool { return errors.Is(err, errRefused) },
	}
}

// TestBatchesTakeWhoeverComesMeanwhile: the first goes ahead alone, others together, with those of another key beside them; and what is
// done is done once.
func TestBatchesTakeWhoeverComesMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Batches[string, int]
		var c counting
		var wg sync.WaitGroup
		begin := time.Now()
		do := func(key string, n int, after time.Duration) {
			wg.Go(func() {
				if err := b.Do(t.Context(), key, n, c.work()); err != nil || time.Since(begin) != after {
					t.Errorf("%s %d: %v after %v, not %v", key, n, err, time.Since(begin), after)
				}
			})
			synctest.Wait()
		}
		do("a", 2, time.Second)
		do("a", 4, 2*time.Second)
		do("a", 6, 2*time.Second)
		do("b", 8, time.Second)
		for n := range mostInBatch {
			do("c", 10*(n+1), min(time.Duration(n+1), 2)*time.Second)
		}
		do("c", 10000, 2*time.Second)
		do("c", 20000, 3*time.Second)
		wg.Wait()
		synctest.Wait()
		all := slices.Concat(c.done...)
		if len(all) != 4+mostInBatch+2 || len(slices.Compact(slices.Sorted(slices.Values(all)))) != len(all) {
			t.Errorf("done: %v", c.done)
		}
		if len(b.underway) != 0 {
			t.Errorf("%d are remembered", len(b.underway))
		}
	})
}

// TestBatchesFailForWhomTheyMust: one that is refused, or panics, is nobody else's fault; whoever gives up leaves the others; and of an error
// after which something may have been done everybody hears.
func TestBatchesFailForWhomTheyMust(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Batches[string, int]
		var c counting
		var wg sync.WaitGroup
		do := func(ctx context.Context, n int, want error, work Work[int]) {
			wg.Go(func() {
				if err := b.Do(ctx, "", n, work); !errors.Is(err, want) {
					t.Errorf("%d: %v, not %v", n, err, want)
				}
			})
			synctest.Wait()
		}
		impatient, cancel := context.WithCancel(t.Context())
		do(t.Context(), 2, nil, c.work())
		do(impatient, 4, context.Canceled, c.work())
		do(t.Context(), 6, nil, c.work())
		do(t.Context(), 7, errRefused, c.work())
		do(t.Context(), 8, nil, c.work())
		cancel()
		wg.Wait()
		if want := [][]int{{2}, {6}, {8}}; !slices.EqualFunc(c.done, want, slices.Equal) {
			t.Errorf("done: %v", c.done)
		}
		unsure := errors.New("nobody knows")
		lost := Work[int]{Do: func(context.Context, []int) error { time.Sleep(time.Second); return unsure }, Refused: c.work().Refused}
		for n := range 3 {
			do(t.Context(), n, unsure, lost)
		}
		wg.Wait()
		synctest.Wait()
		wg.Go(func() {
			if err := b.Do(t.Context(), "", 10, c.work()); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if err := b.Do(t.Context(), "", -1, c.work()); err == nil {
				t.Error("a panic is no error")
			}
		})
		wg.Wait()
	})
}
