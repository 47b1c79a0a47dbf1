package share

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// enter takes as many places as there are for a key.
func enter(g *Gate[string], key string) (n int) {
	for g.TryEnter(key) {
		n++
	}
	return n
}

func TestEachFindsAPlace(t *testing.T) {
	g := NewGate[string](16)
	for _, c := range []struct {
		key  string
		want int
	}{{"a", 8}, {"a", 0}, {"b", 4}, {"c", 2}, {"d", 1}, {"e", 1}, {"f", 0}} {
		if got := enter(g, c.key); got != c.want {
			t.Errorf("%s gets %d places, want %d", c.key, got, c.want)
		}
	}
	if !g.Busy() {
		t.Error("not busy")
	}
}

// order lets some come to a gate where one place is free, then frees the others one at a time and gives
// the order in which they are served.
func order(t *testing.T, g *Gate[string], arrivals ...string) (served []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		for g.TryEnter("other") || g.TryEnter("others") || g.TryEnter("more") {
		}
		var mu sync.Mutex
		for _, name := range arrivals {
			go func() {
				err := g.Enter(t.Context(), name[:1])
				mu.Lock()
				defer mu.Unlock()
				if errors.Is(err, ErrFull) {
					name += " refused"
				} else if err != nil {
					t.Error(err)
				}
				served = append(served, name)
			}()
			synctest.Wait()
		}
		for _, key := range []string{"other", "others", "more"} {
			for g.count(key) > 0 {
				g.Leave(key)
				synctest.Wait()
			}
		}
	})
	return served
}

func (g *Gate[K]) count(key K) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.has[key]
}

func TestWhoHasFewestGoesFirst(t *testing.T) {
	got := order(t, NewGate[string](8), "a1", "a2", "a3", "b1", "b2", "c1")
	if want := []string{"a1", "b1", "c1"}; !slices.Equal(got[:3], want) {
		t.Errorf("served are %v, want first %v", got, want)
	}
}

func TestBoundedGateRefusesWhoWantsMost(t *testing.T) {
	got := order(t, NewBoundedGate[string](8, 4), "a1", "a2", "a3", "b1", "a4", "a5", "c1")
	if want := []string{"a1", "a2 refused", "a3 refused", "b1", "c1", "a5", "a4"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestWhoGivesUpLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate[string](2)
		if !g.TryEnter("a") || !g.TryEnter("b") {
			t.Fatal("no place")
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- g.Enter(ctx, "c") }()
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		g.Leave("a")
		g.Leave("b")
		if g.free != 2 || len(g.has) != 0 || len(g.waiting) != 0 || g.waiters != 0 {
			t.Errorf("%+v", g)
		}
	})
}

// Whatever is done, places are neither lost nor made, nobody has more than half, and nobody waits who
// could have a place.
func TestGateKeepsItsBooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.IntRange(1, 9).Draw(t, "places")
		g := NewGate[int](places)
		had := map[int]int{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			key := rapid.IntRange(0, 3).Draw(t, "key")
			if rapid.Bool().Draw(t, "leave") && had[key] > 0 {
				g.Leave(key)
				had[key]--
			} else if could := had[key] < g.free; g.TryEnter(key) != could {
				t.Fatalf("%d has %d of %d", key, had[key], places)
			} else if could {
				had[key]++
			}
			sum := 0
			for k, n := range had {
				if sum += n; n > (places+1)/2 || g.has[k] != n {
					t.Fatalf("%d has %d of %d", k, n, places)
				}
			}
			if g.free != places-sum {
				t.Fatalf("%d are free, %d taken", g.free, sum)
			}
		}
	})
}
