package limit

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"canopy/internal/devstack/devtest"
)

// patientThrottle is one that a busy machine does not take from its Redis.
func patientThrottle(client redis.UniversalClient) *Throttle {
	return NewThrottle(client, 10*time.Second)
}

// try asks to begin a try, which ends at once.
func try(t testing.TB, throttle *Throttle, keys ...string) time.Duration {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	return throttle.Wait(ctx, keys...)
}

func fail(t testing.TB, throttle *Throttle, times int, keys ...string) {
	t.Helper()
	for range times {
		throttle.Fail(t.Context(), keys...)
	}
}

func TestThrottlePace(t *testing.T) {
	for _, c := range []struct {
		failures int
		wait     time.Duration
	}{
		{0, 0},
		{1, 0},
		{4, 0},
		{5, time.Second},
		{6, 2 * time.Second},
		{7, 4 * time.Second},
		{13, 256 * time.Second},
		{14, onePace.longest},
		{15, onePace.longest},
		{100, onePace.longest},
		{100_000, onePace.longest},
	} {
		t.Run(fmt.Sprint(c.failures), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				throttle := NewThrottle(nil, Patience)
				fail(t, throttle, c.failures, "k")
				if got := try(t, throttle, "k"); got != c.wait {
					t.Errorf("the next try has to wait %v, not %v", got, c.wait)
				}
				if c.wait == 0 {
					return
				}
				time.Sleep(c.wait - time.Millisecond)
				if got := try(t, throttle, "k"); got != time.Millisecond {
					t.Errorf("a millisecond early: %v", got)
				}
				time.Sleep(time.Millisecond)
				if got := try(t, throttle, "k"); got != 0 {
					t.Errorf("in time: %v", got)
				}
			})
		})
	}
}

// Of a crowd, more failures are free, and fewer in the long run: a quiet hour forgives nothing.
func TestThrottlePaceOfACrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		throttle := NewCrowdThrottle(nil, Patience)
		tries := 0
		for begun := time.Now(); time.Since(begun) < 24*time.Hour; {
			if wait := try(t, throttle, "k"); wait > 0 {
				time.Sleep(wait)
				continue
			}
			tries++
			fail(t, throttle, 1, "k")
		}
		if tries < 100 || tries > 150 {
			t.Errorf("%d tries in a day", tries)
		}
		time.Sleep(time.Hour)
		fail(t, throttle, 1, "k")
		if got := try(t, throttle, "k"); got != crowdPace.longest {
			t.Errorf("after an hour and one more failure: %v", got)
		}
		time.Sleep(crowdPace.forgive + time.Second)
		if got := try(t, throttle, "k"); got != 0 {
			t.Errorf("after a quiet day: %v", got)
		}
	})
}

func TestThrottleForgives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		throttle := NewThrottle(nil, Patience)
		fail(t, throttle, 10, "a", "b")
		throttle.Succeed(t.Context(), "a")
		if got := try(t, throttle, "a"); got != 0 {
			t.Errorf("after a success: %v", got)
		}
		if got := try(t, throttle, "b"); got == 0 {
			t.Error("the other key was forgiven too")
		}
		if got := try(t, throttle, "a", "b"); got != try(t, throttle, "b") {
			t.Errorf("both: %v, which is not the worse of the two", got)
		}
		time.Sleep(onePace.forgive + time.Second)
		if got := try(t, throttle, "b"); got != 0 {
			t.Errorf("after a quiet time: %v", got)
		}
		fail(t, throttle, 1, "b")
		if got := try(t, throttle, "b"); got != 0 {
			t.Errorf("the first failure after it: %v", got)
		}
	})
}

// Guesses side by side are not more than a few, and one alone when there have been failures.
func TestThrottleBoundsTriesAtOnce(t *testing.T) {
	for failures, want := range map[int]int{0: maxOpen, onePace.free - 1: maxOpen, onePace.free: 1} {
		t.Run(fmt.Sprint(failures), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				throttle := NewThrottle(nil, Patience)
				fail(t, throttle, failures, "k")
				time.Sleep(onePace.longest)
				ctx, cancel := context.WithCancel(t.Context())
				begun := 0
				for range 10 * maxOpen {
					if throttle.Wait(ctx, "k") == 0 {
						begun++
					}
				}
				if begun != want {
					t.Errorf("%d tries began at once, not %d", begun, want)
				}
				if got := try(t, throttle, "another"); got != 0 {
					t.Errorf("another key waits %v", got)
				}
				cancel()
				synctest.Wait()
				if got := try(t, throttle, "k"); got != 0 {
					t.Errorf("after their end: %v", got)
				}
				synctest.Wait()
				if len(throttle.open) != 0 {
					t.Errorf("%v are left open", throttle.open)
				}
			})
		})
	}
}

