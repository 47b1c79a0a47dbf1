package jobs

import (
	"context"
	"maps"
	"time"

	"canopy/db"
	"canopy/internal/share"
	"canopy/outbox"
)

// pokeAgain is how long the relay waits before it tells the queue once more of a destination
// where the same delivery is still the first one due: its lane is full, or the task was lost.
const pokeAgain = time.Second

// lookPause is the least time between two looks that are asked for, however often: about as long as one takes where very much is pending.
const lookPause = 10 * time.Millisecond

// deliveryRelay tells the queue of the destinations with something due: of those that it hears of, and of all that it finds when
// it looks by itself, every so often. Their deliveries stay where they are until a worker has room for them.
type deliveryRelay struct {
	*relay
	poked map[int64]poke
	// due are those that wait to be told of, each once.
	due   share.Turns[int64, db.DueDestination]
	known map[int64]bool
	// asked: there is more to look at. whole: all is to be looked at from the first destination on, as somebody could not tell what is due.
	// looked is when the relay looked last.
	asked, whole bool
	looked       time.Time
}

// poke is what the queue was told of a destination, and when.
type poke struct {
	oldest time.Time
	at     time.Time
}

// covers tells that whoever takes the news up finds what was due then, as it was when the queue was told.
func (p poke) covers(due time.Time) bool { return due.Equal(p.oldest) || due.Before(p.at) }

func newDeliveryRelay(r *relay) *deliveryRelay {
	return &deliveryRelay{relay: r, poked: map[int64]poke{}, known: map[int64]bool{}}
}

// watch tells the queue what it hears of until ctx ends. A fault is told, and what was heard is forgotten: it is found when the relay
// looks the next time.
func (r *deliveryRelay) watch(ctx context.Context) {
	news, pace := r.bus.Subscribe(ctx, outbox.DueTopic), time.NewTicker(relayEvery)
	defer pace.Stop()
	now := make(chan struct{})
	close(now)
	r.handOn(ctx, r.look)
	for ctx.Err() == nil {
		wait := r.advance(ctx)
		var more <-chan struct{} // nobody waits for one that is nil
		var soon <-chan time.Time
		if !r.due.Empty() {
			more = now
		}
		if wait > 0 {
			soon = time.After(wait)
		}
		select {
		case <-ctx.Done():
		case <-more:
		case <-soon:
		case <-pace.C:
			r.handOn(ctx, r.look)
		case message, open := <-news:
			if !open { // the bus has ended
				news = nil
				continue
			}
			r.hear(message)
		}
	}
}

// advance looks where that was asked for, and tells the queue of one destination. wait is how long it is until the relay may look, where
// it was asked to.
func (r *deliveryRelay) advance(ctx context.Context) (wait time.Duration) {
	if r.asked {
		if wait = lookPause - time.Since(r.looked); wait <= 0 {
			r.handOn(ctx, r.look)
		}
	}
	if !r.due.Empty() {
		r.handOn(ctx, r.pokeNext)
	}
	return wait
}

func (r *deliveryRelay) handOn(ctx context.Context, do func(context.Context) error) {
	if err := do(ctx); err != nil && ctx.Err() == nil {
		r.due.Clear()
		clear(r.known)
		r.log.WarnContext(ctx, "the relay could not hand on its rows", "outbox", queueWebhooks, "error", err)
	}
}

// hear takes up what others have written down.
func (r *deliveryRelay) hear(message []byte) {
	told := outbox.Due(message)
	for _, d := range told {
		r.add(db.DueDestination{Destined: d, Oldest: time.Now()})
	}
	if len(told) == 0 {
		r.asked, r.whole = true, true
	}
}

// look takes up the next destinations with something due, but for those that the queue knows of. It is asked for again until all were looked at.
func (r *deliveryRelay) look(ctx context.Context) error {
	defer func() { r.looked = time.Now() }()
	r.asked = false
	found, err := r.store.LookForDue(ctx)
	if err != nil {
		return err
	}
	r.whole = r.whole && !found.First
	r.asked = found.More || r.whole
	now := time.Now()
	maps.DeleteFunc(r.poked, func(_ int64, p poke) bool { return now.Sub(p.at) >= pokeAgain })
	for _, d := range found.Due {
		if last, known := r.poked[d.ID]; !known || !last.covers(d.Oldest) {
			r.add(d)
		}
	}
	return nil
}

// pokeNext tells the queue of the destination whose turn it is.
func (r *deliveryRelay) pokeNext(ctx context.Context) error {
	d := r.next()
	t, err := deliverTask(d)
	if err != nil {
		return err
	}
	if _, err := r.client.EnqueueContext(ctx, t); err != nil {
		return err
	}
	// Every worker's relay hears of what is due: each rings at home.
	r.ringHere(queueWebhooks)
	r.poked[d.ID] = poke{d.Oldest, time.Now()}
	return nil
}

// add has a destination wait for its turn, unless it does already.
func (r *deliveryRelay) add(d db.DueDestination) {
	if !r.known[d.ID] {
		r.known[d.ID] = true
		r.due.Add(d.BranchID, d)
	}
}

// next takes the destination whose turn it is; there must be one.
func (r *deliveryRelay) next() db.DueDestination {
	_, d, _ := r.due.Next(func(int64) bool { return false })
	delete(r.known, d.ID)
	return d
}
