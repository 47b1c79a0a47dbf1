package db_test

import (
	"errors"
	"sync"
	"testing"

	"canopy/db"
	"canopy/internal/devstack/devtest"
)

// defers has documents wait, or wait no more, by parts until none is left, and tells how many parts there were.
func (r *reprocessed) defers() (parts int) {
	r.Helper()
	for {
		none, err := r.store.DeferSome(r.Context())
		devtest.Check(r.T, err)
		if none {
			return parts
		}
		parts++
	}
}

// waiting and due count the documents of the context that wait for its erasure, and those whose turn can come.
func (r *reprocessed) waiting(waiting, due int) {
	r.Helper()
	if w, d := r.number(`SELECT count(*) FROM documents WHERE status IN ('pending', 'processing') AND next_attempt_at > now() + interval '2 days'`),
		r.number(`SELECT count(*) FROM documents WHERE status IN ('pending', 'processing') AND next_attempt_at <= now()`); w != waiting || d != due {
		r.Errorf("%d documents wait, and %d are due, not %d and %d", w, d, waiting, due)
	}
}

func (r *reprocessed) hide() {
	r.Helper()
	devtest.Check(r.T, r.store.Tx(r.Context(), func(tx *db.Store) error { return tx.HideContext(r.Context(), 1) }))
}

func (r *reprocessed) restore() {
	r.Helper()
	devtest.Check(r.T, r.store.Tx(r.Context(), func(tx *db.Store) error {
		_, err := tx.RestoreContext(r.Context(), r.desk, 1)
		return err
	}))
}

// TestDocumentsWaitByParts: however many documents of a context are not processed, no transaction is about more than some of them when the context is
// deleted or brought back, and all have been seen to in the end, whichever workers come along and are killed.
func TestDocumentsWaitByParts(t *testing.T) {
	t.Parallel()
	r := newReprocessed(t)
	r.add(900)
	r.sql(`UPDATE documents SET status = 'pending', next_attempt_at = now() - interval '1 second' WHERE id > 50`)
	r.sql(`UPDATE documents SET status = 'processing' WHERE id % 100 = 0 AND id > 50`)

	r.hide()
	r.waiting(495, 805)
	killed := errors.New("killed")
	if err := r.store.Tx(t.Context(), func(tx *db.Store) error {
		_, err := tx.DeferSome(t.Context())
		return errors.Join(err, killed)
	}); !errors.Is(err, killed) || err.Error() != killed.Error() {
		t.Fatal(err)
	}
	r.waiting(495, 805)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { r.defers() })
	}
	both.Wait()
	r.waiting(1287, 13) // those that are being processed are their workers'
	if n := r.number(`SELECT count(*) FROM context_deferrals`); n != 0 {
		t.Errorf("%d contexts are looked at on and on", n)
	}

	r.restore()
	r.waiting(792, 508)
	r.hide() // before the restoration is through
	r.waiting(1287, 13)
	if parts := r.defers(); parts != 2 {
		t.Errorf("%d parts", parts)
	}
	r.restore()
	if parts := r.defers(); parts != 2 {
		t.Errorf("%d parts", parts)
	}
	r.waiting(0, 1300)
}
