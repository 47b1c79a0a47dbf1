package jobs

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"canopy/internal/bus"
	"canopy/internal/devstack/devtest"
	"canopy/internal/redisconn"
)

// TestLooksWaitForARing: a look into a queue that was empty waits until somebody rings, or has been patient for long enough; nothing else waits.
func TestLooksWaitForARing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := &relay{bus: bus.New(nil, slog.New(slog.DiscardHandler))}
		defer r.bus.Close()
		var found error = redis.Nil
		do := newBell(ctx, nil, r.bus, "runs").ProcessHook(func(context.Context, redis.Cmder) error { return found })
		took := func(args ...any) time.Duration {
			begun := time.Now()
			_ = do(ctx, redis.NewCmd(ctx, args...))
			return time.Since(begun)
		}
		look := []any{"evalsha", "0123", 4, "asynq:{runs}:pending", "asynq:{runs}:paused", "asynq:{runs}:active", "asynq:{runs}:lease"}
		expect := func(what string, want time.Duration) {
			t.Helper()
			if got := took(look...); got != want {
				t.Errorf("%s: a look took %v, not %v", what, got, want)
			}
		}
		expect("nobody has looked yet", 0)
		expect("the queue was empty", bellPatience)
		if got := took("evalsha", "4567", 4, "asynq:{runs}:active"); got != 0 {
			t.Errorf("another script took %v", got)
		}
		r.ringHere("mail")
		expect("another queue was rung for", bellPatience)
		r.ringHere("runs")
		r.ring(ctx, "runs")
		expect("it was rung meanwhile", 0)
		time.AfterFunc(time.Millisecond, func() { r.ring(ctx, "runs") })
		expect("it is rung while it waits", time.Millisecond)
		found = nil
		expect("the queue was empty", bellPatience)
		found = redis.Nil
		expect("there was a task", 0)
		cancel()
		synctest.Wait()
		expect("the worker stops", 0)
	})
}

// counting counts the looks of a server into its queue.
type counting struct {
	asynq.RedisConnOpt
	bell  bell // that knows a look
	looks *atomic.Int64
}

func (c counting) MakeRedisClient() any {
	made := c.RedisConnOpt.MakeRedisClient()
	made.(redis.UniversalClient).AddHook(c)
	return made
}

func (c counting) DialHook(next redis.DialHook) redis.DialHook { return next }
func (c counting) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (c counting) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if c.bell.looks(cmd) {
			c.looks.Add(1)
		}
		return next(ctx, cmd)
	}
}

// TestIdleServersAskLittle: the queue's own server waits, too, and takes up what is rung for.
func TestIdleServersAskLittle(t *testing.T) {
	const queue = "idle"
	looks := &atomic.Int64{}
	to, err := redisconn.Parse(devtest.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	b := bus.New(nil, slog.New(slog.DiscardHandler))
	defer b.Close()
	w := &Worker{Redis: counting{to, bell{pending: "asynq:{" + queue + "}:pending"}, looks}, Bus: b, Log: slog.New(slog.DiscardHandler)}
	done := make(chan struct{})
	server := w.server(t.Context(), line{queue: queue, atOnce: 1})
	if err := server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error { close(done); return nil })); err != nil {
		t.Fatal(err)
	}
	defer server.Shutdown()
	time.Sleep(2 * bellPatience)
	if n := looks.Load(); n == 0 || n > 8 {
		t.Errorf("%d looks in %v", n, 2*bellPatience)
	}
	client := asynq.NewClient(to)
	defer func() { _ = client.Close() }()
	if _, err := client.Enqueue(asynq.NewTask("any", nil), asynq.Queue(queue)); err != nil {
		t.Fatal(err)
	}
	b.PublishHere(bellTopic(queue), nil)
	<-done
}
