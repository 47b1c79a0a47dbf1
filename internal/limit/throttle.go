package limit

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// The pace of guessing: the first failures are free, then each one doubles the wait before the
// next try, and a quiet time forgives them all.
const (
	freeFailures = 5
	firstWait    = time.Second
	longestWait  = 5 * time.Minute
	forgiveAfter = 15 * time.Minute
	maxRecords   = 100_000
)

// Throttle slows guessing down, by any key: an address, an account. It counts in its own process
// and, where there is a Redis, together with the others, so that it never stands open.
type Throttle struct {
	redis redis.UniversalClient

	mu     sync.Mutex
	counts map[string]record
}

type record struct {
	failures int
	last     time.Time
}

// NewThrottle makes a throttle; a nil client leaves it to its own process.
func NewThrottle(client redis.UniversalClient) *Throttle {
	return &Throttle{redis: client, counts: map[string]record{}}
}

func (r record) wait(now time.Time) time.Duration {
	if r.failures < freeFailures || now.Sub(r.last) > forgiveAfter {
		return 0
	}
	pause := min(firstWait<<min(r.failures-freeFailures, 20), longestWait)
	return max(0, r.last.Add(pause).Sub(now))
}

// Wait is how long the next try has to wait, by the worst of the keys; 0 lets it go on.
func (t *Throttle) Wait(ctx context.Context, keys ...string) (wait time.Duration) {
	now := time.Now()
	for _, k := range keys {
		t.mu.Lock()
		own := t.counts[k]
		t.mu.Unlock()
		wait = max(wait, own.wait(now), t.shared(ctx, k).wait(now))
	}
	return wait
}

// Fail counts a failed try against each key.
func (t *Throttle) Fail(ctx context.Context, keys ...string) {
	now := time.Now()
	for _, k := range keys {
		t.mu.Lock()
		r := t.counts[k]
		if now.Sub(r.last) > forgiveAfter {
			r = record{}
		}
		if len(t.counts) >= maxRecords {
			t.forget(now)
		}
		t.counts[k] = record{r.failures + 1, now}
		t.mu.Unlock()
		t.share(ctx, k, now)
	}
}

// Succeed forgives the failures of each key.
func (t *Throttle) Succeed(ctx context.Context, keys ...string) {
	for _, k := range keys {
		t.mu.Lock()
		delete(t.counts, k)
		t.mu.Unlock()
		if t.redis != nil {
			ctx, cancel := context.WithTimeout(ctx, patience)
			_ = t.redis.Del(ctx, name(k)).Err() // it is forgiven here in any case
			cancel()
		}
	}
}

// forget drops the records that no longer count and, if need be, any others.
func (t *Throttle) forget(now time.Time) {
	for k, r := range t.counts {
		if now.Sub(r.last) > forgiveAfter || len(t.counts) >= maxRecords {
			delete(t.counts, k)
		}
	}
}

func name(key string) string { return "canopy:throttle:" + key }

func (t *Throttle) shared(ctx context.Context, key string) record {
	if t.redis == nil {
		return record{}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var got struct {
		Failures int   `redis:"failures"`
		Last     int64 `redis:"last"`
	}
	if t.redis.HGetAll(ctx, name(key)).Scan(&got) != nil {
		return record{}
	}
	return record{got.Failures, time.UnixMilli(got.Last)}
}

func (t *Throttle) share(ctx context.Context, key string, now time.Time) {
	if t.redis == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, _ = t.redis.Pipelined(ctx, func(p redis.Pipeliner) error { // counted here in any case
		p.HIncrBy(ctx, name(key), "failures", 1)
		p.HSet(ctx, name(key), "last", now.UnixMilli())
		p.PExpire(ctx, name(key), forgiveAfter)
		return nil
	})
}
