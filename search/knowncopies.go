package search

import (
	"context"
	"slices"
	"sync"
	"time"
)

// knowEvery is how often a process that searches looks which contexts have copies.
const knowEvery = 5 * time.Second

// knownCopies are the contexts that have copies, as far as this process knows: a search of any other asks nothing of their database. One that another
// process has copied is known after some seconds, one that is gone is found out when it is asked for.
type knownCopies struct {
	mu sync.Mutex
	// ids is nil before the first look that has succeeded; err is that of the last one.
	ids map[int64]struct{}
	err error
	// noted are those that this process has copied since the look under way, or the last one, began.
	noted []int64
	// looked is closed when the last look has ended, next is when the next one is due.
	looked chan struct{}
	next   time.Time
}

// has tells whether a context is known to have a copy. Who asks first waits for the look; later ones are made beside the searches.
func (c *copies) has(ctx context.Context, contextID int64) (bool, error) {
	if looked, known := c.lookIfDue(ctx); !known {
		waiting, cancel := context.WithTimeout(ctx, copyPatience)
		defer cancel()
		select {
		case <-looked:
		case <-waiting.Done():
			return false, waiting.Err()
		}
	}
	k := &c.known
	k.mu.Lock()
	defer k.mu.Unlock()
	_, is := k.ids[contextID]
	if k.ids == nil {
		return false, k.err
	}
	return is, nil
}

// lookIfDue begins a look where one is due, and gives the last one. known tells that nobody has to wait for it.
func (c *copies) lookIfDue(ctx context.Context) (looked chan struct{}, known bool) {
	k := &c.known
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Now().After(k.next) {
		k.noted, k.looked = nil, make(chan struct{})
		k.next = time.Now().Add(time.Hour) // until it has ended, there is no other
		go c.look(context.WithoutCancel(ctx), k.looked)
	}
	return k.looked, k.ids != nil
}

// look sees which contexts have copies.
func (c *copies) look(ctx context.Context, looked chan struct{}) {
	defer close(looked)
	held, err := c.store.All(ctx)
	k := &c.known
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err = err; err == nil {
		k.ids = make(map[int64]struct{}, len(held))
		for _, id := range k.noted {
			k.ids[id] = struct{}{}
		}
		for _, h := range held {
			k.ids[h.Context] = struct{}{}
		}
	}
	k.next = time.Now().Add(knowEvery)
}

// note knows of a copy that this process makes.
func (k *knownCopies) note(contextID int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Contains(k.noted, contextID) {
		k.noted = append(k.noted, contextID)
	}
	if k.ids != nil {
		k.ids[contextID] = struct{}{}
	}
}
