package share

import (
	"context"
	"sync"
)

type heldKey struct{}

// Holding says how the place that is held by what is done in a context is given back before its end. leave is called once at most.
func Holding(ctx context.Context, leave func()) (held context.Context, done func()) {
	outer, _ := ctx.Value(heldKey{}).(func())
	leave = sync.OnceFunc(leave)
	return context.WithValue(ctx, heldKey{}, func() {
		leave()
		if outer != nil {
			outer()
		}
	}), leave
}

// LetGo gives all places back, as what is done waits for another cell of the platform: whoever asks for nothing of a cell that hangs has turns as before.
func LetGo(ctx context.Context) {
	if leave, ok := ctx.Value(heldKey{}).(func()); ok {
		leave()
	}
}
