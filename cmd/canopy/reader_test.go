package main

import (
	"os"
	"path/filepath"
	"testing"
)

// readAs is the sum of all chunks of the test files, as the reader's version in jobs/documents.go
// makes them.
const readAs = "4d4f46b9d32e1496e0bf3aa06984a5cf"

// TestReaderHasItsVersion: a worker goes on with the chunks that another has stored, as long as both
// cut a text at the same places.
func TestReaderHasItsVersion(t *testing.T) {
	s := newStack(t)
	s.work(nil)
	token := s.assistant()
	id := s.newContext(token, "Everything")
	s.mustGQL(token, `mutation($id: ID!) { updateContext(input: {id: $id, chunkSize: 100}) { context { id } } }`, map[string]any{"id": id})
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
			s.upload(token, id, filepath.Base(file), content) // those of other kinds are refused
		}
	}
	s.upload(token, id, "lines.txt", []byte(sentences(1, 40)+"\n \n"+sentences(2, 400)+"\n\n\n"+sentences(3, 40)))
	s.settle(token, id)
	var sum, list string
	s.look(&list, `SELECT string_agg(original_name || ' ' || chunks, ', ' ORDER BY original_name) FROM documents`)
	s.look(&sum, `SELECT md5(string_agg(concat_ws('|', d.original_name, k.position, k.content, k.overlap_bytes, k.tokens, k.page, k.heading, k.row_number), E'\n' ORDER BY d.original_name, k.position))
		FROM chunks k JOIN documents d ON d.id = k.document_id`)
	if sum != readAs {
		t.Errorf("documents are read or cut in another way than before: count the reader's version up in jobs/documents.go, and put the new sum, %q, here\n%s", sum, list)
	}
}

// TestAnotherReadersChunks: of what another version of the reader has stored of a document, and of
// what lies beyond its end, nothing is left.
func TestAnotherReadersChunks(t *testing.T) {
	s := newStack(t)
	token := s.assistant()
	id := s.newContext(token, "Handbook")
	text := sentences(1, 2000)
	s.upload(token, id, "a.txt", []byte(text))
	s.sql(`INSERT INTO chunks (document_id, revision, position, content, overlap_bytes, tokens, heading, sparse)
		SELECT id, revision, p, 'of another version', 0, 3, '', '' FROM documents, unnest('{0,2,500}'::int[]) p`)
	s.sql(`UPDATE documents SET reader = reader + 1000`)
	s.work(nil)
	list := s.settle(token, id)
	if n := s.number(`SELECT count(*) FROM chunks`); list[0]["status"] != "ready" || list[0]["chunks"] != float64(n) || s.text(list[0]["id"]) != text {
		t.Errorf("%d chunks of %v", n, list)
	}
}
