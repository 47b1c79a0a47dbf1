package db_test

import (
	"testing"

	"canopy/db"
	"canopy/internal/devstack/devtest"
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
	r.none("chunks that are others", `SELECT count(*) FROM chunks a JOIN chunks b ON b.document_id = 2 AND b.position = a.position WHERE a.document_id = 1 AND a.content <> b.content`)
	r.none("chunks whose vectors are others'", `SELECT 1201 - count(*) FROM vector_blocks v JOIN chunks k ON k.document_id = 2 AND k.position = v.first AND v.chunks = int8send(k.id)
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
