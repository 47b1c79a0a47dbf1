package limit

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"canopy/internal/share"
)

const (
	// Patience is how long one look-up may take: little, as a request waits for it.
	Patience = 50 * time.Millisecond
	// rest is how long Redis is left alone after a look-up that failed.
	rest = time.Second
)

// ErrAway says that Redis could not be asked, or was left alone because it could not be asked a
// moment ago.
var ErrAway = errors.New("redis is away")

// breaker keeps callers from waiting, one by one, for a Redis that is away: after a failed look-up
// it lets one try through per rest, until one succeeds.
type breaker struct {
	// patience is how long one look-up may take.
	patience time.Duration
	// restUntil is when the next try is let through, in Unix nanoseconds; 0 lets all through.
	restUntil atomic.Int64
}

func (b *breaker) admits(now time.Time) bool {
	until := b.restUntil.Load()
	if until == 0 {
		return true
	}
	return now.UnixNano() >= until && b.restUntil.CompareAndSwap(until, now.Add(rest).UnixNano())
}

// ask makes one look-up and waits no longer than patience for it. A client may hold on to a socket
// beyond its context's end, so the look-up has a goroutine of its own, which is left behind then.
// Where the caller's own context ended, nothing is concluded about Redis: else a caller that hangs
// up could open the limits.
func ask[T any](ctx context.Context, b *breaker, look func(context.Context) (T, error)) (T, error) {
	var none T
	if !b.admits(time.Now()) {
		return none, ErrAway
	}
	type answer struct {
		value T
		err   error
	}
	bounded, cancel := context.WithTimeout(ctx, b.patience)
	defer cancel()
	answers := make(chan answer, 1)
	go func() {
		value, err := share.Guarded(func() (T, error) { return look(bounded) })
		answers <- answer{value, err}
	}()
	var got answer
	select {
	case got = <-answers:
	case <-bounded.Done():
		got.err = bounded.Err()
	}
	switch {
	case got.err == nil:
		if b.restUntil.Load() != 0 {
			b.restUntil.Store(0)
		}
		return got.value, nil
	case ctx.Err() != nil:
		return none, ctx.Err()
	}
	b.restUntil.Store(time.Now().Add(rest).UnixNano())
	return none, fmt.Errorf("%w: %w", ErrAway, got.err)
}
