// Package share divides what a process can do at the same time among those who want it, so that nobody
// who wants much keeps others waiting.
package share

import (
	"context"
	"errors"
	"sync"
)

// Gate has places, and gives whoever is counted under a key one more while it has fewer than are free. So
// one alone has half of the places, a second half of the rest, and whoever comes then still finds one:
// what was begun is not taken away again, however long it takes. What becomes free goes to those who
// have fewest, and among them to who has waited longest. It is safe for concurrent use.
type Gate[K comparable] struct {
	// most bounds those who wait; 0 is no bound.
	most int

	mu      sync.Mutex
	places  int
	free    int
	has     map[K]int
	waiting map[K][]*waiter
	waiters int
	arrived uint64
}

// waiter is one that waits. Its channel is sent what comes of that, once.
type waiter struct {
	arrival uint64
	outcome chan error
}

// ErrFull says that too many wait already.
var ErrFull = errors.New("too many wait for a place")

// NewGate makes a gate of so many places. One alone gets half of them.
func NewGate[K comparable](places int) *Gate[K] { return NewBoundedGate[K](places, 0) }

// NewBoundedGate makes a gate where no more than most wait. When one more comes, who has waited longest of the
// key with the most that wait is refused, and of a key the newest go first: a key that asks for more than
// there is has some served soon and others refused, and not all of them too late.
func NewBoundedGate[K comparable](places, most int) *Gate[K] {
	return &Gate[K]{most: most, places: places, free: places, has: map[K]int{}, waiting: map[K][]*waiter{}}
}

// Enter takes a place, which Leave gives back, and waits for it. Errors are the context's, and ErrFull.
func (g *Gate[K]) Enter(ctx context.Context, key K) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g.mu.Lock()
	if g.take(key) {
		g.mu.Unlock()
		return nil
	}
	w := g.queue(key)
	g.mu.Unlock()
	select {
	case err := <-w.outcome:
		return err
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case err := <-w.outcome: // at the last moment
		if err == nil {
			g.leave(key)
		}
	default:
		g.forget(key, w)
	}
	return ctx.Err()
}

// TryEnter takes a place if that needs no waiting.
func (g *Gate[K]) TryEnter(key K) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.take(key)
}

// Leave gives a place back.
func (g *Gate[K]) Leave(key K) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leave(key)
}

// Busy tells that more than a quarter of the places are taken, half of what one alone gets.
func (g *Gate[K]) Busy() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.free < g.places-g.places/4
}

// take takes a place where the key may have one more.
func (g *Gate[K]) take(key K) bool {
	if g.has[key] >= g.free {
		return false
	}
	g.has[key]++
	g.free--
	return true
}

func (g *Gate[K]) leave(key K) {
	if g.has[key]--; g.has[key] == 0 {
		delete(g.has, key)
	}
	g.free++
	for {
		next, w := g.next()
		if w == nil || !g.take(next) {
			return
		}
		g.forget(next, w)
		w.outcome <- nil
	}
}

// next is whose turn it is: of the keys that have fewest, the one that has waited longest.
func (g *Gate[K]) next() (key K, first *waiter) {
	for k, list := range g.waiting {
		if first != nil && (g.has[k] > g.has[key] || g.has[k] == g.has[key] && list[0].arrival > g.waiting[key][0].arrival) {
			continue
		}
		if key, first = k, list[0]; g.most > 0 {
			first = list[len(list)-1]
		}
	}
	return key, first
}

// queue makes one wait, and room for it.
func (g *Gate[K]) queue(key K) *waiter {
	g.arrived++
	w := &waiter{g.arrived, make(chan error, 1)}
	g.waiting[key] = append(g.waiting[key], w)
	if g.waiters++; g.most > 0 && g.waiters > g.most {
		longest := key
		for k, list := range g.waiting {
			if len(list) > len(g.waiting[longest]) {
				longest = k
			}
		}
		refused := g.waiting[longest][0]
		g.forget(longest, refused)
		refused.outcome <- ErrFull
	}
	return w
}

// forget ends a wait.
func (g *Gate[K]) forget(key K, w *waiter) {
	list := g.waiting[key]
	for i := range list {
		if list[i] == w {
			list = append(list[:i:i], list[i+1:]...)
			g.waiters--
			break
		}
	}
	if g.waiting[key] = list; len(list) == 0 {
		delete(g.waiting, key)
	}
}
