package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"canopy/internal/devstack/devtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// busOn is a process of its own, as far as buses are concerned.
func busOn(t *testing.T, s *devtest.OwnRedis) *Bus {
	b := New(s.Client(), slog.New(slog.NewTextHandler(os.Stderr, nil)))
	t.Cleanup(b.Close)
	return b
}

func next(t *testing.T, c <-chan []byte) string {
	t.Helper()
	select {
	case got, open := <-c:
		if !open {
			t.Fatal("the subscription is closed")
		}
		return string(got)
	case <-time.After(time.Minute):
		t.Fatal("no message came")
		return ""
	}
}

// connect waits until what one bus publishes reaches the other.
func connect(t *testing.T, from, to *Bus) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	probe := to.Subscribe(ctx, "probe")
	devtest.Eventually(t, "the buses are connected", func() bool {
		from.Publish(ctx, "probe", nil)
		select {
		case <-probe:
			return true
		default:
			return false
		}
	})
}

func TestBetweenProcesses(t *testing.T) {
	s := devtest.RedisServer(t)
	a, b := busOn(t, s), busOn(t, s)
	connect(t, a, b)
	connect(t, b, a)
	own, other := a.Subscribe(t.Context(), "x"), b.Subscribe(t.Context(), "x")
	elsewhere := b.Subscribe(t.Context(), "y")

	// The end mark comes last, so everything before it has come, or never will.
	payloads := []string{"1", "", "two\nlines", "\x00\xff", "end"}
	for _, p := range payloads {
		a.Publish(t.Context(), "x", []byte(p))
	}
	for name, c := range map[string]<-chan []byte{"own": own, "other": other} {
		for _, want := range payloads {
			if got := next(t, c); got != want {
				t.Errorf("%s process: got %q, want %q", name, got, want)
			}
		}
	}
	// What a has published went through Redis before what b publishes now: had it come back to a's
	// subscriber, it would be first.
	b.Publish(t.Context(), "x", []byte("from b"))
	if got := next(t, own); got != "from b" {
		t.Errorf("got %q, which came back through Redis", got)
	}
	a.Publish(t.Context(), "y", []byte("for y"))
	if got := next(t, elsewhere); got != "for y" {
		t.Errorf("a message of another topic came: %q", got)
	}
}

func TestRedisGoesAndComesBack(t *testing.T) {
	s := devtest.RedisServer(t)
	a, b := busOn(t, s), busOn(t, s)
	connect(t, a, b)
	own, other := a.Subscribe(t.Context(), "x"), b.Subscribe(t.Context(), "x")

	s.Kill()
	begun := time.Now()
	for range 10 {
		a.Publish(t.Context(), "x", []byte("alone"))
	}
	if took := time.Since(begun); took > 500*time.Millisecond {
		t.Errorf("publishing took %v without Redis", took)
	}
	for range 10 {
		if got := next(t, own); got != "alone" {
			t.Errorf("got %q", got)
		}
	}

	s.Start()
	devtest.Eventually(t, "subscriptions made before live again", func() bool {
		a.Publish(t.Context(), "x", []byte("back"))
		for {
			select {
			case got := <-other:
				if string(got) == "back" {
					return true
				}
			default:
				return false
			}
		}
	})
}

// A server that holds the connection and says nothing is the worst of those that are away.
func TestRedisIsFrozen(t *testing.T) {
	s := devtest.RedisServer(t)
	a, b := busOn(t, s), busOn(t, s)
	connect(t, a, b)
	own := a.Subscribe(t.Context(), "x")
	s.Freeze()
	begun := time.Now()
	for range 2 * outgoing {
		a.Publish(t.Context(), "x", nil)
	}
	if took := time.Since(begun); took > time.Second {
		t.Errorf("publishing %d messages took %v", 2*outgoing, took)
	}
	next(t, own)
	begun = time.Now()
	a.Close()
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("closing took %v", took)
	}
}

// TestCloseSendsWhatWaits: who publishes and ends at once is heard.
func TestCloseSendsWhatWaits(t *testing.T) {
	s := devtest.RedisServer(t)
	a := patient(s.Client(), slog.New(slog.NewTextHandler(os.Stderr, nil)), time.Minute)
	t.Cleanup(a.Close)
	b := busOn(t, s)
	connect(t, a, b)
	other := b.Subscribe(t.Context(), "x")
	for i := range 100 {
		a.Publish(t.Context(), "x", fmt.Append(nil, i))
	}
	a.Close()
	for i := range 100 {
		if got := next(t, other); got != fmt.Sprint(i) {
			t.Fatalf("got %q in place of %d", got, i)
		}
	}
}

func TestStartsWithoutRedis(t *testing.T) {
	s := devtest.RedisServer(t)
	s.Kill()
	a, b := busOn(t, s), busOn(t, s)
	own := a.Subscribe(t.Context(), "x")
	a.Publish(t.Context(), "x", []byte("1"))
	if got := next(t, own); got != "1" {
		t.Errorf("got %q", got)
	}
	s.Start()
	connect(t, a, b)
}

// Without a client the bus is one process's, and its clock can be a test's.
func local(t *testing.T) *Bus {
	b := New(nil, slog.New(slog.DiscardHandler))
	t.Cleanup(b.Close)
	return b
}

func TestSlowSubscriberLosesTheOldest(t *testing.T) {
	b := local(t)
	slow, quick := b.Subscribe(t.Context(), "x"), b.Subscribe(t.Context(), "x")
	const sent = buffered + 10
	for i := range sent {
		b.Publish(t.Context(), "x", fmt.Append(nil, i))
		if got := next(t, quick); got != fmt.Sprint(i) {
			t.Fatalf("the quick one got %q in place of %d", got, i)
		}
	}
	for i := sent - buffered; i < sent; i++ {
		if got := next(t, slow); got != fmt.Sprint(i) {
			t.Fatalf("the slow one got %q in place of %d", got, i)
		}
	}
	if len(slow) != 0 {
		t.Errorf("the slow one has %d more", len(slow))
	}
}

