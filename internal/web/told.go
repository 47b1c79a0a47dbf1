package web

import (
	"context"
	"log/slog"
)

// told is what the doors tell of a request.
type told struct {
	customer, user int64
	client         string
	operation      string
	cost           int
}

// TellCaller says who asks, for the log: a user, with which API key, in which company. It does nothing outside of a request, and on a WebSocket,
// where many ask.
func TellCaller(ctx context.Context, customer, user int64, client string) {
	if e := exchangeOf(ctx); e != nil && !e.hijacked {
		e.told.customer, e.told.user, e.told.client = customer, user, client
	}
}

// TellOperation says what is asked for, by a name of the platform's own or one that was looked at.
func TellOperation(ctx context.Context, name string) {
	if e := exchangeOf(ctx); e != nil && !e.hijacked {
		e.told.operation = name
	}
}

// TellCost says what it costs.
func TellCost(ctx context.Context, cost int) {
	if e := exchangeOf(ctx); e != nil && !e.hijacked {
		e.told.cost = cost
	}
}

// attrs adds what was told to a line of the log.
func (t *told) attrs(list []slog.Attr) []slog.Attr {
	if t.customer != 0 {
		list = append(list, slog.Int64("company", t.customer), slog.Int64("user", t.user))
	}
	if t.client != "" {
		list = append(list, slog.String("client", t.client))
	}
	if t.operation != "" {
		list = append(list, slog.String("operation", t.operation))
	}
	if t.cost > 0 {
		list = append(list, slog.Int("cost", t.cost))
	}
	return list
}
