package db_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/jmoiron/sqlx"

	"canopy/db"
	"canopy/internal/devstack/devtest"
)

// TestIndexStateTellsChanges: an index of an earlier version is told of the documents that changed since, and of all where a version does
// not say which it is about.
func TestIndexStateTellsChanges(t *testing.T) {
	t.Parallel()
	url := devtest.Database(t, db.Fingerprint(), db.Migrate)
	s := devtest.Must[*db.Store](t)(db.Open(t.Context(), url, db.Options{}))
	t.Cleanup(func() { _ = s.Close() })
	pool := devtest.Must[*sqlx.DB](t)(db.Connect(url, db.Options{}))
	t.Cleanup(func() { _ = pool.Close() })
	sql := func(statement string, args ...any) {
		t.Helper()
		if _, err := pool.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	for _, statement := range indexedContext {
		sql(statement)
	}
	is := func(since, version int64, partial bool, changed []int64, documents map[int64]int64) {
		t.Helper()
		st, err := s.IndexState(t.Context(), 1, "", since)
		devtest.Check(t, err)
		if st.Version != version || st.Partial != partial || !slices.Equal(slices.Sorted(slices.Values(st.Changed)), changed) || !maps.Equal(st.Documents, documents) {
			t.Errorf("since %d: %+v; want version %d, partial %v, %v changed, %v", since, st, version, partial, changed, documents)
		}
	}
	is(0, 1, false, nil, map[int64]int64{1: 1, 2: 1, 3: 1})
	is(1, 1, true, nil, map[int64]int64{})
	devtest.Check(t, s.DeleteDocument(t.Context(), &db.Document{ID: 1, ContextID: 1}))
	is(1, 2, true, []int64{1}, map[int64]int64{})
	if _, err := s.ReprocessDocument(t.Context(), &db.Document{ID: 2, ContextID: 1}); err != nil {
		t.Fatal(err)
	}
	work := devtest.Must[*db.DocumentWork](t)(s.ClaimDocument(t.Context(), db.DueDocument{ID: 2, Attempts: 1}, 60e9))
	devtest.Check(t, s.FinishDocument(t.Context(), work, 0, 0, []byte("[]")))
	is(1, 4, true, []int64{1, 2, 2}, map[int64]int64{2: 2})
	is(3, 4, true, []int64{2}, map[int64]int64{2: 2})
	// What does not say so may be about any.
	sql(`UPDATE contexts SET version = version + 1`)
	is(3, 5, false, nil, map[int64]int64{2: 2, 3: 1})
	is(4, 5, false, nil, map[int64]int64{2: 2, 3: 1})
	is(5, 5, true, nil, map[int64]int64{})
	// Of long ago nothing is told.
	sql(`UPDATE contexts SET version = 1003`)
	devtest.Check(t, s.DeleteDocument(t.Context(), &db.Document{ID: 3, ContextID: 1}))
	is(1003, 1004, true, []int64{3}, map[int64]int64{})
	var kept []int64
	devtest.Check(t, pool.SelectContext(t.Context(), &kept, `SELECT version FROM context_changes ORDER BY version`))
	if !slices.Equal(kept, []int64{1004}) {
		t.Errorf("the versions %v are kept", kept)
	}
}

// TestContextsKnowTheirSize: the sizes of a context's documents together follow what is added and taken away, by one statement or by several.
func TestContextsKnowTheirSize(t *testing.T) {
	t.Parallel()
	url := devtest.Database(t, db.Fingerprint(), db.Migrate)
	s := devtest.Must[*db.Store](t)(db.Open(t.Context(), url, db.Options{}))
	t.Cleanup(func() { _ = s.Close() })
	pool := devtest.Must[*sqlx.DB](t)(db.Connect(url, db.Options{}))
	t.Cleanup(func() { _ = pool.Close() })
	for _, statement := range indexedContext {
		if _, err := pool.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	is := func(name string, size int64, next int) {
		t.Helper()
		st, err := (&db.Context{ID: 1}).Stored(t.Context(), s, name)
		devtest.Check(t, err)
		if st.Size != size || st.NextIndex != next {
			t.Errorf("%+v, not %d bytes and %d", st, size, next)
		}
	}
	is("a.txt", 60, 4)
	is("b.txt", 60, 0)
	devtest.Check(t, s.DeleteDocument(t.Context(), &db.Document{ID: 3, ContextID: 1}))
	is("a.txt", 30, 3)
	if _, err := pool.ExecContext(t.Context(), `DELETE FROM documents`); err != nil {
		t.Fatal(err)
	}
	is("a.txt", 0, 0)
	devtest.Check(t, s.DeleteContext(t.Context(), 1))
}

// indexedContext is a context of three ready documents of 10, 20 and 30 bytes.
var indexedContext = []string{
	`INSERT INTO applications (id, code, app_type, name, auth_url) VALUES (2, 'assistant', 2, 'Assistant', '')`,
	`INSERT INTO regions (id, code, name) VALUES (1, 'eu', 'Europe')`,
	`INSERT INTO app_instances (id, application_id, region_id, domain) VALUES (1, 2, 1, 'https://assistant.example')`,
	`INSERT INTO customers (id, name, region_id) VALUES (1, 'Root', 1)`,
	`INSERT INTO accounts (id, customer_id, app_instance_id, name) VALUES (1, 1, 1, 'Account')`,
	`INSERT INTO contexts (id, account_id, name, description, caption, embedding_model) VALUES (1, 1, 'Context', '', '', 'canopy-lexical-1')`,
	`INSERT INTO documents (id, context_id, file_name, original_name, display_name, name_index, format, content_type, content_hash, size, status, model, chunk_size, overlap)
		SELECT i, 1, gen_random_uuid(), 'a.txt', 'a.txt', i, 'txt', 'text/plain', 'hash', 10 * i, 'ready', 'canopy-lexical-1', 1000, .2 FROM generate_series(1, 3) i`,
}