// TestFollowersAreToldOfWhatTheyMiss: a slow follower gets all until it is too far behind, and then hears that it is.
func TestFollowersAreToldOfWhatTheyMiss(t *testing.T) {
	b := local(t)
	slow, quick := b.Follow(t.Context(), 1, "x", "y"), b.Follow(t.Context(), 1, "x")
	take := func(q *Queue) string {
		t.Helper()
		select {
		case <-q.Ready():
		default:
			t.Fatal("nothing is told")
		}
		message, err := q.Take()
		if err != nil {
			return err.Error()
		}
		return string(message)
	}
	for i := range queued + 10 {
		b.Publish(t.Context(), "x", fmt.Append(nil, i))
		if got := take(quick); got != fmt.Sprint(i) {
			t.Fatalf("the quick one got %q in place of %d", got, i)
		}
	}
	for i := range queued {
		if got := take(slow); got != fmt.Sprint(i) {
			t.Fatalf("the slow one got %q in place of %d", got, i)
		}
	}
	b.Publish(t.Context(), "y", []byte("later"))
	for range 2 {
		if got := take(slow); got != ErrBehind.Error() {
			t.Errorf("the slow one got %q", got)
		}
	}
	b.Publish(t.Context(), "x", []byte("last"))
	b.Close()
	for _, want := range []string{"last", ErrClosed.Error()} {
		if got := take(quick); got != want {
			t.Errorf("at the end the quick one got %q, want %q", got, want)
		}
	}
}

// TestManyThatAreBehind: where too much waits in all, the longest queues of the owner for whom most wait end, and nobody else's; what is ended or left no longer counts.
func TestManyThatAreBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := local(t)
		b.behind.most = 1000
		ctx, cancel := context.WithCancel(t.Context())
		behind := func(q *Queue) bool { return errors.Is(q.err, ErrBehind) }
		small := b.Follow(ctx, 1, "small")
		for range 240 {
			b.Publish(ctx, "small", nil)
		}
		var many []*Queue
		for range 100 {
			many = append(many, b.Follow(ctx, 2, "many"))
		}
		furthest := b.Follow(ctx, 2, "many", "more")
		for range 5 {
			b.Publish(ctx, "more", nil)
		}
		for range 7 {
			b.Publish(ctx, "many", nil) // 240 + 5 + 7 * 101
		}
		if behind(furthest) || b.behind.total != 952 {
			t.Fatalf("somebody has ended with %d", b.behind.total)
		}
		b.Publish(ctx, "many", nil)
		if !behind(furthest) || len(furthest.list) != 0 {
			t.Errorf("who is furthest behind is not told: %v", furthest.err)
		}
		for range 50 {
			b.Publish(ctx, "many", nil)
		}
		ended := 0
		for _, q := range many {
			if behind(q) {
				ended++
			}
		}
		if behind(small) || len(small.list) != 240 || ended < 50 || ended == len(many) || b.behind.total > 1000 {
			t.Errorf("the other owner's has %d (%v), and of these %d have ended; %d are left", len(small.list), small.err, ended, b.behind.total)
		}
		if _, err := small.Take(); err != nil || b.behind.total > 999 {
			t.Errorf("%v, and %d are left", err, b.behind.total)
		}
		cancel()
		synctest.Wait()
		if b.behind.total != 0 || len(b.behind.owners) != 0 {
			t.Errorf("%d are left, of %v", b.behind.total, b.behind.owners)
		}
	})
}

func TestSubscriptionEnds(t *testing.T) {
	closed := func(t *testing.T, c <-chan []byte) {
		t.Helper()
		synctest.Wait()
		select {
		case _, open := <-c:
			if open {
				t.Error("a message came")
			}
		default:
			t.Error("it is still open")
		}
	}
	for _, c := range []struct {
		name string
		end  func(*Bus, context.CancelFunc)
	}{
		{"with its context", func(_ *Bus, cancel context.CancelFunc) { cancel() }},
		{"with the bus", func(b *Bus, _ context.CancelFunc) { b.Close() }},
		{"with both", func(b *Bus, cancel context.CancelFunc) { cancel(); b.Close() }},
		{"with the bus, then its context", func(b *Bus, cancel context.CancelFunc) { b.Close(); cancel(); b.Close() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := local(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				subscription := b.Subscribe(ctx, "x")
				c.end(b, cancel)
				closed(t, subscription)
				b.Publish(t.Context(), "x", nil)
				if len(b.topics) != 0 {
					t.Errorf("topics are left: %v", b.topics)
				}
			})
		})
	}
	t.Run("at once on a closed bus", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := local(t)
			b.Close()
			closed(t, b.Subscribe(t.Context(), "x"))
		})
	})
}

func TestManyAtOnce(t *testing.T) {
	b := local(t)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			topic := fmt.Sprint(i % 2)
			for range 200 {
				ctx, cancel := context.WithCancel(t.Context())
				c := b.Subscribe(ctx, topic)
				b.Publish(ctx, topic, []byte(topic))
				if got := string(<-c); got != topic {
					t.Errorf("got %q of the topic %s", got, topic)
				}
				cancel()
				for range c { // until it is closed
				}
			}
		})
	}
	group.Wait()
}

func BenchmarkPublish(b *testing.B) {
	bus := New(nil, slog.New(slog.DiscardHandler))
	defer bus.Close()
	for range 10 {
		bus.Subscribe(b.Context(), "x")
	}
	for b.Loop() {
		bus.Publish(b.Context(), "x", nil)
	}
}
