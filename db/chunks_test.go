package db_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"canopy/db"
	"canopy/internal/devstack/devtest"
)

// TestChunksAreKept: texts, headings and places are kept as they came, whatever is in them; long texts are compressed in their rows where the
// server can, and so is a copy.
func TestChunksAreKept(t *testing.T) {
	t.Parallel()
	url := devtest.Database(t, db.Fingerprint(), db.Migrate)
	pool, err := db.Connect(url, db.Options{})
	devtest.Check(t, err)
	defer func() { _ = pool.Close() }()
	tx, err := pool.BeginTx(t.Context(), nil)
	devtest.Check(t, err)
	for _, statement := range []string{
		`SET LOCAL session_replication_role = replica`, // the documents alone: their context is left out
		`INSERT INTO documents (id, context_id, file_name, original_name, display_name, name_index, format, content_type, content_hash, size, model, chunk_size, overlap, status, attempts)
			SELECT n, 1, gen_random_uuid(), 'x', 'x', 0, 'txt', 'text/plain', 'x', 1, 'x', 1, 0, 'processing', 1 FROM generate_series(1, 2) n`,
	} {
		_, err := tx.ExecContext(t.Context(), statement)
		devtest.Check(t, err)
	}
	devtest.Check(t, tx.Commit())
	s, err := db.Open(t.Context(), url, db.Options{})
	devtest.Check(t, err)
	defer func() { _ = s.Close() }()
	long := strings.Repeat("Bees make honey. ", 500)
	var want []db.NewChunk
	for i, text := range []string{"", `NULL`, `"quoted" {\ and, apart}`, "ö \n\t 漢字 🐝", long, strings.ToUpper(long)} {
		want = append(want, db.NewChunk{Position: i, Content: text, Heading: text[:min(len(text), 3)], Places: bytes.Repeat([]byte{0, 255, '\\'}, i)})
	}
	w, other := &db.DocumentWork{Document: db.Document{ID: 1}, Attempts: 1}, &db.DocumentWork{Document: db.Document{ID: 2}, Attempts: 1}
	devtest.Check(t, s.InsertChunks(t.Context(), w, want))
	if copied, err := s.CopyChunks(t.Context(), other, &db.Twin{ID: 1, Revision: 1, Chunks: len(want)}); err != nil || !copied {
		t.Fatal(copied, err)
	}
	var lz4 bool
	devtest.Check(t, pool.Get(&lz4, `SELECT 'lz4' = ANY(enumvals) FROM pg_settings WHERE name = 'default_toast_compression'`))
	for document := range 2 {
		var got []struct {
			db.Chunk
			Compressed string `db:"compressed"`
		}
		devtest.Check(t, pool.Select(&got, `SELECT position, content, heading, places, COALESCE(pg_column_compression(content), '') AS compressed FROM chunks
			WHERE document_id = $1 ORDER BY position`, document+1))
		if len(got) != len(want) {
			t.Fatalf("%d chunks", len(got))
		}
		for i, k := range got {
			if k.Content != want[i].Content || k.Heading != want[i].Heading || !slices.Equal(k.Places, want[i].Places) || k.Places == nil {
				t.Errorf("document %d: %+v, not %+v", document+1, k, want[i])
			}
			if long := len(k.Content) > 2000; lz4 && long != (k.Compressed == "lz4") {
				t.Errorf("document %d: %d bytes are compressed by %q", document+1, len(k.Content), k.Compressed)
			}
		}
	}
}
