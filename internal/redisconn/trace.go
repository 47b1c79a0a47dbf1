package redisconn

import (
	"context"
	"errors"
	"net"

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
		ctx, span := telemetry.Begin(ctx, "redis "+cmd.Name(), telemetry.Client, telemetry.Text("db.system.name", "redis"))
		err := next(ctx, cmd)
		end(span, err)
		return err
	}
}

func (hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		ctx, span := telemetry.Begin(ctx, "redis pipeline", telemetry.Client, telemetry.Text("db.system.name", "redis"), telemetry.Number("db.operation.batch.size", int64(len(cmds))))
		err := next(ctx, cmds)
		end(span, err)
		return err
	}
}

// end ends a span. That there is no such key, and that a script is not known yet, are answers.
func end(span telemetry.Span, err error) {
	if errors.Is(err, redis.Nil) || redis.HasErrorPrefix(err, "NOSCRIPT") {
		err = nil
	}
	span.End(err)
}
