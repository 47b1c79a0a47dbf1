package limit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"canopy/internal/devstack/devtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patient is a limiter that a busy machine does not take from its Redis.
func patient(client redis.UniversalClient) *Limiter {
	return New(client, 10*time.Second)
}

// inOneMinute lets a test begin where the clock's minute will not end under it.
func inOneMinute(t *testing.T, run func(t *testing.T, key string)) {
	t.Helper()
	if left := time.Until(time.Now().Truncate(window).Add(window)); left < 10*time.Second {
		<-time.After(left)
	}
	run(t, t.Name())
}

func TestAllow(t *testing.T) {
	l := patient(devtest.RedisServer(t).Client())
	type call struct {
		cost      int
		allowed   bool
		remaining int
	}
	for _, c := range []struct {
		name  string
		limit int
		calls []call
	}{
		{"one by one", 3, []call{{1, true, 2}, {1, true, 1}, {1, true, 0}, {1, false, 0}, {1, false, 0}}},
		{"by cost", 10, []call{{4, true, 6}, {6, true, 0}, {1, false, 0}}},
		{"what is refused costs nothing", 10, []call{{8, true, 2}, {5, false, 2}, {2, true, 0}, {1, false, 0}}},
		{"more than there can be", 10, []call{{11, false, 10}, {10, true, 0}}},
		{"nothing allowed", 0, []call{{1, false, 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inOneMinute(t, func(t *testing.T, key string) {
				for i, call := range c.calls {
					got, err := l.Allow(t.Context(), "t", call.cost, Budget{key, c.limit})
					if err != nil || got.Allowed != call.allowed || got.Remaining != call.remaining {
						t.Errorf("call %d: %+v, %v; want %+v", i, got, err, call)
					}
					if got.Allowed != (got.RetryAfter == 0) || got.RetryAfter < 0 || got.RetryAfter > window {
						t.Errorf("call %d: try again after %v", i, got.RetryAfter)
					}
				}
			})
		})
	}
}

func TestAllowCountsEachKeyAndForgets(t *testing.T) {
	client := devtest.RedisServer(t).Client()
	l := patient(client)
	inOneMinute(t, func(t *testing.T, key string) {
		for _, k := range []string{key + "a", key + "b"} {
			if got, err := l.Allow(t.Context(), "t", 1, Budget{k, 1}); err != nil || !got.Allowed {
				t.Errorf("%s: %+v, %v", k, got, err)
			}
		}
	})
	keys, err := client.Keys(t.Context(), "*").Result()
	if err != nil || len(keys) != 2 {
		t.Fatalf("there are the keys %v, %v", keys, err)
	}
	for _, k := range keys {
		if ttl := client.PTTL(t.Context(), k).Val(); ttl <= 0 || ttl > 2*window {
			t.Errorf("%s lives for %v", k, ttl)
		}
	}
}

// Two processes together never let more through than the limit.
func TestAllowTogether(t *testing.T) {
	s := devtest.RedisServer(t)
	limiters := []*Limiter{patient(s.Client()), patient(s.Client())}
	const limit = 100
	inOneMinute(t, func(t *testing.T, key string) {
		var allowed atomic.Int64
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				for range 50 {
					got, err := limiters[i%2].Allow(t.Context(), "t", 1, Budget{key, limit})
					if err != nil {
						t.Error(err)
					}
					if got.Allowed {
						allowed.Add(1)
					}
				}
			})
		}
		group.Wait()
		if allowed.Load() != limit {
			t.Errorf("%d of %d were allowed", allowed.Load(), limit)
		}
	})
}

func TestAllowWithoutRedis(t *testing.T) {
	if got, err := New(nil, Patience).Allow(t.Context(), "t", 1, Budget{"k", 0}); err != nil || !got.Allowed {
		t.Errorf("with no client: %+v, %v", got, err)
	}
	for _, c := range []struct {
		name       string
		away, back func(*devtest.OwnRedis)
	}{
		{"stopped", (*devtest.OwnRedis).Kill, (*devtest.OwnRedis).Start},
		{"frozen", (*devtest.OwnRedis).Freeze, (*devtest.OwnRedis).Thaw},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := devtest.RedisServer(t)
			l := New(s.Client(), Patience)
			devtest.Eventually(t, "the limit counts", func() bool { // a busy machine may be slow to connect
				got, err := l.Allow(t.Context(), "t", 1, Budget{"k", 1000})
				return err == nil && got.Allowed
			})
			c.away(s)
			begun := time.Now()
			for i := range 1000 {
				got, err := l.Allow(t.Context(), "t", 1, Budget{"k", 1000})
				if !got.Allowed || !errors.Is(err, ErrAway) {
					t.Fatalf("call %d: %+v, %v", i, got, err)
				}
			}
			if took := time.Since(begun); took > 2*time.Second {
				t.Errorf("1000 calls took %v", took)
			}
			c.back(s)
			devtest.Eventually(t, "the limit counts again", func() bool {
				got, err := l.Allow(t.Context(), "t", 1, Budget{"k", 0})
				return err == nil && !got.Allowed
			})
		})
	}
}

