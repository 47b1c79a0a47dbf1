package db_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"

	"canopy/db"
	"canopy/internal/devstack/devtest"
)

// reprocessed is a context of 450 ready documents, of which some are to be processed anew.
type reprocessed struct {
	*testing.T
	store *db.Store
	pool  *sqlx.DB
	desk  db.Desk
}

func newReprocessed(t *testing.T) *reprocessed {
	t.Helper()
	url := devtest.Database(t, db.Fingerprint(), db.Migrate)
	r := &reprocessed{T: t, desk: db.Desk{AccountID: 1}, store: devtest.Must[*db.Store](t)(db.Open(t.Context(), url, db.Options{}))}
	t.Cleanup(func() { _ = r.store.Close() })
	r.pool = devtest.Must[*sqlx.DB](t)(db.Connect(url, db.Options{}))
	t.Cleanup(func() { _ = r.pool.Close() })
	for _, statement := range indexedContext[:6] {
		r.sql(statement)
	}
	r.sql(`UPDATE contexts SET dimensions = 3, chunk_size = 500`)
	r.add(450)
	return r
}

func (r *reprocessed) sql(statement string, args ...any) {
	r.Helper()
	if _, err := r.pool.ExecContext(r.Context(), statement, args...); err != nil {
		r.Fatal(err)
	}
}

func (r *reprocessed) add(documents int) {
	r.Helper()
	r.sql(`INSERT INTO documents (context_id, file_name, original_name, display_name, name_index, format, content_type, content_hash, size, status, model, chunk_size, overlap)
		SELECT 1, gen_random_uuid(), 'a.txt', 'a.txt', i, 'txt', 'text/plain', 'hash', 1, 'ready', 'canopy-lexical-1', 1000, .2 FROM generate_series(1, $1::int) i`, documents)
}

func (r *reprocessed) number(statement string) (n int) {
	r.Helper()
	if err := r.pool.GetContext(r.Context(), &n, statement); err != nil {
		r.Fatal(err)
	}
	return n
}

// start has the context processed anew, as a resolver does.
func (r *reprocessed) start() (documents int, begun []int64) {
	r.Helper()
	devtest.Check(r.T, r.store.Tx(r.Context(), func(tx *db.Store) (err error) {
		if _, err = tx.ContextForUpdate(r.Context(), r.desk, 1); err == nil {
			documents, begun, err = tx.ReprocessContext(r.Context(), 1, false)
		}
		return err
	}))
	return documents, begun
}

// step has the next documents have their turn, as if the time for it had come.
func (r *reprocessed) step() []int64 {
	r.Helper()
	r.sql(`UPDATE context_reprocessings SET next_at = now() - interval '1 second'`)
	_, begun, _, err := r.store.ReprocessSome(r.Context())
	devtest.Check(r.T, err)
	return begun
}

// process makes some of the documents ready that wait.
func (r *reprocessed) process(documents int) {
	r.Helper()
	r.sql(`UPDATE documents SET status = 'ready' WHERE id IN (SELECT id FROM documents WHERE status = 'pending' ORDER BY id LIMIT $1)`, documents)
}

func (r *reprocessed) is(status string, done int) {
	r.Helper()
	got, err := (&db.Context{ID: 1}).Reprocessing(r.Context(), r.store)
	devtest.Check(r.T, err)
	if got == nil || got.Status != status || got.Documents != 450 || got.Done != done || (got.EndedAt == nil) != (status == db.ReprocessingRunning) {
		r.Errorf("%+v, not %s with %d of 450", got, status, done)
	}
}

