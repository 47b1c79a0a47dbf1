package resolvers

import (
	"context"
	"time"

	"canopy/internal/access"
	"canopy/internal/problem"
)

// recheckEvery is how often a quiet subscription asks whether its token still works.
const recheckEvery = 10 * time.Second

// follow turns the messages of a topic into what a subscription sends: load reads the object that
// a message names with the caller's rights of that moment, and what it can't read is passed over.
// The stream ends when the token expires or no longer works.
func follow[T any](ctx context.Context, r *Resolver, topic string, load func(ctx context.Context, payload []byte) (*T, error)) <-chan *T {
	return followAll(ctx, r, topic, func(ctx context.Context, payload []byte) ([]*T, error) {
		obj, err := load(ctx, payload)
		if obj == nil {
			return nil, err
		}
		return []*T{obj}, err
	})
}

// followAll is follow for messages that name several objects.
func followAll[T any](ctx context.Context, r *Resolver, topic string, load func(ctx context.Context, payload []byte) ([]*T, error)) <-chan *T {
	out := make(chan *T)
	messages := r.Bus.Subscribe(ctx, topic)
	go func() {
		defer close(out)
		ctx, cancel := context.WithDeadline(ctx, access.PrincipalOf(ctx).Expires)
		defer cancel()
		recheck := time.NewTicker(recheckEvery)
		defer recheck.Stop()
		for {
			var payload []byte
			var open bool
			select {
			case <-ctx.Done():
				return
			case <-recheck.C:
			case payload, open = <-messages:
				if !open {
					return
				}
			}
			fresh, err := r.renew(ctx)
			if err != nil {
				return
			}
			if payload == nil {
				continue
			}
			list, err := load(fresh, payload)
			if refused(err) {
				return
			}
			if err != nil {
				continue
			}
			for _, obj := range list {
				select {
				case out <- obj:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return out
}

// refused tells that a caller has lost the right to listen, from a fault that may pass.
func refused(err error) bool {
	if err == nil {
		return false
	}
	code := problem.From(err).Code
	return code == problem.Forbidden || code == problem.Unauthenticated
}

// followFrom is follow for one object: what it is like at the beginning is sent first, so that
// nothing is missed between a look and the subscription, and the stream ends with its end.
func followFrom[T any](ctx context.Context, r *Resolver, topic string,
	load func(ctx context.Context, payload []byte) (*T, error), ended func(*T) bool,
) <-chan *T {
	ctx, cancel := context.WithCancel(ctx)
	updates := follow(ctx, r, topic, load)
	out := make(chan *T)
	go func() {
		defer close(out)
		defer cancel()
		obj, err := load(ctx, nil)
		if refused(err) {
			return
		}
		if err != nil {
			obj = nil
		}
		for open := true; open; obj, open = <-updates {
			if obj == nil {
				continue
			}
			select {
			case out <- obj:
			case <-ctx.Done():
				return
			}
			if ended(obj) {
				return
			}
		}
	}()
	return out
}
