package db

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"canopy/internal/devstack/devtest"
)

// TestRowsThatCanNotBeRead: a statement that is ended after a row has come and before it is read, as where its replica is left out at that moment,
// has failed, so that the primary may answer; whoever takes the rows has not ended it.
func TestRowsThatCanNotBeRead(t *testing.T) {
	pool := ownPool(t, Options{})
	for row, fresh := range map[int64]bool{1: true, 2: false} {
		ctx, leaveOut := context.WithCancel(t.Context())
		taken := int64(0)
		w := walk{text: `SELECT generate_series(1, 3)`, each: func(rows *sql.Rows) error {
			if taken+1 == row {
				leaveOut()
				devtest.Eventually(t, "the rows are closed", func() bool { return rows.Err() != nil })
			}
			if err := rows.Scan(&taken); err != nil {
				return unread{err}
			}
			return nil
		}}
		if err := w.over(ctx, pool); !errors.Is(err, context.Canceled) || w.ended != nil || w.fresh() != fresh {
			t.Errorf("ended at row %d: %v; by whoever takes the rows: %v; none was given: %t", row, err, w.ended, w.fresh())
		}
		leaveOut()
	}
	enough := errors.New("enough")
	w := walk{text: `SELECT 1`, each: func(*sql.Rows) error { return enough }}
	if err := w.over(t.Context(), pool); err != nil || !errors.Is(w.ended, enough) {
		t.Errorf("ended by whoever takes the rows: %v, %v", err, w.ended)
	}
}
