package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"canopy/db"
	"canopy/outbox"
)

// currentAfter is for how long a step has to be under way until it is told: most are done before, and cost no statement.
const currentAfter = 500 * time.Millisecond

// current is the step that a worker is at. It is told to who follows the run once it takes long.
type current struct {
	tell  func(db.CurrentStep)
	timer *time.Timer

	mu   sync.Mutex
	step db.CurrentStep
	// late says that it takes long by now, and over that it has ended.
	late, over bool
}

// begin begins a step. The context is that of the worker's hold of the run.
func (r *runner) begin(ctx context.Context, w *db.RunWork, step db.CurrentStep) *current {
	return newCurrent(step, func(step db.CurrentStep) {
		switch err := r.store.SetCurrentStep(ctx, w, step); {
		case err == nil:
			r.bus.Publish(ctx, outbox.RunTopic(w.JobKey), []byte(step.StepID))
		case ctx.Err() == nil && !errors.Is(err, db.ErrNoRows):
			r.log.WarnContext(ctx, "the step that a run is at can't be told", "run", w.ID, "error", err)
		}
	})
}

func newCurrent(step db.CurrentStep, tell func(db.CurrentStep)) *current {
	c := &current{step: step, tell: tell}
	c.timer = time.AfterFunc(currentAfter, c.isLate)
	return c
}

func (c *current) isLate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.late = true; !c.over {
		c.tell(c.step)
	}
}

// give keeps what the step was given. It is told by the timer, as the step does not wait for that.
func (c *current) give(input json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.step.Input = input; c.late {
		c.timer.Reset(0)
	}
}

// end ends the step, and gives what is known of it: nothing is told of it any more.
func (c *current) end() db.CurrentStep {
	c.timer.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	return c.step
}
