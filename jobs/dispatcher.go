package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hibiken/asynq"

	"canopy/db"
	"canopy/internal/bus"
	"canopy/internal/egress"
	"canopy/internal/secret"
	"canopy/internal/share"
	"canopy/internal/telemetry"
)

// The bounds of deliveries in one worker.
const (
	// laneWidth is how many attempts on one destination are under way at most.
	laneWidth = 64
	// slowWidth is that of a destination that times out, while the worker as a whole is busy.
	slowWidth = 4
	// AttemptPlaces bounds the attempts on all destinations together. One branch alone gets half.
	AttemptPlaces = 2048
	// deliveryLease is how long a claimed delivery is left alone: an attempt (5 s), and the time
	// to write down what came of it.
	deliveryLease = 15 * time.Second
)

// retryWaits are the waits after the first and the second attempt, as docs/webhooks.md promises them.
var retryWaits = [db.MaxAttempts - 1]time.Duration{500 * time.Millisecond, 2 * time.Second}

// dispatcher makes the attempts on deliveries. Each destination with something to do has a lane of
// its own, so one that hangs keeps nobody else waiting.
type dispatcher struct {
	store    *db.Store
	box      *secret.Box
	client   *egress.Client
	bus      *bus.Bus
	log      *slog.Logger
	claims   *claimer
	outcomes *recorder
	metrics  *Metrics
	trace    *telemetry.Telemetry
	places   *share.Gate[int64]

	ctx   context.Context // the worker's life: no new attempts begin after it
	mu    sync.Mutex
	lanes map[int64]*lane
	// following is how many tasks follow a lane.
	following int
	running   sync.WaitGroup
}

func newDispatcher(ctx context.Context, w *Worker) *dispatcher {
	return &dispatcher{
		store: w.Store, box: w.Box, client: w.Egress, bus: w.Bus, log: w.Log, metrics: w.Metrics, trace: w.Trace,
		claims:   newClaimer(w.Store, deliveryLease),
		outcomes: newRecorder(w.Store, w.Bus, w.Log), places: share.NewGate[int64](AttemptPlaces),
		ctx: ctx, lanes: map[int64]*lane{},
	}
}

// ProcessTask has a destination's lane look for what is due, and follows it: what comes of the attempts
// is in the deliveries' rows, and in words in the queue.
func (d *dispatcher) ProcessTask(ctx context.Context, t *asynq.Task) error {
	var due destinationDue
	if err := json.Unmarshal(t.Payload(), &due); err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	f := d.follow(due)
	if f == nil {
		say(t, "The deliveries are under way.")
		return nil
	}
	patience := time.NewTimer(followFor)
	defer patience.Stop()
	select {
	case <-f.ended:
	case <-patience.C:
	case <-ctx.Done():
	}
	return d.unfollow(t, due.DestinationID, f)
}

// poke has a destination's lane look for what is due.
func (d *dispatcher) poke(branch, destination int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look(branch, destination)
}

// look is poke for who holds the lock. It gives the lane; nil where the worker stops.
func (d *dispatcher) look(branch, destination int64) *lane {
	if d.ctx.Err() != nil {
		return nil
	}
	l := d.lanes[destination]
	if l == nil {
		l = &lane{d: d, branch: branch, destination: destination, wake: make(chan struct{}, 1), done: make(chan result, laneWidth)}
		d.lanes[destination] = l
		d.running.Go(l.run)
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return l
}

// drain waits for the attempts under way and writes down what came of them.
func (d *dispatcher) drain() {
	d.running.Wait()
	d.outcomes.close()
}

// retryAfter looks at a destination again when a delivery is due there again.
func (d *dispatcher) retryAfter(branch int64, o db.Outcome) {
	time.AfterFunc(o.Wait+time.Millisecond, func() { d.poke(branch, o.DestinationID) })
}
