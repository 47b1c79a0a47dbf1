package resolvers

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestRepeatEnds: what is stopped while it is being done is not done again, as a claim that has ended is not extended.
func TestRepeatEnds(t *testing.T) {
	for name, during := range map[string]bool{"while it is done": true, "in between": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				times := 0
				stop := repeat(t.Context(), time.Second, func(ctx context.Context) bool {
					times++
					if during {
						<-ctx.Done() // as a statement that waits for a row
					}
					return true
				})
				time.Sleep(1500 * time.Millisecond)
				stop()
				time.Sleep(time.Minute)
				if times != 1 {
					t.Errorf("done %d times", times)
				}
			})
		})
	}
}

// TestRepeatGoesOn until it is told that it need not be done again.
func TestRepeatGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		times := 0
		stop := repeat(t.Context(), time.Second, func(context.Context) bool {
			times++
			return times < 3
		})
		time.Sleep(time.Minute)
		stop()
		if times != 3 {
			t.Errorf("done %d times", times)
		}
	})
}
