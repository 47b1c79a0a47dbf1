package contexts

import (
	"os"
	"path/filepath"
	"testing"

	"canopy/e2e/platform"
)

// readAs is the sum of all chunks of the test files, as the reader's version in jobs/documents.go
// makes them.
const readAs = "cbb28cf0cb775cd7870022021232cb9b"

// TestReaderHasItsVersion: a worker goes on with the chunks that another has stored, as long as both
// cut a text at the same places.
func TestReaderHasItsVersion(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	s.Work(nil)
	token := s.Assistant()
	id := s.NewContext(token, "Everything")
	s.MustGQL(token, `mutation($id: ID!) { updateContext(input: {id: $id, chunkSize: 100}) { context { id } } }`, map[string]any{"id": id})
	for _, pattern := range []string{"../../docs/samples/*", "../../internal/extract/testdata/[^R]*"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s.Upload(token, id, filepath.Base(file), content) // those of other kinds are refused
		}
	}
	s.Upload(token, id, "lines.txt", []byte(platform.Sentences(1, 40)+"\n \n"+platform.Sentences(2, 400)+"\n\n\n"+platform.Sentences(3, 40)))
	s.Settle(token, id)
	var sum, list string
	s.Look(&list, `SELECT string_agg(original_name || ' ' || chunks, ', ' ORDER BY original_name) FROM documents`)
	s.Look(&sum, `SELECT md5(string_agg(concat_ws('|', d.original_name, k.position, k.content, k.overlap_bytes, k.tokens, k.page, k.heading, k.row_number), E'\n' ORDER BY d.original_name, k.position))
		FROM chunks k JOIN documents d ON d.id = k.document_id`)
	if sum != readAs {
		t.Errorf("documents are read or cut in another way than before: count the reader's version up in jobs/documents.go, and put the new sum, %q, here\n%s", sum, list)
	}
}

// TestAnotherReadersChunks: of what another version of the reader has stored of a document, and of
// what lies beyond its end, nothing is left.
func TestAnotherReadersChunks(t *testing.T) {
	t.Parallel()
	s := platform.Start(t)
	token := s.Assistant()
	id := s.NewContext(token, "Handbook")
	text := platform.Sentences(1, 2000)
	s.Upload(token, id, "a.txt", []byte(text))
	s.SQL(`INSERT INTO chunks (document_id, revision, position, content, overlap_bytes, tokens, heading, sparse)
		SELECT id, revision, p, 'of another version', 0, 3, '', '' FROM documents, unnest('{0,2,500}'::int[]) p`)
	s.SQL(`UPDATE documents SET reader = reader + 1000`)
	s.Work(nil)
	list := s.Settle(token, id)
	if n := s.Number(`SELECT count(*) FROM chunks`); list[0]["status"] != "ready" || list[0]["chunks"] != float64(n) || s.Text(list[0]["id"]) != text {
		t.Errorf("%d chunks of %v", n, list)
	}
}
