package limit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// pace is that of guessing: the first failures are free, then each one doubles the wait before the
// next try, from firstWait to longest, and a quiet time forgives them all.
type pace struct {
	free             int
	longest, forgive time.Duration
}

const firstWait = time.Second

var (
	onePace = pace{free: 5, longest: 5 * time.Minute, forgive: 15 * time.Minute}
	// sharedPace takes more, as the failures of one are not the others'.
	sharedPace = pace{free: 30, longest: 5 * time.Minute, forgive: 15 * time.Minute}
	// crowdPace is slower in the long run: a crowd has all day.
	crowdPace = pace{free: 30, longest: 15 * time.Minute, forgive: 24 * time.Hour}
)

// maxRecords bounds the keys that a process remembers.
const maxRecords = 100_000

// maxOpen bounds the tries of a key that are under way at once in a process: guesses made side by
// side, before the first of them has failed, are otherwise as many as fit.
const maxOpen = 16

// Throttle slows guessing down, by any key: an address, an account. It counts in its own process
// and, where there is a Redis, together with the others, so that it never stands open. Keys are
// kept as hashes: they name people.
type Throttle struct {
	redis   redis.UniversalClient
	pace    pace
	breaker breaker

	mu     sync.Mutex
	counts map[string]record
	open   map[string]int
}

// record is what is known of a key.
type record struct {
	failures int
	last     time.Time
}

// wait is how long the next try has to wait.
func (p pace) wait(r record, now time.Time) time.Duration {
	if r.failures < p.free || now.Sub(r.last) > p.forgive {
		return 0
	}
	pause := min(firstWait<<min(r.failures-p.free, 20), p.longest)
	return max(0, r.last.Add(pause).Sub(now))
}

// places is how many tries may be under way at once: one, when the free failures are used up.
func (p pace) places(r record, now time.Time) int {
	if r.failures < p.free || now.Sub(r.last) > p.forgive {
		return max(maxOpen, p.free)
	}
	return 1
}

// NewThrottle makes a throttle for keys that are one person's, which waits for Redis for as long as patience says; a nil
// client leaves it to its own process.
func NewThrottle(client redis.UniversalClient, patience time.Duration) *Throttle {
	return newThrottle(client, patience, onePace)
}

// NewAddressThrottle makes a throttle for keys that many people share, such as the address of an
// office: it takes far more failures.
func NewAddressThrottle(client redis.UniversalClient, patience time.Duration) *Throttle {
	return newThrottle(client, patience, sharedPace)
}

// NewCrowdThrottle makes a throttle for keys that anybody can fail for, such as a person's account: it takes
// more failures, and forgets them after a day.
func NewCrowdThrottle(client redis.UniversalClient, patience time.Duration) *Throttle {
	return newThrottle(client, patience, crowdPace)
}

func newThrottle(client redis.UniversalClient, patience time.Duration, p pace) *Throttle {
	return &Throttle{
		redis: client, pace: p, breaker: breaker{patience: patience}, counts: map[string]record{}, open: map[string]int{},
	}
}

// Wait is how long the next try has to wait, by the worst of the keys; 0 lets it begin. A try that
// has begun is under way until ctx ends, which is to be the context of that one try.
func (t *Throttle) Wait(ctx context.Context, keys ...string) (wait time.Duration) {
	names := namesOf(keys)
	shared := t.shared(ctx, names)
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, name := range names {
		own := t.counts[name]
		wait = max(wait, t.pace.wait(own, now), t.pace.wait(shared[i], now))
		if t.open[name] >= min(t.pace.places(own, now), t.pace.places(shared[i], now)) {
			wait = max(wait, firstWait)
		}
	}
	if wait == 0 {
		t.begin(ctx, names)
	}
	return wait
}

// begin takes a place for a try until its context ends. The caller holds mu.
func (t *Throttle) begin(ctx context.Context, names []string) {
	for _, name := range names {
		t.open[name]++
	}
	context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, name := range names {
			if t.open[name]--; t.open[name] == 0 {
				delete(t.open, name)
			}
		}
	})
}

// Fail counts a failed try against each key.
func (t *Throttle) Fail(ctx context.Context, keys ...string) {
	names, now := namesOf(keys), time.Now()
	t.mu.Lock()
	for _, name := range names {
		r := t.counts[name]
		if now.Sub(r.last) > t.pace.forgive {
			r = record{}
		}
		if len(t.counts) >= maxRecords {
			t.forget(now)
		}
		t.counts[name] = record{r.failures + 1, now}
	}
	t.mu.Unlock()
	t.share(ctx, names, now)
}

// Succeed forgives the failures of each key.
func (t *Throttle) Succeed(ctx context.Context, keys ...string) {
	names := namesOf(keys)
	t.mu.Lock()
	for _, name := range names {
		delete(t.counts, name)
	}
	t.mu.Unlock()
	t.pipeline(ctx, func(ctx context.Context, p redis.Pipeliner) {
		for _, name := range names {
			p.Del(ctx, name)
		}
	})
}

// forget makes room: what no longer counts goes, and any tenth of all if that is not enough. The
// caller holds mu.
func (t *Throttle) forget(now time.Time) {
	for name, r := range t.counts {
		if now.Sub(r.last) > t.pace.forgive {
			delete(t.counts, name)
		}
	}
	for name := range t.counts {
		if len(t.counts) < maxRecords*9/10 {
			return
		}
		delete(t.counts, name)
	}
}

func namesOf(keys []string) []string {
	names := make([]string, len(keys))
	for i, key := range keys {
		sum := sha256.Sum256([]byte(key))
		names[i] = "canopy:throttle:" + hex.EncodeToString(sum[:16])
	}
	return names
}
