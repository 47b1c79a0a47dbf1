package db_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"canopy/db"
	"canopy/internal/devstack/devtest"
	"canopy/internal/quota"
)

// bounded has the database refuse a statement that writes or takes away more chunks, or blocks of vectors, than go at once.
func (r *reprocessed) bounded() {
	r.Helper()
	r.sql(`CREATE FUNCTION bounded() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF (SELECT count(*) FROM changed) > TG_ARGV[0]::integer THEN RAISE '% rows of % in one statement', (SELECT count(*) FROM changed), TG_TABLE_NAME; END IF;
		RETURN NULL; END $$`)
	for table, most := range map[string]string{"chunks": "5000", "vector_blocks": "200"} {
		r.sql(`CREATE TRIGGER bounded_new AFTER INSERT ON ` + table + ` REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bounded(` + most + `)`)
		r.sql(`CREATE TRIGGER bounded_old AFTER DELETE ON ` + table + ` REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bounded(` + most + `)`)
	}
}

// long gives document 1 very many chunks, each with a block of its own.
func (r *reprocessed) long(chunks int) {
	r.Helper()
	r.sql(`UPDATE documents SET chunks = $1 WHERE id = 1`, chunks)
	r.sql(`INSERT INTO chunks (document_id, revision, position, content, overlap_bytes, tokens) SELECT 1, 1, i, 'tide ' || i, 0, 1 FROM generate_series(0, $1::int - 1) i`, chunks)
	r.sql(`INSERT INTO vector_blocks (document_id, revision, dense, first, chunks, block)
		SELECT 1, 1, false, position, int8send(id), int4send(position) FROM chunks WHERE position % 10 = 0`)
}

func (r *reprocessed) none(what, statement string) {
	r.Helper()
	if n := r.number(statement); n != 0 {
		r.Errorf("%s: %d", what, n)
	}
}

func (r *reprocessed) erase() {
	r.Helper()
	for {
		done, err := r.store.EraseContexts(r.Context())
		devtest.Check(r.T, err)
		if done {
			return
		}
	}
}

// TestTwinsAreCopiedByParts: however many chunks a twin has, no statement is about more than some of them, and the copy has all, with the vectors that
// each has.
func TestTwinsAreCopiedByParts(t *testing.T) {
	t.Parallel()
	r := newReprocessed(t)
	r.long(12001)
	r.sql(`UPDATE documents SET status = 'processing', attempts = 1 WHERE id = 2`)
	r.bounded()
	w := &db.DocumentWork{Document: db.Document{ID: 2}, Attempts: 1}
	copied, err := r.store.CopyChunks(t.Context(), w, &db.Twin{ID: 1, Revision: 1, Chunks: 12001})
	devtest.Check(t, err)
	if n := r.number(`SELECT count(*) FROM chunks WHERE document_id = 2`); !copied || n != 12001 {
		t.Fatalf("%d chunks are copied", n)
	}
	r.none("chunks that are others", `SELECT count(*) FROM (SELECT FROM chunks GROUP BY position, content HAVING count(*) <> 2) k`)
	r.none("chunks whose vectors are others'", `SELECT 1201 - count(*) FROM vector_blocks v JOIN chunks k ON k.document_id = 2 AND k.revision = v.revision AND k.position = v.first AND v.chunks = int8send(k.id)
		WHERE v.document_id = 2 AND v.block = int4send(v.first)`)

	r.sql(`UPDATE documents SET status = 'processing', attempts = 1 WHERE id = 4`)
	r.sql(`DELETE FROM chunks WHERE document_id = 1 AND position = 11000`)
	w.ID = 4
	copied, err = r.store.CopyChunks(t.Context(), w, &db.Twin{ID: 1, Revision: 1, Chunks: 12001})
	devtest.Check(t, err)
	if n := r.number(`SELECT count(*) FROM chunks WHERE document_id = 4`); copied || n != 0 {
		t.Errorf("%d chunks are copied of a twin that is being changed", n)
	}
}

// TestLongDocumentsAreErasedByParts: a document that has more chunks than go in one statement goes by parts, whether it is deleted itself, its context
// or its company; for everybody it is gone at once.
func TestLongDocumentsAreErasedByParts(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(*reprocessed){
		"document": func(r *reprocessed) {
			devtest.Check(r.T, r.store.Tx(r.Context(), func(tx *db.Store) error {
				return tx.DeleteDocument(r.Context(), &db.Document{ID: 1, ContextID: 1, ChunkCount: 12001, Size: 1})
			}))
			r.none("documents of the context", `SELECT count(*) - 449 FROM documents WHERE context_id = 1`)
			r.erase()
		},
		"context": func(r *reprocessed) {
			devtest.Check(r.T, r.store.Tx(r.Context(), func(tx *db.Store) error { return tx.DeleteContext(r.Context(), 1) }))
			r.none("contexts", `SELECT count(*) FROM contexts WHERE removed_at IS NULL`)
			r.erase()
		},
		"company": func(r *reprocessed) {
			r.sql(`INSERT INTO customers (id, parent_id, name, region_id) VALUES (2, 1, 'Below', 1)`)
			r.sql(`UPDATE accounts SET customer_id = 2 WHERE id = 1`)
			r.sql(`UPDATE customers SET erase_at = now() WHERE id = 2`)
			for range 100 {
				e, err := r.store.EraseSome(r.Context(), 2, func(*db.Store, db.Erasure) error { return nil })
				devtest.Check(r.T, err)
				if e.Done {
					break
				}
			}
			r.none("companies", `SELECT count(*) FROM customers WHERE id = 2`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReprocessed(t)
			r.sql(`SELECT setval(pg_get_serial_sequence('contexts', 'id'), 10)`)
			r.long(12001)
			r.bounded()
			remove(r)
			r.none("chunks", `SELECT count(*) FROM chunks`)
			r.none("blocks of vectors", `SELECT count(*) FROM vector_blocks`)
			r.none("the document", `SELECT count(*) FROM documents WHERE id = 1`)
			r.none("originals that don't go", `SELECT (count(*) = 0)::int FROM blob_deletions`)
		})
	}
}