func TestThrottleIsShared(t *testing.T) {
	s := devtest.RedisServer(t)
	client := s.Client()
	a, b := patientThrottle(client), patientThrottle(s.Client())
	fail(t, a, onePace.free-1, "account:ann@example.com")
	if got := try(t, b, "account:ann@example.com"); got != 0 {
		t.Errorf("after the free failures: %v", got)
	}
	fail(t, b, 3, "account:ann@example.com")
	if got := try(t, b, "account:ann@example.com"); got < time.Second || got > 4*time.Second {
		t.Errorf("failures in two processes: %v; b's own are three", got)
	}
	keys, err := client.Keys(t.Context(), "*").Result()
	if err != nil || len(keys) != 1 || strings.Contains(keys[0], "ann") {
		t.Errorf("Redis has the keys %v, %v", keys, err)
	}
	if ttl := client.PTTL(t.Context(), keys[0]).Val(); ttl <= 0 || ttl > onePace.forgive {
		t.Errorf("the key lives for %v", ttl)
	}
	b.Succeed(t.Context(), "account:ann@example.com")
	if got := try(t, b, "account:ann@example.com"); got != 0 {
		t.Errorf("after a success: %v", got)
	}
}

func TestThrottleWithoutRedis(t *testing.T) {
	for _, c := range []struct {
		name string
		away func(*devtest.OwnRedis)
	}{{"stopped", (*devtest.OwnRedis).Kill}, {"frozen", (*devtest.OwnRedis).Freeze}} {
		t.Run(c.name, func(t *testing.T) {
			s := devtest.RedisServer(t)
			throttle := NewThrottle(s.Client(), Patience)
			fail(t, throttle, 3, "k")
			c.away(s)
			begun := time.Now()
			fail(t, throttle, 5, "k")
			wait := try(t, throttle, "k")
			if took := time.Since(begun); took > 5*Patience {
				t.Errorf("six calls took %v", took)
			}
			if wait < 4*time.Second || wait > 8*time.Second {
				t.Errorf("eight failures, five of them without Redis: %v", wait)
			}
		})
	}
}

// A client that hangs up before the answer has failed all the same.
func TestThrottleCountsWhoHangsUp(t *testing.T) {
	s := devtest.RedisServer(t)
	a, b := patientThrottle(s.Client()), patientThrottle(s.Client())
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range onePace.free {
		a.Fail(gone, "k")
	}
	for name, throttle := range map[string]*Throttle{"own": a, "other": b} {
		if try(t, throttle, "k") == 0 {
			t.Errorf("nothing was counted in the %s process", name)
		}
	}
}

func TestThrottleMemoryIsBounded(t *testing.T) {
	throttle := NewThrottle(nil, Patience)
	for i := range maxRecords + 10 {
		throttle.Fail(t.Context(), fmt.Sprint(i))
	}
	if n := len(throttle.counts); n > maxRecords || n < maxRecords*9/10 {
		t.Errorf("%d records are kept", n)
	}
	for name, r := range throttle.counts {
		r.last = time.Now().Add(-2 * onePace.forgive)
		throttle.counts[name] = r
	}
	throttle.mu.Lock()
	throttle.forget(time.Now())
	throttle.mu.Unlock()
	if n := len(throttle.counts); n != 0 {
		t.Errorf("%d forgiven records are kept", n)
	}
}

// Many guess at the same time, each as soon as it may: together they get no further than the free
// failures and the places that were open then.
func TestThrottleStorm(t *testing.T) {
	throttle := patientThrottle(devtest.RedisServer(t).Client())
	var guesses atomic.Int64
	var group sync.WaitGroup
	for range 64 {
		group.Go(func() {
			for range 5 {
				ctx, cancel := context.WithCancel(t.Context())
				if throttle.Wait(ctx, "k") == 0 {
					guesses.Add(1)
					throttle.Fail(ctx, "k")
				}
				cancel()
			}
		})
	}
	group.Wait()
	if n := guesses.Load(); n < int64(onePace.free) || n > int64(onePace.free)+maxOpen {
		t.Errorf("%d guesses were made", n)
	}
}
