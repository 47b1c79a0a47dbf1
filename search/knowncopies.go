package search

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"canopy/db"
	"canopy/db/pgvector"
	"canopy/internal/pgconn"
)

const (
	// knowEvery is how often a process that searches looks which contexts have copies.
	knowEvery = 5 * time.Second
	// copyRest is how long the copy of one context is left alone with which something is wrong.
	copyRest = 5 * time.Second
)

// knownCopies are the contexts that have copies, as far as this process knows. No search waits for that: a context that another process has copied is known
// after some seconds, and one whose copy is gone is found out when it is asked for. While their database can't be looked into no context counts as copied.
type knownCopies struct {
	mu sync.Mutex
	// ids is nil while nothing is known.
	ids map[int64]struct{}
	// words are the latest batches of those whose words are there.
	words map[int64]int64
	// noted are those that this process has copied since the look under way, or the last one, began, notedWords those whose words it has.
	noted      map[int64]struct{}
	notedWords map[int64]int64
	// resting are those whose copies are left alone until then.
	resting map[int64]time.Time
	// next is when the next look is due; away tells that the last one has failed, or what was asked since.
	next time.Time
	away bool
}

// has tells whether a context is known to have a copy that can be asked for. A look that is due is made beside the searches.
func (c *copies) has(ctx context.Context, contextID int64) bool {
	k := &c.known
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Now().After(k.next) {
		k.next = time.Now().Add(time.Hour) // until it has ended, there is no other
		go c.look(context.WithoutCancel(ctx))
	}
	if _, is := k.ids[contextID]; !is {
		return false
	}
	until, rests := k.resting[contextID]
	if rests && time.Now().After(until) {
		delete(k.resting, contextID)
		return true
	}
	return !rests
}

// wordBatch gives the latest batch of a context's words, as far as it is known; 0 where there is none that can be asked for.
func (c *copies) wordBatch(ctx context.Context, contextID int64) int64 {
	if !c.has(ctx, contextID) {
		return 0
	}
	c.known.mu.Lock()
	defer c.known.mu.Unlock()
	return c.known.words[contextID]
}

// look sees which contexts have copies.
func (c *copies) look(ctx context.Context) {
	k := &c.known
	k.mu.Lock()
	k.noted, k.notedWords = map[int64]struct{}{}, map[int64]int64{}
	k.mu.Unlock()
	held, err := within(ctx, c.Patience, c.store.All)
	var words map[int64]int64
	if err == nil {
		words, err = within(ctx, c.Patience, c.store.WordBatches)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.next = time.Now().Add(knowEvery)
	if err != nil {
		k.lost(ctx, err)
		return
	}
	if k.away {
		slog.InfoContext(ctx, "the database of vectors answers again")
	}
	k.away, k.ids = false, make(map[int64]struct{}, len(held))
	maps.Copy(k.ids, k.noted)
	k.words = make(map[int64]int64, len(words))
	maps.Copy(k.words, words)
	maps.Copy(k.words, k.notedWords)
	for _, h := range held {
		k.ids[h.Context] = struct{}{}
	}
}

// lost forgets all until the next look that succeeds, with k locked. It is told once.
func (k *knownCopies) lost(ctx context.Context, err error) {
	k.ids = nil
	if !k.away {
		slog.WarnContext(ctx, "the database of vectors fails: all vectors are compared until it answers", "error", err)
	}
	k.away = true
}

// failed leaves alone what has failed: the whole database where it does not answer, and otherwise the copy of the context. What the platform's
// own database does not answer says nothing of either.
func (c *copies) failed(ctx context.Context, contextID int64, err error, all bool) {
	if errors.Is(err, pgvector.ErrNone) || errors.Is(err, db.ErrAway) || ctx.Err() != nil {
		return
	}
	k := &c.known
	k.mu.Lock()
	defer k.mu.Unlock()
	if all || pgvector.Away(err) || errors.Is(err, pgconn.ErrConnect) {
		k.lost(ctx, err)
		return
	}
	if k.resting == nil {
		k.resting = map[int64]time.Time{}
	}
	k.resting[contextID] = time.Now().Add(copyRest)
	slog.WarnContext(ctx, "the copy of a context's vectors can't be searched: all are compared", "context", contextID, "error", err, "pause", copyRest)
}

// note knows of a copy that this process makes.
func (k *knownCopies) note(contextID int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.noted[contextID] = struct{}{}
	if k.ids != nil {
		k.ids[contextID] = struct{}{}
	}
}

// noteWords knows of the latest batch of words that this process has made.
func (k *knownCopies) noteWords(contextID, batch int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.notedWords[contextID] = batch
	if k.words != nil {
		k.words[contextID] = batch
	}
}

func (k *knownCopies) isAway() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.away
}