// atWork has a worker be at document 1, which had very many chunks and has three now, and one at a place beyond these.
func (r *reprocessed) atWork() *db.DocumentWork {
	r.Helper()
	r.long(12001)
	r.sql(`UPDATE documents SET revision = 2, status = 'processing', attempts = 7 WHERE id = 1`)
	r.sql(`INSERT INTO chunks (document_id, revision, position, content, overlap_bytes, tokens) SELECT 1, 2, i, 'tide ' || i, 0, 1 FROM unnest('{0,1,2,9}'::int[]) i`)
	r.sql(`INSERT INTO vector_blocks (document_id, revision, dense, first, chunks, block) VALUES (1, 2, false, 0, '', ''), (1, 2, false, 9, '', '')`)
	return &db.DocumentWork{Document: db.Document{ID: 1, ContextID: 1, Revision: 2}, Attempts: 7}
}

// left fails unless document 1 has so many chunks and blocks.
func (r *reprocessed) left(chunks, blocks int) {
	r.Helper()
	if k, b := r.number(`SELECT count(*) FROM chunks`), r.number(`SELECT count(*) FROM vector_blocks`); k != chunks || b != blocks {
		r.Errorf("%d chunks and %d blocks are left, not %d and %d", k, b, chunks, blocks)
	}
}

// killed has the worker end in the middle of what do does: the database refuses the second statement that takes chunks away.
func (r *reprocessed) killed(do func() error) {
	r.Helper()
	r.sql(`CREATE SEQUENCE statements`)
	r.sql(`CREATE FUNCTION killed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF nextval('statements') > 1 THEN RAISE 'killed'; END IF; RETURN NULL; END $$`)
	r.sql(`CREATE TRIGGER killed BEFORE DELETE ON chunks FOR EACH STATEMENT EXECUTE FUNCTION killed()`)
	if err := do(); err == nil || !strings.Contains(err.Error(), "killed") {
		r.Fatal(err)
	}
	r.sql(`DROP TRIGGER killed ON chunks`)
	r.left(7005, 1003)
	r.none("documents that are done already", `SELECT count(*) FROM documents WHERE id = 1 AND status <> 'processing'`)
}

// TestOldChunksGoByParts: however many chunks a document had, those go by parts when it is done, whichever workers are killed meanwhile. No search finds
// chunks of both versions, nor a part of one.
func TestOldChunksGoByParts(t *testing.T) {
	t.Parallel()
	r := newReprocessed(t)
	w := r.atWork()
	r.bounded()
	finish := func() error { return r.store.FinishDocument(t.Context(), w, 3, 0, []byte("[]")) }
	seen := func() int {
		return r.number(`SELECT count(*) FROM chunks k JOIN documents d ON d.id = k.document_id AND d.revision = k.revision AND d.status = 'ready'`)
	}
	r.killed(finish)
	if n := seen(); n != 0 {
		t.Errorf("%d chunks are found of what is not done", n)
	}

	r.sql(`UPDATE documents SET attempts = 8 WHERE id = 1`) // another has it
	if err := finish(); !errors.Is(err, db.ErrNoRows) {
		t.Fatal(err)
	}
	r.left(7005, 1003)
	w.Attempts = 8
	found := make(chan []int)
	over := make(chan struct{})
	go func() {
		var all []int
		for done := false; !done; {
			select {
			case <-over:
				done = true
			default:
			}
			all = append(all, seen())
		}
		found <- slices.Compact(all)
	}()
	devtest.Check(t, finish())
	close(over)
	if all := <-found; !slices.Equal(all, []int{0, 3}) && !slices.Equal(all, []int{3}) {
		t.Errorf("%v chunks were found, one after the other", all)
	}
	r.left(3, 1)
}