// A caller that hangs up says nothing of Redis: it must not open the limits for the others.
func TestAllowWhenTheCallerHangsUp(t *testing.T) {
	l := patient(devtest.RedisServer(t).Client())
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 10 {
		if _, err := l.Allow(gone, "t", 1, Budget{"k", 1}); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	if got, err := l.Allow(t.Context(), "t", 1, Budget{"k", 0}); err != nil || got.Allowed {
		t.Errorf("the next one: %+v, %v", got, err)
	}
}

// While Redis is away, of many callers at the same time one pays for the look-up.
func TestBreakerLetsOneThrough(t *testing.T) {
	s := devtest.RedisServer(t)
	l := New(s.Client(), Patience)
	s.Freeze()
	if _, err := l.Allow(t.Context(), "t", 1, Budget{"k", 1}); !errors.Is(err, ErrAway) {
		t.Fatal(err)
	}
	l.breaker.restUntil.Store(time.Now().UnixNano())
	var paid atomic.Int64
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			_, err := l.Allow(t.Context(), "t", 1, Budget{"k", 1})
			if errors.Is(err, context.DeadlineExceeded) {
				paid.Add(1)
			}
		})
	}
	group.Wait()
	if paid.Load() != 1 {
		t.Errorf("%d paid", paid.Load())
	}
}

func BenchmarkAllow(b *testing.B) {
	s := devtest.RedisServer(b)
	for name, l := range map[string]*Limiter{"redis": New(s.Client(), Patience), "away": New(s.Client(), Patience)} {
		b.Run(name, func(b *testing.B) {
			if name == "away" {
				l.breaker.restUntil.Store(time.Now().Add(time.Hour).UnixNano())
			}
			for i := 0; b.Loop(); i++ {
				_, _ = l.Allow(b.Context(), "t", 1, Budget{fmt.Sprint(i % 100), 1 << 30})
			}
		})
	}
}

// TestSharedMinutes: what another place has counted takes from the budget here, and what is told is what was counted here alone.
func TestSharedMinutes(t *testing.T) {
	client := devtest.RedisServer(t).Client()
	here, there := patient(client), patient(devtest.RedisServer(t).Client())
	inOneMinute(t, func(t *testing.T, name string) {
		ctx, most := t.Context(), 200
		spend := func(l *Limiter, cost, remaining int) {
			t.Helper()
			d, err := l.Allow(ctx, "b", cost, Budget{name, most})
			if err != nil || d.Remaining != remaining {
				t.Errorf("after %d: %+v, %v; want %d to be left", cost, d, err, remaining)
			}
		}
		spend(here, 1, 199)
		if keys, _, err := here.Spent(ctx); err != nil || len(keys) > 0 {
			t.Errorf("tells %v, %v though nobody else counts", keys, err)
		}
		here.Share()
		there.Share()
		if _, err := there.Allow(ctx, "b", 1, Budget{"hardly used", 101}); err != nil {
			t.Fatal(err)
		}
		spend(there, 150, 50)
		tell := func(from, to *Limiter) {
			t.Helper()
			keys, counts, err := from.Spent(ctx)
			if err != nil || len(keys) != 1 {
				t.Fatalf("tells %v, %v", keys, err)
			}
			if err := to.SpentElsewhere(ctx, append(keys, "other"), append(counts, 1)); err != nil {
				t.Fatal(err)
			}
		}
		tell(there, here)
		tell(there, here) // the same again is no more
		spend(here, 9, 40)
		tell(here, there)
		spend(there, 41, 40) // 10 are gone here
		spend(there, 40, 0)
		if n := here.Count(ctx, "b", name); n != 160 {
			t.Errorf("counted 160 together, and tells %d", n)
		}
		if n, err := client.Exists(ctx, "other"+elsewhere).Result(); err != nil || n != 0 {
			t.Errorf("a key that is no count was written: %d, %v", n, err)
		}
	})
}
