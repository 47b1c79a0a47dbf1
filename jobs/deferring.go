package jobs

import "context"

// deferDocuments has the documents of deleted contexts wait, and those of contexts that were brought back wait no more, until ctx ends. Any number of
// workers may do so: each part is a transaction of its own, and whoever ends leaves the rest to the others.
func (w *Worker) deferDocuments(ctx context.Context) {
	w.again(ctx, turnsEvery, "documents of contexts that were deleted or brought back were not seen to", w.deferDue)
}

// deferDue sees to the documents of all contexts that were deleted or brought back.
func (w *Worker) deferDue(ctx context.Context) error {
	for {
		if none, err := w.Store.DeferSome(ctx); none || err != nil {
			return err
		}
	}
}