// TestChunksOfAFailureGoByParts: so do all chunks of a document that fails, and those that another version of the reader has made.
func TestChunksOfAFailureGoByParts(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(*reprocessed, *db.DocumentWork) error{
		"failed": func(r *reprocessed, w *db.DocumentWork) error {
			_, err := r.store.FailDocument(r.Context(), w, "It is broken.", []byte("[]"))
			return err
		},
		"read": func(r *reprocessed, w *db.DocumentWork) error { return r.store.ReadBy(r.Context(), w, 5) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReprocessed(t)
			w := r.atWork()
			r.bounded()
			again := func() error { return do(r, w) }
			r.killed(again)
			r.none("readers that have read", `SELECT count(*) FROM documents WHERE reader = 5`)
			devtest.Check(t, again())
			r.left(0, 0)
			r.none("documents that have not ended so", `SELECT 1 - count(*) FROM documents WHERE id = 1 AND (status = 'failed' OR status = 'processing' AND reader = 5)`)
		})
	}
}

// TestWhatIsProcessedMayBeLarge: a document that is being processed tells of none of its chunks, and may have very many.
func TestWhatIsProcessedMayBeLarge(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(*db.Store) error{
		"document": func(tx *db.Store) error {
			return tx.DeleteDocument(t.Context(), &db.Document{ID: 1, ContextID: 1, Status: "processing", Size: 1})
		},
		"context": func(tx *db.Store) error { return tx.DeleteContext(t.Context(), 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReprocessed(t)
			r.sql(`SELECT setval(pg_get_serial_sequence('contexts', 'id'), 10)`)
			w := r.atWork()
			r.sql(`UPDATE documents SET chunks = 0 WHERE id = 1`)
			r.sql(`DELETE FROM documents WHERE id > 50`)
			r.bounded()
			devtest.Check(t, r.store.Tx(t.Context(), remove))
			r.erase()
			r.left(0, 0)
			if err := r.store.FinishDocument(t.Context(), w, 3, 0, []byte("[]")); !errors.Is(err, db.ErrNoRows) {
				t.Errorf("its worker went on: %v", err)
			}
		})
	}
}

// TestUsageTellsHowFarAnErasureIs: what is left of a context that goes by parts counts until it is gone, and less with each part.
func TestUsageTellsHowFarAnErasureIs(t *testing.T) {
	t.Parallel()
	r := newReprocessed(t)
	used := func() (documents int64) {
		list, err := (&db.Customer{ID: 1, Lineage: []int64{1}}).Usage(t.Context(), r.store)
		devtest.Check(t, err)
		return list[slices.IndexFunc(list, func(u *db.Usage) bool { return u.Name == quota.Documents })].Used
	}
	devtest.Check(t, r.store.Tx(t.Context(), func(tx *db.Store) error { return tx.DeleteContext(t.Context(), 1) }))
	told := []int64{used()}
	for done := false; !done; {
		var err error
		done, err = r.store.EraseContexts(t.Context())
		devtest.Check(t, err)
		told = append(told, used())
	}
	if told = slices.Compact(told); !slices.Equal(told, []int64{450, 350, 250, 150, 50, 0}) {
		t.Errorf("%v documents are told to be left, part by part", told)
	}
}

// TestErasureTellsHowFarItIs: a context that goes by parts is told of until it is gone, and how much of it has gone, in chunks and documents.
func TestErasureTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	r := newReprocessed(t)
	r.long(9450)
	devtest.Check(t, r.store.Tx(t.Context(), func(tx *db.Store) error { return tx.DeleteContext(t.Context(), 1) }))
	var told []float64
	for done := false; !done; {
		list, err := r.store.ContextErasures(t.Context(), r.desk)
		devtest.Check(t, err)
		for _, e := range list {
			told = append(told, e.Progress())
		}
		done, err = r.store.EraseContexts(t.Context())
		devtest.Check(t, err)
	}
	if !slices.IsSorted(told) || len(slices.Compact(slices.Clone(told))) < 6 || told[0] != 0 || told[len(told)-1] > 1 {
		t.Errorf("part by part it was told to be so far: %v", told)
	}
}

// TestErasureTellsOnlyOfContexts: what keeps a removed document is no context that anybody knows, even when the one that it came from has gone before.
func TestErasureTellsOnlyOfContexts(t *testing.T) {
	t.Parallel()
	r := newReprocessed(t)
	r.sql(`DELETE FROM documents WHERE id > 50`)
	r.sql(`SELECT setval(pg_get_serial_sequence('contexts', 'id'), 10)`)
	devtest.Check(t, r.store.Tx(t.Context(), func(tx *db.Store) error {
		d := devtest.Must[*db.Document](t)(tx.Document(t.Context(), r.desk, 1))
		devtest.Check(t, tx.HideDocument(t.Context(), d))
		return tx.DeleteContext(t.Context(), 1)
	}))
	if left := r.number(`SELECT count(*) FROM contexts`); left != 1 {
		t.Fatalf("%d contexts are left, not the one that keeps the document", left)
	}
	if list := devtest.Must[[]*db.ContextErasure](t)(r.store.ContextErasures(t.Context(), r.desk)); len(list) > 0 {
		t.Errorf("told of %v, which nobody knows", list[0].GlobalID())
	}
	r.erase()
	r.none("contexts are left", `SELECT count(*) FROM contexts`)
}
