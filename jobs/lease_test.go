package jobs

import (
	"context"
	"errors"
	"testing"
	"time"

	"canopy/db"
)

// TestOwnEndsAreTold: work that has written down how it ended loses its lease by that, and still says
// what it missed; work that only lost its lease says so.
func TestOwnEndsAreTold(t *testing.T) {
	t.Parallel()
	lost := lease[struct{}]{every: time.Millisecond, renew: func(context.Context) error { return db.ErrNoRows }}
	const failed = missed("The run failed: its row tells why.")
	for name, row := range map[string]struct{ says, told error }{
		"ended": {failed, failed}, "ended, with a fault": {errors.Join(failed, errors.New("a fault")), failed}, "lost": {context.Canceled, errLost},
	} {
		err := lost.hold(t.Context(), func(ctx context.Context) error {
			<-ctx.Done()
			return row.says
		})
		if !errors.Is(err, row.told) {
			t.Errorf("%s: told %v, not %v", name, err, row.told)
		}
	}
}
