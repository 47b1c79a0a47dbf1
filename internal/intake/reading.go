package intake

import (
	"context"
	"runtime"
	"sync"

	"canopy/internal/access"
	"canopy/internal/share"
)

// shortText is how long a text may be, in bytes, that is read at once: within a part of a millisecond.
const shortText = 2 << 10

// reading has a place for each text that is parsed and checked: one on each processor, or two. Whoever comes alone has half of them.
var reading = share.NewGate[int64](max(2, runtime.GOMAXPROCS(0)))

// Turn waits until a text of so many bytes may be parsed and checked, by turns of branches, and of networks that come without a token: what is
// long keeps a processor busy for many milliseconds, before anybody knows what is asked for. leave ends the turn; it may be called again. Whoever
// has a turn must not ask for another.
func Turn(ctx context.Context, size int) (leave func(), err error) {
	if size <= shortText {
		return func() {}, nil
	}
	turn := access.TurnOf(ctx)
	if err := reading.Enter(ctx, turn); err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { reading.Leave(turn) }), nil
}
