package redisconn

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"canopy/internal/telemetry"
)

// Trace has a client's commands told by spans, where what they are sent for has one. Keys and values are nobody's business.
func Trace(client redis.UniversalClient) { client.AddHook(hook{}) }

type hook struct{}

func (hook) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		return next(ctx, network, address)
	}
}

func (hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		above := telemetry.Above(ctx)
		if !above.Tells() {
			return next(ctx, cmd)
		}
		begun := above.Now()
		err := next(ctx, cmd)
		above.Took("redis "+cmd.Name(), telemetry.Client, begun, time.Since(begun), fault(err), telemetry.Text("db.system.name", "redis"))
		return err
	}
}

func (hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		above := telemetry.Above(ctx)
		if !above.Tells() {
			return next(ctx, cmds)
		}
		begun := above.Now()
		err := next(ctx, cmds)
		above.Took("redis pipeline", telemetry.Client, begun, time.Since(begun), fault(err), telemetry.Text("db.system.name", "redis"), telemetry.Number("db.operation.batch.size", int64(len(cmds))))
		return err
	}
}

// fault is an error that says that something is wrong: that there is no such key, and that a script is not known yet, are answers.
func fault(err error) error {
	if errors.Is(err, redis.Nil) || redis.HasErrorPrefix(err, "NOSCRIPT") {
		return nil
	}
	return err
}
