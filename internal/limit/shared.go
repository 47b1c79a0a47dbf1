package limit

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// shared gives what all processes together know of each name, and nothing where Redis is away.
func (t *Throttle) shared(ctx context.Context, names []string) []record {
	records := make([]record, len(names))
	answers := t.pipeline(ctx, func(ctx context.Context, p redis.Pipeliner) {
		for _, name := range names {
			p.HGetAll(ctx, name)
		}
	})
	for i, answer := range answers {
		var got struct {
			Failures int   `redis:"failures"`
			Last     int64 `redis:"last"`
		}
		if fields, ok := answer.(*redis.MapStringStringCmd); ok && fields.Scan(&got) == nil {
			records[i] = record{got.Failures, time.UnixMilli(got.Last)}
		}
	}
	return records
}

// share tells the other processes of a failed try.
func (t *Throttle) share(ctx context.Context, names []string, now time.Time) {
	t.pipeline(ctx, func(ctx context.Context, p redis.Pipeliner) {
		for _, name := range names {
			p.HIncrBy(ctx, name, "failures", 1)
			p.HSet(ctx, name, "last", now.UnixMilli())
			p.PExpire(ctx, name, t.pace.forgive)
		}
	})
}

// pipeline makes one round trip to Redis. Its answers are missing where Redis is away: the process
// counts by itself in any case. What a failed try leaves behind must not depend on whether its
// caller waits, so it goes on when ctx ends.
func (t *Throttle) pipeline(ctx context.Context, fill func(context.Context, redis.Pipeliner)) []redis.Cmder {
	if t.redis == nil {
		return nil
	}
	answers, err := ask(context.WithoutCancel(ctx), &t.breaker, func(ctx context.Context) ([]redis.Cmder, error) {
		return t.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
			fill(ctx, p)
			return nil
		})
	})
	if err != nil {
		return nil
	}
	return answers
}
