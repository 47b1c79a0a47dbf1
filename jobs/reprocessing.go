package jobs

import (
	"context"
	"time"

	"canopy/outbox"
)

// turnsEvery is how often it is looked for contexts whose next documents have their turn.
const turnsEvery = time.Second

// reprocessContexts has the documents of contexts that are processed anew have their turns, until ctx ends. Any number of workers may do so:
// what each has begun is one transaction, and whoever ends leaves the rest to the others.
func (w *Worker) reprocessContexts(ctx context.Context) {
	w.again(ctx, turnsEvery, "documents that are to be processed anew were not begun", w.reprocessDue)
}

// reprocessDue has the next documents of each context have their turn that is due.
func (w *Worker) reprocessDue(ctx context.Context) error {
	began := false
	for {
		id, begun, none, err := w.Store.ReprocessSome(ctx)
		for _, d := range begun {
			outbox.TellDocument(ctx, w.Bus, id, d)
		}
		began = began || len(begun) > 0
		if none || err != nil {
			if began {
				outbox.Wake(ctx, w.Bus)
			}
			return err
		}
	}
}