// TestContextsAreProcessedAnewByParts: documents have their turn some at a time, each once, whichever workers come along and are killed; the
// others are as they were, and an index takes out what has begun alone.
func TestContextsAreProcessedAnewByParts(t *testing.T) {
	t.Parallel()
	r := newReprocessed(t)
	documents, begun := r.start()
	if documents != 450 || len(begun) != 200 {
		t.Fatalf("%d of %d documents are begun", len(begun), documents)
	}
	r.add(3) // they come too late
	r.is(db.ReprocessingRunning, 0)
	if more := r.step(); len(more) > 0 {
		t.Errorf("%d are begun while 200 wait", len(more))
	}
	if n := r.number(`SELECT dimensions FROM contexts`); n != 3 {
		t.Errorf("the documents that wait for their turn can't be found by their vectors: %d", n)
	}

	r.process(150)
	r.is(db.ReprocessingRunning, 150)
	killed := errors.New("killed")
	r.sql(`UPDATE context_reprocessings SET next_at = now() - interval '1 second'`)
	if err := r.store.Tx(t.Context(), func(tx *db.Store) error {
		if _, begun, _, err := tx.ReprocessSome(t.Context()); err != nil || len(begun) != 150 {
			t.Errorf("%d, %v", len(begun), err)
		}
		return killed
	}); !errors.Is(err, killed) {
		t.Fatal(err)
	}
	r.is(db.ReprocessingRunning, 150)

	since := r.number(`SELECT version FROM contexts`)
	var mu sync.Mutex
	var both sync.WaitGroup
	begun = nil
	for range 2 {
		both.Go(func() {
			_, some, _, err := r.store.ReprocessSome(t.Context())
			mu.Lock()
			defer mu.Unlock()
			if begun = append(begun, some...); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	if len(begun) != 150 {
		t.Errorf("%d documents have their turn, not 150", len(begun))
	}
	state, err := r.store.IndexState(t.Context(), 1, "", int64(since))
	devtest.Check(t, err)
	slices.Sort(begun)
	slices.Sort(state.Changed)
	if !state.Partial || !slices.Equal(state.Changed, begun) || len(state.Documents) > 0 {
		t.Errorf("an index is told of %d changes, and holds %d of them: %v", len(state.Changed), len(state.Documents), state.Partial)
	}

	for range 10 {
		r.process(1000)
		r.step()
	}
	r.is(db.ReprocessingDone, 450)
	if n := r.number(`SELECT count(*) FROM documents WHERE revision = 2 AND chunk_size = 500`); n != 450 {
		t.Errorf("%d documents were processed once anew", n)
	}
	if n := r.number(`SELECT count(*) FROM documents WHERE revision = 1`); n != 3 {
		t.Errorf("%d documents are as they were", n)
	}
}

// TestReprocessingIsCancelled: what has not begun stays as it is, and what has begun goes on. Asked for again, all are processed.
func TestReprocessingIsCancelled(t *testing.T) {
	t.Parallel()
	r := newReprocessed(t)
	r.start()
	r.process(20)
	devtest.Check(t, r.store.CancelReprocessing(t.Context(), 1))
	r.is(db.ReprocessingCancelled, 20)
	if err := r.store.CancelReprocessing(t.Context(), 1); !errors.Is(err, db.ErrNoRows) {
		t.Errorf("it is cancelled twice: %v", err)
	}
	if begun := r.step(); len(begun) > 0 {
		t.Errorf("%d documents have their turn", len(begun))
	}
	r.process(1000)
	r.is(db.ReprocessingCancelled, 200)
	if n := r.number(`SELECT count(*) FROM documents WHERE revision = 1 AND status = 'ready'`); n != 250 {
		t.Errorf("%d documents are as they were", n)
	}
	if documents, begun := r.start(); documents != 450 || len(begun) != 200 {
		t.Errorf("%d of %d documents are begun anew", len(begun), documents)
	}
	r.is(db.ReprocessingRunning, 0)
}

// TestReprocessingWaits: the documents of a deleted context, and of a suspended company, have no turn until that is over.
func TestReprocessingWaits(t *testing.T) {
	t.Parallel()
	r := newReprocessed(t)
	r.sql(`INSERT INTO customers (id, parent_id, name, region_id) VALUES (2, 1, 'Below', 1)`)
	r.sql(`INSERT INTO accounts (id, customer_id, app_instance_id, name) VALUES (2, 2, 1, 'Account')`)
	r.sql(`UPDATE contexts SET account_id = 2`)
	r.desk.AccountID = 2
	for _, c := range [][2]string{
		{`UPDATE contexts SET removed_at = now(), erase_at = now() + interval '1 day'`, `UPDATE contexts SET removed_at = NULL, erase_at = NULL`},
		{`UPDATE customers SET suspended = true WHERE id = 2`, `UPDATE customers SET suspended = false WHERE id = 2`},
	} {
		r.start()
		r.process(1000)
		r.sql(c[0])
		if begun := r.step(); len(begun) > 0 {
			t.Errorf("%d documents have their turn after %s", len(begun), c[0])
		}
		r.sql(c[1])
		if begun := r.step(); len(begun) != 200 {
			t.Errorf("%d documents have their turn after %s", len(begun), c[1])
		}
	}
}

// TestContextsTakeTurnsAtReprocessing: a context whose documents are begun stands behind the others.
func TestContextsTakeTurnsAtReprocessing(t *testing.T) {
	t.Parallel()
	r := newReprocessed(t)
	r.sql(`INSERT INTO contexts (id, account_id, name, description, caption, embedding_model) VALUES (2, 1, 'Other', '', '', 'canopy-lexical-1')`)
	r.sql(`INSERT INTO context_reprocessings (context_id, until_id, documents, next_at) VALUES (1, 450, 450, now() - interval '2 seconds'), (2, 0, 0, now() - interval '1 second')`)
	var turns []int64
	for range 2 { // later on the first one's may be due again
		id, _, _, err := r.store.ReprocessSome(t.Context())
		devtest.Check(t, err)
		turns = append(turns, id)
	}
	if !slices.Equal(turns, []int64{1, 2}) {
		t.Errorf("turns: %v", turns)
	}
}

// TestVectorsOfAnotherLength: a document that is processed anew gives its context the length of the vectors that its model has by now, one that
// waits for its turn does not.
func TestVectorsOfAnotherLength(t *testing.T) {
	t.Parallel()
	r := newReprocessed(t)
	_, begun := r.start()
	finish := func(id int64, want, dimensions int) {
		t.Helper()
		r.sql(`UPDATE documents SET status = 'pending' WHERE id = $1`, id)
		w, err := r.store.ClaimDocument(t.Context(), db.DueDocument{ID: id, Attempts: r.number(`SELECT attempts FROM documents WHERE status = 'pending' ORDER BY id DESC LIMIT 1`)}, 0)
		devtest.Check(t, err)
		if w.Dimensions != want {
			t.Errorf("document %d is processed for vectors of length %d, not %d", id, w.Dimensions, want)
		}
		devtest.Check(t, r.store.FinishDocument(t.Context(), w, 0, dimensions, []byte("[]")))
	}
	finish(450, 3, 3)
	if n := r.number(`SELECT dimensions FROM contexts`); n != 3 {
		t.Errorf("length %d", n)
	}
	r.process(199)
	finish(slices.Max(begun), 0, 5)
	if n := r.number(`SELECT dimensions FROM contexts`); n != 5 {
		t.Errorf("length %d, not 5", n)
	}
	finish(449, 5, 5)
}
