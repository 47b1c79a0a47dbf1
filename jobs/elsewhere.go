package jobs

import (
	"context"
	"time"
)

// exchangeEvery is how often a cell and its home tell each other what they have counted: what one knows of another cell, by way of the home, is then less than ten seconds old.
const exchangeEvery = 4 * time.Second

// exchangeCounts has limits hold for what all cells have together, until ctx ends. While the home is away what was told last holds; that it is away is said once.
func (w *Worker) exchangeCounts(ctx context.Context) {
	var behind int64
	failed := false
	w.again(ctx, exchangeEvery, "the home and the cell have not told each other what they count", func(ctx context.Context) (err error) {
		behind, err = w.Store.ExchangeCounts(ctx, w.Home, behind)
		before := failed
		if failed = err != nil; before {
			return nil
		}
		return err
	})
}
