package diagram

import (
	"context"
	"runtime"

	"canopy/internal/share"
)

// places are for diagrams that are read at the same time. The largest keeps a processor busy for a second, so a branch that
// asks for many has them read one after the other.
var places = share.NewGate[int64](max(2, runtime.GOMAXPROCS(0)))

// inTurn does what reads a diagram of a branch when it has a place.
func inTurn[T any](ctx context.Context, branch int64, do func() T) (out T, err error) {
	if err := places.Enter(ctx, branch); err != nil {
		return out, err
	}
	defer places.Leave(branch)
	out = do()
	return out, ctx.Err()
}
