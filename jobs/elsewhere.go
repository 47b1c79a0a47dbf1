package jobs

import (
	"context"
	"time"

	"canopy/outbox"
)

// exchangeEvery is how often a cell and its home tell each other what they have counted: what one knows of another cell, by way of the home, is then less than ten seconds old.
const exchangeEvery = 4 * time.Second

// exchangeCounts has limits hold for what all cells have together, until ctx ends. While the home is away what was told last holds.
func (w *Worker) exchangeCounts(ctx context.Context) {
	var behind int64
	w.again(ctx, exchangeEvery, "the home and the cell have not told each other what they count", saidOnce(func(ctx context.Context) (err error) {
		behind, err = w.Store.ExchangeCounts(ctx, w.Home, behind)
		return err
	}))
}

// How soon a cell hears of what the home writes in the log of its companies, and of how many events at once.
const (
	hearEvery   = time.Second
	heardAtOnce = 250
)

// hearHome has destinations in the cell hear of what the home writes in the log of their companies, until ctx ends. While the home is away that waits there.
func (w *Worker) hearHome(ctx context.Context) {
	w.again(ctx, hearEvery, "the cell has not heard of what the home has written in the log", saidOnce(func(ctx context.Context) error {
		for {
			told, n, err := outbox.HearHome(ctx, w.Store, w.Home, heardAtOnce)
			if told.Announce(ctx, w.Bus); err != nil || n < heardAtOnce {
				return err
			}
		}
	}))
}

// saidOnce fails the first time alone of those in a row that something does: that the home is away is said once.
func saidOnce(do func(context.Context) error) func(context.Context) error {
	failed := false
	return func(ctx context.Context) error {
		err, before := do(ctx), failed
		if failed = err != nil; before {
			return nil
		}
		return err
	}
}
