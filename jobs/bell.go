package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"canopy/internal/bus"
)

const (
	// bellPatience is how long an empty queue is left alone where nobody rings: a ring may be lost, and what is tried again rings not.
	bellPatience = time.Second
	// bellPause is how long after an empty look the next one is, or the wait for a ring begins.
	bellPause = 4 * time.Millisecond
)

// bellTopic is where it is told that a queue got tasks.
func bellTopic(queue string) string { return "queue:" + queue }

// ring tells all workers that a queue got tasks.
func (r *relay) ring(ctx context.Context, queue string) { r.bus.Publish(ctx, bellTopic(queue), nil) }

// ringHere tells the servers of this process alone.
func (r *relay) ringHere(queue string) { r.bus.PublishHere(bellTopic(queue), nil) }

// bell connects a task server to Redis. The server's look into its queue, which it would repeat all the time, waits for a ring once the queue was empty:
// so tasks are taken up at once, and an idle worker asks little.
type bell struct {
	asynq.RedisConnOpt
	pending string // the first key of a look
	rings   <-chan []byte
	empty   bool // as the last look found; the server looks from one goroutine
}

func newBell(ctx context.Context, to asynq.RedisConnOpt, b *bus.Bus, queue string) *bell {
	return &bell{RedisConnOpt: to, pending: "asynq:{" + queue + "}:pending", rings: b.Subscribe(ctx, bellTopic(queue))}
}

// MakeRedisClient makes the client of the server.
func (b *bell) MakeRedisClient() any {
	made := b.RedisConnOpt.MakeRedisClient()
	if client, ok := made.(redis.UniversalClient); ok {
		client.AddHook(b)
	}
	return made
}

// ProcessHook has looks wait.
func (b *bell) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if !b.looks(cmd) {
			return next(ctx, cmd)
		}
		if b.empty {
			b.wait()
		}
		err := next(ctx, cmd)
		b.empty = errors.Is(err, redis.Nil)
		return err
	}
}

// looks tells whether a command takes a task from the queue: a script of four keys, of which the first one is the list of pending tasks.
// A library that does it in another way is not held up.
func (b *bell) looks(cmd redis.Cmder) bool {
	args := cmd.Args()
	return len(args) > 3 && (args[0] == "evalsha" || args[0] == "eval") && args[2] == 4 && args[3] == b.pending
}

// wait waits for a ring, or for as long as the queue may be left alone. When the worker stops it waits no more.
func (b *bell) wait() {
	patience := time.NewTimer(bellPatience)
	defer patience.Stop()
	select {
	case <-patience.C:
	case <-b.rings:
		// What was rung meanwhile is looked for in one go.
		for len(b.rings) > 0 {
			<-b.rings
		}
	}
}

// DialHook leaves connecting as it is.
func (b *bell) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessPipelineHook leaves pipelines as they are.
func (b *bell) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
