package jobs

import (
	"context"
	"time"
)

// A cell's marks of use are sent home together.
const (
	sendMarksEvery = 10 * time.Second
	marksAtOnce    = 5000
)

// sendMarks tells the home of what was used in the cell, until ctx ends. While the home is away they wait.
func (w *Worker) sendMarks(ctx context.Context) {
	w.again(ctx, sendMarksEvery, "the home was not told of what was used", func(ctx context.Context) error {
		for {
			if n, err := w.Store.SendMarks(ctx, w.Home, marksAtOnce); err != nil || n < marksAtOnce {
				return err
			}
		}
	})
}
